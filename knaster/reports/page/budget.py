"""The RAM of a machine as a bar: what the host keeps, what guests or roles take, what is left. MiB throughout."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from knaster.cluster import Node, Platform, Role
from knaster.guests import Guest
from knaster.placement.result import Assignment
from knaster.units import MIB_PER_GIB, Exact, exact, mib, show

Use = Literal["reserve", "vm", "lxc", "role"]


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of the bar, in MiB and as percent of its length."""

    use: Use
    label: str
    size: Exact
    start: str
    width: str

    @property
    def gb(self) -> str:
        """Its size in GiB."""
        return gb(self.size)


@dataclass(frozen=True, slots=True)
class Budget:
    """``total`` is None where nobody knows the machine's memory; then there is no bar. ``free`` may be below 0."""

    total: Exact | None
    parts: tuple[Part, ...]
    used: Exact
    free: Exact | None

    @property
    def left(self) -> str:
        """What is free, or missing, in GiB."""
        free = self.free or 0
        return gb(max(free, -free))

    @property
    def sentence(self) -> str:
        """``28 of 32 GB used, 4 GB free``."""
        if self.total is None or self.free is None:
            return f"{size(self.used)} used, the memory of the machine is not known"
        rest = f"{size(self.free)} free" if self.free >= 0 else f"{size(-self.free)} more than there is"
        return f"{gb(self.used)} of {size(self.total)} used, {rest}"


def budget(
    node: Node,
    guests: Iterable[Guest],
    placed: Iterable[tuple[Assignment, Role]],
    platform: Platform | None,
) -> Budget:
    """On Proxmox guests share what there is (passthrough pins all memory of a VM); elsewhere roles do."""
    uses: list[tuple[Use, str, Exact]] = []
    if platform and platform.host_reserve_gb:
        uses.append(("reserve", "the host itself", mib(platform.host_reserve_gb)))
    if node.platform == "proxmox" and platform is not None:
        uses += [(guest.kind, guest.name, guest.memory_mib) for guest in guests]
    else:
        uses += [("role", role.name, mib(role.needs.min_memory_gb)) for _, role in placed if role.needs.min_memory_gb]
    total = None if node.memory_gb is None else mib(node.memory_gb)
    used = sum((item for _, _, item in uses), exact(0))
    return Budget(total, tuple(_parts(uses, total)), used, None if total is None else total - used)


def _parts(uses: Iterable[tuple[Use, str, Exact]], total: Exact | None) -> Iterable[Part]:
    listed = tuple(uses)
    length = max(sum((item for _, _, item in listed), exact(0)), total or 0)
    at: Exact = 0
    for use, label, item in listed:
        yield Part(use, label, item, _percent(at, length), _percent(item, length))
        at += item


def _percent(part: Exact, whole: Exact) -> str:
    return f"{show(float(part) * 100 / float(whole))}%" if whole else "0%"


def gb(mebibytes: Exact) -> str:
    """MiB as a number of GiB."""
    return show(float(mebibytes) / MIB_PER_GIB)


def size(mebibytes: Exact) -> str:
    """MiB as ``12 GB``: GiB, by the name that people use in the inputs."""
    return f"{gb(mebibytes)} GB"
