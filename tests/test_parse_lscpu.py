"""lscpu in its forms: cores and threads of each capture, the layouts of public reports, and no text that raises."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings

from knaster.cluster import Cpu
from knaster.inventory.parsers.lscpu import parse
from knaster.inventory.parsers.lscpu_counts import list_size, mask_size
from tests.captured import assert_count, assert_sound, capture, hostile

RYZEN = ("AMD Ryzen 7 5800X 8-Core Processor", 8, 16)
CAPTURED = {
    "v2.34-dual-xeon.txt": ("Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz", 28, 56),
    "v2.38-bios-noise.txt": ("AMD EPYC 7282 16-Core Processor", 8, 8),
    "json-nested.json": RYZEN,
    "tty-indented-wrapped.txt": RYZEN,
    "hybrid-185h.txt": ("Intel(R) Core(TM) Ultra 9 185H", 16, 22),
    "offline-list.txt": ("Intel(R) Core(TM) i7-9700 CPU @ 3.00GHz", 6, 6),
    "arm-cluster-dash.txt": ("Kunpeng-920", 128, 128),
    "dash-model.txt": (None, 4, 4),
    "parsable-p.txt": (None, 8, 14),
}
REFUSED = {
    "german.txt": "not-c-locale",
    "french-nbsp.txt": "not-c-locale",
    "extended-json-dash.txt": "malformed",
}

BLOCK = """\
  Model name:           {}
    Model:              1
    Thread(s) per core: 1
    Core(s) per socket: {}
    Socket(s):          {}
    Stepping:           r0p1
"""
ARM_HEAD = "Architecture: aarch64\nCPU(s): {}\n  On-line CPU(s) list: {}\nVendor ID: ARM\n"


def cause(text: str) -> str:
    """The cause of the problem; there is one."""
    problem = parse(text).problem
    assert problem
    return problem.cause


@pytest.mark.parametrize("name", CAPTURED)
def test_captures(name: str) -> None:
    model, cores, threads = CAPTURED[name]
    reading = parse(capture(f"lscpu/{name}"))
    assert reading.value == Cpu(model, cores, threads)
    assert bool(reading.warnings) == (model is None)


@pytest.mark.parametrize("name", REFUSED)
def test_refused_captures(name: str) -> None:
    assert cause(capture(f"lscpu/{name}")) == REFUSED[name]


def test_an_invalid_json_names_its_line() -> None:
    problem = parse(capture("lscpu/extended-json-dash.txt")).problem
    assert problem
    assert problem.line == 5


def test_a_list_and_children_are_the_same() -> None:
    nested = json.loads(capture("lscpu/json-nested.json"))
    flat: list[dict[str, Any]] = []

    def walk(rows: list[dict[str, Any]]) -> None:
        for row in rows:
            flat.append({"field": row["field"], "data": row["data"]})
            walk(row.get("children", []))

    walk(nested["lscpu"])
    assert len(flat) == 10
    assert parse(json.dumps({"lscpu": flat})).value == Cpu(*RYZEN)


def test_a_swedish_desktop() -> None:
    """hyprsysteminfo#9."""
    assert cause("Modellnamn: AMD Ryzen 5\nCPU(er): 8\n") == "not-c-locale"


def test_json_of_another_locale() -> None:
    rows = [{"field": "Architektur:", "data": "x86_64"}, {"field": "CPU(s):", "data": "12"}]
    assert cause(json.dumps({"lscpu": rows})) == "not-c-locale"


def test_hybrid_without_a_list() -> None:
    """util-linux#4595: two times 16 is not 22."""
    text = "CPU(s): 22\nThread(s) per core: 2\nCore(s) per socket: 16\nSocket(s): 1\n"
    reading = parse(text)
    assert reading.value == Cpu(None, 16, 22)
    assert len(reading.warnings) == 1


def test_power9_swaps_cores_and_sockets() -> None:
    """util-linux#698."""
    text = "CPU(s): 80\nThread(s) per core: 8\nCore(s) per socket: 1\nSocket(s): 10\nModel name: POWER9\n"
    assert parse(text).value == Cpu("POWER9", 10, 80)


def test_no_model_line() -> None:
    """util-linux#1036: an ARM server has none; ``Model`` and ``BIOS Model name`` are not it."""
    text = "CPU(s): 4\nByte Order: Little Endian\nBIOS Model name: x\nModel: 1\nCore(s) per socket: 4\nSocket(s): 1\n"
    assert parse(text).value == Cpu(None, 4, 4)


def test_types_of_cpu_are_summed() -> None:
    text = ARM_HEAD.format(20, "0-19") + BLOCK.format("Cortex-X925", 10, 1) + BLOCK.format("Cortex-A725", 10, 1)
    assert parse(text).value == Cpu("Cortex-X925 + Cortex-A725", 20, 20)
    text = ARM_HEAD.format(8, "0-7") + BLOCK.format("Cortex-A55", 4, 1) + BLOCK.format("Cortex-A76", 2, 2)
    assert parse(text).value == Cpu("Cortex-A55 + Cortex-A76", 8, 8)


