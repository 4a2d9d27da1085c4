"""What a failure would do: the fleet planned again without a node or a card, continuing the plan as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from knaster.cluster import Catalog, Cluster
from knaster.names import spot
from knaster.placement.board import Fleet
from knaster.placement.planner import place
from knaster.placement.result import Assignment, PlacementPlan

What = Literal["lost", "reduced", "moved", "gained"]
_RANK: tuple[What, ...] = ("lost", "reduced", "moved", "gained")


@dataclass(frozen=True, slots=True)
class Change:
    """One role whose places differ: where it was, where it would be, and (where it has fewer places) why."""

    role: str
    what: What
    before: tuple[str, ...]
    after: tuple[str, ...]
    reason: str | None = None


def after(cluster: Cluster, before: PlacementPlan, node: str, gpu_index: int | None = None) -> PlacementPlan:
    """The plan that follows `before` when a node, or one of its cards, is lost; `before` for an unknown name.

    Reasons still speak of every card of the fleet, of the lost ones as taken out. A VM that loses its card goes on.
    """
    catalog = cluster.catalog or Catalog()
    fleet = Fleet.of(cluster.nodes, catalog, cluster.platform, (node, gpu_index))
    return place(fleet, cluster.roles or {}, before)


def without(cluster: Cluster, before: PlacementPlan, node: str, gpu_index: int | None = None) -> tuple[Change, ...]:
    """What happens to the roles of `before` when a node, or one of its cards, is lost; nothing for an unknown name."""
    return compare(before, after(cluster, before, node, gpu_index))


def compare(before: PlacementPlan, after: PlacementPlan) -> tuple[Change, ...]:
    """Every role whose places differ between two plans, losses first, then by name."""
    old, new = _places(before), _places(after)
    reasons = {one.role: one.reason for one in after.unplaced}
    changes = []
    for role in sorted({*old, *new}):
        was, now = old.get(role, ()), new.get(role, ())
        if was != now:
            what = _what(was, now)
            changes.append(Change(role, what, was, now, reasons.get(role) if what in {"lost", "reduced"} else None))
    return tuple(sorted(changes, key=lambda change: (_RANK.index(change.what), change.role)))


def place_name(one: Assignment) -> str:
    """``pve44/1`` for a card, ``pve44 (infra)`` for a role in a guest, ``pve44`` for a CPU without one."""
    where = spot(one.node, one.gpu_index)
    return f"{where} ({one.guest})" if one.guest and one.gpu_index is None else where


def _what(before: tuple[str, ...], after: tuple[str, ...]) -> What:
    if not after:
        return "lost"
    if len(after) < len(before):
        return "reduced"
    return "moved" if len(after) == len(before) else "gained"


def _places(answer: PlacementPlan) -> dict[str, tuple[str, ...]]:
    places: dict[str, list[str]] = {}
    for one in answer.assignments:
        places.setdefault(one.role, []).append(place_name(one))
    return {role: tuple(sorted(names)) for role, names in places.items()}
