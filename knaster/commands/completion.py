"""`knaster completion SHELL`: what a shell needs to complete knaster's commands and options. The shtab door."""

from __future__ import annotations

import argparse

from knaster.commands.output import write
from knaster.diagnostics import WorldError


def run(args: argparse.Namespace) -> int:
    """Print the script; it is made from the very parser that reads the command line."""
    if args.format != "text":
        raise WorldError(f"completion prints a script for {args.shell}, not {args.format}", "leave --format out")
    import shtab

    for parser in _parsers(args.tree):
        for action in parser._actions:
            kind = {"FILE": shtab.FILE, "PLAN": shtab.FILE, "DIR": shtab.DIRECTORY}.get(str(action.metavar))
            if kind:
                action.complete = kind  # type: ignore[attr-defined]
    write(args.output, shtab.complete(args.tree, args.shell))
    return 0


def _parsers(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """`parser` and all below it."""
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return [parser, *(found for action in below for child in action.choices.values() for found in _parsers(child))]
