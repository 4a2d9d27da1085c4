"""The words for changes that every report shares."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

from knaster.changes.result import Change, Effect
from knaster.changes.words import NEW, listed
from knaster.diagnostics import Place
from knaster.reports.blocks import plural

DONE = {
    Effect.DESTROY: "destroyed",
    Effect.REPLACE: "replaced",
    Effect.LOSE: "dropped",
    Effect.REFUSE: "refused",
    Effect.RESTART: "restarted",
    Effect.MOVE: "moved",
    Effect.UPDATE: "changed",
    Effect.CREATE: "added",
    Effect.RECORD: "recorded",
}
"""What was done, by effect, worst first."""


def noun(change: Change) -> str:
    """What a change is about: its kind, as people say it."""
    if change.kind == "node" and "/" in change.name:
        return "card"
    return "external endpoint" if change.kind == "external" else change.kind


def things(changes: Iterable[Change]) -> str:
    """How many of which kind: ``1 role and 2 slots``; "" for none."""
    kinds = Counter(noun(change) for change in changes)
    return listed([plural(number, word) for word, number in sorted(kinds.items())], most=9)


def models_told(changes: Iterable[Change]) -> list[str]:
    """``1 model no longer fits``, ``2 models newly fit``."""
    found = Counter(change.after is not None for change in changes if tells_fit(change))
    lost, new = found[False], found[True]
    told = [f"{plural(lost, 'model')} no longer {'fits' if lost == 1 else 'fit'}"] if lost else []
    return [*told, f"{plural(new, 'model')} newly {'fits' if new == 1 else 'fit'}"] if new else told


def tells_fit(change: Change) -> bool:
    """Whether a model begins or ceases to fit; other facts of a model are changes like any."""
    return change.kind == "model" and (change.before is None) != (change.after is None)


def takes_place(change: Change) -> bool:
    """Whether a role moves to a place, or finds one: a row of the table of moves."""
    return change.kind == "role" and change.effect in (Effect.MOVE, Effect.CREATE) and change.after is not None


def source(change: Change) -> str:
    """Where a role that takes a place comes from; "" where it has a place and says which."""
    if change.before:
        return ""
    return "(new)" if change.summary.startswith(NEW) else "nowhere"


def where(place: Place) -> str:
    """``file:line``, or the file alone."""
    return f"{place.file}:{place.line}" if place.line else place.file


def shown(value: Any) -> str:
    """A value of the inputs in one line: text as it is, lists without brackets, everything else as JSON."""
    if isinstance(value, str):
        return value or '""'
    if isinstance(value, list | tuple):
        return ", ".join(map(shown, value)) or "nothing"
    return json.dumps(value, ensure_ascii=False, default=str)
