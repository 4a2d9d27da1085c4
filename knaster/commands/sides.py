"""The sides of a comparison: a commit, or the working tree, each on top of the placement in force for it."""

from __future__ import annotations

from pathlib import Path

from knaster.adapters import files as adapter
from knaster.adapters import git
from knaster.diagnostics import WorldError
from knaster.files import Files
from knaster.in_force.mainline import Mainline
from knaster.names import short_id
from knaster.pipeline import Evaluation, evaluate
from knaster.reports.diff import Side


def inside(root: Path) -> None:
    """Raises WorldError where there is no git repository, and so nothing to compare with."""
    if not git.inside_git(root):
        raise WorldError("this is no git repository, so there is nothing to compare with", "git init, and commit")


def commit(root: Path, rev: str, like: Evaluation | None = None) -> Side:
    """A commit by any name that git knows. Raises WorldError for another. `like`: see `knaster.pipeline.evaluate`."""
    sha = git.resolve(root, rev)
    name = short_id(sha) if sha.startswith(rev) else f"{rev} ({short_id(sha)})"
    return _side(root, name, git.read(root, sha), sha, like)


def tree(root: Path, like: Evaluation) -> Side:
    """The files as they lie there."""
    return _side(root, "the working tree", adapter.read(root), "HEAD", like)


def _side(root: Path, name: str, files: Files, head: str, like: Evaluation | None) -> Side:
    """One side on top of the placement that was in force where `head` left main."""
    fork = git.fork_point(root, head)
    current = None if fork is None else Mainline(git.History(root), fork).in_force
    return Side(name, files, evaluate(files, current, like=like))
