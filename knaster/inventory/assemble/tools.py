"""What the makers' own tools say: nvidia-smi with its fallbacks, amd-smi or rocm-smi, xpu-smi."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from knaster.inventory.assemble.sources import Source, ask, first
from knaster.inventory.capture import Capture
from knaster.inventory.parsers import amd, intel, nvidia_smi
from knaster.inventory.parsers.nvidia_smi import SmiGpu, SmiIdentity
from knaster.inventory.parsers.vendor import VendorGpu
from knaster.inventory.reading import Problem, Reading

Maker = Literal["amd", "intel"]

_ONE_CARD = re.compile(r"nvidia-smi-gpu-([0-9]{1,3})")


def nvidia(capture: Capture) -> Reading[tuple[SmiGpu, ...]]:
    """The rows of nvidia-smi by index: of the query; of the one without ``compute_cap`` where the driver does not know
    the field; of one query per card where a lost card hides the others. Causes as in `nvidia_smi.query`."""
    reading = _query(capture, "nvidia-smi", compute_cap=True)
    compute_cap = reading.problem is None or reading.problem.cause != "unsupported-field"
    if not compute_cap and "nvidia-smi-4" in capture:
        reading = _query(capture, "nvidia-smi-4", compute_cap=False)
    if reading.problem is None:
        return reading
    return _one_by_one(capture, reading.problem, compute_cap=compute_cap)


def _query(capture: Capture, name: str, *, compute_cap: bool) -> Reading[tuple[SmiGpu, ...]]:
    return ask(capture, (name, lambda section: nvidia_smi.query(section.text, section.status, compute_cap=compute_cap)))


def _one_by_one(capture: Capture, problem: Problem, *, compute_cap: bool) -> Reading[tuple[SmiGpu, ...]]:
    rows: dict[int, SmiGpu] = {}
    warnings = [problem.message]
    numbers = sorted(int(match[1]) for name in capture if (match := _ONE_CARD.fullmatch(name)))
    for number in numbers:
        reading = _query(capture, f"nvidia-smi-gpu-{number}", compute_cap=compute_cap)
        for row in reading.value or ():
            rows.setdefault(row.index, row)
        warnings += reading.warnings
        if reading.problem is not None:
            warnings.append(f"gpus[{number}]: {reading.problem.message}")
    if not rows:
        return Reading(problem=problem)
    return Reading(tuple(rows[index] for index in sorted(rows)), tuple(warnings))


def identities(capture: Capture) -> dict[int, SmiIdentity]:
    """UUID and PCI address by index, as far as nvidia-smi tells them; its list knows the UUIDs too."""
    listed = ask(capture, ("nvidia-smi-list", lambda section: nvidia_smi.listing(section.text, section.status)))
    known = ask(capture, ("nvidia-smi-identity", lambda section: nvidia_smi.identity(section.text, section.status)))
    found = {card.index: SmiIdentity(card.index, card.uuid, None) for card in listed.value or ()}
    return found | {card.index: card for card in known.value or ()}


@dataclass(frozen=True, slots=True)
class ToolCards:
    """The cards that one maker's tool shows, and what it warns of."""

    maker: Maker
    cards: tuple[VendorGpu, ...]
    warnings: tuple[str, ...]


def others(capture: Capture) -> tuple[ToolCards, ...]:
    """AMD's and Intel's cards; a tool that is missing or fails shows none, the bus still does."""
    found = ((maker, first(capture, sources)) for maker, sources in _OTHERS)
    return tuple(ToolCards(maker, reading.value, reading.warnings) for maker, reading in found if reading.value)


_AMD: tuple[Source[tuple[VendorGpu, ...]], ...] = (
    ("amd-smi", lambda section: amd.amd_smi(section.text)),
    ("rocm-smi", lambda section: amd.rocm_smi(section.text)),
)
_INTEL: tuple[Source[tuple[VendorGpu, ...]], ...] = (("xpu-smi", lambda section: intel.xpu_smi(section.text)),)
_OTHERS: tuple[tuple[Maker, tuple[Source[tuple[VendorGpu, ...]], ...]], ...] = (("amd", _AMD), ("intel", _INTEL))
