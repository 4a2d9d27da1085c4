"""`knaster pr plan`: what a branch does to the fleet once it is merged. Needs git alone: no network, no token."""

from __future__ import annotations

import argparse
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from knaster.adapters import git
from knaster.changes.claims import competing
from knaster.commands import listed
from knaster.commands.common import demand_fleet
from knaster.commands.listed import Listed
from knaster.commands.output import folder_for_results, refuse_input_folders, show, write
from knaster.commands.pr_comment import ALERT, COMMENT, PLAN, notice
from knaster.commands.pulls import Pull, Target, plan_of
from knaster.diagnostics import WorldError
from knaster.reports import json, pulls
from knaster.reports.comment import Links, comment, turning


def run(args: argparse.Namespace) -> int:
    """1 when the merge is invalid. With ``--to DIR`` writes what `pr comment` posts."""
    refuse_input_folders(args)
    root = Path(args.directory)
    folder = folder_for_results(args, args.to) if args.to else None
    named = args.base or args.head
    found = listed.read(folder) if folder and not named else None
    target = _target(root, args.base, found)
    head = git.resolve(root, found.head if found else args.head or "HEAD")
    demand_fleet(root, target.tip, head)
    if not (found or args.head or args.quiet):
        _tell_uncommitted(root)
    pull = plan_of(target, head)
    if found and found.others:
        pull = replace(pull, plan=pull.plan.noted(_competitors(target, pull, found)))
    links = Links(found.url, git.prefix(root)) if found and found.url else None
    if folder:
        _leave(folder, pull, args.budget, links)
    if args.format == "markdown":
        write(args.output, comment(pull.plan, args.budget, links=links))
    else:
        show(args, pulls.planned(pull.plan, pull.files))
    return 0 if pull.plan.ok else 1


def _target(root: Path, base: str | None, found: Listed | None) -> Target:
    if found:
        return Target(root, found.target, git.resolve(root, found.base))
    name = base or git.main_branch(root)
    if name is None:
        if git.unborn(root):
            raise WorldError("there is no commit to plan yet", "commit once; knaster validate needs none")
        raise WorldError("there is no main branch here to plan against", "name the target: --base REV")
    short = name.removeprefix("refs/").removeprefix("heads/").removeprefix("remotes/").removeprefix("origin/")
    return Target(root, short, git.resolve(root, name))


def _tell_uncommitted(root: Path) -> None:
    """A plan is made of commits, and who forgot one would take "no change" for the answer."""
    found = git.uncommitted(root, ("inventory", "catalog"))
    if found:
        rest = f" and {len(found) - 1} more" if len(found) > 1 else ""
        said = f"note: {found[0]}{rest} not committed, so not in this plan"
        notice(said, "commit first; knaster diff shows the working tree")


def _competitors(target: Target, pull: Pull, found: Listed) -> tuple[str, ...]:
    """A sentence for each card, VM id or address that another open pull request wants too."""
    if not pull.wants:
        return ()
    wanted = {found.number: pull.wants}
    for number, head in found.others.items():
        with suppress(WorldError):  # theirs cannot be planned, which is no news here
            wanted[number] = plan_of(target, git.resolve(target.root, head)).wants
    return competing(wanted)[found.number]


def _leave(folder: Path, pull: Pull, budget: int, links: Links | None) -> None:
    write(str(folder / PLAN), json.render(pulls.planned(pull.plan, pull.files)))
    write(str(folder / COMMENT), comment(pull.plan, budget, links=links))
    write(str(folder / ALERT), turning(pull.plan))
