"""`knaster pr comment`: show a plan on its pull request, in the one comment that is ours, and as a commit status."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from knaster.adapters.gitea import Denied, Gitea
from knaster.commands.event import event, read_object, read_text
from knaster.commands.output import show
from knaster.commands.server import BOT, connect, poster
from knaster.commands.upsert import Posted, post_status, upsert
from knaster.diagnostics import WorldError
from knaster.posting import Poster, Wanted, wanted
from knaster.reports import posted as report
from knaster.reports.comment.gate import with_gate
from knaster.reports.inert import inert
from knaster.units import MIB

PLAN, COMMENT, ALERT = "plan.json", "comment.md", "alert.md"
"""What `pr plan` leaves in its folder; the last one is posted only when a result turns destructive."""
_MAKE = "make it: knaster pr plan --to DIR"
_GATE = "make it: knaster tofu gate PLAN.json --format json -o FILE"


def run(args: argparse.Namespace) -> int:
    """The plan's verdict: 1 if the merge is invalid, whatever becomes of the comment; 2 if only posting failed.

    A token that may not post (401, 403, 404, 423) is told on stderr and changes nothing. A plan that is no longer
    the one to show yields: 0, or the verdict that the comment shows for the same head and the newer tip.
    """
    plan = load(Path(args.plan))
    if args.gate:
        gate = read_object(args.gate, 64 * MIB, args.gate, _GATE)
        plan = replace(plan, body=with_gate(plan.body, gate, plan.plan_id))
    try:
        return _post(args, plan)
    except WorldError as problem:
        if plan.ok:
            raise
        notice(f"knaster: error: {problem.message}", problem.hint)
        return 1


def load(folder: Path) -> Wanted:
    """What a folder that `pr plan` wrote holds. Raises WorldError."""
    data = read_object(str(folder / PLAN), 64 * MIB, str(folder / PLAN), _MAKE)
    body = read_text(str(folder / COMMENT), MIB, str(folder / COMMENT), _MAKE)
    alert = folder / ALERT
    return wanted(data, body, read_text(str(alert), MIB, str(alert)) if alert.exists() else "")


def notice(text: str, hint: str | None = None) -> None:
    """A line on stderr, and the way out."""
    if sys.stderr is not None:
        lines = (text, f"hint: {hint}") if hint else (text,)
        sys.stderr.write("".join(f"{inert(line)}\n" for line in lines))


def _post(args: argparse.Namespace, plan: Wanted) -> int:
    told = event()
    number = args.number or told.number
    if not number:
        raise WorldError("the number of the pull request is not known", "name it: --number N")
    with connect(args) as gitea:
        posted, problem = _comment(gitea, int(number), plan, poster(args), Path(args.plan))
        done = ""
        if args.status and (posted is None or posted.outcome != "yielded"):
            done, failed = _status(gitea, plan, told.default_branch, posted)
            problem = problem or failed
    if problem is not None:
        raise problem
    ok = posted.ok if posted else plan.ok
    show(args, report.report(int(number), ok=ok, posted=posted, status=done))
    return 0 if ok else 1


def _comment(
    gitea: Gitea, number: int, plan: Wanted, author: Poster, folder: Path
) -> tuple[Posted | None, WorldError | None]:
    """What became of the comment; else why not, unless that is the token's rights."""
    try:
        posted = upsert(gitea, number, plan, author)
    except Denied as refusal:
        notice(f"the comment was not posted: {refusal.message} (body left in {folder / COMMENT})", refusal.hint)
        return None, None
    except WorldError as problem:
        return None, problem
    if not posted.known:
        notice(f"the comment is by another user than the job's own: name the user with --bot LOGIN or {BOT}")
    return posted, None


def _status(gitea: Gitea, plan: Wanted, default_branch: str, posted: Posted | None) -> tuple[str, WorldError | None]:
    url, tip = (posted.url, posted.tip) if posted else ("", plan.base)
    try:
        return ("posted" if post_status(gitea, plan, default_branch, url, tip) else "unchanged"), None
    except Denied as refusal:
        notice(f"the status was not posted: {refusal.message}", refusal.hint)
        return "not posted", None
    except WorldError as problem:
        return "not posted", problem
