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
from knaster.names import short_id
from knaster.posting import Poster, Wanted, pending, shown, wanted
from knaster.reports import pulls as reports
from knaster.reports.comment import Links, comment, turning


@dataclass(frozen=True, slots=True)
class Sweep:
    """One run: where to write, as whom, and how."""

    gitea: Gitea
    poster: Poster
    budget: int
    status: bool
    default_branch: str


@dataclass(frozen=True, slots=True)
class Told:
    """What became of a comment, and where it is."""

    outcome: str
    url: str


def run(args: argparse.Namespace) -> int:
    """0 when every open pull request shows its result, whatever that is; 2 where one could not be told."""
    refuse_input_folders(args)
    with connect(args) as gitea:
        sweep = Sweep(gitea, poster(args), args.budget, args.status, event().default_branch)
        requests = {one.number: one for one in gitea.open_pulls() if one.base_ref == args.target}
        tip, heads = git.fetch_pulls(Path(args.directory), args.remote, args.target, tuple(requests))
        for number in requests.keys() - heads.keys():
            notice(f"the head of pull request {number} could not be fetched")
        target = Target(Path(args.directory), args.target, tip)
        reached = [_withdraw(sweep, target, head) for head in dict.fromkeys(heads.values())]
        planned = _planned(target, heads)
        outcomes = {}
        for number, pull in planned.items():
            links = Links(requests[number].html_url.rpartition("/pulls/")[0], git.prefix(target.root))
            body = comment(pull.plan, sweep.budget, links=links)
            want = wanted(reports.data(pull.plan), body, turning(pull.plan))
            outcomes[number] = _tell(sweep, number, want)
            reached.append(_judge(sweep, number, want, outcomes[number]))
    plans = {number: pull.plan for number, pull in planned.items()}
    words = {number: outcome.outcome for number, outcome in outcomes.items() if outcome}
    show(args, reports.swept(target.name, target.tip, plans, words))
    return 0 if all(reached) and all(outcomes.values()) and planned.keys() == requests.keys() else 2


@contextmanager
def _survived(what: str, result: list[bool]) -> Iterator[None]:
    """What goes wrong with one pull request is told on stderr, and the others go on; a missing right is no failure."""
    try:
        yield
        result.append(True)
    except Denied as refusal:
        notice(f"{what}: {refusal.message}", refusal.hint)
        result.append(True)
    except WorldError as problem:
        notice(f"{what}: {problem.message}", problem.hint)
        result.append(False)


def _withdraw(sweep: Sweep, target: Target, head: str) -> bool:
    """Set the status of a head pending while it speaks of another tip, so that nobody merges on it."""
    result: list[bool] = []
    with _survived(f"the status of {short_id(head)} was not withdrawn", result):
        new = pending(target.label, target.tip, sweep.default_branch)
        there = sweep.gitea.statuses(head).get(new.context) if sweep.status else None
        if there is not None and short_id(target.tip) not in there.description:
            sweep.gitea.post_status(head, new.state, new.context, new.description)
    return result[0]


def _judge(sweep: Sweep, number: int, want: Wanted, told: Told | None) -> bool:
    """Set the status of a head, unless its result is not the one to show any more."""
    result: list[bool] = []
    with _survived(f"the status of pull request {number} was not posted", result):
        if sweep.status and (told is None or told.outcome != "yielded"):
            post_status(sweep.gitea, want, sweep.default_branch, told.url if told else "", want.base)
    return result[0]


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


def _tell(sweep: Sweep, number: int, want: Wanted) -> Told | None:
    """What became of the comment; None where it could not be written."""
    try:
        there = shown(want.target, sweep.gitea.comments(number), sweep.poster)
        if there and (there.marker.head, there.marker.result) == (want.head, want.result_id):
            return Told("unchanged", there.url)
        posted = upsert(sweep.gitea, number, want, sweep.poster)
        return Told(posted.outcome, posted.url)
    except WorldError as problem:
        notice(f"pull request {number} could not be told: {problem.message}", problem.hint)
        return None
