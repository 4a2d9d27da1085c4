"""One machine and its parts: facts that were collected or assumed, and the policy that people set.

Units: ``memory_gb`` is GiB, ``memory_mib`` MiB, disk ``size_gb`` 10^9 bytes (as makers count). A compute capability is
the decimal as NVIDIA writes it (``8.9``). ``None``: not known.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from knaster.diagnostics import Place

Number = int | float
State = Literal["active", "cordoned", "down"]


@dataclass(frozen=True, slots=True)
class Pci:
    """PCI facts of a card, lower case as sysfs prints them; ``subsystem_id`` is ``vendor:device``."""

    address: str
    id: str | None = None
    subsystem_id: str | None = None
    iommu_group: int | None = None


@dataclass(frozen=True, slots=True)
class Gpu:
    """One card. ``position`` is its place in the file's list; ``index`` is the driver's number."""

    index: int
    name: str | None = None
    memory_gb: Number | None = None
    compute_cap: Number | None = None
    driver: str | None = None
    memory_mib: int | None = None
    vendor: str | None = None
    uuid: str | None = None
    pci: Pci | None = None
    bound_driver: str | None = None
    memory_kind: Literal["dedicated", "unified"] = "dedicated"
    disabled: bool = False
    reason: str | None = None
    position: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Cpu:
    """Processor facts: physical cores and online threads."""

    model: str | None
    cores: int | None
    threads: int | None


@dataclass(frozen=True, slots=True)
class Disk:
    """One real disk; ``size_gb`` in 10^9 bytes."""

    name: str
    size_gb: Number | None
    rotational: bool | None


@dataclass(frozen=True, slots=True)
class Node:
    """One machine: facts (collected or assumed) and the policy that people set. ``gpus`` are sorted by index."""

    name: str
    cpu: Cpu
    memory_gb: Number | None
    disks: tuple[Disk, ...] = ()
    gpus: tuple[Gpu, ...] = ()
    os: Literal["linux", "windows"] = "linux"
    platform: Literal["proxmox", "workstation", "bare"] = "bare"
    address: str | None = None
    fabric: str | None = None
    source: Literal["collected", "assumed"] = "collected"
    warnings: tuple[str, ...] = ()
    cpu_roles: bool = True
    groups: tuple[str, ...] = ()
    state: State = "active"
    reason: str | None = None
    file: str = ""

    def place(self, *route: str | int, on: Literal["key", "value"] = "value") -> Place:
        """A place in this node's file."""
        return Place(self.file, route, on)

    @property
    def role_os(self) -> Literal["linux", "windows"]:
        """The OS that roles see: inside a GPU VM or LXC of a Proxmox node it is linux (design: rule 2)."""
        return "linux" if self.platform == "proxmox" else self.os
