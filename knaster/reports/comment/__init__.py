"""The comment on a pull request: what its merge does to the fleet, for a person who has ten seconds.

Pure, and the same bytes for the same plan. Text from a repository is inert in it; the verdict and the counts come from
the changes themselves and are there at every size.
"""

from __future__ import annotations

from collections.abc import Iterable

from knaster.names import short_id
from knaster.pull import PullPlan
from knaster.reports import markdown
from knaster.reports.comment import failures, repeats
from knaster.reports.comment.ladder import Block, Body, fit
from knaster.reports.comment.links import Links
from knaster.reports.comment.markers import Marker, alert_marker, head_lines, marker, read_marker, result_id
from knaster.reports.comment.sections import Section, back, front, in_short, taken_away
from knaster.reports.comment.templates import Safe, render
from knaster.reports.comment.values import Spot
from knaster.reports.comment.verdict import counts, sentence
from knaster.version import __version__

__all__ = [
    "Links",
    "Marker",
    "alert_marker",
    "comment",
    "counts",
    "marker",
    "read_marker",
    "result_id",
    "sentence",
    "turning",
]

BUDGET = 60_000
"""Bytes of a comment: more would slow the page for everybody who opens it."""
_ALERT_BUDGET = 3_000
_MAIN = frozenset({"main", "master"})


def comment(plan: PullPlan, budget: int = BUDGET, *, links: Links | None = None) -> str:
    """The body of the comment in at most `budget` bytes of UTF-8, ending with a line break.

    Below the size of the smallest body (the marker, the verdict and the counts, some 500 bytes) that body is returned.
    """
    return fit(bodies(plan, links), budget)


def bodies(plan: PullPlan, links: Links | None) -> list[Body]:
    """All there is to say, then less and less of it; what an earlier one rendered, a later call need not."""
    head, failing = _head(plan), failures.line(plan)
    plan = repeats.without(plan)
    between = [one for one in (_command(plan), failing) if one is not None]
    first, last = map(_blocks, (front(plan, links), back(plan, links)))
    whole = [head, *first, *between, *last]
    names = [head, *_blocks(in_short(plan))]
    cut = _foot(plan, links, cut=True)
    return [[*whole, _foot(plan, links, cut=False)], [*whole, cut], [*names, cut], names, [head]]


def _blocks(some: Iterable[Section]) -> list[Block | Safe]:
    return [Block(one) for one in some]


def turning(plan: PullPlan) -> str:
    """A new, short comment for a result that turned destructive: an edit of the old one notifies nobody."""
    start = render(
        "alert",
        marker=Safe(alert_marker(plan.target, result_id(plan), plan.head)),
        mark=Safe(_MARKS["destructive"]),
        sentence=sentence(plan),
        into=_into(plan),
        head=short_id(plan.head),
    )
    taken = _blocks([taken_away(repeats.without(plan))])
    return fit([[start, *taken], [start, *taken], [start]], _ALERT_BUDGET)


_MARKS = {"invalid": "⛔", "conflict": "⛔", "destructive": "⚠️"}


def _head(plan: PullPlan) -> Safe:
    verdict = "destructive" if plan.ok and plan.comparison.destructive else plan.verdict
    return render(
        "head",
        marker=Safe(head_lines(plan)),
        mark=Safe(_MARKS.get(verdict, "")),
        sentence=sentence(plan),
        into=_into(plan),
        counts=counts(plan),
    )


def _into(plan: PullPlan) -> str:
    """The target where that is not what everybody takes for granted, nor said by the sentence."""
    return "" if plan.target in _MAIN or plan.verdict == "conflict" else plan.target


def _command(plan: PullPlan) -> Safe | None:
    return render("command", command=Safe(markdown.span(plan.command))) if plan.command else None


def _foot(plan: PullPlan, links: Links | None, *, cut: bool) -> Safe:
    def commit(sha: str) -> Spot:
        return Spot(short_id(sha), Safe(links.commit(sha) if links else ""))

    return render(
        "foot",
        cut=cut,
        plan_id=short_id(plan.plan_id),
        head=commit(plan.head),
        base=commit(plan.base),
        other=commit(plan.compared_with) if plan.compared_with != plan.base else None,
        target=plan.target,
        version=__version__,
    )
