"""What the rows of a comment show: views of changes, inputs and diagnostics with everything but the markup decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from knaster.changes.result import Change, InputChange
from knaster.diagnostics import Diagnostic, Place, Severity
from knaster.reports import wording
from knaster.reports.comment.links import Links
from knaster.reports.comment.templates import Safe, sentence
from knaster.reports.wording import DONE, noun

Names = frozenset[str]
_RELATED = 3


@dataclass(frozen=True, slots=True)
class Value:
    """A value of the inputs, before and after; "" where there is none. ``done``: a whole thing that came or went."""

    name: str
    before: str
    after: str
    done: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One change, or several that differ in nothing but their names; ``source`` stands for a missing ``before``."""

    kind: str
    names: tuple[str, ...]
    done: str
    summary: Safe
    cause: Safe
    before: str
    after: str
    source: str

    @property
    def name(self) -> str:
        """The first name."""
        return self.names[0]


@dataclass(frozen=True, slots=True)
class Model:
    """A model that begins or ceases to fit these roles."""

    name: str
    roles: Safe
    cause: Safe


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
    """One diagnostic, and the other places that belong to it."""

    severity: Severity
    code: str
    message: Safe
    hint: Safe
    spot: Spot | None
    related: tuple[Spot, ...]


def row(change: Change, names: Names = frozenset()) -> Row:
    """A change as its own sentence tells it; the values of its objects are in ``plan.json``."""
    return rows((change,), names)


def rows(changes: Sequence[Change], names: Names = frozenset()) -> Row:
    """Changes that say the same of several things; `names` are set apart in their sentences."""
    first = changes[0]
    return Row(
        f"{noun(first)}{'s' * (len(changes) > 1)}",
        tuple(change.name for change in changes),
        DONE[first.effect],
        sentence(first.summary.rstrip(". "), names),
        sentence(first.cause.rstrip(". "), names),
        first.before or "",
        first.after or "",
        wording.source(first),
    )


def model(change: Change, names: Names) -> Model:
    """A model's row below a title that says whether it fits."""
    roles = change.summary.removeprefix("no longer fits ").removeprefix("fits ").removesuffix(" now")
    return Model(change.name, sentence(roles, names), sentence(change.cause, names))


def edit(change: InputChange, links: Links | None, newer: str, older: str) -> Edit:
    """An input value; its link leads to the commit that still has it."""
    place = spot(change.place, links, older if change.removed else newer)
    before = "" if change.before is None else wording.shown(change.before)
    after = "" if change.removed else wording.shown(change.after)
    done = ""
    if change.removed:
        done = "removed" if isinstance(change.before, dict) else ""
    elif change.before is None:
        done = "added" if isinstance(change.after, dict) else ""
    return Edit(Value(change.what, before, after, done), change.removed, place)


def problem(
    one: Diagnostic, links: Links | None, sha: str, names: Names = frozenset(), *, fixed: bool = False
) -> Problem:
    """A diagnostic; its links lead to that commit. What is `fixed` needs no hint."""
    return Problem(
        one.severity,
        one.code,
        sentence(one.message.rstrip(". "), names),
        sentence("" if fixed else (one.hint or "").rstrip(". "), names),
        None if one.place is None else spot(one.place, links, sha),
        tuple(spot(other.place, links, sha) for other in one.related[:_RELATED]),
    )


def spot(place: Place, links: Links | None, sha: str) -> Spot:
    """``file:line``, and the address of it in a commit."""
    return Spot(wording.where(place), Safe(links.file(sha, place.file, place.line) if links else ""))
