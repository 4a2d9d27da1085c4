"""What a comment tells, in its order: sections of rows, the important ones open, the rest folded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from knaster.changes.result import DESTRUCTIVE, Change, Effect, InputChange
from knaster.diagnostics import Diagnostic, Severity
from knaster.pull import PullPlan
from knaster.reports.comment import values
from knaster.reports.comment.links import Links
from knaster.reports.wording import noun, takes_place, tells_fit

_OPEN = 8
"""Rows up to which a section stays open."""
_OPEN_MOVES = 30
_OPEN_MODELS = 3
_TOGETHER = 20
"""Names in one row: of 600 guests that restart alike a cut comment shows as many as fit."""
_BY_KIND = {
    "role": "Roles",
    "slot": "Slots",
    "model": "Models",
    "guest": "Guests",
    "mapping": "Mappings",
    "node": "Nodes and cards",
    "external": "External endpoints",
    "setting": "Settings",
}


@dataclass(frozen=True, slots=True)
class Section:
    """Rows under a title, which is ours and never from data. ``template`` makes one line of ``view(item)``.

    An item that stands for ``number(item)`` things is counted as that many.
    """

    title: str
    template: str
    items: Sequence[Any]
    view: Callable[[Any], object]
    folded: bool = False
    table: tuple[str, ...] = ()
    bold: bool = False
    number: Callable[[Any], int] = lambda _: 1


def front(plan: PullPlan, links: Links | None) -> tuple[Section, ...]:
    """What stands before the line on failures: what a reviewer decides by, worst first."""
    changes, rest = plan.comparison.changes, _rest(plan)
    few = rest if len(rest) <= _OPEN else []
    return _filled(
        _problems("Errors", plan, links, plan.problems),
        taken_away(plan),
        Section("Please note", "note", plan.notes, str),
        _changes(plan, "Cannot be applied", [one for one in changes if one.effect is Effect.REFUSE], bold=True),
        _changes(plan, "Restarts", [one for one in changes if one.effect is Effect.RESTART]),
        _moves(plan),
        _changes(plan, "Other changes" if len(few) < len(changes) - len(_fits(plan)) else "Changes", few),
        _edits(plan, links),
        *_models(plan, folded=False),
        _problems("New problems", plan, links, _new(plan, quiet=False)),
    )


def back(plan: PullPlan, links: Links | None) -> tuple[Section, ...]:
    """Everything else, folded."""
    changes, rest = plan.comparison.changes, _rest(plan)
    many = rest if len(rest) > _OPEN else []
    kinds = ((title, [one for one in many if one.kind == kind]) for kind, title in _BY_KIND.items())
    return _filled(
        *(_changes(plan, title, some, folded=True) for title, some in kinds),
        *_models(plan, folded=True),
        _changes(plan, "Only recorded", [one for one in changes if _recorded(one)], folded=True),
        _problems("New notes", plan, links, _new(plan, quiet=True), folded=True),
        _problems("Fixed", plan, links, plan.comparison.fixed, folded=True),
    )


def taken_away(plan: PullPlan) -> Section:
    """The destructive changes, each with its cause; may be empty."""
    return _changes(plan, "Taken away", plan.comparison.destructive, bold=True)


def in_short(plan: PullPlan) -> tuple[Section, ...]:
    """What must be seen first, by name alone."""
    return _filled(
        Section("Errors", "place", plan.problems, lambda one: values.problem(one, None, plan.head)),
        Section("Taken away", "name", plan.comparison.destructive, values.row),
    )


def _moves(plan: PullPlan) -> Section:
    moves = [one for one in plan.comparison.changes if takes_place(one)]
    return Section(
        "Moves" if all(one.before for one in moves) else "Moves and new places",
        "move",
        moves,
        lambda one: values.row(one, plan.comparison.names),
        folded=len(moves) > _OPEN_MOVES,
        table=("role", "from", "to", "why"),
    )


def _models(plan: PullPlan, *, folded: bool) -> Iterable[Section]:
    """Models that cease to fit, and that begin to; a few, which say why slots serve others now, are open."""
    for fits, title in ((False, "Models that no longer fit"), (True, "Models that fit now")):
        some = [one for one in _fits(plan) if (one.after is not None) is fits]
        if folded is (len(some) > _OPEN_MODELS):
            yield Section(title, "model", some, lambda one: values.model(one, plan.comparison.names), folded)


def _recorded(change: Change) -> bool:
    return change.effect is Effect.RECORD and not tells_fit(change)


def _rest(plan: PullPlan) -> list[Change]:
    """What happens beside losses, restarts and moves of roles."""
    calm = (Effect.MOVE, Effect.UPDATE, Effect.CREATE)
    return [
        one for one in plan.comparison.changes if one.effect in calm and not tells_fit(one) and not takes_place(one)
    ]


def _fits(plan: PullPlan) -> list[Change]:
    return [one for one in plan.comparison.changes if tells_fit(one) and one.effect not in DESTRUCTIVE]


def _filled(*some: Section) -> tuple[Section, ...]:
    return tuple(one for one in some if one.items)


def _changes(
    plan: PullPlan, title: str, some: Sequence[Change], *, folded: bool = False, bold: bool = False
) -> Section:
    def view(alike: Sequence[Change]) -> values.Row:
        return values.rows(alike, plan.comparison.names)

    return Section(title, "change", _alike(some), view, folded, bold=bold, number=len)


def _alike(some: Iterable[Change]) -> list[list[Change]]:
    """Changes that say the same of several things, together, at the place of the first."""
    groups: dict[object, list[list[Change]]] = {}
    found: list[list[Change]] = []
    for one in some:
        mine = groups.setdefault((one.effect, noun(one), one.summary, one.cause), [])
        if not mine or len(mine[-1]) == _TOGETHER:
            mine.append([])
            found.append(mine[-1])
        mine[-1].append(one)
    return found


def _edits(plan: PullPlan, links: Links | None) -> Section:
    def view(one: InputChange) -> values.Edit:
        return values.edit(one, links, plan.head, plan.compared_with)

    edits = plan.comparison.inputs
    return Section("Edited", "edit", edits, view, folded=len(edits) > _OPEN)


def _new(plan: PullPlan, *, quiet: bool) -> list[Diagnostic]:
    return [one for one in plan.comparison.new if quiet == (one.severity is Severity.NOTE)]


def _problems(
    title: str, plan: PullPlan, links: Links | None, some: Sequence[Diagnostic], *, folded: bool = False
) -> Section:
    def view(one: Diagnostic) -> values.Problem:
        return values.problem(one, links, sha, plan.comparison.names, fixed=fixed)

    fixed = title == "Fixed"
    sha = plan.compared_with if fixed else plan.head
    return Section(title, "problem", some, view, folded or (title == "New problems" and len(some) > _OPEN // 2))
