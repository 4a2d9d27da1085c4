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
from knaster.pipeline import MANIFEST_FILE, PLACEMENT_FILE, Evaluation, evaluate, placement_in_force
from knaster.placement.result import PlacementPlan


@dataclass(frozen=True, slots=True)
class Survey:
    """A repository's working tree and what it means."""

    root: Path
    files: Files
    current: PlacementPlan | None
    evaluation: Evaluation


def survey(args: argparse.Namespace) -> Survey:
    """Read and evaluate the repository that the arguments name. Raises WorldError where there is none.

    Also where ``-o`` names one of its own files, before anything is done.
    """
    refuse_input_folders(args)
    root = Path(args.directory)
    files = adapter.read(root)
    if not any((root / folder).exists() for folder in ("inventory", "catalog")):
        raise WorldError(
            f"there is neither inventory/ nor catalog/ in {root.absolute()}",
            "run knaster at the top of the fleet's repository, or name it with -C DIR",
        )
    current, problems = _current(root)
    evaluation = evaluate(files, current)
    if problems:
        found = tuple(sorted((*evaluation.diagnostics, *problems), key=order))
        evaluation = replace(evaluation, diagnostics=found)
    return Survey(root, files, current, evaluation)


def _current(root: Path) -> tuple[PlacementPlan | None, tuple[Diagnostic, ...]]:
    """The placement in force: that of the commit HEAD; outside git the file itself."""
    if git.inside_git(root):
        text, manifest = (git.head_file(root, path) for path in (PLACEMENT_FILE, MANIFEST_FILE))
        where = "in commit HEAD"
    else:
        there = adapter.read(root, generated=True)
        entries = (there.get(path) for path in (PLACEMENT_FILE, MANIFEST_FILE))
        text, manifest = (entry if isinstance(entry, str) else None for entry in entries)
        where = ""
    return (None, ()) if text is None else placement_in_force(text, manifest, where=where)
