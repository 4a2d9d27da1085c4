"""The words for changes that every report shares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from knaster.changes.result import Change, Effect
from knaster.reports.blocks import plural

DONE = {
    Effect.DESTROY: "destroyed",
    Effect.REPLACE: "replaced",
    Effect.LOSE: "dropped",
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


def models_told(changes: Iterable[Change]) -> list[str]:
    """``1 model no longer fits``, ``2 models newly fit``."""
    found = Counter(change.after is not None for change in changes if change.kind == "model")
    lost, new = found[False], found[True]
    told = [f"{plural(lost, 'model')} no longer {'fits' if lost == 1 else 'fit'}"] if lost else []
    return [*told, f"{plural(new, 'model')} newly {'fits' if new == 1 else 'fit'}"] if new else told
