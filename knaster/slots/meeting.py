"""Which slots meet on a card, and whether they may run there at the same time (see `knaster.share_tree`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

from knaster.cluster import Role, Slot
from knaster.placement.result import Assignment
from knaster.share_tree import concurrent_top, owner


@dataclass(frozen=True, slots=True, eq=False)
class Seat:
    """A slot of a role (None: the role has no slots) and the assignments that serve it. Compared by identity."""

    role: Role
    slot: Slot | None
    serving: tuple[Assignment, ...]


def neighbours(roles: Mapping[str, Role], seats: Iterable[Seat]) -> dict[Seat, tuple[list[Seat], list[Seat]]]:
    """For every seat that shares a card with another role: the seats it excludes, and those it may run beside."""
    trees: dict[str, list[Seat]] = {}
    for seat in seats:
        if seat.serving:
            trees.setdefault(owner(seat.role, roles), []).append(seat)
    near: dict[Seat, tuple[list[Seat], list[Seat]]] = {}
    for tree in trees.values():
        if len({seat.role.name for seat in tree}) == 1:
            continue
        for one, other in combinations(tree, 2):
            if one.role.name != other.role.name and _meet(one, other):
                column = int(concurrent_top(one.role, roles) == concurrent_top(other.role, roles))
                near.setdefault(one, ([], []))[column].append(other)
                near.setdefault(other, ([], []))[column].append(one)
    return near


def _meet(one: Seat, other: Seat) -> bool:
    """Whether two roles of one tree use a common card or, where a CPU role shares its target's node, a common node."""
    if _shares_node(one.role) or _shares_node(other.role):
        return bool(_nodes(one) & _nodes(other))
    return bool(_cards(one) & _cards(other))


def _shares_node(role: Role) -> bool:
    return role.share_with is not None and not role.needs.gpu


def _nodes(seat: Seat) -> frozenset[str]:
    return frozenset(assignment.node for assignment in seat.serving)


def _cards(seat: Seat) -> frozenset[tuple[str, int]]:
    return frozenset((a.node, a.gpu_index) for a in seat.serving if a.gpu_index is not None)
