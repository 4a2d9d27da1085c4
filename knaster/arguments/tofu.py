"""The arguments of `tofu gate`."""

from __future__ import annotations

import argparse

from knaster.arguments.parser import Parser, command


def tofu(commands: argparse._SubParsersAction[Parser], common: Parser) -> None:
    """Add them."""
    module = command(commands, common, "tofu", "", "OpenTofu and the generated module.")
    kinds = module.add_subparsers(prog="knaster tofu", metavar="gate", required=True, parser_class=Parser)
    gate = command(kinds, common, "gate", "tofu", "Say what a plan does; 1 where it must not be applied.")
    gate.add_argument("plan", metavar="PLAN.json", help="what `tofu show -json PLAN` prints; - is standard input")
    text = "the apply runs on another machine than the guest that carries OpenTofu"
    gate.add_argument("--elsewhere", action="store_true", help=text)
