"""The short comment on a merged pull request whose merge landed as another plan than it showed."""

from __future__ import annotations

from dataclasses import dataclass

from knaster.changes.result import Comparison
from knaster.pull import PullPlan
from knaster.reports.comment.ladder import Block, fit
from knaster.reports.comment.markers import Marker, encoded
from knaster.reports.comment.sections import back, front
from knaster.reports.comment.templates import Safe, render

_BUDGET = 20_000
_SHORT = 12


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


def otherwise(landed: Landed, comparison: Comparison) -> str:
    """The comment; `comparison` is from what was shown to what landed."""
    shown = landed.shown
    start = render(
        "landed",
        marker=Safe(landed.marker),
        target=shown.target,
        commit=landed.commit[:_SHORT],
        landed=landed.plan_id[:_SHORT],
        shown=shown.plan[:_SHORT] or "none",
        head=shown.head[:_SHORT],
        base=shown.base[:_SHORT],
        differs=bool(comparison.changes),
    )
    plan = PullPlan(shown.target, shown.base, shown.head, shown.base, comparison=comparison)
    blocks = [Block(one) for one in (*front(plan, None), *back(plan, None))]
    return fit([[start, *blocks], [start]], _BUDGET)
