"""`knaster land`: render the tip of the target branch and push the result as one commit of ``generated/`` alone."""

from __future__ import annotations

import argparse
from pathlib import Path

from knaster.adapters import git
from knaster.checks.guest_list import vanished
from knaster.commands.common import demand_fleet
from knaster.commands.output import refuse_input_folders, show
from knaster.commands.pulls import Target, compared
from knaster.commands.told import tell
from knaster.diagnostics import Diagnostic, WorldError
from knaster.pipeline import Evaluation
from knaster.reports import landing

TRIES = 5
"""How often the tip is read anew after another push came first."""


def run(args: argparse.Namespace) -> int:
    """1 when the tip is invalid: nothing is pushed, and the last good generation stays in force."""
    refuse_input_folders(args)
    root = Path(args.directory)
    for _ in range(TRIES):
        target = Target(root, args.target, git.fetch(root, args.remote, args.target))
        demand_fleet(root, target.tip)
        evaluation = target.line.evaluate()
        if refusals := _refusals(target, evaluation):
            show(args, landing.refused(target.name, target.tip, refusals, target.files))
            return 1
        if not compared(root, target.tip, evaluation):
            show(args, landing.nothing(target.name, target.tip, evaluation))
            tell(args, target)
            return 0
        commit = _commit(target, evaluation)
        if git.push(root, args.remote, commit, args.target):
            show(args, landing.pushed(target.name, target.tip, commit, evaluation))
            tell(args, target)
            return 0
    raise WorldError(
        f"{args.target} moved {TRIES} times while its generation was made; nothing was pushed",
        "run knaster land again; the push that came first starts it too",
    )


def _refusals(target: Target, evaluation: Evaluation) -> tuple[Diagnostic, ...]:
    if not evaluation.ok:
        return evaluation.errors
    emptied = vanished(target.guest_lists, evaluation.documents)
    return (emptied,) if emptied else ()


def _commit(target: Target, evaluation: Evaluation) -> str:
    tree = git.with_generated(target.root, target.tip, evaluation.generated)
    return git.commit(target.root, tree, target.tip, landing.message(target.tip, evaluation.plan_id))
