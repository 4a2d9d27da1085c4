"""The sets of cards that one engine can span: like cards of a node, unlike cards of a node, and nodes of one fabric.

A shape is such a set without its place (two cards of a class in one node); spreads are where the fleet has it. Shapes
keep the work small: ten thousand like nodes make one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from knaster.model_plan.pools import CardClass, Hardware, PoolCard, by_class, rank

MOST_CARDS = 64
"""Cards of one copy of a model (the schema's bound of ``tensor_parallel`` and ``nodes``)."""
_FEW = 8
_MOST_MIXES = 512
"""Mixes of unlike cards that are looked at in one node; the fewest cards come first."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The class of each card of one node, in the driver's order, and how many such nodes (of one fabric)."""

    each: tuple[CardClass, ...]
    nodes: int = 1

    @property
    def cards(self) -> int:
        """All cards of one copy of the model."""
        return self.nodes * len(self.each)

    @property
    def like(self) -> bool:
        """Whether all cards are of one class."""
        return len(set(self.each)) == 1

    @property
    def label(self) -> str:
        """``2 x rtx4000ada-20g``, ``1 x p2000-5g + 1 x m4000-8g``, ``2 nodes x 4 x a6000-48g``."""
        counts = Counter(kind.name for kind in sorted(self.each, key=rank))
        inside = " + ".join(f"{count} x {name}" for name, count in counts.items())
        return f"{self.nodes} nodes x {inside}" if self.nodes > 1 else inside


@dataclass(frozen=True, slots=True)
class Spread:
    """One place for a shape: its cards, and the fabric where they are in several nodes."""

    cards: tuple[PoolCard, ...]
    fabric: str | None = None

    @property
    def held(self) -> int:
        """How many of the cards somebody holds."""
        return sum(1 for card in self.cards if card.holders)


Shapes = dict[Shape, list[Spread]]


def like(cards: Sequence[PoolCard]) -> Shapes:
    """Every number of like cards that some node has; of several cards in a node those that nobody holds first."""
    found: Shapes = {}
    for kind, some in by_class(cards).items():
        nodes = _by_node(some)
        for count in range(1, min(max(map(len, nodes.values())), MOST_CARDS) + 1):
            places = (_inside(own, count) for own in nodes.values() if len(own) >= count)
            found[Shape((kind,) * count)] = [spread for spreads in places for spread in spreads]
    return found


def unlike(cards: Sequence[PoolCard]) -> Shapes:
    """Every mix of unlike cards that some node has, fewest cards first."""
    found: defaultdict[Shape, list[Spread]] = defaultdict(list)
    for own in _by_node(cards).values():
        classes = by_class(own)
        for counts in _mixes([len(some) for some in classes.values()]):
            taken = [_freest(some)[:count] for some, count in zip(classes.values(), counts, strict=True)]
            chosen = tuple(sorted((card for some in taken for card in some), key=lambda card: card.index))
            found[Shape(tuple(card.kind for card in chosen))].append(Spread(chosen))
    return dict(sorted(found.items(), key=lambda item: (item[0].cards, [rank(kind) for kind in item[0].each])))


def spanning(cards: Sequence[PoolCard]) -> Shapes:
    """Like cards of several nodes of one fabric, the same number from each node; one place for each fabric."""
    found: defaultdict[Shape, list[Spread]] = defaultdict(list)
    for kind, some in by_class(card for card in cards if card.fabric).items():
        fabrics: defaultdict[str, list[PoolCard]] = defaultdict(list)
        for card in some:
            fabrics[card.fabric or ""].append(card)
        for fabric, members in sorted(fabrics.items()):
            for shape, spread in _spans(kind, fabric, _by_node(members)):
                found[shape].append(spread)
    return dict(found)


def apart(cards: Sequence[PoolCard]) -> dict[CardClass, str]:
    """Classes with cards in several nodes that are not all of one fabric, and why those are no pool."""
    found = {}
    for kind, some in by_class(cards).items():
        fabrics = {card.fabric for card in some}
        if len({card.node for card in some}) > 1 and (None in fabrics or len(fabrics) > 1):
            names = " and ".join(sorted(fabric for fabric in fabrics if fabric))
            alone = "nodes whose profiles name no common fabric are no pool"
            found[kind] = (
                alone if None in fabrics else f"no model spans two fabrics ({names}): they do not reach each other"
            )
    return found


def _spans(kind: CardClass, fabric: str, nodes: Mapping[str, list[PoolCard]]) -> Iterator[tuple[Shape, Spread]]:
    """Every number of nodes with every number of cards that each of them has; the freest nodes are taken."""
    for per_node in range(1, max(map(len, nodes.values())) + 1):
        own = [_inside(some, per_node) for some in nodes.values() if len(some) >= per_node]
        freest = sorted((min(spreads, key=lambda one: one.held) for spreads in own), key=lambda one: one.held)
        for count in range(2, min(len(freest), MOST_CARDS // per_node) + 1):
            chosen = sorted(freest[:count], key=lambda one: one.cards[0].node)
            members = tuple(card for spread in chosen for card in spread.cards)
            yield Shape((kind,) * per_node, count), Spread(members, fabric)


def _inside(own: Sequence[PoolCard], count: int) -> list[Spread]:
    """Where `count` of one node's like cards can be taken: each single card, of several the freest."""
    if count == 1:
        return [Spread((card,)) for card in own]
    return [Spread(tuple(sorted(_freest(own)[:count], key=lambda card: card.index)))]


def _mixes(counts: Sequence[int]) -> list[tuple[int, ...]]:
    """Every choice from at least two classes, the fewest cards first; none where there are too many to look at."""
    total = 1
    for count in counts:
        total *= count + 1
    if len(counts) < 2 or total > 64 * _MOST_MIXES:
        return []
    every = (one for one in product(*(range(count + 1) for count in counts)) if sum(map(bool, one)) > 1)
    return sorted((one for one in every if sum(one) <= MOST_CARDS), key=lambda one: (sum(one), one))[:_MOST_MIXES]


def _freest(cards: Iterable[PoolCard]) -> list[PoolCard]:
    return sorted(cards, key=lambda card: (bool(card.holders), card.index))


def _by_node(cards: Iterable[PoolCard]) -> dict[str, list[PoolCard]]:
    found: defaultdict[str, list[PoolCard]] = defaultdict(list)
    for card in cards:
        found[card.node].append(card)
    return dict(sorted(found.items()))


class Shelf:
    """The shapes of a fleet; `few`: of mixes those with the most memory, of like cards one, two, four …"""

    def __init__(self, fleet: Hardware, *, few: bool) -> None:
        self.like = _few(like(fleet.cards), few=few)
        mixes = unlike(fleet.cards)
        largest = sorted(mixes, key=lambda shape: -sum(kind.free for kind in shape.each))
        kept = frozenset(largest[:_FEW] if few else largest)
        self.unlike = {shape: mixes[shape] for shape in mixes if shape in kept}
        self.spanning = _few(spanning(fleet.cards), few=few)
        self.apart = apart(fleet.cards)
        self.classes: tuple[CardClass, ...] = tuple(sorted({card.kind for card in fleet.cards}, key=rank))


@lru_cache(maxsize=4)
def shelf(fleet: Hardware, *, few: bool) -> Shelf:
    """The same fleet is asked again and again when advice is sought."""
    return Shelf(fleet, few=few)


def _few(shapes: Shapes, *, few: bool) -> Shapes:
    return {shape: some for shape, some in shapes.items() if not few or shape.cards & (shape.cards - 1) == 0}
