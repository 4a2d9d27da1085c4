"""Every command with its help, as the parser prints it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from knaster.arguments import HELP, tree
from reference.markdown import page

_ABOUT = (
    "What `knaster help` and `knaster COMMAND --help` print. The global options stand before or after the command;\n"
    "exit status 0 is yes, 1 no, 2 could not tell."
)


def commands() -> str:
    """The page of commands."""
    parts = [f"```text\n{HELP}```"]
    for parser in _runnable(tree()):
        parts += [f"## {parser.prog}", f"```text\n{parser.format_help()}```"]
    return page("Commands", _ABOUT, parts)


def _runnable(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The parsers below `parser` that run something, in the order in which they were added."""
    children = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    for action in children:
        for child in action.choices.values():
            yield from _runnable(child)
    if not children:
        yield parser
