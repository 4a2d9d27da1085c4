"""Which row of a tool is which card on the bus: by PCI address, else by order, which the user hears of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from knaster.inventory.assemble.pci import Seen


def match(
    tool: str, addresses: Mapping[int, str | None], seen: Sequence[Seen]
) -> tuple[dict[int, Seen | None], tuple[str, ...]]:
    """The card of each index, None where it cannot be told. `addresses`: index to the address that the tool gives.

    Rows without an address take what is left in order, if exactly as many cards are left: tools number cards in order
    of their addresses. A card that another driver holds is no tool's, and a single one on both sides needs no warning.
    """
    by_address = {card.address: card for card in seen if card.address}
    found: dict[int, Seen | None] = {index: by_address.get(place or "") for index, place in addresses.items()}
    open_rows = sorted(index for index, card in found.items() if card is None)
    taken = {card.address for card in found.values() if card}
    free = [card for card in seen if card.address is None or card.address not in taken]
    left = [card for card in free if _served(card)]
    if len(left) != len(open_rows):
        left = [card for card in left if not card.inside]
    if not open_rows or not seen:
        return found, ()
    listed = ", ".join(f"gpus[{index}]" for index in open_rows)
    if len(open_rows) != len(left) or any(addresses[index] for index in open_rows):
        return found, (f"{listed}: {tool} and the PCI bus do not tell which card this is",)
    found.update(zip(open_rows, left, strict=True))
    said = (f"{listed}: {tool} gives no PCI address; the cards were matched by their order",)
    return found, () if len(open_rows) == 1 else said


def _served(card: Seen) -> bool:
    return card.bound_driver not in ("vfio-pci", "nouveau", "pci-stub")
