"""The line on failures: how many the fleet survives after and before, and which ones are new."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from knaster.changes.objects import PLACEMENT
from knaster.changes.result import Change, Effect
from knaster.placement.survival import Failures, Survival
from knaster.pull import PullPlan
from knaster.reports.comment.templates import Safe, render

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Line:
    """Of ``total`` failures of a node (or card) so many are survived; ``before`` is "" where nothing differs."""

    noun: str
    total: int
    survived: int
    before: str
    same: bool


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure and the roles that only one side drops."""

    name: str
    roles: tuple[str, ...]


def line(plan: PullPlan) -> Safe | None:
    """One sentence in Markdown; None where there is no plan that could land."""
    after = plan.failures_after
    if after is None or not plan.ok:
        return None
    names = _renamed(plan.comparison.changes)
    before = plan.failures_before and _called(plan.failures_before, names)
    lost = [one for one in plan.comparison.changes if _loses(one) and one.name not in names] if before else []
    beside = before if not lost else None
    lines = (
        _line("node", beside.nodes if beside else None, after.nodes),
        _line("card", beside.cards if beside else None, after.cards),
    )
    now = _more(before, after)
    return render(
        "failures",
        lines=lines,
        as_before=all(one.same for one in lines),
        target=plan.target,
        lost=tuple(one.name for one in lost if one.after is None),
        fewer=tuple(one.name for one in lost),
        now=now[:_SHOWN],
        more=len(now[_SHOWN:]),
        gone=() if now or not beside else _more(after, beside)[:_SHOWN],
    )


def _loses(change: Change) -> bool:
    return change.kind == "role" and change.effect is Effect.LOSE


def _renamed(changes: Iterable[Change]) -> dict[str, str]:
    """Older to newer names of roles that differ in nothing else: a removed one, and a new one with all its places."""
    roles = [one for one in changes if one.kind == "role" and not any(of.collection == "unplaced" for of in one.covers)]
    new = {_places(one, after=True): one.name for one in roles if one.before is None}
    gone = {one.name: _places(one, after=False) for one in roles if one.after is None}
    return {name: new[places] for name, places in gone.items() if places and places in new}


def _places(change: Change, *, after: bool) -> tuple[str, ...]:
    """The assignments of a role that is there on one side alone, without its name."""
    found = [field for field in change.fields if field.path[:2] == (PLACEMENT, "assignments") and len(field.path) == 3]
    rows = (field.after if after else field.before for field in found)
    return tuple(sorted(json.dumps({**row, "role": ""}, sort_keys=True) for row in rows if row))


def _called(failures: Failures, names: Mapping[str, str]) -> Failures:
    """The same failures, of roles by their newer names."""
    return Failures(*(_renaming(one, names) for one in (failures.nodes, failures.cards)))


def _renaming(one: Survival, names: Mapping[str, str]) -> Survival:
    drops = {name: tuple(sorted(names.get(role, role) for role in roles)) for name, roles in one.drops.items()}
    return replace(one, drops=drops)


def _line(noun: str, before: Survival | None, after: Survival) -> Line:
    same = before is not None and (before.survived, before.total) == (after.survived, after.total)
    told = ""
    if before is not None and not same:
        told = str(before.survived) if before.total == after.total else f"{before.survived} of {before.total}"
    return Line(noun, after.total, after.survived, told, same)


def _more(before: Failures | None, after: Failures | None) -> tuple[Failure, ...]:
    """Failures that drop roles in `after` alone; a card is not told where its node is, with the same roles."""
    if before is None or after is None:
        return ()
    nodes = _new(before.nodes, after.nodes)
    told = {one.name: set(one.roles) for one in nodes}
    cards = _new(before.cards, after.cards)
    return (*nodes, *(one for one in cards if not set(one.roles) <= told.get(one.name.rpartition("/")[0], set())))


def _new(before: Survival, after: Survival) -> tuple[Failure, ...]:
    found = ((name, set(roles) - set(before.drops.get(name, ()))) for name, roles in sorted(after.drops.items()))
    return tuple(Failure(name, tuple(sorted(roles))) for name, roles in found if roles)
