"""Which row of a tool is which card on the bus: by PCI address, else by order, which the user hears of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from knaster.inventory.assemble.pci import Seen


@dataclass(frozen=True, slots=True)
class Match:
    """``cards``: the card of each index, None where the bus shows none or where it cannot be told.

    ``loose``: the rows for which it cannot be told; ``left``: the cards on the bus of which they may be some.
    """

    cards: Mapping[int, Seen | None]
    loose: tuple[int, ...] = ()
    left: tuple[Seen, ...] = ()
    warnings: tuple[str, ...] = ()


def match(tool: str, addresses: Mapping[int, str | None], seen: Sequence[Seen]) -> Match:
    """The card of each index. `addresses`: index to the address that the tool gives.

    Rows without an address take what is left in order, if exactly as many cards are left: tools number cards in order
    of their addresses. A card that another driver holds is no tool's, and a single one on both sides needs no warning.
    """
    found = _by_address(addresses, seen)
    rows = tuple(sorted(index for index, card in found.items() if card is None))
    if not rows or not seen:
        return Match(found)
    taken = {card.address for card in found.values() if card}
    left = [card for card in seen if _served(card) and (card.address is None or card.address not in taken)]
    if len(left) != len(rows):
        left = [card for card in left if not card.inside]
    if not _in_order([addresses[index] for index in rows], left):
        return Match(found, rows, tuple(left))
    listed = ", ".join(f"gpus[{index}]" for index in rows)
    said = (f"{listed}: {tool} gives no PCI address; the cards were matched by their order",)
    return Match(found | dict(zip(rows, left, strict=True)), warnings=() if len(rows) == 1 else said)


def _by_address(addresses: Mapping[int, str | None], seen: Sequence[Seen]) -> dict[int, Seen | None]:
    """An address that two rows claim (parts of one card) is nobody's."""
    claims = Counter(addresses.values())
    there = {card.address: card for card in seen if card.address and claims[card.address] == 1}
    return {index: there.get(place or "") for index, place in addresses.items()}


def _in_order(places: Sequence[str | None], left: Sequence[Seen]) -> bool:
    """Whether rows and cards can be told by their order: as many of both, and no address on both sides (it differs).
    Cards without one are not in the order of the bus, so they have to be equal."""
    if len(places) != len(left) or any(place and card.address for place, card in zip(places, left, strict=True)):
        return False
    return all(card.address for card in left) or len({(card.id, card.subsystem_id) for card in left}) == 1


def _served(card: Seen) -> bool:
    return card.bound_driver not in ("vfio-pci", "nouveau", "pci-stub")
