"""/proc/cpuinfo: cores and threads of each capture, the layouts of public reports, and no text that raises."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knaster.cluster import Cpu
from knaster.inventory.parsers.cpuinfo import parse
from tests.captured import assert_count, assert_sound, capture, captures, mutated

NO_TOPOLOGY = "no topology"
NO_MODEL = "cpu.model"

CAPTURED = {
    "dual-e5-2680v4.txt": ("Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz", 28, 56, ()),
    "epyc-smt-off.txt": ("AMD EPYC 7302P 16-Core Processor", 16, 16, ()),
    "arm-gb10.txt": (None, 20, 20, (NO_MODEL, NO_TOPOLOGY)),
    "arm-neoverse-vm.txt": (None, 2, 2, (NO_MODEL, NO_TOPOLOGY)),
    "xen-pv-no-topology.txt": ("Intel(R) Xeon(R) CPU E5-2630 v2 @ 2.60GHz", 4, 4, (NO_TOPOLOGY,)),
    "proxmox-vm-4-sockets.txt": ("Common KVM processor", 4, 4, ()),
    "offline-cpus.txt": ("Intel(R) Core(TM) i7-9700 CPU @ 3.00GHz", 6, 6, ()),
    "model-with-colon.txt": ("Hygon C86-4G (OPN:5435)", 2, 4, ()),
    "loongarch.txt": ("Loongson-3C6000/S", 2, 4, ()),
    "ppc64.txt": ("POWER9, altivec supported", 8, 8, (NO_TOPOLOGY,)),
}


def x86(places: list[tuple[int, int]], siblings: int, cores: int, model: str = "CPU") -> str:
    """Entries at (physical id, core id)."""
    return "".join(
        f"processor\t: {number}\nmodel name\t: {model}\nphysical id\t: {package}\nsiblings\t: {siblings}\n"
        f"core id\t\t: {core}\ncpu cores\t: {cores}\npower management:\n\n"
        for number, (package, core) in enumerate(places)
    )


def cpu(text: str) -> Cpu:
    """The value; there is one."""
    reading = parse(text)
    assert reading.value, reading.problem
    return reading.value


@pytest.mark.parametrize("name", CAPTURED)
def test_captures(name: str) -> None:
    model, cores, threads, said = CAPTURED[name]
    reading = parse(capture(f"cpuinfo/{name}"))
    assert reading.value == Cpu(model, cores, threads)
    assert len(reading.warnings) == len(said)
    assert all(word in warning for word, warning in zip(said, reading.warnings, strict=True))


def test_arm_parts_are_named_in_the_warning() -> None:
    assert "0xd85 = Cortex-X925, 0xd87 = Cortex-A725" in parse(capture("cpuinfo/arm-gb10.txt")).warnings[0]
    assert "0xd0c = Neoverse-N1" in parse(capture("cpuinfo/arm-neoverse-vm.txt")).warnings[0]


def test_processor_and_model_name_count_once() -> None:
    """ansible#52864: the same entry four times, and the old header line of ARM kernels."""
    entry = "processor : 0\nmodel name : ARMv7 Processor rev 4 (v7l)\n"
    assert cpu(entry * 4) == Cpu("ARMv7 Processor rev 4 (v7l)", 4, 4)
    old = "Processor\t: ARMv7 Processor rev 4 (v7l)\nprocessor\t: 0\n\nprocessor\t: 1\n\nHardware\t: BCM2709\n"
    assert cpu(old) == Cpu("ARMv7 Processor rev 4 (v7l)", 2, 2)


def test_a_number_is_no_model() -> None:
    """ansible#78092: an ARM guest of two cores is no two sockets, and its model is not "0"."""
    assert cpu("processor : 0\nCPU part : 0xd0c\n\nprocessor : 1\nCPU part : 0xd0c\n") == Cpu(None, 2, 2)


def test_bulldozer_modules_are_cores_with_two_threads() -> None:
    """ansible#14576: what the kernel says, per socket 8 and 16."""
    places = [(package, core) for package in (0, 1) for core in range(8) for _ in "ab"]
    assert cpu(x86(places, siblings=16, cores=8)) == Cpu("CPU", 16, 32)


