"""How far long work is: one line on a terminal, which is gone when the work is done."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from knaster.reports.inert import inert


@contextmanager
def progress(args: argparse.Namespace) -> Iterator[Callable[[str], None]]:
    """A function that shows a text in place of the last one; it does nothing when quiet, or without a terminal."""
    if args.quiet or sys.stderr is None or not sys.stderr.isatty():
        yield lambda _: None
        return
    try:
        yield lambda text: _tell(inert(text))
    finally:
        _tell("")


def _tell(text: str) -> None:
    sys.stderr.write(f"\r\x1b[K{text}")
    sys.stderr.flush()
