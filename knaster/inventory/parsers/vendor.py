"""A card as the tools of AMD and Intel show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from knaster.inventory.parsers.values import integer, token
from knaster.inventory.reading import Problem, Reading

_LAST_INDEX = 255

Kind = Literal["dedicated", "unified"]


@dataclass(frozen=True, slots=True)
class VendorGpu:
    """One card. ``memory_mib`` is what the tool reports; on a ``unified`` one it is the part set aside at boot."""

    index: int
    name: str | None
    memory_mib: int | None
    kind: Kind = "dedicated"
    pci_address: str | None = None
    arch: str | None = None


def index_of(raw: object, place: int, tool: str, warnings: list[str]) -> int:
    """The tool's number of a card; what is none gives its place in the list, with a warning."""
    index = integer(raw)
    if index is not None and index <= _LAST_INDEX:
        return index
    warnings.append(f"gpus[{place}].index: {tool} printed {token(raw)}; its place in the list taken")
    return place


def missing(gpu: VendorGpu, tool: str, name: object, memory: object) -> tuple[str, ...]:
    """Warnings for what the card does not tell, with what the tool printed instead."""
    printed = {"name": (gpu.name, name), "memory_mib": (gpu.memory_mib, memory)}
    return tuple(
        f"gpus[{gpu.index}].{field}: {tool} printed {token(raw)}"
        for field, (value, raw) in printed.items()
        if value is None
    )


def cards(gpus: list[VendorGpu], warnings: list[str], tool: str) -> Reading[tuple[VendorGpu, ...]]:
    """The cards by index; two with one index are malformed."""
    if len({gpu.index for gpu in gpus}) != len(gpus):
        return Reading(problem=Problem("malformed", f"{tool}: two cards with the same index"))
    return Reading(tuple(sorted(gpus, key=lambda gpu: gpu.index)), tuple(warnings))
