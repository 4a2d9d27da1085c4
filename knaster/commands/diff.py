"""`knaster diff [BASE] [HEAD]`: what differs for the fleet between two commits, or a commit and the working tree."""

from __future__ import annotations

import argparse
from pathlib import Path

from knaster.adapters import files as adapter
from knaster.adapters import git
from knaster.changes import compare
from knaster.commands.output import refuse_input_folders, show
from knaster.diagnostics import WorldError
from knaster.files import Files
from knaster.in_force import Mainline
from knaster.pipeline import Evaluation, evaluate
from knaster.reports import diff
from knaster.reports.diff import Side

_SHORT = 12


def run(args: argparse.Namespace) -> int:
    """1 when a side is invalid, and with ``--exit-code`` also when anything differs."""
    refuse_input_folders(args)
    root = Path(args.directory)
    if not git.inside_git(root):
        raise WorldError("this is no git repository, so there is nothing to compare with", "git init, and commit")
    before = _commit(root, args.base or _fork(root))
    after = _commit(root, args.head, before.evaluation) if args.head else _tree(root, before.evaluation)
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


def _commit(root: Path, rev: str, like: Evaluation | None = None) -> Side:
    sha = git.resolve(root, rev)
    name = sha[:_SHORT] if sha.startswith(rev) else f"{rev} ({sha[:_SHORT]})"
    return _side(root, name, git.read(root, sha), sha, like)


def _tree(root: Path, like: Evaluation) -> Side:
    return _side(root, "the working tree", adapter.read(root), "HEAD", like)


def _side(root: Path, name: str, files: Files, head: str, like: Evaluation | None) -> Side:
    """One side on top of the placement that was in force where `head` left main."""
    fork = git.fork_point(root, head)
    current = None if fork is None else Mainline(git.History(root), fork).in_force
    return Side(name, files, evaluate(files, current, like=like))
