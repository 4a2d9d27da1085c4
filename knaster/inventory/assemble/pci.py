"""Which cards the machine holds, told by its bus alone: lspci, ``/sys`` and Proxmox VE together, or Windows' list."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

from knaster.inventory.assemble.sources import ask, first, reasons
from knaster.inventory.assemble.system import os_of
from knaster.inventory.capture import Capture, Section
from knaster.inventory.parsers import lspci, pve, sysfs, windows
from knaster.inventory.parsers.pci_device import PciDevice, gpus
from knaster.inventory.parsers.windows_gpu import Controller
from knaster.inventory.reading import Problem, Reading

Devices = Reading[tuple[PciDevice, ...]]

_INTEL_INSIDE = "0000:00:02."
_INTEL_NAME = re.compile(r"\b(?:U?HD|Iris)\b")
_APU = re.compile(
    r"Raven|Picasso|Renoir|Lucienne|Cezanne|Barcelo|Van ?Gogh|Rembrandt|Mendocino|Raphael|Dragon Range|Phoenix|"
    r"Hawk Point|HawkPoint|Strix|Krackan|Granite Ridge|Radeon\(TM\) Graphics",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Seen:
    """One card on the bus. ``version`` is Windows' driver version, ``memory_mib`` what amdgpu or Windows tell."""

    id: str
    address: str | None = None
    subsystem_id: str | None = None
    name: str | None = None
    chip: str | None = None
    bound_driver: str | None = None
    iommu_group: int | None = None
    version: str | None = None
    memory_mib: int | None = None

    @property
    def vendor_id(self) -> str:
        """The first half of ``id``."""
        return self.id[:4]

    @property
    def inside(self) -> bool:
        """Graphics inside a processor, not set aside for a guest (vfio-pci).

        It has no memory of its own, and handing it to a VM takes the screen of the host away.
        """
        if self.bound_driver == "vfio-pci":
            return False
        if self.vendor_id == "8086":
            return (self.address or "").startswith(_INTEL_INSIDE) or bool(_INTEL_NAME.search(self.name or ""))
        return self.vendor_id == "1002" and bool(_APU.search(f"{self.chip} {self.name}"))


def cards(capture: Capture) -> Reading[tuple[Seen, ...]]:
    """The cards by address. An empty value means that a source shows devices and no card: that is a fact.

    Problem ``no-source``: nothing tells what is on the bus. A bus without any device is no proof of anything.
    """
    return _windows(capture) if os_of(capture) == "windows" else _linux(capture)


def _linux(capture: Capture) -> Reading[tuple[Seen, ...]]:
    readings: list[Devices] = [ask(capture, source) for source in (_LSPCI, _SYSFS, _PVE)]
    known = [reading.value for reading in readings if reading.value is not None]
    if not known:
        return Reading(problem=Problem("no-source", reasons([one.problem for one in readings if one.problem])))
    groups = sysfs.groups(capture.get("iommu-groups", Section()).text)
    group_of = {address: group for group, members in groups.items() for address in members}
    memory = sysfs.vram_mib(capture.get("sysfs-pci", Section()).text)
    found = [_seen(device, group_of, memory) for device in gpus(_merged(known))]
    addresses = tuple(f"{card.address}:" for card in found)
    said = [said for reading in readings for said in reading.warnings if said.startswith(addresses)]
    return Reading(tuple(found), tuple(dict.fromkeys(said)))


def _lspci(section: Section) -> Devices:
    reading = lspci.parse(section.text)
    if section.status and not reading.value:
        return Reading(problem=reading.problem or Problem("failed", f"lspci ended with status {section.status}"))
    return _some(reading, "lspci")


def _sysfs(section: Section) -> Devices:
    if section.status:
        return Reading(problem=Problem("failed", "sysfs-pci: there is no /sys/bus"))
    return _some(sysfs.parse(section.text), "sysfs-pci")


def _pve(section: Section) -> Devices:
    if section.status:
        return Reading(problem=Problem("failed", f"pve-pci: pvesh ended with status {section.status}"))
    return _some(pve.hardware_pci(section.text), "pve-pci")


def _some(reading: Devices, source: str) -> Devices:
    """Every machine with a bus has a device on it: where none is shown, the cards may be hidden as well."""
    if reading.value == ():
        return Reading(problem=Problem("no-device", f"{source}: it shows no device at all, which is no proof"))
    return reading


_LSPCI, _SYSFS, _PVE = ("lspci", _lspci), ("sysfs-pci", _sysfs), ("pve-pci", _pve)


def _merged(sources: Iterable[tuple[PciDevice, ...]]) -> Iterable[PciDevice]:
    """Each device once; a fact comes from the first source that knows it, a virtual function is one to any."""
    found: dict[str, PciDevice] = {}
    for device in (device for devices in sources for device in devices):
        known = found.setdefault(device.address, device)
        if known is not device:
            virtual = known.virtual_function or device.virtual_function
            missing = {
                field.name: getattr(device, field.name) for field in fields(known) if getattr(known, field.name) is None
            }
            found[device.address] = replace(known, **{**missing, "virtual_function": virtual})
    return found.values()


def _seen(device: PciDevice, group_of: dict[str, int], memory: dict[str, int]) -> Seen:
    group = group_of.get(device.address) if device.iommu_group is None else device.iommu_group
    return Seen(
        id=device.id,
        address=device.address,
        subsystem_id=device.subsystem_id,
        name=device.name,
        chip=device.chip,
        bound_driver=device.driver,
        iommu_group=group,
        memory_mib=memory.get(device.address),
    )


def _windows(capture: Capture) -> Reading[tuple[Seen, ...]]:
    reading = first(capture, (("video", _video),))
    if reading.value is None:
        return Reading(problem=reading.problem)
    found = sorted(map(_controlled, reading.value), key=lambda card: (card.address or "~", card.id))
    return Reading(tuple(found), reading.warnings)


def _video(section: Section) -> Reading[tuple[Controller, ...]]:
    """Windows lists what it draws with; where it lists nothing at all, it was not asked in earnest."""
    reading = windows.controllers(section.text)
    if reading.value == () and any(said.endswith("has no instance") for said in reading.warnings):
        return Reading(problem=Problem("no-device", "video: it shows no device at all, which is no proof"))
    return reading


def _controlled(card: Controller) -> Seen:
    return Seen(
        id=card.id,
        address=card.address,
        subsystem_id=card.subsystem_id,
        name=card.name,
        version=card.driver,
        memory_mib=card.memory_mib,
    )
