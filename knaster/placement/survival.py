"""How many single failures the fleet survives: each node, and each card, taken out once.

`placement.failure.after` answers for one failure by planning the whole fleet again. Here the same is worked out for all
of them, on these grounds (a property holds the two equal):

- A plan that continues itself does not change. So what nobody uses can go without a change, and needs no planning.
- A failure frees no card: a role leaves one only because it is lost, or because an earlier role takes it. So a role
  whose cards are neither keeps exactly those, and one that had none gets none.
- A CPU role stays while its node has room. One that had no place can find one only where some role has left.
- Machines that nobody uses and that no filter tells apart are taken in the order of their names, each by one place at
  most before the next is. So of each kind as many as there are places are enough.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice

from knaster.cluster import Catalog, Cluster, Needs, Node, Role
from knaster.names import spot
from knaster.placement import cpu_roles, gpu_roles, sharing
from knaster.placement.board import Board, Fleet, Held
from knaster.placement.cards import Key, Lost
from knaster.placement.filters import Ask, Failure, pin_of
from knaster.placement.result import PlacementPlan

_ANYONE = Role("", Needs(""), ())
"""A role that runs in no guest of its own."""


@dataclass(frozen=True, slots=True)
class Survival:
    """How many of ``total`` failures of one node (or of one card) leave every placed role all of its places.

    ``drops`` maps each other failure (``pve46``, ``pve46/1``) to the roles that lose a place, all sorted.
    """

    total: int
    survived: int
    drops: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Failures:
    """The same of nodes and of cards."""

    nodes: Survival
    cards: Survival


def failures(cluster: Cluster, plan: PlacementPlan) -> Failures:
    """What the loss of each node, and of each card, would take from `plan`, which is the plan of `cluster`."""
    scene = _Scene.of(cluster, plan)
    nodes = {one.node: (one.node, None) for one in plan.assignments}
    cards = {
        spot(one.node, one.gpu_index): (one.node, one.gpu_index)
        for one in plan.assignments
        if one.gpu_index is not None
    }
    return Failures(
        _survival(scene, len(scene.fleet.nodes), nodes),
        _survival(scene, len({card.name for card in scene.fleet.cards.all}), cards),
    )


def _survival(scene: _Scene, total: int, used: Mapping[str, Lost]) -> Survival:
    found = {name: _Run(scene, lost).dropped() for name, lost in sorted(used.items())}
    drops = {name: roles for name, roles in found.items() if roles}
    return Survival(total, total - len(drops), drops)


@dataclass(frozen=True)
class _Scene:
    """What all failures share."""

    fleet: Fleet
    roles: Mapping[str, Role]
    held: Held
    places: Counter[str]

    @classmethod
    def of(cls, cluster: Cluster, plan: PlacementPlan) -> _Scene:
        fleet = Fleet.of(cluster.nodes, cluster.catalog or Catalog(), cluster.platform)
        places = Counter(one.role for one in plan.assignments)
        return cls(fleet, cluster.roles or {}, Held.of(plan, fleet.cards), places)

    @cached_property
    def own(self) -> tuple[Ask, ...]:
        """Roles with places of their own, in the order in which they are served."""
        own = [role for role in self.roles.values() if not role.share_with]
        return self._asks(sorted(own, key=lambda role: (role.priority, role.name)))

    @cached_property
    def sharers(self) -> tuple[Ask, ...]:
        """Roles that share, each after its target."""
        return self._asks(role for role in sharing.in_order(self.roles)[0] if role.share_with in self.roles)

    def _asks(self, roles: Iterable[Role]) -> tuple[Ask, ...]:
        engines = self.fleet.catalog.engines
        return tuple(Ask.of(role, engines[role.needs.engine]) for role in roles if role.needs.engine in engines)

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Where a CPU role may go, by name: the machines that somebody uses or names, and spares of each kind."""
        named = {one.node for one in self.fleet.guests.values() if one.kind == "lxc"}
        named |= {pin[0] for role in self.roles.values() if (pin := pin_of(role)) is not None}
        named |= {name for names in self.held.nodes.values() for name in names}
        named |= {key[0] for keys in self.held.cards.values() for key in keys}
        kinds: dict[object, list[str]] = {}
        for name, node in self.fleet.nodes.items():
            if name not in named:
                kinds.setdefault(self._kind(node), []).append(name)
        wanted = sum(role.count for role in self.roles.values()) + 1
        kept = named.union(*(islice(names, wanted) for names in kinds.values()))
        return tuple(node for name, node in self.fleet.nodes.items() if name in kept)

    def _kind(self, node: Node) -> object:
        capacity = cpu_roles.room_of(self.fleet, _ANYONE, node)[1]
        return node.cpu_roles, node.state, node.role_os, node.platform == "proxmox", capacity


@dataclass
class _Run:
    """One failure: the roles served again, in order, those that it does not touch without looking further."""

    scene: _Scene
    lost: Lost
    board: Board = field(init=False)
    left: set[str] = field(default_factory=set)
    """Nodes that a role has left, where there may be room now."""

    def __post_init__(self) -> None:
        fleet, (node, index) = self.scene.fleet, self.lost
        gone: dict[Key, str] = {
            card.key: "" for card in fleet.cards.by_node.get(node, ()) if index in (None, card.gpu.index)
        }
        self.board = Board(replace(fleet, lost=self.lost), self.scene.held, gone)

    def dropped(self) -> tuple[str, ...]:
        """The roles that have fewer places than before, by name."""
        for ask in self.scene.own:
            if ask.role.needs.gpu:
                self._on_cards(ask)
        for ask in self.scene.own:
            if not ask.role.needs.gpu or (ask.role.cpu_fallback and ask.role.name not in self.board.cards_of):
                self._on_nodes(ask)
        for ask in self.scene.sharers:
            if sharing.take(self.board, ask):
                self._note(ask)
            elif ask.role.cpu_fallback:
                self._on_nodes(ask)
            else:
                self._note(ask)
        return tuple(name for name, number in sorted(self.scene.places.items()) if self._number(name) < number)

    def _number(self, role: str) -> int:
        return len(self.board.cards_of.get(role, ())) + (role in self.board.node_of)

    def _on_cards(self, ask: Ask) -> None:
        board, name = self.board, ask.role.name
        keys = board.held.cards.get(name, frozenset())
        if any(key in board.taken for key in keys):
            gpu_roles.take(board, ask)
            self._note(ask)
            return
        for node, at in keys:
            board.taken[node, at] = name
            board.put_on_card(ask.role, board.fleet.cards.by_node[node][at])

    def _on_nodes(self, ask: Ask) -> None:
        """The holder, if it serves still; else any node, or for a role that had no place those that somebody left."""
        board, name = self.board, ask.role.name
        for holder in board.held.nodes.get(name, ()):
            found = cpu_roles.serving(board, ask, board.fleet.nodes[holder])
            if not isinstance(found, Failure):
                board.put_on_node(ask.role, board.fleet.nodes[holder], found[0])
                return
        homeless = name not in board.held.nodes and name not in board.held.cards
        nodes = [board.fleet.nodes[one] for one in sorted(self.left)] if homeless else self.scene.nodes
        cpu_roles.take(board, ask, nodes)
        self._note(ask)

    def _note(self, ask: Ask) -> None:
        """Remember the nodes that a role has left."""
        name = ask.role.name
        before = {key[0] for key in self.board.held.cards.get(name, ())} | self.board.held.nodes.get(name, frozenset())
        now = {card.node.name for card in self.board.cards_of.get(name, ())}
        self.left |= before - now - ({self.board.node_of[name].name} if name in self.board.node_of else set())
