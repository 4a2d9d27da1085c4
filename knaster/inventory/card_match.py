"""Which card of a committed profile is which card of the machine: policy follows the card, not its number.

The strongest sign comes first and each card is given away once: uuid; PCI address and id; the board (id and subsystem);
the id alone; the name; the address alone; the index. A sign counts only where it is unique on both sides, and never
between cards that are known to differ. The signs between address and index find a card that moved to another slot.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

Card = Mapping[str, Any]
Sign = Literal["uuid", "pci", "board", "id", "name", "address", "index"]

_MAKERS = re.compile(r"\b(?:nvidia|amd|ati|intel|corporation|inc)\b|\((?:r|tm)\)|[.,]")
_MODEL = re.compile(r"\[([^\[\]]+)\]\s*$")


@dataclass(frozen=True, slots=True)
class Pair:
    """The position of a card in the profile's list, and the sign that tells.

    ``alike``: how many other cards, of the profile or of the machine, it could be as well (0: no doubt). No uuid is in
    doubt, nor is an address where the cards that are alike still have all the addresses that they had.
    """

    old: int
    sign: Sign
    alike: int = 0


def pairs(old: Sequence[Card], new: Sequence[Card], *, assumed: bool = False) -> dict[int, Pair]:
    """For each position in `new` that is a card of `old`: which one. Cards are as in the node schema.

    `assumed`: the PCI ids and names of `old` are guesses, so at the end the index may join cards that differ in them.
    """
    found: dict[int, Pair] = {}
    left = list(range(len(old)))
    for sign, key in _SIGNS:
        rest = [position for position in range(len(new)) if position not in found]
        guesses = assumed and sign in {"name", "index"}
        for position, other in _unique(old, left, new, rest, key):
            if sign == "uuid" or not _differ(old[other], new[position], guesses=guesses):
                found[position] = Pair(other, sign)
        taken = {pair.old for pair in found.values()}
        left = [position for position in left if position not in taken]
    return {position: replace(pair, alike=_alike(old, new, found, position)) for position, pair in found.items()}


def _alike(old: Sequence[Card], new: Sequence[Card], found: Mapping[int, Pair], position: int) -> int:
    """How many others the card at `position` of `new` could be, of those that no uuid tells apart."""
    pair = found[position]
    if pair.sign == "uuid":
        return 0
    sure = {at: other.old for at, other in found.items() if other.sign == "uuid"}
    before = [card for at, card in enumerate(old) if at not in sure.values() and _could_be(card, new[position])]
    after = [card for at, card in enumerate(new) if at not in sure and _could_be(old[pair.old], card)]
    stays = _slots(before) == _slots(after) and pair.sign in {"pci", "address"}
    return 0 if stays else max(len(before), len(after), 1) - 1


def _could_be(old: Card, new: Card) -> bool:
    return same_chip(old, new) and not _differ(old, new, guesses=False)


def _slots(cards: Sequence[Card]) -> list[str]:
    return sorted(_address(card) or "" for card in cards)


def same_chip(old: Card, new: Card) -> bool:
    """Whether nothing says that the two are different products; unknown facts say nothing."""
    ids = pci(old).get("id"), pci(new).get("id")
    if None not in ids:
        return ids[0] == ids[1]
    names = _name(old), _name(new)
    sizes = old.get("memory_gb"), new.get("memory_gb")
    return None in names or names[0] == names[1] or None in sizes or sizes[0] == sizes[1]


def pci(card: Card) -> Mapping[str, Any]:
    """The PCI facts of a card, empty where there are none."""
    return card.get("pci") or {}


def label(card: Card) -> str:
    """How reports name a card: its uuid, else its PCI address, else its index."""
    return str(card.get("uuid") or pci(card).get("address") or card.get("index"))


def _unique(
    old: Sequence[Card], left: list[int], new: Sequence[Card], rest: list[int], key: Callable[[Card], Hashable]
) -> list[tuple[int, int]]:
    """Position in `new` and in `old` wherever one card on each side has the key."""
    mine = {position: key(old[position]) for position in left}
    theirs = {position: key(new[position]) for position in rest}
    counts = Counter(mine.values()), Counter(theirs.values())
    home = {value: position for position, value in mine.items() if value is not None and counts[0][value] == 1}
    return [(at, home[value]) for at, value in theirs.items() if value in home and counts[1][value] == 1]


def _differ(old: Card, new: Card, *, guesses: bool) -> bool:
    """Whether the two cannot be one card; names alone never say so, because each source spells them its own way."""
    for one, other in ((_uuid(old), _uuid(new)), (None if guesses else _id(old), _id(new))):
        if one is not None and other is not None and one != other:
            return True
    return False


def _uuid(card: Card) -> str | None:
    uuid = card.get("uuid")
    return str(uuid).lower() if uuid else None


def _address(card: Card) -> str | None:
    """The address without its function 0 and without leading zeros of the domain: one form for all spellings."""
    address = pci(card).get("address")
    return None if not address else str(address).lower().removesuffix(".0").lstrip("0")


def _slot(card: Card) -> Hashable:
    address, product = _address(card), pci(card).get("id")
    return (address, product) if address and product else None


def _board(card: Card) -> Hashable:
    product, board = pci(card).get("id"), pci(card).get("subsystem_id")
    return (product, board) if product and board else None


def _id(card: Card) -> str | None:
    product: str | None = pci(card).get("id")
    return product


def _name(card: Card) -> str | None:
    """The name without its maker; ``GP106GL [Quadro P2000]`` of the PCI table is ``quadro p2000``."""
    name = str(card.get("name") or "")
    model = _MODEL.search(name)
    words = _MAKERS.sub(" ", (model[1] if model else name).lower()).split()
    return " ".join(words) or None


def _index(card: Card) -> Hashable:
    index: Hashable = card.get("index")
    return index


_SIGNS: tuple[tuple[Sign, Callable[[Card], Hashable]], ...] = (
    ("uuid", _uuid),
    ("pci", _slot),
    ("board", _board),
    ("id", _id),
    ("name", _name),
    ("address", _address),
    ("index", _index),
)
