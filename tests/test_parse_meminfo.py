"""/proc/meminfo: the right memory of each capture, and no text that raises."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knaster.inventory.parsers.meminfo import MemInfo, memory_gb, parse
from tests.captured import assert_sound, capture, captures, mutated

KIB_AND_GB = {
    "64g-workstation.txt": (65769420, 63),
    "24g-vm.txt": (24684096, 24),
    "gb10-unified.txt": (127600748, 122),
    "hugepages.txt": (263834112, 252),
    "docker-host-view.txt": (131890312, 126),
}

MALFORMED = {
    "MemFree: 1 kB\nMemTotal:       2468": (2, "no unit: cut off"),
    "MemTotal:       24684096 MB\n": (1, "another unit"),
    "MemTotal:       0 kB\n": (1, "never 0"),
    "MemTotal:       -5 kB\n": (1, "negative"),
    "MemTotal:       ٣٣٣٣٣٣٣٣ kB\n": (1, "digits of another script"),
    "MemTotal: 99999999999 kB\n": (1, "more than 64 TiB"),
    "MemTotal:\n": (1, "no value"),
    "MemTotal: 24684096 kB\nMemTotal: 65769420 kB\n": (2, "two that differ"),
}


@pytest.mark.parametrize("name", KIB_AND_GB)
def test_captures(name: str) -> None:
    kib, gigabytes = KIB_AND_GB[name]
    reading = parse(capture(f"meminfo/{name}"))
    assert reading.value == MemInfo(kib)
    assert reading.warnings == ()
    assert memory_gb(kib) == gigabytes


def test_usable_memory_is_not_rounded_up_to_what_is_installed() -> None:
    assert memory_gb(16075160) == 15
    assert memory_gb(16515072) == 16


def test_a_very_small_machine_has_not_0_gb() -> None:
    assert memory_gb(131072) == 0.1
    assert memory_gb(524288) == 1


@pytest.mark.parametrize("text", ["", "MemFree: 1 kB\n", "Node 0 MemTotal: 65769420 kB\n", "memtotal: 5 kB\n"])
def test_no_memtotal(text: str) -> None:
    problem = parse(text).problem
    assert problem
    assert problem.cause == "no-memtotal"


def test_the_capture_without_memtotal() -> None:
    problem = parse(capture("meminfo/no-memtotal.txt")).problem
    assert problem
    assert problem.cause == "no-memtotal"


@pytest.mark.parametrize("text", MALFORMED)
def test_malformed_names_the_line(text: str) -> None:
    line, why = MALFORMED[text]
    problem = parse(text).problem
    assert problem, why
    assert (problem.cause, problem.line) == ("malformed", line)
    assert f"line {line}" in problem.message


def test_line_ends_and_marks_do_not_matter() -> None:
    assert parse("\ufeffMemTotal:\t24684096 kB\r\nMemFree: 1 kB\r\n").value == MemInfo(24684096)


@settings(deadline=None)
@given(st.text() | mutated(captures("meminfo")) | st.text().map(lambda text: f"MemTotal: {text} kB"))
def test_never_raises(text: str) -> None:
    reading = parse(text)
    assert_sound(reading)
    assert reading.value is None or memory_gb(reading.value.total_kib) > 0
