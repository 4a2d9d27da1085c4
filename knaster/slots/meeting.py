"""Which slots meet on a card, and whether they may run there at the same time (see `knaster.placement.share_tree`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from knaster.cluster import Role, Slot
from knaster.placement.result import Assignment
from knaster.placement.share_tree import MOST, concurrent_top, trees


@dataclass(frozen=True, slots=True, eq=False)
class Seat:
    """A slot of a role (None: the role has no slots) and the assignments that serve it. Compared by identity."""

    role: Role
    slot: Slot | None
    serving: tuple[Assignment, ...]


def neighbours(roles: Mapping[str, Role], seats: Iterable[Seat]) -> dict[Seat, tuple[list[Seat], list[Seat]]]:
    """For every seat that shares a card with another role: the seats it excludes, and those it may run beside.

    Nothing of a tree with more roles than `share_tree.MOST`: a check refuses it.
    """
    served: dict[str, list[Seat]] = {}
    for seat in seats:
        if seat.serving:
            served.setdefault(seat.role.name, []).append(seat)
    near: dict[Seat, tuple[list[Seat], list[Seat]]] = {}
    for names in trees(roles).values():
        if 1 < len(names) <= MOST:
            tops = {name: concurrent_top(roles[name], roles) for name in names}
            for one, other in _meetings([seat for name in names for seat in served.get(name, ())]):
                column = int(tops[one.role.name] == tops[other.role.name])
                near.setdefault(one, ([], []))[column].append(other)
    return near


def _meetings(tree: list[Seat]) -> Iterator[tuple[Seat, Seat]]:
    """Two roles of one tree that use a common card or, where a CPU role shares its target's node, a common node.

    Each pair both ways.
    """
    on: dict[_Spot, list[Seat]] = {}
    for seat in tree:
        for spot in _spots(seat):
            on.setdefault(spot, []).append(seat)
    for one in tree:
        met = (
            other
            for spot in _spots(one)
            for other in on[spot]
            if spot[1] is not None or _shares_node(one.role) or _shares_node(other.role)
        )
        yield from ((one, other) for other in dict.fromkeys(met) if other.role.name != one.role.name)


_Spot = tuple[str, int | None]
"""A card, or a node (None)."""


def _spots(seat: Seat) -> dict[_Spot, None]:
    """The cards that serve a seat, and their nodes."""
    return dict.fromkeys(spot for one in seat.serving for spot in ((one.node, one.gpu_index), (one.node, None)))


def _shares_node(role: Role) -> bool:
    return role.share_with is not None and not role.needs.gpu
