"""After a landing: a merged pull request that did something else than it showed is told what is different.

That main moved in between makes another plan, but no news; what counts is the pull request's own result.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from itertools import dropwhile, islice, takewhile

from knaster.adapters import git
from knaster.adapters.gitea import Gitea
from knaster.adapters.gitea.access import TOKENS
from knaster.changes import Comparison, compare
from knaster.commands.pr_comment import notice
from knaster.commands.pulls import Target, plan_of
from knaster.commands.server import connect, poster
from knaster.diagnostics import WorldError
from knaster.in_force.mainline import Mainline
from knaster.pipeline import Evaluation
from knaster.posting import Poster, context, shown
from knaster.reports.comment.landed import Landed, otherwise
from knaster.reports.comment.markers import Marker
from knaster.reports.landing import is_landing

_MOST = 50
"""Commits of one landing that are looked at."""


def tell(args: argparse.Namespace, target: Target) -> None:
    """Look at each commit that this landing brings in. What fails is told on stderr and changes nothing.

    Without a token there is nobody to ask, and nothing is done.
    """
    if not any(os.environ.get(name) for name in TOKENS):
        return
    try:
        with connect(args) as gitea:
            for commit in islice(_brought_in(target), _MOST):
                _tell_of(gitea, poster(args), target, commit, args.remote)
    except WorldError as problem:
        notice(f"no pull request was told of this landing: {problem.message}", problem.hint)


def _brought_in(target: Target) -> Iterator[str]:
    """The commits that the newest landing brought in, or the next one will; newest first."""

    def landing(commit: str) -> bool:
        before = git.parents(target.root, commit)[:1]
        touched_inputs = not before or target.line.digest(before[0]) != target.line.digest(commit)
        return not touched_inputs and is_landing(git.message(target.root, commit))

    line = dropwhile(landing, target.line.history.line(target.tip))
    return takewhile(lambda commit: not landing(commit), line)


def _tell_of(gitea: Gitea, who: Poster, target: Target, commit: str, remote: str) -> None:
    """The same for one commit; what fails there does not keep the others from it."""
    pull = gitea.pull_of_commit(commit)
    if pull is None or pull.base_ref != target.name:
        return
    try:
        git.fetch_pulls(target.root, remote, target.name, (pull.number,))  # a squash leaves the head behind
        _compared(gitea, who, target, commit, pull.number)
    except WorldError as problem:
        notice(f"pull request {pull.number} was not told of this landing: {problem.message}", problem.hint)


def _compared(gitea: Gitea, who: Poster, target: Target, commit: str, number: int) -> None:
    comments = gitea.comments(number)
    there = shown(target.label, comments, who)
    if there is None:
        return
    actual = Mainline(target.line.history, commit).evaluate()
    landed = Landed(commit, actual.plan_id, there.marker)
    told = any(who.wrote(comment) and comment.body.startswith(landed.marker) for comment in comments)
    if told or not actual.ok or actual.plan_id.startswith(_newest_plan(gitea, target, there.marker)):
        return
    body = otherwise(landed, _promised(target, there.marker), _done(target, commit, actual))
    if body:
        gitea.create_comment(number, body)


def _promised(target: Target, marker: Marker) -> Comparison:
    """What the comment showed: its two commits say it."""
    return plan_of(Target(target.root, target.name, marker.base), marker.head).plan.comparison


def _done(target: Target, commit: str, actual: Evaluation) -> Comparison:
    """What the merge did to the commit that it came after."""
    parent = git.parents(target.root, commit)[0]
    return compare(Mainline(target.line.history, parent).evaluate(), actual)


def _newest_plan(gitea: Gitea, target: Target, marker: Marker) -> str:
    """The first digits of the plan that was shown last: by the commit status, which sweeps renew, else the comment."""
    for name in (context(target.label, target.name), context(target.label, "")):
        status = gitea.statuses(marker.head).get(name)
        if status is not None and status.state == "success":
            return status.description.partition(" ")[0]
    return marker.plan or "-"
