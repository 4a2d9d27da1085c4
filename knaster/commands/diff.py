"""`knaster diff [BASE] [HEAD]`: what differs for the fleet between two commits, or a commit and the working tree."""

from __future__ import annotations

import argparse
from pathlib import Path

from knaster.adapters import git
from knaster.changes import compare
from knaster.commands import sides
from knaster.commands.common import demand_fleet
from knaster.commands.output import refuse_input_folders, show
from knaster.diagnostics import WorldError
from knaster.reports import diff


def run(args: argparse.Namespace) -> int:
    """1 when a side is invalid, and with ``--exit-code`` also when anything differs."""
    refuse_input_folders(args)
    root = Path(args.directory)
    sides.inside(root)
    base = args.base or _fork(root)
    demand_fleet(root, *(git.resolve(root, rev) for rev in (base, args.head) if rev))
    before = sides.commit(root, base)
    after = sides.commit(root, args.head, before.evaluation) if args.head else sides.tree(root, before.evaluation)
    comparison = compare(before.evaluation, after.evaluation)
    show(args, diff.report(before, after, comparison))
    if not (before.evaluation.ok and after.evaluation.ok):
        return 1
    return 1 if args.exit_code and (comparison.changes or comparison.inputs) else 0


def _fork(root: Path) -> str:
    """The commit where this branch left main; on main itself its tip."""
    found = git.fork_point(root)
    if found is None:
        raise WorldError("there is no commit to compare with yet", "commit once, or name two commits")
    return found
