"""The short comment on a merged pull request whose merge landed as another plan than it showed."""

from __future__ import annotations

from dataclasses import dataclass

from knaster.changes.result import Change, Comparison
from knaster.names import short_id
from knaster.reports.comment import values
from knaster.reports.comment.ladder import Block, fit
from knaster.reports.comment.markers import Marker, encoded
from knaster.reports.comment.sections import Section
from knaster.reports.comment.templates import Safe, render

_BUDGET = 20_000


@dataclass(frozen=True, slots=True)
class Landed:
    """A merge on its branch: ``commit`` landed as ``plan_id``, ``shown`` is what its comment said."""

    commit: str
    plan_id: str
    shown: Marker

    @property
    def marker(self) -> str:
        """The first line of the comment, the same for the same merge."""
        return f"<!-- knaster landed v1 target={encoded(self.shown.target)} commit={encoded(self.commit)} -->"


def otherwise(landed: Landed, promised: Comparison, done: Comparison) -> str:
    """The comment on what a merge did (`done`) against what it showed (`promised`); "" where the two are the same."""
    shown = landed.shown
    added = [change for change in done.changes if _told(change) not in {_told(one) for one in promised.changes}]
    missing = [change for change in promised.changes if _told(change) not in {_told(one) for one in done.changes}]
    if not added and not missing:
        return ""
    start = render(
        "landed",
        marker=Safe(landed.marker),
        target=shown.target,
        commit=short_id(landed.commit),
        landed=short_id(landed.plan_id),
        shown=short_id(shown.plan) or "none",
        head=short_id(shown.head),
        base=short_id(shown.base),
    )
    parts = (("Done, but not shown", added), ("Shown, but not done", missing))
    blocks = [Block(Section(title, "change", changes, values.row)) for title, changes in parts if changes]
    return fit([[start, *blocks], [start]], _BUDGET)


def _told(change: Change) -> tuple[object, ...]:
    """What a reader sees of a change."""
    return change.effect, change.kind, change.name, change.summary, change.before, change.after
