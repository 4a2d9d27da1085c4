"""The card of this machine that is to be measured, out of what nvidia-smi lists."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from knaster.bench.llama import Card
from knaster.cards.types import slug

QUERY = ("--query-gpu=index,uuid,name", "--format=csv,noheader")


@dataclass(frozen=True, slots=True)
class Here:
    """A card as nvidia-smi lists it."""

    index: str
    uuid: str
    name: str


def listed(text: str) -> tuple[Here, ...]:
    """The cards of an answer to `QUERY`; lines that are none are left out."""
    rows = ([cell.strip() for cell in line.split(",", 2)] for line in text.splitlines())
    return tuple(Here(*row) for row in rows if len(row) == 3 and row[0].isdecimal() and row[1].startswith("GPU-"))


def pick(there: Collection[Here], wanted: Card, names: Collection[str]) -> Here | str:
    """The card to measure, else why there is none: by its uuid where the inventory knows it, else by its type (`names`
    as slugs); of several of one type the one with the index of the inventory, else the first."""
    if not there:
        return "nvidia-smi lists no card here"
    by_uuid = [one for one in there if one.uuid == wanted.uuid]
    if by_uuid:
        return by_uuid[0]
    same = [one for one in there if slug(one.name) in names]
    told = ", ".join(f"{one.index}: {one.name}" for one in there)
    if not same:
        return f"there is no {wanted.type} in this machine; nvidia-smi lists {told}"
    if wanted.uuid is not None:
        return f"the {wanted.type} with uuid {wanted.uuid} is not in this machine; nvidia-smi lists {told}"
    return next((one for one in same if one.index == str(wanted.index)), same[0])
