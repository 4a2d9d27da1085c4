"""The state of one planning run: what is taken, by whom, and how much room is left. Lives inside `planner.run` only."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from knaster.cluster import Catalog, Node, Platform, Role
from knaster.guests import Guest, expand
from knaster.placement.cards import Card, CardClass, Cards, Key, Lost, collect
from knaster.placement.filters import Failure
from knaster.placement.on_card import OnCard
from knaster.placement.result import Assignment, PlacementPlan, Reason
from knaster.units import Exact, mib

RoomKey = tuple[str, str | None]
"""A node, and the guest on it that roles run in (None outside Proxmox and without a platform)."""


@dataclass(frozen=True, slots=True)
class Fleet:
    """What every run over the same inventory shares."""

    nodes: Mapping[str, Node]
    cards: Cards
    catalog: Catalog
    platform: Platform | None
    guests: Mapping[str, Guest]
    vm_of: Mapping[str, Guest]
    lost: Lost | None = None

    @classmethod
    def of(cls, nodes: Iterable[Node], catalog: Catalog, platform: Platform | None, lost: Lost | None = None) -> Fleet:
        """Index the inventory once; `lost` is there, so that reasons speak of all of it, and serves nobody."""
        by_name = {node.name: node for node in sorted(nodes, key=lambda node: node.name)}
        guests = expand(by_name.values(), platform)
        vms = {guest.node: guest for guest in guests if guest.kind == "vm"}
        return cls(
            by_name,
            collect(by_name.values(), platform, lost),
            catalog,
            platform,
            {guest.name: guest for guest in guests},
            vms,
            lost,
        )


@dataclass(frozen=True, slots=True)
class Held:
    """What each role holds in the placement in force: cards, CPU nodes, and the slots by card or node."""

    cards: Mapping[str, frozenset[Key]]
    nodes: Mapping[str, frozenset[str]]
    slots: Mapping[tuple[str, Key | str], tuple[str, ...]]

    @classmethod
    def of(cls, current: PlacementPlan | None, cards: Cards) -> Held:
        """Read the placement in force; what it says of cards that are gone is dropped."""
        on_cards: defaultdict[str, set[Key]] = defaultdict(set)
        on_nodes: defaultdict[str, set[str]] = defaultdict(set)
        slots: dict[tuple[str, Key | str], tuple[str, ...]] = {}
        found = [(one, cards.held_by(one)) for one in (current.assignments if current else ())]
        sure = {card.key for one, card in found if card is not None and not _by_index(one)}
        for one, card in found:
            if card is not None and one.gpu_index is not None:
                if _by_index(one) and card.key in sure:
                    continue  # the card that has this index now is known to be another one
                on_cards[one.role].add(card.key)
                slots[one.role, card.key] = one.slots
            elif one.gpu_index is None:
                on_nodes[one.role].add(one.node)
                slots[one.role, one.node] = one.slots
        return cls(
            {role: frozenset(keys) for role, keys in on_cards.items()},
            {role: frozenset(names) for role, names in on_nodes.items()},
            slots,
        )


def _by_index(one: Assignment) -> bool:
    """Whether an assignment names its card by the driver's number alone."""
    return one.card is None or one.card.startswith("index:")


@dataclass(slots=True)
class Board:
    """Who is where so far, and the MiB in use. ``taken`` names the owner of a card; sharers are in ``on_card`` only."""

    fleet: Fleet
    held: Held
    taken: dict[Key, str] = field(default_factory=dict)
    on_card: defaultdict[Key, OnCard] = field(default_factory=lambda: defaultdict(OnCard))
    used: defaultdict[RoomKey, Exact] = field(default_factory=lambda: defaultdict(int))
    cards_of: dict[str, tuple[Card, ...]] = field(default_factory=dict)
    node_of: dict[str, Node] = field(default_factory=dict)
    reasons: dict[str, Reason] = field(default_factory=dict)
    verdicts: dict[tuple[str, CardClass, bool, bool], Failure | None] = field(default_factory=dict)
    """What `gpu_roles.judge` found, by role, class of card, whether the role holds it whether a pin bars it."""

    def put_on_card(self, role: Role, card: Card) -> None:
        """Give a card to a role (or let a sharer join it) and book its memory."""
        self.on_card[card.key].put(role)
        self.cards_of[role.name] = (*self.cards_of.get(role.name, ()), card)
        self._book(role, (card.node.name, self.guest_name(card.node)))

    def put_on_node(self, role: Role, node: Node, room: RoomKey) -> None:
        """Place a role on a node's CPU and book its memory."""
        self.node_of[role.name] = node
        self._book(role, room)

    def guest_name(self, node: Node) -> str | None:
        """The GPU VM of a Proxmox node, None elsewhere."""
        vm = self.fleet.vm_of.get(node.name) if node.platform == "proxmox" else None
        return vm.name if vm else None

    def _book(self, role: Role, room: RoomKey) -> None:
        if role.needs.min_memory_gb:
            self.used[room] += mib(role.needs.min_memory_gb)
