"""A list of reasons why nothing serves a role, told once: where it comes again, its numbers are enough."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from knaster.changes.result import DESTRUCTIVE, Change
from knaster.diagnostics import Diagnostic
from knaster.pull import PullPlan

_LIST = re.compile(r"([0-9]+/[0-9]+ [A-Za-z]+(?: of \S+)? fit): .+", re.DOTALL)


def without(plan: PullPlan) -> PullPlan:
    """The plan for people to read, in the order in which they read: errors, what is taken away, the rest."""
    seen: set[str] = set()
    known = frozenset(plan.problems)
    problems = _problems(plan.problems, seen)
    changes = plan.comparison.changes
    first = [change for change in changes if change.effect in DESTRUCTIVE]
    rest = [change for change in changes if change.effect not in DESTRUCTIVE]
    told = tuple(_change(change, seen) for change in (*first, *rest))
    new = _problems((one for one in plan.comparison.new if one not in known), seen)
    return replace(plan, problems=problems, comparison=replace(plan.comparison, changes=told, new=new))


def _change(change: Change, seen: set[str]) -> Change:
    return replace(change, cause=_once(change.cause, seen))


def _problems(some: Iterable[Diagnostic], seen: set[str]) -> tuple[Diagnostic, ...]:
    return tuple(replace(one, message=_once(one.message, seen)) for one in some)


def _once(text: str, seen: set[str]) -> str:
    found = _LIST.search(text)
    if found is None:
        return text
    if found[0] in seen:
        return f"{text[: found.start()]}{found[1]}"
    seen.add(found[0])
    return text
