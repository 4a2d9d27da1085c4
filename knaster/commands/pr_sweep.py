"""`knaster pr sweep`: plan every open pull request against the tip of its target again, and say what changed.

A comment is written only where the pull request's own result changed, a status only where it differs. So a run that is
repeated writes nothing, and one that was lost is repaired by the next.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from knaster.adapters import git
from knaster.adapters.gitea import Denied, Gitea
from knaster.changes.claims import competing
from knaster.commands.event import event
from knaster.commands.output import refuse_input_folders, show
from knaster.commands.pr_comment import notice
from knaster.commands.pulls import Pull, Target, plan_of
from knaster.commands.server import connect, poster
from knaster.commands.upsert import post_status, upsert
from knaster.diagnostics import WorldError
from knaster.posting import Poster, pending, shown, wanted
from knaster.reports import pulls as reports
from knaster.reports.comment import Links, comment, result_id, turning


@dataclass(frozen=True, slots=True)
class Sweep:
    """One run: where to write, as whom, and how."""

    gitea: Gitea
    poster: Poster
    budget: int
    status: bool
    default_branch: str


def run(args: argparse.Namespace) -> int:
    """0 when every open pull request shows its result, whatever that is; 2 where one could not be told."""
    refuse_input_folders(args)
    with connect(args) as gitea:
        sweep = Sweep(gitea, poster(args), args.budget, args.status, event().default_branch)
        requests = {one.number: one for one in gitea.open_pulls() if one.base_ref == args.target}
        tip, heads = git.fetch_pulls(Path(args.directory), args.remote, args.target, tuple(requests))
        target = Target(Path(args.directory), args.target, tip)
        if args.status:
            for head in dict.fromkeys(heads.values()):
                _withdraw(sweep, target, head)
        planned = _planned(target, heads)
        outcomes = {}
        for number, pull in planned.items():
            links = Links(requests[number].html_url.rpartition("/pulls/")[0])
            outcomes[number] = _tell(sweep, number, pull, links)
    plans = {number: pull.plan for number, pull in planned.items()}
    show(args, reports.swept(target.name, target.tip, plans, outcomes))
    told = all(outcomes.values()) and planned.keys() == requests.keys()
    return 0 if told else 2


def _withdraw(sweep: Sweep, target: Target, head: str) -> None:
    """Set the status of a head pending while it speaks of another tip, so that nobody merges on it."""
    new = pending(target.name, target.tip, sweep.default_branch)
    with _forgiven():
        there = sweep.gitea.statuses(head).get(new.context)
        if there is not None and target.tip[:12] not in there.description:
            sweep.gitea.post_status(head, new.state, new.context, new.description)


@contextmanager
def _forgiven() -> Iterator[None]:
    """A token that may not post a status is told on stderr, as `pr comment` does."""
    try:
        yield
    except Denied as refusal:
        notice(f"the status was not posted: {refusal.message}", refusal.hint)


def _planned(target: Target, heads: dict[int, str]) -> dict[int, Pull]:
    """The plan of each pull request that can be planned, each with a note for what another one wants too."""
    plans = {}
    for number, head in heads.items():
        try:
            plans[number] = plan_of(target, head)
        except WorldError as problem:
            notice(f"pull request {number} could not be planned: {problem.message}", problem.hint)
    notes = competing({number: pull.wants for number, pull in plans.items()})
    return {number: replace(pull, plan=pull.plan.noted(notes[number])) for number, pull in plans.items()}


def _tell(sweep: Sweep, number: int, pull: Pull, links: Links) -> str:
    """What became of the comment; "" where it could not be written."""
    plan = pull.plan
    body = comment(plan, sweep.budget, links=links)
    want = wanted(reports.data(plan), body, turning(plan))
    try:
        there = shown(plan.target, sweep.gitea.comments(number), sweep.poster)
        if there and (there.marker.head, there.marker.result) == (plan.head, result_id(plan)):
            outcome, url = "unchanged", there.url
        else:
            posted = upsert(sweep.gitea, number, want, sweep.poster)
            outcome, url = posted.outcome, posted.url
        if sweep.status and outcome != "yielded":
            with _forgiven():
                post_status(sweep.gitea, want, sweep.default_branch, url, plan.base)
    except WorldError as problem:
        notice(f"pull request {number} could not be told: {problem.message}", problem.hint)
        return ""
    return outcome
