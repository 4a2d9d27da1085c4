"""A line on a terminal that tells how far a slow read is; nothing where nobody looks."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from knaster.reports.inert import inert

_WIDTH = 60


@contextmanager
def progress(args: argparse.Namespace) -> Iterator[Callable[[str, int, int], None]]:
    """What to call before each step: what is read, how many are done, how many there are."""
    if args.quiet or sys.stderr is None or not sys.stderr.isatty():
        yield lambda _what, _done, _all: None
        return
    try:
        yield lambda what, done, every: _tell(f"reading {done + 1} of {every}: {inert(what)[:_WIDTH]}")
    finally:
        _tell("")


def _tell(text: str) -> None:
    sys.stderr.write(f"\r\x1b[K{text}")
    sys.stderr.flush()
