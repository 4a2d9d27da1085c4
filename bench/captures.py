"""Captures of any number of machines as linux.sh prints them: two sockets, four cards, a bus of twenty devices."""

from __future__ import annotations

from pathlib import Path

from bench.fleet import CARDS
from knaster.inventory.capture import Section, render

CPUS = 56


def captures(folder: Path, hosts: int) -> Path:
    """`folder`, with a capture of each of `hosts` machines."""
    for number in range(1, hosts + 1):
        text = render({name: Section(text) for name, text in _sections(number).items()})
        (folder / f"n{number:05}.capture").write_text(text, "utf-8")
    return folder


def _sections(number: int) -> dict[str, str]:
    cards = [CARDS[(number + index) % len(CARDS)] for index in range(4)]
    return {
        "os": "linux",
        "hostname": f"n{number:05}",
        "address": f"192.0.2.1 via 10.0.0.1 dev eth0 src 10.1.{number // 250}.{number % 250 + 1} uid 0",
        "meminfo": "MemTotal:       131890312 kB\nMemFree:        100000000 kB\n",
        "memory-blocks": "Memory block size: 134217728\nTotal online memory: 137438953472\n",
        "cpuinfo": "".join(map(_cpu, range(CPUS))),
        "lscpu": "CPU(s): 56\nOn-line CPU(s) list: 0-55\nModel name: Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz\n"
        "Thread(s) per core: 2\nCore(s) per socket: 14\nSocket(s): 2\n",
        "lsblk": '{"blockdevices": [{"name":"nvme0n1","size":1920383410176,"rota":false}]}',
        "lspci": "\n".join([*(_card(at, card[1]) for at, card in enumerate(cards)), *map(_bridge, range(16))]),
        "nvidia-smi": "".join(
            f"{at}, {name}, {mib}, {cc}, 580.95.05\n" for at, (name, _, _, mib, cc) in enumerate(cards)
        ),
        "nvidia-smi-identity": "".join(
            f"{at}, GPU-{number:08x}-0000-4000-8000-{at:012x}, 00000000:{at + 1:02X}:00.0\n" for at in range(4)
        ),
    }


def _cpu(number: int) -> str:
    return (
        f"processor\t: {number}\nmodel name\t: Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz\nphysical id\t: {number % 2}\n"
        f"siblings\t: 28\ncore id\t\t: {number // 4}\ncpu cores\t: 14\nflags\t\t: {'flag ' * 120}\n\n"
    )


def _card(index: int, pci: str) -> str:
    return (
        f"Slot:\t0000:{index + 1:02x}:00.0\nClass:\t3D controller [0302]\nVendor:\tNVIDIA Corporation [10de]\n"
        f"Device:\tDevice [{pci[5:]}]\nSVendor:\tNVIDIA Corporation [10de]\nSDevice:\tDevice [11b3]\n"
        f"Driver:\tnvidia\nIOMMUGroup:\t{index + 10}\n"
    )


def _bridge(number: int) -> str:
    return f"Slot:\t0000:80:{number:02x}.0\nClass:\tBridge [0680]\nVendor:\tIntel [8086]\nDevice:\tDevice [6f28]\n"