def test_types_of_cpu_whose_labels_stand_in_another_order() -> None:
    block = "Socket(s): {}\nCore(s) per socket: {}\nThread(s) per core: 1\nModel name: {}\n"
    text = ARM_HEAD.format(6, "0-5") + block.format(1, 2, "Cortex-A53") + block.format(2, 2, "Cortex-A73")
    assert parse(text).value == Cpu("Cortex-A53 + Cortex-A73", 6, 6)


def test_one_type_without_cores_makes_the_sum_unknown() -> None:
    text = ARM_HEAD.format(8, "0-7") + BLOCK.format("Cortex-A55", 4, 1) + BLOCK.format("Cortex-A76", "-", "-")
    reading = parse(text)
    assert reading.value == Cpu("Cortex-A55 + Cortex-A76", None, 8)
    assert any(warning.startswith("cpu.cores") for warning in reading.warnings)


def test_a_topology_that_does_not_multiply() -> None:
    text = "CPU(s): 96\nOn-line CPU(s) list: 0-95\nThread(s) per core: 1\nCore(s) per socket: 25\nSocket(s): 2\n"
    reading = parse(f"{text}Model name: CPU\n")
    assert reading.value == Cpu("CPU", 50, 96)
    assert reading.warnings == ("cpu.cores: lscpu gives 96 threads on 50 cores of at most 1 each",)


def test_more_cores_than_threads_is_no_fact() -> None:
    text = "CPU(s): 8\nOn-line CPU(s) list: 0-3\nCore(s) per socket: 8\nSocket(s): 1\nModel name: CPU\n"
    reading = parse(text)
    assert reading.value == Cpu("CPU", None, 4)
    assert "8 cores but 4 threads" in reading.warnings[0]


def test_s390_books_and_drawers() -> None:
    text = "CPU(s): 96\nByte Order: Big Endian\nThread(s) per core: 2\nCore(s) per socket: 4\n"
    text += "Socket(s) per book: 3\nBook(s) per drawer: 2\nDrawer(s): 2\nModel name: -\n"
    assert parse(text).value == Cpu(None, 48, 96)


def test_an_online_list_that_is_none() -> None:
    text = "CPU(s): 8\nOn-line CPU(s) list: 0-\nCore(s) per socket: 8\nSocket(s): 1\nModel name: CPU\n"
    reading = parse(text)
    assert reading.value == Cpu("CPU", 8, None)
    assert reading.warnings == ("cpu.threads: lscpu gives 0- as its on-line list",)


@pytest.mark.parametrize(("text", "size"), [("0-5", 6), ("0,1", 2), ("0-5,8", 7), ("7", 1), ("0-6:2", 4)])
def test_lists(text: str, size: int) -> None:
    assert list_size(text) == size


@pytest.mark.parametrize("text", ["", "-", "0-", "5-0", "0-5,", "a", "0-99999999", "0:0", "٣"])
def test_no_lists(text: str) -> None:
    assert list_size(text) is None


@pytest.mark.parametrize(("text", "size"), [("0x3f", 6), ("0xffffffff,ffffffff", 64), ("", None), ("0x", None)])
def test_masks(text: str, size: int | None) -> None:
    assert mask_size(text) == size


def test_a_table_without_the_online_column() -> None:
    text = "# CPU,Core,Socket,Node,,L1d,L1i,L2,L3\n0,0,0,0,,0,0,0,0\n1,0,0,0,,0,0,0,0\n2,1,1,0,,1,1,1,0\n"
    assert parse(text).value == Cpu(None, 2, 3)


def test_a_table_cut_off() -> None:
    problem = parse("# CPU,Core,Socket,Online\n0,0,0,Y\n1,1\n").problem
    assert problem
    assert (problem.cause, problem.line) == ("malformed", 3)


def test_a_table_of_arm_is_doubted() -> None:
    """Core ids repeat per cluster there: eight CPUs look like three cores."""
    rows = "".join(f"{cpu},{core},0,Y\n" for cpu, core in enumerate([0, 1, 2, 0, 1, 2, 0, 1]))
    reading = parse(f"# CPU,Core,Socket,Online\n{rows}")
    assert any("core ids repeat" in warning for warning in reading.warnings)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "empty"),
        ("bash: lscpu: command not found\n", "tool-missing"),
        ("lscpu: failed to determine number of CPUs\n", "malformed"),
        ('{"cpus": [{"cpu": 0}]}', "unsupported-form"),
        ('{"lscpu": null}', "malformed"),
        ('{"lscpu": [1]}', "malformed"),
        ("[]", "malformed"),
        ('{"lscpu": [{"field": "CPU(s):", "data": NaN}]}', "malformed"),
        ("[" * 100_000, "malformed"),
    ],
)
def test_other_problems(text: str, expected: str) -> None:
    assert cause(text) == expected


KEYS = ["field", "data", "children"]


@settings(deadline=None)
@given(hostile("lscpu", KEYS, lambda rows: {"lscpu": rows}))
def test_never_raises(text: str) -> None:
    reading = parse(text)
    assert_sound(reading)
    if reading.value:
        assert_count(reading.value.cores, 4096)
        assert_count(reading.value.threads, 8192)
        assert (reading.value.cores or 0) <= (reading.value.threads or 8192)
