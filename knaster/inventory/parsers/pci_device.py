"""A PCI device as lspci, sysfs and Proxmox VE all know it, and which devices are GPUs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from knaster.cards.pci_ids import VENDORS
from knaster.inventory.parsers.values import token

_ID = re.compile(r"(?:0x)?([0-9a-f]{4})", re.IGNORECASE)
_CLASS = re.compile(r"(?:0x)?([0-9a-f]{4})[0-9a-f]{2}", re.IGNORECASE)

_CLASSES = frozenset({"0300", "0302", "0380", "1200"})
"""VGA, 3D, display, and processing accelerators (Instinct). Audio, USB, bridges and NVSwitches are others."""


@dataclass(frozen=True, slots=True)
class PciDevice:
    """One function of a device; ids are hexadecimal in lower case, ``class_id`` without the interface (``0300``).

    ``name`` is the product (``GeForce RTX 3090``), ``chip`` what the database puts before it (``GA102``); both are None
    where the database of that system does not know the id. ``driver`` is the one that is bound. ``virtual_function``:
    a part of another device (SR-IOV) as far as the source can tell.
    """

    address: str
    class_id: str
    vendor_id: str
    device_id: str
    vendor: str | None
    name: str | None
    subsystem_id: str | None
    driver: str | None
    iommu_group: int | None
    virtual_function: bool = False
    chip: str | None = None
    numa_node: int | None = None

    @property
    def id(self) -> str:
        """``vendor:device``, such as ``10de:1c30``."""
        return f"{self.vendor_id}:{self.device_id}"


def gpus(devices: Iterable[PciDevice]) -> tuple[PciDevice, ...]:
    """The GPUs of NVIDIA, AMD and Intel in order of their addresses, which is the order of nvidia-smi.

    Graphics of a board controller (ASPEED, Matrox) or of a hypervisor, virtual functions, and Intel's accelerators of
    class 1200 (NPUs, FPGAs) are none.
    """
    return tuple(sorted(filter(_is_gpu, devices), key=_place))


def ids(attributes: Mapping[str, object]) -> tuple[str, str, str] | str:
    """Class, vendor and device id, from ``class`` ``0x030000``, ``vendor`` ``0x10de`` and so on; else what is wrong."""
    found = {}
    for key, form in (("class", _CLASS), ("vendor", _ID), ("device", _ID)):
        match = form.fullmatch(str(attributes.get(key, ""))[:20])
        if not match:
            return f"{key} is {token(attributes.get(key))}"
        found[key] = match[1].lower()
    return found["class"], found["vendor"], found["device"]


def subsystem(attributes: Mapping[str, object]) -> str | None:
    """``vendor:device`` of ``subsystem_vendor`` and ``subsystem_device``; None when one is missing."""
    parts = [_ID.fullmatch(str(attributes.get(f"subsystem_{key}", ""))[:20]) for key in ("vendor", "device")]
    found = [part[1].lower() for part in parts if part]
    return ":".join(found) if len(found) == 2 else None


def _is_gpu(device: PciDevice) -> bool:
    known = device.vendor_id in VENDORS and device.class_id in _CLASSES and not device.virtual_function
    return known and (device.vendor_id, device.class_id) != ("8086", "1200")


def _place(device: PciDevice) -> tuple[int, str]:
    domain, _, rest = device.address.partition(":")
    return int(domain, 16), rest
