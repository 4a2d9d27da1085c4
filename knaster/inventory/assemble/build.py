"""One card out of what is known of it: a tool's row, its place on the bus, the table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from knaster.cards.pci_ids import VENDORS
from knaster.cards.table import Known, describe, nominal_gb
from knaster.cluster import Gpu, Number, Pci
from knaster.inventory.assemble.pci import Seen
from knaster.inventory.parsers.nvidia_smi import SmiGpu
from knaster.inventory.parsers.vendor import VendorGpu

_FIELD = re.compile(r"gpus\[([0-9]+)\]\.(name|memory_gb|memory_mib|compute_cap|driver|uuid): ")
_CARVE_OUT_MIB = 1024
"""What firmware sets aside for graphics inside a processor; no AMD card of its own has that little."""


@dataclass(frozen=True, slots=True)
class Source:
    """What a maker's tool reports of one card."""

    name: str | None
    memory_mib: int | None
    compute_cap: float | None
    driver: str | None
    unified: bool

    @classmethod
    def of_smi(cls, row: SmiGpu) -> Source:
        """A row of nvidia-smi."""
        return cls(row.name, row.memory_mib, row.compute_cap, row.driver, row.unified)

    @classmethod
    def of_tool(cls, card: VendorGpu) -> Source:
        """A card of AMD's or Intel's tool."""
        return cls(card.name, card.memory_mib, None, None, card.kind == "unified")


@dataclass(frozen=True, slots=True)
class Doubts:
    """The card may be one of those that a tool reports. ``memory``: the tool tells other sizes than the table."""

    tool: str
    memory: bool


@dataclass(frozen=True, slots=True)
class Entry:
    """One card and who knows of it. ``address``: as the tool gives it, for a card that the bus does not show."""

    index: int
    maker: str
    seen: Seen | None = None
    source: Source | None = None
    uuid: str | None = None
    address: str | None = None
    doubts: Doubts | None = None


def gpu_of(entry: Entry) -> tuple[Gpu, tuple[str, ...]]:
    """The card and what is not known of it."""
    seen, where = entry.seen, f"gpus[{entry.index}]"
    known = describe(seen.id, seen.subsystem_id, name=seen.name, chip=seen.chip, where=where) if seen else None
    maker = entry.maker or (VENDORS[seen.vendor_id][0] if seen and seen.vendor_id in VENDORS else "")
    place = Pci(seen.address, seen.id, seen.subsystem_id, seen.iommu_group) if seen and seen.address else None
    if place is None and entry.address:
        place = Pci(entry.address, seen.id if seen else None)
    source = entry.source
    unified, mib, memory = _memory(source, seen, known)
    said = []
    if entry.doubts and entry.doubts.memory and memory is not None:
        said.append(
            f"{where}.memory_gb: {entry.doubts.tool} tells of cards with other memory than the {memory} GB here"
        )
        memory = None
    gpu = Gpu(
        index=entry.index,
        name=(source.name if source else None) or (known.name if known else None),
        memory_gb=memory,
        compute_cap=(source.compute_cap if source else None) or (known.compute_cap if known else None),
        driver=source.driver if source else (seen.version if seen else None),
        memory_mib=mib,
        vendor=maker or None,
        uuid=entry.uuid,
        pci=place,
        bound_driver=seen.bound_driver if seen else None,
        memory_kind="unified" if unified else "dedicated",
    )
    return gpu, (*said, *_warnings(gpu, known, reported=source is not None))


def _memory(source: Source | None, seen: Seen | None, known: Known | None) -> tuple[bool, int | None, Number | None]:
    """Unified or not, MiB as reported, nominal GB. A token where a number should be is not covered up by the table;
    memory that is the machine's own is no memory of the card."""
    table = known.memory_kind if known else "dedicated"
    if source is not None:
        unified, mib = source.unified or table == "unified", source.memory_mib
        return unified, mib, None if unified or mib is None else nominal_gb(mib)
    mib = seen.memory_mib if seen else None
    carved = mib is not None and mib <= _CARVE_OUT_MIB and seen is not None and seen.vendor_id == "1002"
    if table == "unified" or carved:
        return True, mib, None
    return False, mib, nominal_gb(mib) if mib else (known.memory_gb if known else None)


def _warnings(gpu: Gpu, known: Known | None, *, reported: bool) -> tuple[str, ...]:
    """A reason for each fact that is null; for a card with a tool the tool's own words come from its parser."""
    where = f"gpus[{gpu.index}]"
    said = [] if known is None else [one for one in known.warnings if not (reported and ".memory_gb:" in one)]
    if gpu.vendor == "nvidia" and gpu.compute_cap is None and not any(".compute_cap:" in one for one in said):
        said.append(f"{where}.compute_cap: the driver does not tell, and without a PCI id no table does")
    return tuple(said)


def settled(cards: Sequence[Gpu], warnings: Sequence[str]) -> tuple[str, ...]:
    """The warnings without those about a fact that another source has given after all."""
    by_index = {card.index: card for card in cards}
    kept: list[str] = []
    for said in warnings:
        match: re.Match[str] | None = _FIELD.match(said)
        card = by_index.get(int(match[1])) if match else None
        if match is None or card is None or getattr(card, match[2]) is None:
            kept.append(said)
    return tuple(kept)
