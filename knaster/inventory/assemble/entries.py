"""Every card once, with its number: rows of nvidia-smi, cards of the other tools, and what only the bus shows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from knaster.inventory.assemble.build import Entry, Source
from knaster.inventory.assemble.matching import match
from knaster.inventory.assemble.pci import Seen
from knaster.inventory.assemble.tools import ToolCards
from knaster.inventory.parsers.nvidia_smi import SmiGpu, SmiIdentity

_VENDOR_IDS = {"amd": "1002", "intel": "8086"}
_NUMBERED = re.compile(r"gpus\[([0-9]+)\]")


@dataclass(frozen=True, slots=True)
class Found:
    """The cards, and what the user should know of how they were told apart."""

    entries: tuple[Entry, ...]
    warnings: tuple[str, ...]


def collect(
    rows: Sequence[SmiGpu],
    known: Mapping[int, SmiIdentity],
    others: Sequence[ToolCards],
    seen: Sequence[Seen],
    *,
    only_shown: bool,
) -> Found:
    """The cards; nvidia-smi's numbers stay, the other tools' where they are free, and the rest get what is left.

    `only_shown`: leave out cards of NVIDIA that nvidia-smi does not show.
    """
    entries, said = _of_nvidia(rows, known, seen)
    warnings = list(said)
    used = {row.index for row in rows}
    for tool in others:
        more, said = _of_tool(_renumbered(tool, used), seen)
        entries += more
        warnings += said
    taken = [entry.seen for entry in entries if entry.seen is not None]
    left = [card for card in seen if not card.inside and not any(card is other for other in taken)]
    for card in sorted(left, key=_turn):
        if not (only_shown and card.vendor_id == "10de"):
            entries.append(Entry(_free(used), "", card))
    return Found(tuple(entries), tuple(warnings))


def _of_nvidia(
    rows: Sequence[SmiGpu], known: Mapping[int, SmiIdentity], seen: Sequence[Seen]
) -> tuple[list[Entry], tuple[str, ...]]:
    unknown = SmiIdentity(0, None, None)
    identities = {row.index: known.get(row.index, unknown) for row in rows}
    addresses = {index: identity.pci_address for index, identity in identities.items()}
    cards, said = match("nvidia-smi", addresses, [card for card in seen if card.vendor_id == "10de"])
    entries = [
        Entry(
            row.index, "nvidia", cards[row.index], Source.of_smi(row), identities[row.index].uuid, addresses[row.index]
        )
        for row in rows
    ]
    return entries, said


def _of_tool(tool: ToolCards, seen: Sequence[Seen]) -> tuple[list[Entry], tuple[str, ...]]:
    addresses = {card.index: card.pci_address for card in tool.cards}
    own = [card for card in seen if card.vendor_id == _VENDOR_IDS[tool.maker]]
    cards, said = match(f"{tool.maker}'s tool", addresses, own)
    entries = [
        Entry(card.index, tool.maker, cards[card.index], Source.of_tool(card), None, card.pci_address)
        for card in tool.cards
    ]
    return entries, (*tool.warnings, *said)


def _renumbered(tool: ToolCards, used: set[int]) -> ToolCards:
    """The tool's cards with numbers that nobody else has, in their warnings too; `used` grows."""
    moved: dict[int, int] = {}
    for card in tool.cards:
        moved[card.index] = card.index if card.index not in used else _free(used)
        used.add(moved[card.index])

    def renamed(found: re.Match[str]) -> str:
        return f"gpus[{moved.get(int(found[1]), int(found[1]))}]"

    cards = tuple(replace(card, index=moved[card.index]) for card in tool.cards)
    return replace(tool, cards=cards, warnings=tuple(_NUMBERED.sub(renamed, said, count=1) for said in tool.warnings))


def _free(used: set[int]) -> int:
    """The smallest number that is free; now it is not."""
    number = next(number for number in range(len(used) + 1) if number not in used)
    used.add(number)
    return number


def _turn(card: Seen) -> tuple[bool, int, str]:
    """Cards that NVIDIA's driver holds first: they fill the gaps that nvidia-smi left. Then by address."""
    domain, _, rest = (card.address or "").partition(":")
    return (card.bound_driver != "nvidia", int(domain, 16) if domain else 0, rest)
