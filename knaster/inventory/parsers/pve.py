"""Proxmox VE's API: ``/nodes/{node}/hardware/pci``, ``/nodes/{node}/status`` and ``/nodes/{node}/disks/list`` as JSON.

Both forms are read: what ``pvesh get … --output-format json`` prints, and the API's answer with its ``data`` around.
No field tells which driver is bound to a device. Source: pve-common ``SysFSTools.pm`` and ``ProcFSTools.pm``,
pve-storage ``Diskmanage.pm``.
"""

from __future__ import annotations

from dataclasses import dataclass

from knaster.cards.pci_ids import split
from knaster.cluster import Disk
from knaster.inventory.parsers.jsontext import decode, objects
from knaster.inventory.parsers.pci_device import PciDevice, ids, subsystem
from knaster.inventory.parsers.values import address, checked_cpu, integer, token, whole, words
from knaster.inventory.reading import Problem, Reading, normalise

_ROTATIONAL = {"hdd": True, "ssd": False, "nvme": False}
_GB = 10**9

_Object = dict[str, object]


@dataclass(frozen=True, slots=True)
class PveStatus:
    """A node as its status tells it: usable memory in bytes, physical cores of all sockets, logical CPUs."""

    memory_bytes: int | None
    cpu_model: str | None
    cores: int | None
    threads: int | None


def hardware_pci(text: str) -> Reading[tuple[PciDevice, ...]]:
    """The PCI devices by address. Group -1 is no group; an entry with ``physfn`` is a virtual function."""
    items = _items(text, "hardware/pci")
    if isinstance(items, Problem):
        return Reading(problem=items)
    said: list[str] = []
    found: dict[str, PciDevice] = {}
    for number, item in enumerate(items):
        device = _device(item, said)
        if isinstance(device, str):
            return Reading(problem=Problem("malformed", f"hardware/pci[{number}]: {device}"))
        if found.setdefault(device.address, device) is not device:
            return Reading(problem=Problem("malformed", f"hardware/pci[{number}]: {device.address} comes twice"))
    return Reading(tuple(found[place] for place in sorted(found)), tuple(said))


def node_status(text: str) -> Reading[PveStatus]:
    """Memory and processor of a node; ``cores`` of the API is the sum over sockets, ``cpus`` counts threads."""
    status = _data(text)
    if isinstance(status, Problem):
        return Reading(problem=status)
    if not isinstance(status, dict):
        return Reading(problem=Problem("malformed", f"status is {token(status)}, not an object"))
    memory, cpu = status.get("memory"), status.get("cpuinfo")
    total = integer(memory.get("total")) if isinstance(memory, dict) else None
    known: _Object = cpu if isinstance(cpu, dict) else {}
    said = [] if total else ["memory_gb: Proxmox VE gives no memory.total"]
    for key, field in (("model", "cpu.model"), ("cores", "cpu.cores"), ("cpus", "cpu.threads")):
        if not (words(known.get(key)) if key == "model" else integer(known.get(key))):
            said.append(f"{field}: Proxmox VE gives {token(known[key]) if key in known else f'no cpuinfo.{key}'}")
    counts = integer(known.get("cores")) or None, integer(known.get("cpus")) or None
    reading = checked_cpu(words(known.get("model")), *counts, said, "Proxmox VE")
    cores, threads = (reading.value.cores, reading.value.threads) if reading.value else (None, None)
    return Reading(PveStatus(total or None, words(known.get("model")), cores, threads), reading.warnings)


def disks(text: str) -> Reading[tuple[Disk, ...]]:
    """The disks by name. The type ``hdd`` is rotational, ``ssd`` and ``nvme`` are not; for others ``rpm`` decides."""
    items = _items(text, "disks/list")
    if isinstance(items, Problem):
        return Reading(problem=items)
    said: list[str] = []
    found: dict[str, Disk] = {}
    for number, item in enumerate(items):
        path, size = words(item.get("devpath")), integer(item.get("size"))
        if not path or not path.startswith("/dev/") or size is None:
            wrong = f"disks/list[{number}]: devpath {token(item.get('devpath'))}, size {token(item.get('size'))}"
            return Reading(problem=Problem("malformed", wrong))
        name = path.removeprefix("/dev/")
        if size and "parent" not in item:  # a partition names its disk
            found[name] = Disk(name, whole(size, _GB), _rotational(item, name, said))
    return Reading(tuple(found[name] for name in sorted(found)), tuple(said))


def _rotational(item: _Object, name: str, said: list[str]) -> bool | None:
    kind, rpm = item.get("type"), integer(item.get("rpm"))
    if isinstance(kind, str) and kind in _ROTATIONAL:
        return _ROTATIONAL[kind]
    if rpm is not None:
        return rpm > 0
    said.append(f"disks[{name}].rotational: Proxmox VE gives type {token(kind)}, rpm {token(item.get('rpm'))}")
    return None


def _device(item: _Object, said: list[str]) -> PciDevice | str:
    """The device, or what is wrong with it."""
    place = address(item.get("id"))
    if not place:
        return f"id is {token(item.get('id'))}"
    known = ids(item)
    if isinstance(known, str):
        return f"{place}: {known}"
    group, given = integer(item.get("iommugroup")), item.get("iommugroup")
    if (group is None and given not in (None, -1, "-1")) or (group or 0) > 65535:
        said.append(f"{place}: iommu_group: Proxmox VE gives {token(given)}")
        group = None
    chip, name = split(words(item.get("device_name")) or "")
    return PciDevice(
        place,
        *known,
        vendor=words(item.get("vendor_name")),
        name=name,
        subsystem_id=subsystem(item),
        driver=None,
        iommu_group=group,
        virtual_function=bool(item.get("physfn")),
        chip=chip,
    )


def _items(text: str, what: str) -> tuple[_Object, ...] | Problem:
    data = _data(text)
    return data if isinstance(data, Problem) else objects(data, what)


def _data(text: str) -> object | Problem:
    """The JSON value, without the API's envelope."""
    decoded = decode(normalise(text))
    if decoded.problem:
        return decoded.problem
    value = decoded.value
    return value["data"] if isinstance(value, dict) and set(value) == {"data"} else value
