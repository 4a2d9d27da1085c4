"""`knaster explain [CODE]`: what a diagnostic means."""

from __future__ import annotations

import argparse

from knaster.commands.output import show
from knaster.reports import codes


def run(args: argparse.Namespace) -> int:
    """1 for a code that does not exist."""
    if args.code is None:
        show(args, codes.everything())
        return 0
    report = codes.one(args.code)
    show(args, report or codes.unknown(args.code))
    return 0 if report else 1