def test_power_has_its_model_under_cpu() -> None:
    """ansible#16533."""
    entry = "processor : {}\ncpu : POWER8 (architected), altivec supported\n\n"
    text = "".join(entry.format(number) for number in range(16))
    assert cpu(text) == Cpu("POWER8 (architected), altivec supported", 16, 16)


def test_model_alone_is_no_model_name() -> None:
    """cockpit#22678: LoongArch writes ``Model Name``; the footer of a Raspberry Pi writes ``Model`` for the board."""
    assert cpu("processor : 0\nModel Name : Loongson-3C6000/D\n").model == "Loongson-3C6000/D"
    assert cpu("processor : 0\nCPU part : 0xd08\n\nModel : Raspberry Pi 4 Model B Rev 1.4\n").model is None


def test_hybrid() -> None:
    """13900K: 8 cores with two threads and 16 with one; core ids have holes."""
    places = [(0, 4 * core) for core in range(8) for _ in "ab"] + [(0, 40 + core) for core in range(16)]
    assert cpu(x86(places, siblings=32, cores=24)) == Cpu("CPU", 24, 32)


def test_a_container_sees_some_of_the_host() -> None:
    """LXC: three of 56 CPUs, ``siblings`` and ``cpu cores`` still the host's."""
    assert cpu(x86([(0, 1), (0, 1), (1, 4)], siblings=28, cores=14)) == Cpu("CPU", 2, 3)


@pytest.mark.parametrize(("siblings", "cores"), [(1, 1), (4, 4)])
def test_a_hypervisor_that_puts_all_on_core_0(siblings: int, cores: int) -> None:
    reading = parse(x86([(0, 0)] * 4, siblings, cores))
    assert reading.value == Cpu("CPU", 4, 4)
    assert len(reading.warnings) == 1
    assert "one core per thread assumed" in reading.warnings[0]


def test_four_threads_on_a_core_are_possible() -> None:
    """Xeon Phi."""
    assert cpu(x86([(0, core) for core in range(64)] * 4, siblings=256, cores=64)) == Cpu("CPU", 64, 256)


def test_s390() -> None:
    summary = "vendor_id : IBM/S390\n# processors : 2\nprocessor 0: version = FF\nprocessor 1: version = FF\n"
    assert cpu(summary).threads == 2
    tail = "cpu number : 0\nphysical id : 1\ncore id : 0\n\ncpu number : 1\nphysical id : 1\ncore id : 0\n"
    assert cpu(f"{summary}\n{tail}") == Cpu(None, 1, 2)


def test_an_unknown_model_is_null_with_a_warning() -> None:
    reading = parse("processor : 0\nmodel name : unknown\n")
    assert reading.value == Cpu(None, 1, 1)
    assert any(warning.startswith("cpu.model") for warning in reading.warnings)


@pytest.mark.parametrize("text", ["", " \n\n", "\ufeff"])
def test_empty(text: str) -> None:
    problem = parse(text).problem
    assert problem
    assert problem.cause == "empty"


def test_malformed() -> None:
    problem = parse("cat: /proc/cpuinfo: Permission denied\n").problem
    assert problem
    assert (problem.cause, problem.line) == ("malformed", 1)


def test_a_text_cut_off_inside_an_entry_is_no_answer() -> None:
    whole = x86([(0, 0), (0, 1), (0, 2)], siblings=3, cores=3)
    problem = parse(whole[: whole.rindex("core id")]).problem
    assert problem
    assert (problem.cause, problem.line) == ("malformed", 17)


@settings(deadline=None)
@given(st.text() | mutated(captures("cpuinfo")))
def test_never_raises(text: str) -> None:
    reading = parse(text)
    assert_sound(reading)
    if reading.value:
        assert_count(reading.value.cores, 4096)
        assert_count(reading.value.threads, 8192)
        assert (reading.value.cores or 0) <= (reading.value.threads or 8192)
