"""What a GPU is, told by its PCI id alone: the way to VRAM and compute capability of a card without its driver.

The rows are data (``gpus.csv``, each with its source). Where one id is several products, the subsystem decides: a row
with ``*`` holds for every known subsystem without a row of its own, the row without subsystem when none is known.
Sources: pci.ids, the table of NVIDIA's open kernel modules, https://developer.nvidia.com/cuda/gpus, nvidia-smi logs.
"""

from __future__ import annotations

import csv
import pkgutil
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from knaster.cards.pci_ids import VENDORS

_SIZES = (1, 2, 3, 4, 5, 6, 8, 10, 11, 12, 16, 20, 24, 32, 40, 48, 64, 72, 80, 84, 94, 96)
_LARGE_SIZES = (128, 141, 144, 180, 186, 192, 256, 288)

_CHIPS: tuple[tuple[float, str], ...] = (
    (3.0, "GK104 GK106 GK107"),
    (3.5, "GK110 GK180 GK208"),
    (3.7, "GK210"),
    (5.0, "GM107 GM108"),
    (5.2, "GM200 GM204 GM206"),
    (6.0, "GP100"),
    (6.1, "GP102 GP104 GP106 GP107 GP108"),
    (7.0, "GV100"),
    (7.2, "GV10B"),
    (7.5, "TU102 TU104 TU106 TU116 TU117"),
    (8.0, "GA100"),
    (8.6, "GA102 GA103 GA104 GA106 GA107"),
    (8.7, "GA10B"),
    (8.9, "AD102 AD103 AD104 AD106 AD107"),
    (9.0, "GH100"),
    (10.0, "GB100 GB102"),
    (10.3, "GB110"),
    (11.0, "GB10B"),
    (12.0, "GB202 GB203 GB205 GB206 GB207"),
    (12.1, "GB20B GB10"),
)
"""Chip code to compute capability. GB10 (of GB20B), GB10B (Thor) and GB100 are three chips."""

_COMPUTE_CAPS = {chip: capability for capability, chips in _CHIPS for chip in chips.split()}
_CHIP = re.compile(r"([A-Z]{2}[0-9]{2,3}B?)(?:-?[A-Z]{1,3}[0-9]?)?")


@dataclass(frozen=True, slots=True)
class Row:
    """One product. ``memory_gb`` is nominal; None with a ``note`` where the id does not tell, or memory is shared."""

    id: str
    subsystem_id: str | None
    name: str
    chip: str
    memory_gb: int | None
    memory_kind: Literal["dedicated", "unified"]
    compute_cap: float | None
    note: str | None
    source: str


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a card by its PCI id and the words of a pci.ids; unknown is None with a warning."""

    name: str
    memory_gb: int | None
    memory_kind: Literal["dedicated", "unified"]
    compute_cap: float | None
    warnings: tuple[str, ...] = ()


def lookup(id: str, subsystem_id: str | None = None) -> Row | None:
    """The row of ``vendor:device``, the one of its subsystem if there is one; None for an id that is not in the table.

    Board makers' cards carry their own subsystem ids, so one without a row falls back to the row of the device.
    """
    rows, id = table(), id.lower()
    if subsystem_id:
        row = rows.get((id, subsystem_id.lower())) or rows.get((id, "*"))
        if row:
            return row
    return rows.get((id, None))


def describe(
    id: str, subsystem_id: str | None = None, *, name: str | None = None, chip: str | None = None, where: str = ""
) -> Known:
    """Name, memory and compute capability: of the table, else of what a pci.ids says (`name`, `chip`).

    `where` names the card in the warnings (``gpus[0]``). A card that nothing knows is called ``NVIDIA Device 3fff``.
    A compute capability is NVIDIA's; for other makers it is None without a warning.
    """
    row, vendor = lookup(id, subsystem_id), id.lower().partition(":")[0]
    lead, said = f"{where}." if where else "", []
    memory, unified = (row.memory_gb, row.memory_kind == "unified") if row else (None, False)
    if memory is None and not unified:
        said.append(f"{lead}memory_gb: {id}: {row.note if row and row.note else 'the table does not have this id'}")
    capability = row.compute_cap if row else compute_cap_of(chip or "") if vendor == "10de" else None
    if vendor == "10de" and capability is None:
        said.append(f"{lead}compute_cap: {id}: {f'chip {chip} is not known' if chip else 'its chip is not known'}")
    called = row.name if row else name
    if called is None:
        called = f"{VENDORS[vendor][1] if vendor in VENDORS else vendor} Device {id.rpartition(':')[2]}"
        said.append(f"{lead}name: {id}: no name is known")
    return Known(called, memory, "unified" if unified else "dedicated", capability, tuple(said))


def compute_cap_of(chip: str) -> float | None:
    """The compute capability of a chip code, the first word of NVIDIA's names in pci.ids; None for what is not known.

    Letters for its use come off first: ``GM204GL``, ``AD104GLM``, ``TU106M``, ``GK208BM``, ``GP107-A``.
    """
    code = chip.strip().split(" ", 1)[0][:20]
    match = _CHIP.fullmatch(code)
    if not match:
        return None
    return _COMPUTE_CAPS.get(code) or _COMPUTE_CAPS.get(match[1]) or _COMPUTE_CAPS.get(match[1].removesuffix("B"))


def nominal_gb(mib: int) -> int:
    """The GB that a card of `mib` MiB is sold with: ECC and reserved memory make the driver's number smaller.

    The smallest usual size that is at most 0.5 % too small, if it is at most 8 % too large (a card with ECC on GDDR
    loses 1/16); else the GiB rounded up (modded cards, MIG slices). Exact arithmetic; at least 1.
    """
    for size in (*_SIZES, *_LARGE_SIZES):
        if mib * 1000 <= 1005 * 1024 * size:
            return size if mib * 100 >= 92 * 1024 * size else max(1, -(-mib // 1024))
    return -(-mib // 1024)


@cache
def table() -> Mapping[tuple[str, str | None], Row]:
    """All rows by id and subsystem id (None: not known; ``*``: any other)."""
    text = (pkgutil.get_data("knaster.cards", "gpus.csv") or b"").decode("utf-8")
    rows = (_row(cells) for cells in csv.DictReader(text.splitlines(), strict=True))
    return {(row.id, row.subsystem_id): row for row in rows}


def _row(cells: Mapping[str, str]) -> Row:
    return Row(
        id=cells["id"],
        subsystem_id=cells["subsystem_id"] or None,
        name=cells["name"],
        chip=cells["chip"],
        memory_gb=int(cells["memory_gb"]) if cells["memory_gb"] else None,
        memory_kind="unified" if cells["memory_kind"] == "unified" else "dedicated",
        compute_cap=float(cells["compute_cap"]) if cells["compute_cap"] else None,
        note=cells["note"] or None,
        source=cells["source"],
    )
