"""Every card once, with its number: rows of nvidia-smi, cards of the other tools, and what only the bus shows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from knaster.cluster import Number
from knaster.inventory.assemble.build import Doubts, Entry, Source, gpu_of
from knaster.inventory.assemble.matching import Match, match
from knaster.inventory.assemble.pci import Seen
from knaster.inventory.assemble.tools import ToolCards
from knaster.inventory.parsers.nvidia_smi import SmiGpu, SmiIdentity
from knaster.inventory.reading import Problem

_VENDOR_IDS = {"amd": "1002", "intel": "8086"}
_NUMBERED = re.compile(r"gpus\[([0-9]+)\]")


@dataclass(frozen=True, slots=True)
class Found:
    """The cards, and what the user should know of how they were told apart.

    ``shown``: the rows of nvidia-smi that are a card each; None: all. ``problem``: it contradicts the bus.
    """

    entries: tuple[Entry, ...]
    warnings: tuple[str, ...] = ()
    shown: frozenset[int] | None = None
    problem: Problem | None = None


def collect(
    rows: Sequence[SmiGpu],
    known: Mapping[int, SmiIdentity],
    others: Sequence[ToolCards],
    seen: Sequence[Seen],
    *,
    only_shown: bool,
) -> Found:
    """The cards, never more of one maker than its bus shows; nvidia-smi's numbers stay, the other tools' where they are
    free, and the rest get what is left.

    `only_shown`: leave out cards of NVIDIA that nvidia-smi does not show.
    """
    nvidia = _of_nvidia(rows, known, seen, only_shown=only_shown)
    if nvidia.problem is not None:
        return Found((), problem=nvidia.problem)
    warnings, doubts = [*nvidia.warnings], dict(nvidia.doubts)
    entries = list(nvidia.entries)
    used = {entry.index for entry in entries}
    for tool in others:
        more = _of_tool(_renumbered(tool, used), seen)
        used -= more.loose
        entries += more.entries
        warnings += more.warnings
        doubts |= more.doubts
    taken = [entry.seen for entry in entries if entry.seen is not None]
    left = [card for card in seen if not card.inside and not any(card is other for other in taken)]
    for card in sorted(left, key=_turn):
        if not (only_shown and card.vendor_id == "10de"):
            entries.append(Entry(_free(used), "", card, doubts=doubts.get(card)))
    shown = frozenset(entry.index for entry in nvidia.entries) if nvidia.loose else None
    return Found(tuple(entries), tuple(warnings), shown)


@dataclass(frozen=True, slots=True)
class _Told:
    """What came of one tool. ``doubts``: the cards on the bus of which its loose rows may be some."""

    entries: tuple[Entry, ...]
    warnings: tuple[str, ...] = ()
    loose: frozenset[int] = frozenset()
    doubts: Mapping[Seen, Doubts] = field(default_factory=dict)
    problem: Problem | None = None


def _of_nvidia(
    rows: Sequence[SmiGpu], known: Mapping[int, SmiIdentity], seen: Sequence[Seen], *, only_shown: bool
) -> _Told:
    unknown = SmiIdentity(0, None, None)
    identities = {row.index: known.get(row.index, unknown) for row in rows}
    addresses = {index: identity.pci_address for index, identity in identities.items()}
    found = match("nvidia-smi", addresses, [card for card in seen if card.vendor_id == "10de"])
    entries = [
        Entry(row.index, "nvidia", found.cards[row.index], Source.of_smi(row), identities[row.index].uuid, place)
        for row, place in zip(rows, addresses.values(), strict=True)
    ]
    if only_shown:  # its rows count, wherever on the bus of the host the cards are
        return _Told(tuple(entries), (*found.warnings, *_unplaced(found)))
    strange = [addresses[index] for index in found.loose if addresses[index]]
    if strange or len(found.loose) > len(found.left):
        said = f"at {strange[0]}" if strange else f"more than the {len(found.left)} that could be its own"
        return _Told((), problem=Problem("contradiction", f"nvidia-smi shows cards that the PCI bus does not: {said}"))
    return _told("nvidia-smi", found, entries)


def _of_tool(tool: ToolCards, seen: Sequence[Seen]) -> _Told:
    addresses = {card.index: card.pci_address for card in tool.cards}
    own = [card for card in seen if card.vendor_id == _VENDOR_IDS[tool.maker]]
    found = match(f"{tool.maker}'s tool", addresses, own)
    entries = [
        Entry(card.index, tool.maker, found.cards[card.index], Source.of_tool(card), None, card.pci_address)
        for card in tool.cards
    ]
    told = _told(f"{tool.maker}'s tool", found, entries)
    shown = {entry.index for entry in told.entries} if told.loose else None
    return replace(told, warnings=(*about(tool.warnings, shown), *told.warnings))


def _told(tool: str, found: Match, entries: Sequence[Entry]) -> _Told:
    """The rows that are a card each. For the others the bus counts, and what it knows; where they tell another size of
    memory than the table, nobody knows the size."""
    loose = frozenset(found.loose)
    if not loose:
        return _Told(tuple(entries), found.warnings)
    sizes = {_memory_gb(replace(entry, address=None)) for entry in entries if entry.index in loose}
    doubts = Doubts(tool, memory=not sizes <= {_memory_gb(Entry(0, "", card)) for card in found.left})
    said = f"{tool} does not say where the cards are that it shows ({len(loose)}; the PCI bus: {len(found.left)})"
    warning = f"gpus: {said}: which is which cannot be told, so their facts are the PCI table's"
    kept = tuple(entry for entry in entries if entry.index not in loose)
    return _Told(kept, (*found.warnings, warning), loose, dict.fromkeys(found.left, doubts))


def _memory_gb(entry: Entry) -> Number | None:
    return gpu_of(entry)[0].memory_gb


def _unplaced(found: Match) -> tuple[str, ...]:
    listed = ", ".join(f"gpus[{index}]" for index in found.loose)
    return (f"{listed}: nvidia-smi and the PCI bus do not tell which card this is",) if listed else ()


def about(warnings: Sequence[str], shown: Set[int] | None) -> tuple[str, ...]:
    """The warnings about rows that are a card (`shown`, None: all are); other numbers are other cards' now."""
    numbers = [(said, _NUMBERED.match(said)) for said in warnings]
    return tuple(said for said, found in numbers if shown is None or not found or int(found[1]) in shown)


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
