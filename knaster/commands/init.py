"""`knaster init DIR`: a data-only repository for another fleet, ready to be filled and pushed."""

from __future__ import annotations

import argparse
from pathlib import Path

from knaster.adapters import starting
from knaster.commands.output import real, show
from knaster.reports import starting as report
from knaster.starter import EXECUTABLE, texts
from knaster.version import __version__


def run(args: argparse.Namespace) -> int:
    """1 where the folder is not empty; then nothing was written."""
    folder = real(Path(args.directory) / args.folder)
    there = starting.occupied(folder)
    if there:
        show(args, report.refused(args.folder, there))
        return 1
    files = texts(__version__)
    own = starting.lay(folder, files, EXECUTABLE)
    nested = not own and not (folder / ".git").exists()
    show(args, report.made(args.folder, tuple(files), repository=own, nested=nested))
    return 0
