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
    if not watched(args):
        yield lambda _what, _done, _all: None
        return
    try:
        yield lambda what, done, every: tell(f"reading {done + 1} of {every}: {inert(what)[:_WIDTH]}")
    finally:
        tell("")


def watched(args: argparse.Namespace) -> bool:
    """Whether somebody looks at standard error and wants to be told."""
    return not args.quiet and sys.stderr is not None and sys.stderr.isatty()


def tell(text: str) -> None:
    """Put `text` in place of the line that was told last; "" takes it away."""
    sys.stderr.write(f"\r\x1b[K{text}")
    sys.stderr.flush()
