"""The fleet's cards, grouped into classes that no filter tells apart.

A planner that looks at every card for every role is the slowest part of a large fleet; cards of one class pass or fail
together, so a role looks at each class once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from knaster.cards.types import Finder, engines, finder
from knaster.cluster import Gpu, Node, Number, Platform, State
from knaster.names import spot
from knaster.placement.result import Assignment, card_identities, card_identity

Key = tuple[str, int]
"""Where a card is: node name and position among the node's cards sorted by index."""

Lost = tuple[str, int | None]
"""A node, or one card of it by its index, that is taken out to see what its failure would do."""


@dataclass(frozen=True, slots=True)
class CardClass:
    """Everything that a filter asks of a card, save where it is and who holds it."""

    disabled: bool
    state: State | Literal["lost"]
    os: str
    memory_gb: Number | None
    compute_cap: Number | None
    engines: tuple[str, ...] | None


@dataclass(frozen=True, slots=True, eq=False)
class Card:
    """One card of one node. Compared by identity: a hash of its node's facts would be most of a plan's time."""

    key: Key
    node: Node
    gpu: Gpu
    kind: CardClass

    @property
    def name(self) -> str:
        """How people write it in a ``pin``: ``pve44/1``."""
        return spot(self.node.name, self.gpu.index)

    @property
    def identity(self) -> str:
        """How it is recognised when indices shift."""
        return card_identity(self.gpu)


@dataclass(frozen=True, slots=True)
class Cards:
    """All cards, sorted by node name and index, and three ways to find them."""

    all: tuple[Card, ...]
    by_class: Mapping[CardClass, tuple[Card, ...]]
    by_node: Mapping[str, tuple[Card, ...]]
    _by_identity: Mapping[tuple[str, str], Card]

    def held_by(self, assignment: Assignment) -> Card | None:
        """The card that an earlier assignment is on today, wherever its index went; None if it is gone."""
        for card in self.by_node.get(assignment.node, ()):
            if card.gpu.index == assignment.gpu_index and assignment.card in (card.identity, None):
                return card
        identity = assignment.card or ""
        return self._by_identity.get((assignment.node, identity)) or self._by_identity.get(("", identity))


def collect(nodes: Iterable[Node], platform: Platform | None, lost: Lost | None = None) -> Cards:
    """The cards of `nodes`; card policies come from `platform`; those of `lost` are there but serve nobody."""
    policies = finder(platform)
    ordered = sorted(nodes, key=lambda node: node.name)
    cards = tuple(
        _card(node, gpu, at, policies, lost) for node in ordered for at, gpu in enumerate(by_index(node.gpus))
    )
    by_class: defaultdict[CardClass, list[Card]] = defaultdict(list)
    by_node: defaultdict[str, list[Card]] = defaultdict(list)
    by_identity: dict[tuple[str, str], Card] = {}
    for card in cards:
        by_class[card.kind].append(card)
        by_node[card.node.name].append(card)
        for where, identity in _identities(card):
            by_identity.setdefault((where, identity), card)
    return Cards(
        cards,
        {kind: tuple(some) for kind, some in by_class.items()},
        {name: tuple(some) for name, some in by_node.items()},
        by_identity,
    )


def by_index(gpus: tuple[Gpu, ...]) -> list[Gpu]:
    """Cards in the driver's order."""
    return sorted(gpus, key=lambda gpu: gpu.index)


def _card(node: Node, gpu: Gpu, at: int, policies: Finder, lost: Lost | None) -> Card:
    out = lost in ((node.name, None), (node.name, gpu.index))
    kind = CardClass(
        gpu.disabled,
        "lost" if out else node.state,
        node.role_os,
        gpu.memory_gb,
        gpu.compute_cap,
        engines(policies(gpu)),
    )
    return Card((node.name, at), node, gpu, kind)


def _identities(card: Card) -> Iterable[tuple[str, str]]:
    """Every name that an older record may use: a uuid anywhere in the fleet, PCI facts and index on the same node."""
    gpu, node = card.gpu, card.node.name
    for identity in card_identities(gpu):
        yield "" if identity == gpu.uuid else node, identity
