"""Rule 2: roles that take cards, by filter and order, looking at card classes instead of cards."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import chain, islice

from knaster.placement.board import Board
from knaster.placement.cards import Card, CardClass
from knaster.placement.filters import Ask, Failure, Spot, first_failure, pin_of
from knaster.units import Exact, exact

Rank = tuple[Exact, Exact]


def take(board: Board, ask: Ask) -> int:
    """Give the role up to ``count`` free cards, best first; the number it got."""
    cards = tuple(islice(candidates(board, ask), ask.role.count))
    for card in cards:
        board.taken[card.key] = ask.role.name
        board.put_on_card(ask.role, card)
    return len(cards)


def candidates(board: Board, ask: Ask) -> Iterator[Card]:
    """Free cards that serve the role, best first: rank of the card, then the holder, then node name and index."""
    singles, classes = _serving(board, ask)
    held = board.held.cards.get(ask.role.name, frozenset())
    for rank in sorted({*singles, *classes}):
        mine = [card for card in singles.get(rank, ()) if card.key in held]
        others = [card for card in singles.get(rank, ()) if card.key not in held]
        rest = heapq.merge(others, *classes.get(rank, ()), key=lambda card: card.key)
        for card in chain(mine, (card for card in rest if card.key not in held)):
            if card.key not in board.taken:
                yield card


def _serving(board: Board, ask: Ask) -> tuple[dict[Rank, list[Card]], dict[Rank, list[tuple[Card, ...]]]]:
    """Cards looked at one by one (held, or on the pinned node), and whole classes, both by rank."""
    singles: defaultdict[Rank, list[Card]] = defaultdict(list)
    classes: defaultdict[Rank, list[tuple[Card, ...]]] = defaultdict(list)
    for card in special_cards(board, ask):
        if judge(board, ask, card) is None:
            singles[_rank(ask, card.kind)].append(card)
    if ask.role.pin is None:
        for kind, cards in board.fleet.cards.by_class.items():
            if first_failure(ask, kind, Spot()) is None:
                classes[_rank(ask, kind)].append(cards)
    return singles, classes


def special_cards(board: Board, ask: Ask) -> tuple[Card, ...]:
    """Cards whose verdict is not their class's: those that the role holds, and those on the pinned node; sorted."""
    pin = pin_of(ask.role)
    pinned = board.fleet.cards.by_node.get(pin[0], ()) if pin is not None else ()
    keys = board.held.cards.get(ask.role.name, frozenset()) | {card.key for card in pinned}
    return tuple(board.fleet.cards.by_node[node][at] for node, at in sorted(keys))


def judge(board: Board, ask: Ask, card: Card) -> Failure | None:
    """The first failing cause of one card, apart from who holds it now."""
    pin = pin_of(ask.role)
    outside = pin is not None and (card.node.name != pin[0] or pin[1] not in (None, card.gpu.index))
    held = card.key in board.held.cards.get(ask.role.name, frozenset())
    asked = (ask.role.name, card.kind, held, outside)
    if asked not in board.verdicts:
        board.verdicts[asked] = first_failure(ask, card.kind, Spot(held, outside))
    return board.verdicts[asked]


def _rank(ask: Ask, kind: CardClass) -> Rank:
    """VRAM first, then compute capability: descending for ``largest``, ascending for ``smallest_fitting``."""
    sign = -1 if ask.role.prefer == "largest" else 1
    return sign * exact(kind.memory_gb or 0), sign * exact(kind.compute_cap or 0)


def tally(board: Board, ask: Ask) -> tuple[int, Counter[Failure]]:
    """All cards counted once: how many the role got, and the others under their first failing cause."""
    counts: Counter[Failure] = Counter()
    mine = board.cards_of.get(ask.role.name, ())
    special = special_cards(board, ask)
    left = Counter({kind: len(cards) for kind, cards in board.fleet.cards.by_class.items()})
    left.subtract(card.kind for card in {*special, *mine})
    for card in set(special) - set(mine):
        counts[judge(board, ask, card) or TAKEN] += 1
    for kind, number in left.items():
        if number:
            counts[first_failure(ask, kind, Spot(outside_pin=ask.role.pin is not None)) or TAKEN] += number
    return len(mine), counts


TAKEN = Failure("taken", "taken")
"""A card that would serve but belongs to another role."""
