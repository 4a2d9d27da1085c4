"""`knaster validate`: everything wrong with the inputs, found by planning and rendering them in memory."""

from __future__ import annotations

import argparse

from knaster.commands.common import survey
from knaster.commands.output import show
from knaster.reports import validation


def run(args: argparse.Namespace) -> int:
    """1 on any error, an unplaced ``required`` role among them."""
    found = survey(args)
    show(args, validation.report(found.evaluation, found.files))
    return 0 if found.evaluation.ok else 1
