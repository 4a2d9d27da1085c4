"""Platform and nodes expanded into guests: the one list that planner, checks and renderers read.

Every Proxmox node with cards gets one GPU VM with all of them, disabled ones too: a card's return changes no VM.
VM ids and addresses follow from the node's number or an explicit value, never from a counter.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from knaster.cards import drivers
from knaster.cards.types import slug
from knaster.cluster import Gpu, GpuVm, Node, Number, Platform, Replication, VmOverride, platform_place
from knaster.diagnostics import Place
from knaster.remembered import remembered
from knaster.units import mib

OPENTOFU = "opentofu"
"""The service, as `services` of a guest names it."""
_NOWHERE = Place("")


@dataclass(frozen=True, slots=True)
class Passthrough:
    """One card handed to a GPU VM: its slot (``hostpciN``) and the resource mapping that names it."""

    slot: int
    mapping: str
    gpu: Gpu


@dataclass(frozen=True, slots=True)
class Guest:
    """A VM or container. ``vmid`` and ``address`` are None where neither rule nor override gives one."""

    name: str
    kind: Literal["vm", "lxc"]
    node: str
    vmid: int | None
    address: str | None
    memory_mib: int
    cores: int
    disk_gib: int
    storage: str
    cards: tuple[Passthrough, ...] = ()
    services: tuple[str, ...] = ()
    replication: tuple[Replication, ...] = ()
    exists: bool = False
    template: str | None = None
    unprivileged: bool = True
    driver_generation: str | None = None
    place: Place = _NOWHERE

    @property
    def memory_gb(self) -> Number:
        """Memory in GiB."""
        whole, rest = divmod(self.memory_mib, 1024)
        return whole if not rest else self.memory_mib / 1024


def carriers(guests: Iterable[Guest]) -> frozenset[str]:
    """The guests that run OpenTofu: an apply that restarts one of them, run there, ends half way."""
    return frozenset(guest.name for guest in guests if OPENTOFU in guest.services)


@lru_cache(maxsize=1 << 16)
def node_number(name: str) -> int | None:
    """The trailing digits of a node's name: ``pve44`` is 44, ``pve-ada`` has none. At most nine digits count."""
    found = re.search(r"(?<![0-9])[0-9]{1,9}\Z", name)
    return int(found.group()) if found else None


def card_type(gpu: Gpu) -> str:
    """The type in a mapping's name: ``NVIDIA RTX 4000 Ada Generation`` is ``rtx4000ada``; nameless: the PCI id."""
    name = slug(gpu.name or "")
    if name:
        return name
    return gpu.pci.id.replace(":", "") if gpu.pci and gpu.pci.id else f"gpu{gpu.index}"


def by_pci_address(gpu: Gpu) -> tuple[int, str, int]:
    """Sort key: cards with a PCI address first, by address, then by index."""
    return (0, gpu.pci.address, gpu.index) if gpu.pci else (1, "", gpu.index)


def passthrough(node: Node) -> tuple[Passthrough, ...]:
    """All cards of a node in slot order (PCI address), twins numbered ``-2``, ``-3`` in that order."""
    seen: dict[str, int] = {}
    cards = []
    for slot, gpu in enumerate(sorted(node.gpus, key=by_pci_address)):
        kind = card_type(gpu)
        seen[kind] = seen.get(kind, 0) + 1
        twin = f"-{seen[kind]}" if seen[kind] > 1 else ""
        cards.append(Passthrough(slot, f"gpu-{kind}-{node.name.lower()}{twin}", gpu))
    return tuple(cards)


def expand(nodes: Iterable[Node], platform: Platform | None) -> tuple[Guest, ...]:
    """All guests of the fleet, sorted by name. Without a platform there are none."""
    if platform is None:
        return ()
    found = [_lxc(name, platform) for name in platform.guests]
    if platform.gpu_vm is not None:
        found += [
            _gpu_vm(node, platform, platform.gpu_vm) for node in nodes if node.platform == "proxmox" and node.gpus
        ]
    return tuple(sorted(found, key=lambda guest: (guest.name, guest.node)))


def gpu_vm_name(node: Node, template: GpuVm) -> str:
    """The GPU VM's name for a node."""
    return template.name.replace("{node}", node.name.lower())


def named_driver(node: str, template: GpuVm) -> str | None:
    """The driver generation that people name for a node's VM; None: its oldest card decides."""
    override = template.overrides.get(node)
    return (override.driver_generation if override else None) or template.driver_generation


def _driver(node: Node, platform: Platform, template: GpuVm) -> str | None:
    """What is named for the node's VM, else what its oldest card asks for; without NVIDIA cards it has none."""
    if not any(map(drivers.nvidia, node.gpus)):
        return None
    return named_driver(node.name, template) or drivers.generation(node.gpus, platform.drivers)


@remembered
def _gpu_vm(node: Node, platform: Platform, template: GpuVm) -> Guest:
    override = template.overrides.get(node.name, VmOverride())
    number = node_number(node.name)
    vmid, address = override.vmid, override.address
    if number is not None:
        vmid = template.vmid_base + number if vmid is None else vmid
        address = _offset(template.address_base, number) if address is None else address
    return Guest(
        name=gpu_vm_name(node, template),
        kind="vm",
        node=node.name,
        vmid=vmid,
        address=address,
        memory_mib=int(mib(template.memory_gb if override.memory_gb is None else override.memory_gb)),
        cores=override.cores or template.cores,
        disk_gib=override.disk_gb or template.disk_gb,
        storage=override.storage or template.storage,
        cards=passthrough(node),
        exists=override.exists,
        driver_generation=_driver(node, platform, template),
        place=platform_place("gpu_vm", "overrides", node.name) if node.name in template.overrides else node.place(),
    )


def _lxc(name: str, platform: Platform) -> Guest:
    lxc = platform.guests[name]
    return Guest(
        name=name,
        kind="lxc",
        node=lxc.node,
        vmid=lxc.vmid,
        address=lxc.address,
        memory_mib=int(mib(lxc.memory_gb)),
        cores=lxc.cores,
        disk_gib=lxc.disk_gb,
        storage=lxc.storage,
        services=lxc.services,
        replication=lxc.replication,
        exists=lxc.exists,
        template=lxc.template,
        unprivileged=lxc.unprivileged,
        place=platform_place("guests", name),
    )


def _offset(base: str, number: int) -> str | None:
    """The address `number` above `base`; None where that is no IPv4 address (a check reports it)."""
    start = _number_of(base)
    try:
        return None if start is None else str(ipaddress.IPv4Address(start + number))
    except ValueError:
        return None


@lru_cache(maxsize=64)
def _number_of(address: str) -> int | None:
    try:
        return int(ipaddress.IPv4Address(address))
    except ValueError:
        return None
