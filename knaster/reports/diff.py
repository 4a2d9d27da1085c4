"""The report of `diff`; and what every report shows of a comparison, worst first."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from knaster.changes.result import DESTRUCTIVE, Change, Comparison, Effect, Field, InputChange
from knaster.diagnostics import Diagnostic, Severity
from knaster.files import Files
from knaster.pipeline import Evaluation
from knaster.reports.blocks import Block, Items, Line, Problems, Report, Table, plural
from knaster.reports.json import diagnostic
from knaster.reports.wording import DONE, models_told, noun, shown, source, takes_place, things, where

_TITLES = (
    (Effect.REFUSE, "cannot be applied"),
    (Effect.RESTART, "restarted"),
    (Effect.UPDATE, "changed in place"),
    (Effect.CREATE, "new"),
    (Effect.RECORD, "only recorded"),
)
_SHOWN = 80
"""Characters of a value; a whole role or node that is new has no end."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison: how people call it (``main (1a2b3c4)``), its files and what they mean."""

    name: str
    files: Files
    evaluation: Evaluation


def report(before: Side, after: Side, comparison: Comparison) -> Report:
    """JSON: ``{command, ok, before: {name, ok}, after: {name, ok}}`` and what `data` holds.

    ``ok``: both sides load and have no error. An invalid side shows its errors.
    """
    ok = before.evaluation.ok and after.evaluation.ok
    sides = {key: {"name": side.name, "ok": side.evaluation.ok} for key, side in (("before", before), ("after", after))}
    broken = [block for side in (before, after) if not side.evaluation.ok for block in _invalid(side)]
    shown = frozenset(item for block in broken if isinstance(block, Problems) for item in block.diagnostics)
    head = Line(f"{before.name} → {after.name}: {verdict(comparison)}", "plain" if ok else "bad")
    return Report(
        {"command": "diff", "ok": ok, **sides, **data(comparison)}, (head, *broken, *blocks(comparison, shown))
    )


def data(comparison: Comparison) -> dict[str, Any]:
    """``{complete, counts, changes, inputs, new, fixed}``, as in `knaster.changes.Comparison`.

    A change: ``{kind, name, effect, summary, before, after, cause, fields: [{path, before, after}], covers: [{file,
    collection, name}]}``, where a path begins with file, collection and name; an input: ``{what, before, after,
    removed, file, line, column}``; ``counts`` by effect.
    """
    return {
        "complete": comparison.complete,
        "counts": {effect.value: number for effect, number in comparison.counts.items()},
        "changes": [_change(change) for change in comparison.changes],
        "inputs": [_input(change) for change in comparison.inputs],
        "new": [diagnostic(item) for item in comparison.new],
        "fixed": [diagnostic(item) for item in comparison.fixed],
    }


def verdict(comparison: Comparison) -> str:
    """``1 role and 1 slot dropped, 1 role moved``; counted from the changes."""
    if not comparison.complete:
        return "cannot be compared: a side did not load"
    counted = {effect: things(one for one in comparison.changes if one.effect is effect) for effect in DONE}
    told = [
        f"{counted[effect]} {word}" for effect, word in DONE.items() if counted[effect] and effect is not Effect.RECORD
    ]
    if told := [*told, *models_told(comparison.changes)]:
        return ", ".join(told)
    return "only what is recorded changes, nothing that runs" if comparison.changes else "no change to the fleet"


def blocks(comparison: Comparison, shown: Collection[Diagnostic] = ()) -> tuple[Block, ...]:
    """What differs: taken away first, then restarts and moves, then the rest, inputs and diagnostics.

    `shown` are diagnostics that the report has in full already.
    """
    changes, new = comparison.changes, [item for item in comparison.new if item not in shown]
    moves = [change for change in changes if takes_place(change)]
    rest = [change for change in changes if not takes_place(change) and change.effect not in DESTRUCTIVE]
    texts = {title: _lines(change for change in rest if change.effect is effect) for effect, title in _TITLES}
    return (
        Items("taken away", _lines(change for change in changes if change.effect in DESTRUCTIVE)),
        *(Items(title, texts.pop(title)) for title in ("cannot be applied", "restarted")),
        Table(("ROLE", "FROM", "TO", "WHY"), tuple(map(_row, moves)), "moves and new places" if moves else ""),
        *(Items(title, lines) for title, lines in texts.items()),
        Items("edited", tuple(map(_edited, comparison.inputs))),
        Items("new problems", tuple(map(_told, new))),
        Items("fixed problems", tuple(map(_told, comparison.fixed))),
    )


def _invalid(side: Side) -> Iterable[Block]:
    errors = tuple(item for item in side.evaluation.diagnostics if item.severity is Severity.ERROR)
    yield Line(f"{side.name} is invalid: {plural(len(errors), 'error')}", "bad")
    yield Problems(errors, side.files)


def _row(change: Change) -> tuple[str, str, str, str]:
    return change.name, change.before or source(change), change.after or "", change.cause or change.summary


def _lines(changes: Iterable[Change]) -> tuple[str, ...]:
    return tuple(
        f"{noun(change)} {change.name} {change.summary}{f' — {change.cause}' if change.cause else ''}"
        for change in changes
    )


def _edited(change: InputChange) -> str:
    before, after = (_cut(shown(value)) for value in (change.before, change.after))
    what = f"{before} → {after}"
    if change.removed:
        what = "removed" if isinstance(change.before, dict) else f"{before} (removed)"
    elif change.before is None:
        what = "new" if isinstance(change.after, dict) else f"{after} (new)"
    return f"{change.what}: {what}  {where(change.place)}"


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _told(item: Diagnostic) -> str:
    place = f"{where(item.place)}: " if item.place else ""
    return f"{place}{item.severity.value}: {item.message} [{item.code}]"


def _change(change: Change) -> dict[str, Any]:
    return {
        "kind": change.kind,
        "name": change.name,
        "effect": change.effect.value,
        "summary": change.summary,
        "before": change.before,
        "after": change.after,
        "cause": change.cause or None,
        "fields": _fields(change.fields),
        "covers": [{"file": one.file, "collection": one.collection, "name": one.name} for one in change.covers],
    }


def _fields(fields: Sequence[Field]) -> list[dict[str, Any]]:
    return [{"path": list(one.path), "before": one.before, "after": one.after} for one in fields]


def _input(change: InputChange) -> dict[str, Any]:
    return {
        "what": change.what,
        "before": change.before,
        "after": change.after,
        "removed": change.removed,
        "file": change.place.file,
        "line": change.place.line or None,
        "column": change.place.column or None,
    }
