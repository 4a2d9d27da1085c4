"""A machine made of stubs: programs that print what the real ones would, for the capture script to find."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from knaster.adapters.captures import script
from knaster.inventory.capture import Capture, Section, parse

SHELLS = {"dash": ["dash"], "bash": ["bash", "--posix"], "busybox": ["busybox", "ash"], "sh": ["sh"]}
TOOLS = ("nvidia-smi", "lspci", "pvesh", "amd-smi", "rocm-smi", "xpu-smi")
MISSING = "exit 127\n"

NVIDIA_SMI = """\
case "$*" in
  *--query-gpu=index,uuid*) printf '%s\\n' '0, GPU-7f9c2b1e-3d44-4c5a-9a1b-0c2d3e4f5a6b, 00000000:01:00.0' ;;
  *--query-gpu=*) printf '%s\\n' '0, Quadro P2000, 5120, 6.1, 580.95.05' ;;
  -L) printf '%s\\n' 'GPU 0: Quadro P2000 (UUID: GPU-7f9c2b1e-3d44-4c5a-9a1b-0c2d3e4f5a6b)' ;;
esac
"""


def shell(name: str) -> list[str]:
    """The command of a shell; skips the test where the machine has none."""
    command = SHELLS[name]
    if not shutil.which(command[0]):
        pytest.skip(f"there is no {command[0]} on this machine")
    return command


def stubs(folder: Path, tools: Mapping[str, str]) -> Path:
    """A folder of programs for PATH: `tools` (name to the text of a shell script), all others of the makers missing."""
    folder.mkdir(exist_ok=True)
    for name in {*TOOLS, *tools}:
        program = folder / name
        program.write_text("#!/bin/sh\n" + tools.get(name, MISSING), "utf-8")
        program.chmod(0o755)
    return folder


def run(
    tmp_path: Path,
    tools: Mapping[str, str],
    shell_name: str = "sh",
    *,
    changes: Mapping[str, str] | None = None,
    seconds: float = 60,
) -> bytes:
    """What linux.sh prints on this machine, with these programs first on PATH and with `changes` of its text."""
    text = script("linux")
    for old, new in (changes or {}).items():
        assert old in text
        text = text.replace(old, new)
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    environment = {"PATH": f"{stubs(tmp_path / 'bin', tools)}:{os.environ['PATH']}", "LC_ALL": "de_DE.UTF-8"}
    done = subprocess.run(
        [*shell(shell_name), "-s"],
        input=text.encode(),
        capture_output=True,
        timeout=seconds,
        cwd=home,
        env={**environment, "HOME": str(home), "TMPDIR": str(home)},
        check=True,
    )
    assert list(home.iterdir()) == []
    return done.stdout


def captured(output: bytes) -> Capture:
    """The capture, which must be whole."""
    reading = parse(output)
    assert reading.value is not None, reading.problem
    return reading.value


def linux(**sections: str | Section) -> dict[str, Section]:
    """A capture of a small Linux machine without cards, with these sections changed (``_`` for ``-``)."""
    texts: dict[str, str | Section] = {
        "os": "linux\n",
        "hostname": "box1.example.org\n",
        "address": "192.0.2.1 via 10.0.0.1 dev eth0 src 10.0.0.7 uid 0\n",
        "container": Section("", 1),
        "meminfo": "MemTotal:       65769420 kB\n",
        "cpuinfo": CPUINFO,
        "lscpu": Section("", 127),
        "lsblk": '{"blockdevices": [{"name":"nvme0n1", "size":512110190592, "rota":false}]}\n',
        "lspci": Section("", 127),
        "sysfs-pci": BRIDGE,
        "iommu-groups": "",
        "nvidia-smi": Section("", 127),
    }
    texts.update({name.replace("_", "-"): value for name, value in sections.items()})
    return {name: Section(value) if isinstance(value, str) else value for name, value in texts.items()}


BRIDGE = "".join(
    f"/sys/bus/pci/devices/0000:00:00.0/{fact}\n" for fact in ("vendor:0x8086", "device:0x2f00", "class:0x060000")
)
"""What the script prints of a bus without a card: its first device (pci.ids: Xeon E7 v3/Xeon E5 v3/Core i7 DMI2)."""

CPUINFO = "".join(
    f"processor\t: {number}\nmodel name\t: Intel(R) Xeon(R) CPU E5-1650 v3 @ 3.50GHz\nphysical id\t: 0\n"
    f"siblings\t: 12\ncore id\t\t: {number % 6}\ncpu cores\t: 6\n\n"
    for number in range(12)
)
