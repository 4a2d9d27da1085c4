"""`knaster render [--check]`: make ``generated/`` what the inputs say, or report how it differs."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from pathlib import Path

from knaster.adapters import files as adapter
from knaster.adapters import generation, git
from knaster.checks.guest_list import LISTS, dropped, vanished
from knaster.commands.common import Survey, survey
from knaster.commands.output import refuse_input_folders, show
from knaster.diagnostics import Diagnostic, WorldError
from knaster.reports import rendering, validation
from knaster.reports.blocks import Report


def run(args: argparse.Namespace) -> int:
    """1 on any error, and with ``--check`` when ``generated/`` is not up to date; then nothing was written."""
    refuse_input_folders(args)
    if not args.check:
        _finish(Path(args.directory))
    found = survey(args)
    if not found.evaluation.ok:
        text = "generated/ was not compared" if args.check else "nothing was written"
        return _no(args, validation.refused("render", found.evaluation, found.files, text))
    previous = _previous(found.root)
    if refusals := _refusals(found, previous, check=args.check):
        return _no(args, rendering.refused(found.evaluation, refusals))
    platform = found.evaluation.cluster.platform
    gone = dropped(previous, found.evaluation.documents, platform.retire if platform else ())
    texts = found.evaluation.generated
    if args.check:
        findings = generation.check(found.root, texts)
        show(args, rendering.checked(found.evaluation, len(texts), findings, gone))
        return 1 if findings else 0
    show(args, rendering.written(found.evaluation, texts, generation.write(found.root, texts), gone))
    return 0


def _finish(root: Path) -> None:
    """Complete what a killed run left. What git tracks under those names is no leftover but somebody's trap."""
    if planted := git.tracked(root, generation.LEFTOVERS):
        raise WorldError(
            f"{planted[0]} is committed, where only a killed render leaves files", f"git rm -r {planted[0]}"
        )
    generation.finish(root)


def _no(args: argparse.Namespace, report: Report) -> int:
    show(args, report)
    return 1


def _refusals(found: Survey, previous: Mapping[str, str], *, check: bool) -> tuple[Diagnostic, ...]:
    """What forbids replacing ``generated/`` although the inputs are right."""
    empty = vanished(previous, found.evaluation.documents)
    blocked: Iterable[Diagnostic] = () if check else generation.blockers(found.root)
    return (*((empty,) if empty else ()), *blocked)


def _previous(root: Path) -> dict[str, str]:
    """The guest lists of the last generation: as they lie there, else as HEAD has them."""
    there = adapter.read(root, generated=True)
    texts = {path: entry for path in LISTS if isinstance(entry := there.get(f"generated/{path}"), str)}
    if texts or not git.inside_git(root):
        return texts
    committed = {path: git.head_file(root, f"generated/{path}") for path in LISTS}
    return {path: text for path, text in committed.items() if text is not None}
