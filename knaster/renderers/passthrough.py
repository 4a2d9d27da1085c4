"""Resource mappings and PCI slots, as both ``proxmox.yaml`` and the tfvars name them."""

from __future__ import annotations

import re
from functools import lru_cache

from knaster.cluster import Gpu
from knaster.guests import Guest
from knaster.remembered import remembered
from knaster.renderers.known import Data


def mapping(gpu: Gpu) -> Data | None:
    """What Proxmox must know to start a VM with this card; None while a fact is unknown (a check reports it).

    Proxmox compares id, subsystem id and IOMMU group with sysfs at every start, as text: so all of them, in lower case.
    """
    pci = gpu.pci
    if pci is None or pci.id is None or pci.subsystem_id is None or not _mappable(gpu):
        return None
    return {
        "comment": comment(gpu.name or ""),
        "id": pci.id.lower(),
        "subsystem_id": pci.subsystem_id.lower(),
        "path": whole_card(pci.address),
        "iommu_group": pci.iommu_group,
    }


def _mappable(gpu: Gpu) -> bool:
    """Whether all is known that a mapping needs."""
    pci = gpu.pci
    return pci is not None and None not in (pci.id, pci.subsystem_id, pci.iommu_group)


@lru_cache(maxsize=1024)
def comment(text: str) -> str:
    """What Proxmox returns unchanged: printable ASCII without ``,``, ``=`` and ``%``, at most 128 characters."""
    return " ".join(re.sub(r"[^ -~]|[,=%]", " ", text).split())[:128].strip()


def whole_card(address: str) -> str:
    """``0000:01:00.0`` as ``0000:01:00``: without its function a path names the whole card, audio included.

    The facts of such a mapping are those of function 0, so any other function keeps its number.
    """
    return address.lower().removesuffix(".0")


@remembered
def mappings(guest: Guest) -> list[tuple[str, Data]]:
    """Name and facts of the mapping of each card of a VM, in slot order."""
    return [(card.mapping, facts) for card in guest.cards if (facts := mapping(card.gpu)) is not None]


@remembered
def hostpci(guest: Guest) -> list[Data]:
    """The guest's cards in slot order, every default written out: the provider sends 0 for a ``rombar`` left out.

    A card without mapping is left out, the others keep their slots.
    """
    return [
        {"device": f"hostpci{card.slot}", "mapping": card.mapping, "pcie": True, "rombar": True, "xvga": False}
        for card in guest.cards
        if _mappable(card.gpu)
    ]
