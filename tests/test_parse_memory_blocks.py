"""Memory blocks: what is installed beside what is usable, and no text that raises."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knaster.inventory.assemble import partial
from knaster.inventory.capture import Section
from knaster.inventory.parsers.memory_blocks import MemoryBlocks, parse
from tests.captured import assert_sound, mutated
from tests.stubs import linux

LSMEM = """\
Memory block size:            134217728
Total online memory:        {}
Total offline memory:                 0
"""
SYSFS = "block_size_bytes:{}\nonline_blocks:{}\n"
MEMINFO = "MemTotal:       {} kB\n"

BYTES = {
    LSMEM.format(25769803776): 25769803776,
    LSMEM.format(25769803776).replace("\n", "\r\n"): 25769803776,
    SYSFS.format("8000000", 192): 25769803776,
    SYSFS.format("0x8000000", 126): 16911433728,
    SYSFS.format("80000000", 64): 137438953472,
}

MALFORMED = {
    LSMEM.format("24G"): (2, "lsmem without -b"),
    LSMEM.format(0): (0, "never 0"),
    LSMEM.format(10**15 - 1): (0, "more than 64 TiB"),
    LSMEM.format("٢٥٧"): (2, "digits of another script"),
    LSMEM.format(1 << 30) + LSMEM.format(2 << 30): (5, "two that differ"),
    SYSFS.format("8000000", "many"): (2, "no number"),
    SYSFS.format("-1", 8): (1, "negative"),
    SYSFS.format("8000000", 0): (0, "no block is online"),
}


@pytest.mark.parametrize("text", BYTES)
def test_bytes_that_are_online(text: str) -> None:
    assert parse(text).value == MemoryBlocks(BYTES[text])
    assert parse(text).warnings == ()


@pytest.mark.parametrize("text", ["", "cat: No such file\n", "block_size_bytes:8000000\n", "online_blocks:8\n"])
def test_a_kernel_without_blocks(text: str) -> None:
    problem = parse(text).problem
    assert problem
    assert problem.cause == "no-blocks"


@pytest.mark.parametrize("text", MALFORMED)
def test_malformed_names_the_line(text: str) -> None:
    line, why = MALFORMED[text]
    problem = parse(text).problem
    assert problem, why
    assert (problem.cause, problem.line) == ("malformed", line)


@pytest.mark.parametrize(
    ("kib", "blocks", "usable", "installed"),
    [
        (16075160, LSMEM.format(16515072 << 10), 15, 16),  # avocado#2119: one was taken for the other
        (16075160, SYSFS.format("8000000", 126), 15, 16),
        (16075160, Section("", 1), 15, None),  # ghw#337: ARM has no /sys/devices/system/memory
        (16075160, LSMEM.format("16G"), 15, None),
        (65769420, LSMEM.format(64 << 30), 63, 64),
        (24684096, LSMEM.format(25769803776), 24, 24),
        (65769420, LSMEM.format(32 << 30), 63, None),  # less than is usable: no fact
    ],
)
def test_usable_and_installed(kib: int, blocks: str | Section, usable: int, installed: int | None) -> None:
    found = partial(linux(meminfo=MEMINFO.format(kib), memory_blocks=blocks))
    assert (found.facts["memory_gb"], found.installed_gb) == (usable, installed)
    assert found.warnings == ()


def test_an_old_capture_without_blocks() -> None:
    assert partial(linux()).installed_gb is None


def test_a_container_has_nothing_installed() -> None:
    found = partial(linux(memory_blocks=LSMEM.format(64 << 30), container="lxc\n"))
    assert (found.facts["memory_gb"], found.installed_gb) == (63, None)


def test_what_is_installed_is_never_taken_for_usable() -> None:
    found = partial(linux(meminfo="", memory_blocks=LSMEM.format(64 << 30)))
    assert (found.facts["memory_gb"], found.installed_gb) == (None, 64)
    assert "memory_gb" in found.missing


def test_windows_adds_up_its_modules() -> None:
    sections = {
        "os": Section("windows\n"),
        "cim-computersystem": Section('[{"TotalPhysicalMemory":"68632227840"}]'),
        "cim-memory": Section('[{"Capacity":34359738368},{"Capacity":"34359738368"}]'),
    }
    found = partial(sections, name="pc1")
    assert (found.facts["memory_gb"], found.installed_gb) == (64, 64)


@settings(deadline=None)
@given(st.text() | mutated([LSMEM.format(25769803776), SYSFS.format("8000000", 192)]))
def test_never_raises(text: str) -> None:
    reading = parse(text)
    assert_sound(reading)
    assert reading.value is None or reading.value.online_bytes > 0
