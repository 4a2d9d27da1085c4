"""What every command starts with: the files, the placement in force, and one evaluation of them."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from pathlib import Path

from knaster.adapters import files as adapter
from knaster.adapters import git
from knaster.commands.output import refuse_input_folders
from knaster.diagnostics import Diagnostic, WorldError, order
from knaster.files import Files
from knaster.in_force.landed import MANIFEST_FILE, PLACEMENT_FILE, recorded_placement
from knaster.in_force.mainline import Mainline
from knaster.pipeline import Evaluation, InForce, evaluate
from knaster.placement.result import PlacementPlan


@dataclass(frozen=True, slots=True)
class Survey:
    """A repository's working tree and what it means."""

    root: Path
    files: Files
    evaluation: Evaluation


def survey(args: argparse.Namespace) -> Survey:
    """Read and evaluate the repository that the arguments name. Raises WorldError where there is none.

    Also where ``-o`` names one of its own files, before anything is done.
    """
    refuse_input_folders(args)
    root = Path(args.directory)
    files = adapter.read(root)
    demand_fleet(root)
    current, problems = _current(root)
    evaluation = evaluate(files, current)
    if problems:
        found = tuple(sorted((*evaluation.diagnostics, *problems), key=order))
        evaluation = replace(evaluation, diagnostics=found)
    return Survey(root, files, evaluation)


def demand_fleet(root: Path, *commits: str) -> None:
    """Raises WorldError where neither the folder nor one of the `commits` has a fleet there."""
    if any((root / folder).exists() for folder in ("inventory", "catalog")):
        return
    if not any(git.read(root, commit) for commit in commits):
        raise WorldError(
            f"there is neither inventory/ nor catalog/ in {root.absolute()}",
            "run knaster at the top of the fleet's repository, or name it with -C DIR",
        )


def _current(root: Path) -> tuple[PlacementPlan | InForce | None, tuple[Diagnostic, ...]]:
    """The placement in force: that of the commit where main was left; outside git the file itself."""
    if git.inside_git(root):
        rev = git.fork_point(root)
        return (None if rev is None else Mainline(git.History(root), rev).in_force), ()
    there = adapter.read(root, generated=True)
    text, manifest = (there.get(path) for path in (PLACEMENT_FILE, MANIFEST_FILE))
    return (
        recorded_placement(text, manifest if isinstance(manifest, str) else None)
        if isinstance(text, str)
        else (None, ())
    )
