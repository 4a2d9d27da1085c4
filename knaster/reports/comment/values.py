"""What the rows of a comment show: views of changes, inputs and diagnostics with everything but the markup decided."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from knaster.changes.result import Change, InputChange
from knaster.diagnostics import Diagnostic, Place, Severity
from knaster.reports.comment.links import Links
from knaster.reports.comment.templates import Safe
from knaster.reports.wording import DONE, noun


@dataclass(frozen=True, slots=True)
class Value:
    """A value of the inputs, before and after; "" where there is none."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Row:
    """One change."""

    kind: str
    name: str
    done: str
    summary: str
    cause: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a file: how it is written, and where it leads ("" for nowhere)."""

    text: str
    url: Safe


@dataclass(frozen=True, slots=True)
class Edit:
    """One value of the inputs that differs."""

    value: Value
    removed: bool
    spot: Spot


@dataclass(frozen=True, slots=True)
class Problem:
    """One diagnostic."""

    severity: Severity
    code: str
    message: str
    hint: str
    spot: Spot | None


def row(change: Change) -> Row:
    """A change as its own sentence tells it; the values of its objects are in ``plan.json``."""
    return Row(
        noun(change),
        change.name,
        DONE[change.effect],
        change.summary.rstrip(". "),
        change.cause.rstrip(". "),
        change.before or "",
        change.after or "",
    )


def edit(change: InputChange, links: Links | None, newer: str, older: str) -> Edit:
    """An input value; its link leads to the commit that still has it."""
    before = "" if change.before is None else shown(change.before)
    after = "" if change.removed else shown(change.after)
    place = spot(change.place, links, older if change.removed else newer)
    return Edit(Value(change.what, before, after), change.removed, place)


def problem(one: Diagnostic, links: Links | None, sha: str) -> Problem:
    """A diagnostic; its link leads to the head commit."""
    place = None if one.place is None else spot(one.place, links, sha)
    return Problem(one.severity, one.code, one.message.rstrip(". "), (one.hint or "").rstrip(". "), place)


def spot(place: Place, links: Links | None, sha: str) -> Spot:
    """``file:line``, and the address of it in a commit."""
    text = f"{place.file}:{place.line}" if place.line else place.file
    return Spot(text, Safe(links.file(sha, place.file, place.line) if links else ""))


def shown(value: Any) -> str:
    """A value in one line: text as it is, everything else as JSON."""
    if isinstance(value, str):
        return value or '""'
    return json.dumps(value, ensure_ascii=False, default=str)
