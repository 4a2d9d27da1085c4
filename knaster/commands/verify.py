"""`knaster verify [REV]`: whether a commit's ``generated/`` is what its inputs need."""

from __future__ import annotations

import argparse
from pathlib import Path

from knaster.adapters import git
from knaster.commands.common import demand_fleet
from knaster.commands.output import refuse_input_folders, show
from knaster.commands.pulls import compared
from knaster.in_force.mainline import Mainline
from knaster.pipeline import evaluate
from knaster.reports import landing


def run(args: argparse.Namespace) -> int:
    """1 when the commit's inputs have an error, or its ``generated/`` is not what they need."""
    refuse_input_folders(args)
    root = Path(args.directory)
    sha = git.resolve(root, args.rev)
    demand_fleet(root, sha)
    files = git.read(root, sha)
    evaluation = evaluate(files, Mainline(git.History(root), sha).in_force)
    if not evaluation.ok:
        show(args, landing.unverifiable(sha, evaluation, files))
        return 1
    findings = compared(root, sha, evaluation)
    show(args, landing.verified(sha, evaluation, findings))
    return 1 if findings else 0
