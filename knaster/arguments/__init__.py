"""The command line as argparse sees it. Imports argparse alone, so that help and usage errors come at once."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from knaster.arguments.page import HELP
from knaster.arguments.parser import Parser, common_options
from knaster.version import __version__

__all__ = ["HELP", "parse", "tree"]

_DEFAULTS = {"directory": ".", "format": "text", "output": "-", "quiet": False, "verbose": False, "color": "auto"}


class _FrontPage(Parser):
    def format_help(self) -> str:
        """The hand-set page instead of argparse's."""
        return HELP


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The arguments with every default filled in. Raises SystemExit for help, version and usage errors."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words in (["--help"], ["-h"], ["help"]):  # the page is set by hand: no command is needed for it
        _FrontPage(prog="knaster", add_help=False).print_help()
        raise SystemExit(0)
    parser = tree()
    args, unknown = parser.parse_known_args([*words[1:], "--help"] if words[:1] == ["help"] else words)
    asked: Parser = args.__dict__.pop("parser", parser)
    if unknown:
        asked.error(f"unrecognized arguments: {' '.join(unknown)}")
    if not getattr(args, "module", None):
        parser.exit(2, HELP)
    for name, value in _DEFAULTS.items():
        if not hasattr(args, name):
            setattr(args, name, value)
    return args


def tree() -> Parser:
    """The whole command line."""
    from knaster.arguments.bench import bench
    from knaster.arguments.fleet import completion, fleet
    from knaster.arguments.inventory import inventory
    from knaster.arguments.model import model
    from knaster.arguments.pulls import pulls
    from knaster.arguments.tofu import tofu

    common = common_options()
    parser = _FrontPage(prog="knaster", parents=[common])
    parser.add_argument("--version", action="version", version=f"knaster {__version__}")
    commands = parser.add_subparsers(prog="knaster", metavar="COMMAND", parser_class=Parser)
    for add in (fleet, inventory, model, pulls, bench, tofu):
        add(commands, common)
    completion(commands, common, parser)
    return parser
