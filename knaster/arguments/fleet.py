"""The arguments of the commands that look at the fleet's files, and that of `init`, which makes them."""

from __future__ import annotations

import argparse

from knaster.arguments.parser import Parser, command


def fleet(commands: argparse._SubParsersAction[Parser], common: Parser) -> None:
    """Add them."""
    command(commands, common, "validate", "validate", "Check all inputs; plan and render in memory.")
    _placement(commands, common)
    render = command(commands, common, "render", "render", "Write generated/: all files or none.")
    render.add_argument("--check", action="store_true", help="write nothing; report what differs")
    diff = command(commands, common, "diff", "diff", "Show what differs for the fleet between two commits, and why.")
    diff.add_argument("base", nargs="?", metavar="BASE", help="a commit (default: where this branch left main)")
    diff.add_argument("head", nargs="?", metavar="HEAD", help="a commit (default: the working tree)")
    diff.add_argument("--exit-code", action="store_true", help="exit with 1 when anything differs")
    report = command(commands, common, "report", "report", "The whole fleet on one self-contained page of HTML.")
    report.add_argument("--base", metavar="REV", help="show this commit beside the working tree, and what differs")
    verify = command(commands, common, "verify", "verify", "Whether generated/ of a commit is what its inputs need.")
    verify.add_argument("rev", nargs="?", default="HEAD", metavar="REV", help="a commit (default: HEAD)")
    init = command(
        commands, common, "init", "init", "Make a repository for another fleet, ready to be filled and pushed."
    )
    init.add_argument("folder", metavar="DIR", help="a new or empty folder")
    explain = command(commands, common, "explain", "explain", "Explain a diagnostic code; without one, list all codes.")
    explain.add_argument("code", nargs="?", metavar="CODE")


def _placement(commands: argparse._SubParsersAction[Parser], common: Parser) -> None:
    placement = command(commands, common, "placement", "", "Placement of roles on cards.")
    kinds = placement.add_subparsers(prog="knaster placement", metavar="plan", required=True, parser_class=Parser)
    plan = command(kinds, common, "plan", "placement", "Show which role runs on which card, and why.")
    question = plan.add_mutually_exclusive_group()
    question.add_argument("--explain", metavar="ROLE", help="list every GPU with why or why not")
    question.add_argument("--without", metavar="NODE[/INDEX]", help="show what the loss of a node or card would do")


def completion(commands: argparse._SubParsersAction[Parser], common: Parser, tree: Parser) -> None:
    """Add the command that prints `tree`, the whole command line, as a shell's completion script."""
    text = 'Print the completion script of a shell: eval "$(knaster completion bash)".'
    parser = command(commands, common, "completion", "completion", text)
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))
    parser.set_defaults(tree=tree)
