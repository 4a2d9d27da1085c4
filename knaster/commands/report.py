"""`knaster report [--base REV]`: the fleet on one page of HTML, with a base before and after side by side."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from knaster.changes import compare
from knaster.commands import sides
from knaster.commands.common import demand_fleet, survey
from knaster.commands.output import refuse_input_folders, write
from knaster.diagnostics import WorldError
from knaster.reports import text, validation
from knaster.reports.blocks import Line, Problems, Report, Style
from knaster.reports.diff import Side
from knaster.reports.page import page


def run(args: argparse.Namespace) -> int:
    """1 on an error of a side, told on stderr; without a page where its files do not load, else on the page too."""
    if args.format != "text":
        raise WorldError(
            f"report writes a page of HTML, not {args.format}",
            "knaster placement plan, validate and diff give the same facts as json and markdown",
        )
    refuse_input_folders(args)
    before, after = _sides(args)
    shown = [side for side in (before, after) if side is not None]
    _tell([side for side in shown if not side.evaluation.ok])
    if any(side.evaluation.planned is None for side in shown):
        return 1
    comparison = compare(before.evaluation, after.evaluation) if before else None
    write(args.output, page(after, before, comparison))
    return 0 if all(side.evaluation.ok for side in shown) else 1


def _sides(args: argparse.Namespace) -> tuple[Side | None, Side]:
    if args.base is None:
        found = survey(args)
        return None, Side("the working tree", found.files, found.evaluation)
    root = Path(args.directory)
    sides.inside(root)
    demand_fleet(root)
    before = sides.commit(root, args.base)
    return before, sides.tree(root, before.evaluation)


def _tell(invalid: list[Side]) -> None:
    """The errors, on stderr: stdout carries the page and nothing else."""
    blocks: list[Line | Problems] = []
    for side in invalid:
        blocks.append(Problems(side.evaluation.errors, side.files))
        loaded = side.evaluation.planned is not None
        rest = "the page shows what its files ask for" if loaded else "no page: its files did not load"
        blocks.append(Line(f"{side.name} is invalid ({validation.summary(side.evaluation)}); {rest}", "bad"))
    if blocks and sys.stderr is not None:
        encoding = sys.stderr.encoding or "utf-8"
        told = text.render(Report({}, tuple(blocks)), Style())
        sys.stderr.write(told.encode(encoding, "backslashreplace").decode(encoding))
