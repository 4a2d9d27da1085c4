"""The line on failures: how many the fleet survives after and before, and which ones are new."""

from __future__ import annotations

from dataclasses import dataclass

from knaster.changes.result import Effect
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
    before, after = plan.failures_before, plan.failures_after
    if after is None or not plan.ok:
        return None
    now = _more(before, after)
    gone = _more(after, before) if before else ()
    lost = any(one.kind == "role" and one.effect is Effect.LOSE for one in plan.comparison.changes)
    lines = (
        _line("node", before.nodes if before else None, after.nodes),
        _line("card", before.cards if before else None, after.cards),
    )
    return render(
        "failures",
        lines=lines,
        as_before=all(one.same for one in lines),
        target=plan.target,
        partly=lost,
        now=now[:_SHOWN],
        more=len(now[_SHOWN:]),
        gone=() if now or lost else gone[:_SHOWN],
    )


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
