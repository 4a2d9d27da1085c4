"""200 hosts from captured files: no more than ten times the reading and parsing of their bytes, memory flat."""

from __future__ import annotations

import json
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

from knaster.adapters.captures import read
from knaster.inventory.assemble import profile
from knaster.inventory.capture import Section, parse, render
from tests.captured import capture
from tests.stubs import linux

HOSTS = 200


def fleet(folder: Path, hosts: int = HOSTS) -> Path:
    """Captures of the size of real ones: two sockets, sixteen cards, a bus of a few dozen devices."""
    bus = capture("lspci/vmm-blocks.txt").rstrip("\n")
    devices = "\n\n".join(bus.replace("0000:01", f"0000:{number:02x}") for number in range(1, 17))
    cards = "".join(f"{number}, Quadro P2000, 5120, 6.1, 580.95.05\n" for number in range(16))
    known = "".join(
        f"{number}, GPU-7f9c2b1e-3d44-4c5a-9a1b-{number:012x}, 00000000:{number + 1:02X}:00.0\n" for number in range(16)
    )
    sections = linux(
        cpuinfo=capture("cpuinfo/dual-e5-2680v4.txt"),
        lscpu=capture("lscpu/json-nested.json"),
        lspci=devices + "\n",
        nvidia_smi=cards,
        nvidia_smi_identity=known,
    )
    text = render(sections).encode()
    for number in range(hosts):
        (folder / f"node{number}.capture").write_bytes(text)
    return folder


def assembled(folder: Path) -> Iterator[str]:
    for entry in read(folder):
        assert isinstance(entry.content, bytes)
        sections = parse(entry.content).value
        assert sections is not None
        reading = profile(sections, name=entry.name)
        assert reading.value is not None, reading.problem
        yield json.dumps(reading.value)


def framed(folder: Path) -> Iterator[object]:
    """The floor: every byte read and framed."""
    for entry in read(folder):
        assert isinstance(entry.content, bytes)
        yield parse(entry.content)


def seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def test_time(tmp_path: Path) -> None:
    folder = fleet(tmp_path)
    list(assembled(fleet(tmp_path, 2)))  # the table and the schema are read once
    floor = min(seconds(lambda: sum(1 for _ in framed(folder))) for _ in range(3))
    whole = min(seconds(lambda: sum(1 for _ in assembled(folder))) for _ in range(3))
    assert whole < 10 * floor, f"{whole:.3f} s, floor {floor:.3f} s"


def peak(folder: Path) -> int:
    tracemalloc.start()
    assert sum(1 for _ in assembled(folder)) > 0
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return used


def test_memory_is_flat(tmp_path: Path) -> None:
    few, many = tmp_path / "few", tmp_path / "many"
    few.mkdir()
    many.mkdir()
    list(assembled(fleet(few, 2)))
    assert peak(fleet(many, HOSTS)) < 1.5 * peak(few)


def test_a_capture_of_16_mib_takes_no_minutes() -> None:
    huge = render(linux(cpuinfo=Section("flags\t: x\n" * (16 << 20 // 11))))[: 16 << 20] + "\n#end\n"
    start = time.perf_counter()
    reading = parse(huge)
    assert reading.value is not None
    profile(reading.value)
    assert time.perf_counter() - start < 30
