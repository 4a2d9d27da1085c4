"""What became of the places of each role, between two plans: kept, left, taken. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from knaster.placement.failure import place_name
from knaster.placement.result import Assignment, PlacementPlan
from knaster.planned import Planned

What = Literal["added", "removed", "placed", "lost", "reduced", "gained", "moved", "renumbered", "kept"]


@dataclass(frozen=True, slots=True)
class Shift:
    """One role: the places that it keeps (older and newer form), those that it leaves, and those that it takes.

    ``renumbered``: the same card has another index now. ``kept``: the places are the same, something of them is not.
    """

    role: str
    what: What
    kept: tuple[tuple[Assignment, Assignment], ...] = ()
    left: tuple[Assignment, ...] = ()
    taken: tuple[Assignment, ...] = ()

    @property
    def before(self) -> tuple[str, ...]:
        """All places of the older side, sorted."""
        return tuple(sorted(place_name(one) for one in (*(old for old, _ in self.kept), *self.left)))

    @property
    def after(self) -> tuple[str, ...]:
        """All places of the newer side, sorted."""
        return tuple(sorted(place_name(one) for one in (*(new for _, new in self.kept), *self.taken)))

    @property
    def placed(self) -> bool:
        """Whether the places differ, as people name them."""
        return bool(self.left or self.taken) or self.what == "renumbered"


def shifts(before: Planned, after: Planned, names: Iterable[str]) -> Iterator[Shift]:
    """The shift of each of these roles, sorted by name."""
    wanted = frozenset(names)
    old, new = _places(before.plan, wanted), _places(after.plan, wanted)
    for role in sorted(wanted):
        kept, left, taken = _matched(old.get(role, []), new.get(role, []))
        had, has = role in (before.cluster.roles or {}), role in (after.cluster.roles or {})
        yield Shift(role, _what(kept, left, taken, had=had, has=has), kept, left, taken)


def _places(plan: PlacementPlan, wanted: frozenset[str]) -> dict[str, list[Assignment]]:
    found: dict[str, list[Assignment]] = {}
    for one in plan.assignments:
        if one.role in wanted:
            found.setdefault(one.role, []).append(one)
    return found


Pairs = tuple[tuple[Assignment, Assignment], ...]


def _matched(
    old: list[Assignment], new: list[Assignment]
) -> tuple[Pairs, tuple[Assignment, ...], tuple[Assignment, ...]]:
    """Places that are one: first by the card's own identity, then by node and index."""
    kept: list[tuple[Assignment, Assignment]] = []
    for key in (_card, _spot):
        known = {name: other for other in new if (name := key(other)) is not None}
        pairs = [(one, known.pop(name)) for one in old if (name := key(one)) is not None and name in known]
        matched = {id(one) for pair in pairs for one in pair}
        old = [one for one in old if id(one) not in matched]
        new = [one for one in new if id(one) not in matched]
        kept += pairs
    return tuple(kept), tuple(old), tuple(new)


def _card(one: Assignment) -> tuple[object, ...] | None:
    sure = one.card is not None and not one.card.startswith("index:")
    return (one.node, one.card) if sure else None


def _spot(one: Assignment) -> tuple[object, ...]:
    """A CPU role in another guest of the same node has moved."""
    return one.node, one.gpu_index, one.guest if one.gpu_index is None else None


def _what(kept: Pairs, left: tuple[Assignment, ...], taken: tuple[Assignment, ...], *, had: bool, has: bool) -> What:
    if not has:
        return "removed"
    if not had:
        return "added"
    was, now = len(kept) + len(left), len(kept) + len(taken)
    if was != now:
        return "lost" if not now else "placed" if not was else "reduced" if now < was else "gained"
    if left:
        return "moved"
    return "renumbered" if any(old.gpu_index != new.gpu_index for old, new in kept) else "kept"
