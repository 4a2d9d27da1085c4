"""What a comment tells, in its order: sections of rows, the important ones open, the rest folded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from knaster.changes.result import DESTRUCTIVE, Change, Effect, InputChange
from knaster.diagnostics import Diagnostic, Severity
from knaster.pull import PullPlan
from knaster.reports.comment import values
from knaster.reports.comment.links import Links

_OPEN = 8
"""Rows up to which a section stays open."""
_OPEN_MOVES = 30
_OPEN_MODELS = 3
_BY_KIND = {
    "role": "Roles",
    "slot": "Slots",
    "guest": "Guests",
    "mapping": "Mappings",
    "node": "Nodes and cards",
    "external": "External endpoints",
    "setting": "Settings",
}


@dataclass(frozen=True, slots=True)
class Section:
    """Rows under a title, which is ours and never from data. ``template`` makes one line of ``view(item)``."""

    title: str
    template: str
    items: Sequence[Any]
    view: Callable[[Any], object]
    folded: bool = False
    table: tuple[str, ...] = ()
    bold: bool = False


def front(plan: PullPlan, links: Links | None) -> tuple[Section, ...]:
    """What stands before the line on failures: what a reviewer decides by, worst first."""
    changes = plan.comparison.changes
    moves = [one for one in changes if _moves(one)]
    rest = _rest(plan)
    few = rest if len(rest) <= _OPEN else []
    return _filled(
        _problems("Errors", plan, links, plan.problems),
        taken_away(plan),
        Section("Please note", "note", plan.notes, str),
        _changes("Restarts", [one for one in changes if one.effect is Effect.RESTART]),
        Section(
            "Moves" if all(one.before for one in moves) else "Moves and new places",
            "move",
            moves,
            values.row,
            folded=len(moves) > _OPEN_MOVES,
            table=("role", "from", "to", "why"),
        ),
        _changes("Other changes" if len(few) < len(changes) - len(_fits(plan)) else "Changes", few),
        _edits(plan, links),
        _problems("New problems", plan, links, _new(plan, quiet=False)),
    )


def back(plan: PullPlan, links: Links | None) -> tuple[Section, ...]:
    """Everything else, folded; but a few models, which say why slots serve others now, are open."""
    changes, rest = plan.comparison.changes, _rest(plan)
    many = rest if len(rest) > _OPEN else []
    fits = _fits(plan)
    return _filled(
        *(_changes(title, [one for one in many if one.kind == kind], folded=True) for kind, title in _BY_KIND.items()),
        _changes("Models that fit or no longer fit", fits, folded=len(fits) > _OPEN_MODELS),
        _changes("Only recorded", [one for one in changes if _recorded(one)], folded=True),
        _problems("New notes", plan, links, _new(plan, quiet=True), folded=True),
        _problems("Fixed", plan, links, plan.comparison.fixed, folded=True),
    )


def taken_away(plan: PullPlan) -> Section:
    """The destructive changes, each with its cause; may be empty."""
    return _changes("Taken away", plan.comparison.destructive, bold=True)


def in_short(plan: PullPlan) -> tuple[Section, ...]:
    """What must be seen first, by name alone."""
    return _filled(
        Section("Errors", "place", plan.problems, lambda one: values.problem(one, None, plan.head)),
        Section("Taken away", "name", plan.comparison.destructive, values.row),
    )


def _moves(change: Change) -> bool:
    return change.kind == "role" and change.effect in (Effect.MOVE, Effect.CREATE) and change.after is not None


def _recorded(change: Change) -> bool:
    return change.effect is Effect.RECORD and change.kind != "model"


def _rest(plan: PullPlan) -> list[Change]:
    """What happens beside losses, restarts and moves of roles."""
    calm = (Effect.MOVE, Effect.UPDATE, Effect.CREATE)
    return [one for one in plan.comparison.changes if one.effect in calm and one.kind != "model" and not _moves(one)]


def _fits(plan: PullPlan) -> list[Change]:
    return [one for one in plan.comparison.changes if one.kind == "model" and one.effect not in DESTRUCTIVE]


def _filled(*some: Section) -> tuple[Section, ...]:
    return tuple(one for one in some if one.items)


def _changes(title: str, some: Sequence[Change], *, folded: bool = False, bold: bool = False) -> Section:
    return Section(title, "change", some, values.row, folded, bold=bold)


def _edits(plan: PullPlan, links: Links | None) -> Section:
    def view(one: InputChange) -> values.Edit:
        return values.edit(one, links, plan.head, plan.compared_with)

    edits = plan.comparison.inputs
    return Section("Edited", "edit", edits, view, folded=len(edits) > _OPEN)


def _new(plan: PullPlan, *, quiet: bool) -> list[Diagnostic]:
    known = frozenset(plan.problems)
    return [one for one in plan.comparison.new if one not in known and quiet == (one.severity is Severity.NOTE)]


def _problems(
    title: str, plan: PullPlan, links: Links | None, some: Sequence[Diagnostic], *, folded: bool = False
) -> Section:
    def view(one: Diagnostic) -> values.Problem:
        return values.problem(one, links, sha)

    sha = plan.compared_with if title == "Fixed" else plan.head
    return Section(title, "problem", some, view, folded or (title == "New problems" and len(some) > _OPEN // 2))
