"""The fleet as `model plan` sees it: what each usable card offers, who holds it, and the rooms for CPU rows.

A class of cards is what no engine tells apart; people call it ``rtx4000ada-20g``. Cards that serve nobody are listed
with the reason.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from knaster.cards.types import engines, finder, slug
from knaster.cluster import Engine, Gpu, Needs, Node, Number, Platform, Role
from knaster.fit.fits import card_device
from knaster.guests import card_type
from knaster.names import spot
from knaster.placement.board import Board, Fleet, Held
from knaster.placement.cpu_roles import serving
from knaster.placement.filters import Ask, Failure
from knaster.planned import Planned
from knaster.units import MIB, Exact, mib, show

_MEMORY = re.compile(r"\b[0-9]+ ?GB\b|\bHBM[0-9]e?\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CardClass:
    """Like cards: ``total`` and ``free`` (total less the reserve of the OS) in bytes; ``engines`` by card policy."""

    name: str
    os: str
    compute_cap: Number
    total: int
    free: int
    engines: tuple[str, ...] | None = None

    @property
    def reserve(self) -> int:
        """Bytes that the platform keeps for the OS, the driver and the CUDA context."""
        return self.total - self.free


@dataclass(frozen=True, slots=True)
class PoolCard:
    """One usable card; ``holders`` are the roles that the placement gives it to, sorted."""

    node: str
    index: int
    kind: CardClass
    fabric: str | None = None
    holders: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """How people write it in a ``pin``: ``pve44/1``."""
        return spot(self.node, self.index)


@dataclass(frozen=True, slots=True)
class Room:
    """RAM for a model without a card: ``size`` in bytes and what other roles leave of it; ``holders`` use the rest."""

    node: str
    guest: str | None
    size: int
    left: int
    holders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A card (``pve44/0``) or a node's RAM that no plan uses, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Hardware:
    """Everything a plan may use, sorted by name; ``left_out`` is what it may not."""

    cards: tuple[PoolCard, ...]
    rooms: tuple[Room, ...]
    left_out: tuple[LeftOut, ...]

    def also_without(self, others: Iterable[LeftOut]) -> Hardware:
        """The same with more that is left out."""
        return replace(self, left_out=tuple(sorted((*self.left_out, *others), key=lambda one: one.name)))

    def free_only(self) -> Hardware:
        """What the placement leaves: cards without a holder, and of each room what is left."""
        held = tuple(LeftOut(card.name, f"held by {' and '.join(card.holders)}") for card in self.cards if card.holders)
        rooms = tuple(Room(room.node, room.guest, room.left, room.left) for room in self.rooms)
        cards = tuple(card for card in self.cards if not card.holders)
        return Hardware(cards, rooms, tuple(sorted((*self.left_out, *held), key=lambda one: one.name)))


def hardware(planned: Planned, cpu_engine: Engine | None) -> Hardware:
    """The cards and rooms of a planned fleet; `cpu_engine` runs models without a card (None: there are no CPU rows)."""
    cluster = planned.cluster
    holders: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
    for one in planned.plan.assignments:
        if one.gpu_index is not None:
            holders[one.node, one.gpu_index].append(one.role)
    policies = finder(cluster.platform)
    found = [
        _card(node, gpu, cluster.platform, engines(policies(gpu)), tuple(sorted(holders[node.name, gpu.index])))
        for node in cluster.nodes
        for gpu in node.gpus
    ]
    rooms, without = _rooms(planned, cpu_engine) if cpu_engine else ((), ())
    cards = [one for one in found if isinstance(one, PoolCard)]
    out = [*(one for one in found if isinstance(one, LeftOut)), *without]
    return Hardware(
        tuple(sorted(cards, key=lambda card: (card.node, card.index))),
        rooms,
        tuple(sorted(out, key=lambda one: one.name)),
    )


def class_name(gpu: Gpu) -> str:
    """``rtx4000ada-20g``: the type as in a resource mapping, less the memory that some names hold, and nominal GiB."""
    size = gpu.memory_gb if gpu.memory_gb is not None else round((gpu.memory_mib or 0) / 1024)
    return f"{type_name(gpu.name or '') or card_type(gpu)}-{show(size)}g"


def type_name(card: str) -> str:
    """The type in the name of a class, of a card as it calls itself."""
    return slug(_MEMORY.sub(" ", card))


def _card(
    node: Node, gpu: Gpu, platform: Platform | None, allowed: tuple[str, ...] | None, holders: tuple[str, ...]
) -> PoolCard | LeftOut:
    name = spot(node.name, gpu.index)
    device = card_device(node, gpu, platform)
    free, capability = device.free_mib, gpu.compute_cap
    reason = _out_of_use(node, gpu)
    if reason or free is None or capability is None or free <= 0:
        unknown = "its VRAM is not known" if free is None else "its compute capability is not known"
        return LeftOut(
            name, reason or ("the VRAM reserve leaves nothing of it" if free is not None and free <= 0 else unknown)
        )
    total = gpu.memory_mib if gpu.memory_mib is not None else mib(gpu.memory_gb or 0)
    kind = CardClass(
        class_name(gpu),
        device.os,
        capability,
        int(total * MIB),
        int(free * MIB),
        allowed,
    )
    return PoolCard(node.name, gpu.index, kind, node.fabric, holders)


def _out_of_use(node: Node, gpu: Gpu) -> str | None:
    """Why nothing new may be planned on a card, whatever it is."""
    if gpu.disabled:
        return f"disabled: {gpu.reason}" if gpu.reason else "disabled"
    if node.state != "active":
        return f"{node.name} is {node.state}" + (f": {node.reason}" if node.reason else "")
    return None


def _rooms(planned: Planned, engine: Engine) -> tuple[tuple[Room, ...], tuple[LeftOut, ...]]:
    """The room of each node that takes CPU roles, as the planner sees it for a role without a guest of its own."""
    cluster = planned.cluster
    assert cluster.catalog is not None, "it is planned"
    board = Board(Fleet.of(cluster.nodes, cluster.catalog, cluster.platform), Held({}, {}, {}))
    ask = Ask.of(Role("", Needs(engine.name, gpu=False), ()), engine)
    used = _used(planned)
    rooms, out = [], []
    for node in board.fleet.nodes.values():
        found = serving(board, ask, node)
        if isinstance(found, Failure):
            out.append(LeftOut(node.name, f"no CPU rows: {node.name} is {found.text}"))
            continue
        (_, guest), size = found
        taken = used.get((node.name, guest), {})
        left = max(size - sum(taken.values()), 0)
        rooms.append(Room(node.name, guest, int(size * MIB), int(left * MIB), tuple(sorted(taken))))
    return tuple(rooms), tuple(out)


def _used(planned: Planned) -> Mapping[tuple[str, str | None], Mapping[str, Exact]]:
    """The MiB that each role books in each room."""
    roles = planned.cluster.roles or {}
    used: defaultdict[tuple[str, str | None], dict[str, Exact]] = defaultdict(dict)
    for one in planned.plan.assignments:
        need = roles[one.role].needs.min_memory_gb
        if need:
            room = used[one.node, one.guest]
            room[one.role] = room.get(one.role, 0) + mib(need)
    return used


def by_class(cards: Iterable[PoolCard]) -> dict[CardClass, list[PoolCard]]:
    """Cards grouped by class, classes in the order of a plan: smallest first, then lower capability, then name."""
    found: defaultdict[CardClass, list[PoolCard]] = defaultdict(list)
    for card in cards:
        found[card.kind].append(card)
    return {kind: found[kind] for kind in sorted(found, key=rank)}


def rank(kind: CardClass) -> tuple[int, float, str, str, int]:
    """The order of classes in a plan."""
    return (kind.total, float(kind.compute_cap), kind.name, kind.os, kind.free)
