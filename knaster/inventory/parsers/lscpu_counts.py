"""Counts out of lscpu's labels: lists of CPUs, and cores of machines with one or several types of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import prod

from knaster.inventory.parsers.values import integer

_PART = re.compile(r"([0-9]{1,6})(?:-([0-9]{1,6})(?::([1-9][0-9]{0,5}))?)?")
_MASK = re.compile(r"(?:0x)?([0-9a-fA-F,]{1,4096})")
_TOPOLOGY = frozenset(
    {
        "thread(s) per core",
        "core(s) per socket",
        "core(s) per cluster",
        "socket(s)",
        "cluster(s)",
        "socket(s) per book",
        "book(s)",
        "book(s) per drawer",
        "drawer(s)",
    }
)
_PRODUCTS = (
    ("core(s) per cluster", "cluster(s)"),
    ("core(s) per socket", "socket(s)"),
    ("core(s) per socket", "socket(s) per book", "book(s)"),
    ("core(s) per socket", "socket(s) per book", "book(s) per drawer", "drawer(s)"),
    ("core(s) per socket", "cluster(s)"),
    ("core(s) per cluster", "socket(s)"),
)
"""Ways to the cores of one type of CPU; the first whose numbers are all known counts."""

Block = dict[str, int | None]


def list_size(text: str) -> int | None:
    """How many CPUs a kernel list names: ``0-5,8`` is 7, ``0-6:2`` is 4. ``None`` when it is none."""
    total = 0
    for part in text.replace(" ", "").split(","):
        match = _PART.fullmatch(part)
        if not match:
            return None
        first, last, step = int(match[1]), int(match[2] or match[1]), int(match[3] or 1)
        if last < first:
            return None
        total += (last - first) // step + 1
    return total


def mask_size(text: str) -> int | None:
    """How many CPUs a mask of ``lscpu -x`` names: ``0x3f`` is 6."""
    match = _MASK.fullmatch(text.strip())
    digits = match[1].replace(",", "") if match else ""
    return int(digits, 16).bit_count() if digits else None


def cores_of(pairs: Iterable[tuple[str, str]]) -> int | None:
    """Cores over all types of CPU; ``None`` when one type does not tell its own."""
    counts = [_cores(block) for block in _blocks(pairs)]
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None


def threads_per_core(pairs: Iterable[tuple[str, str]]) -> int | None:
    """The greatest number of threads on a core of any type."""
    return max((block.get("thread(s) per core") or 0 for block in _blocks(pairs)), default=0) or None


def _blocks(pairs: Iterable[tuple[str, str]]) -> list[Block]:
    """One block per type of CPU: a label that the current block has already opens the next, in whatever order."""
    blocks: list[Block] = []
    for label, value in pairs:
        if label in _TOPOLOGY:
            if not blocks or label in blocks[-1]:
                blocks.append({})
            blocks[-1][label] = integer(value)
    return blocks


def _cores(block: Block) -> int | None:
    for labels in _PRODUCTS:
        numbers = [block.get(label) for label in labels]
        known = [number for number in numbers if number]
        if len(known) == len(labels):
            return prod(known)
    return None
