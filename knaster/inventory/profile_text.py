"""A committed node profile as text, brought up to date with fresh facts, or compared with them.

Nothing but facts changes: policy, comments, order, quotes and line ends stay byte for byte, and what people set on a
card follows the card. Every result is read back before it is handed out.
"""

from __future__ import annotations

from dataclasses import dataclass

from knaster.diagnostics import Diagnostic
from knaster.document import Value, locate, parse
from knaster.editing import style
from knaster.inventory.profile_edit import rewrite
from knaster.inventory.profile_facts import FactChange, Facts, Merged, fresh
from knaster.inventory.profile_merge import merge
from knaster.inventory.reading import Problem, Reading
from knaster.schema import check

__all__ = ["FactChange", "Facts", "Updated", "drift", "update"]

HEAD = "yaml-language-server: $schema=../schemas/node.schema.json"


@dataclass(frozen=True, slots=True)
class Updated:
    """The text of the profile as it should be, each fact that changed, and what people should know."""

    text: str
    changes: tuple[FactChange, ...] = ()
    warnings: tuple[str, ...] = ()


def update(existing: str | None, facts: Facts) -> Reading[Updated]:
    """The profile with the facts of its machine; `existing` None: a new file.

    A machine that did not change gives `existing` itself. Problems: ``unreadable`` (the file is no profile; the line
    says where), ``another-machine``, ``impossible`` (the schema would refuse what it did not refuse before), ``layout``
    (legal YAML that cannot be edited without being written anew).
    """
    if existing is None:
        data = fresh(facts)
        return Reading(Updated(style.whole(data, HEAD), tuple(FactChange(key, None, data[key]) for key in data)))
    merged = _merged(existing, facts)
    if isinstance(merged, Problem):
        return Reading(problem=merged)
    old, new = merged
    if not new.changes:
        return Reading(Updated(existing, (), new.warnings))
    before = check("node", "", old)
    if wrong := next((one for one in check("node", "", new.data) if one not in before), None):
        return Reading(problem=Problem("impossible", f"no profile is like this: {wrong.message}"))
    text = rewrite(existing, old, new.data, new.plans)
    document, _ = parse("", text)
    if document is None or document.data != new.data:
        message = "this layout cannot be edited in place: write cpu, disks and gpus as plain blocks, then collect again"
        return Reading(problem=Problem("layout", message))
    return Reading(Updated(text, new.changes, new.warnings))


def drift(existing: str, facts: Facts) -> Reading[tuple[FactChange, ...]]:
    """Each fact in which the profile and its machine differ; none means that `update` would change nothing.

    Problems as for `update`, ``layout`` and ``impossible`` aside.
    """
    merged = _merged(existing, facts)
    if isinstance(merged, Problem):
        return Reading(problem=merged)
    return Reading(merged[1].changes, merged[1].warnings)


def _merged(existing: str, facts: Facts) -> tuple[dict[str, object], Merged] | Problem:
    """The data of the profile and what it should be."""
    document, diagnostics = parse("", existing)
    if document is None:
        return _unreadable(diagnostics[0])
    data = document.data
    wrong = [one for one in check("node", "", data) if one.code == "schema-type" and not _unwritten(data, one)]
    if wrong:
        return _unreadable(locate(existing, wrong[:1])[0])
    name, other = data.get("name") or facts.get("name"), facts.get("name") or data.get("name")
    if str(name).casefold() != str(other).casefold():
        message = f"the profile is of {name}, the facts are of {other}: nothing is changed"
        return Problem("another-machine", message)
    return dict(data), merge(data, {**facts, "name": name})


def _unwritten(data: dict[str, Value], diagnostic: Diagnostic) -> bool:
    """Whether it speaks of a key of the root without a value: a place that facts can fill."""
    route = diagnostic.place.route if diagnostic.place else ()
    return len(route) == 1 and data.get(str(route[0])) is None


def _unreadable(diagnostic: Diagnostic) -> Problem:
    place = diagnostic.place
    line = place.line if place else 0
    return Problem("unreadable", f"line {line}: {diagnostic.message}" if line else diagnostic.message, line)
