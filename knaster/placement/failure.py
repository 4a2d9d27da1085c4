"""What a failure would do: the fleet planned again without a node or a card, continuing the plan as it is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from knaster.cluster import Catalog, Cluster, Node
from knaster.placement import plan
from knaster.placement.result import Assignment, PlacementPlan

What = Literal["lost", "reduced", "moved", "gained"]
_RANK: tuple[What, ...] = ("lost", "reduced", "moved", "gained")
_REASON = "taken out to see what its failure would do"


@dataclass(frozen=True, slots=True)
class Change:
    """One role whose places differ: where it was, where it would be, and (where it has fewer places) why."""

    role: str
    what: What
    before: tuple[str, ...]
    after: tuple[str, ...]
    reason: str | None = None


def without(cluster: Cluster, before: PlacementPlan, node: str, gpu_index: int | None = None) -> tuple[Change, ...]:
    """What happens to the plan `before` when a node, or one of its cards, is lost; nothing for an unknown name.

    The node counts as ``down`` and the card as ``disabled``, so that reasons still speak of every card of the fleet,
    and a VM that loses its only card goes on.
    """
    nodes = [_hurt(item, gpu_index) if item.name == node else item for item in cluster.nodes]
    roles, models = cluster.roles or {}, cluster.catalog or Catalog()
    return compare(before, plan(nodes, roles, models, platform=cluster.platform, current=before))


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
    if one.gpu_index is not None:
        return f"{one.node}/{one.gpu_index}"
    return f"{one.node} ({one.guest})" if one.guest else one.node


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


def _hurt(node: Node, gpu_index: int | None) -> Node:
    if gpu_index is None:
        return replace(node, state="down", reason=_REASON)
    gpus = tuple(replace(gpu, disabled=True, reason=_REASON) if gpu.index == gpu_index else gpu for gpu in node.gpus)
    return replace(node, gpus=gpus)
