"""The command line as argparse sees it. Imports argparse alone, so that help and usage errors come at once."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Sequence

from knaster.version import __version__

TYPE_CHECKING = False  # `typing` itself would be a fifth of the start-up time
if TYPE_CHECKING:
    from typing import Any

HELP = """\
knaster: what one line of YAML does to the fleet, before it is merged.

usage: knaster [options] COMMAND [options]

commands:
  validate           check inventory/ and catalog/; plan and render in memory
  placement plan     which role runs on which card, and why
  render             write generated/ from them; --check compares instead
  inventory collect  read facts off machines into inventory/, or --check them
  tofu gate PLAN     may this OpenTofu plan (JSON) be applied; what it does
  explain [CODE]     what a diagnostic means and how to fix it
options, before or after the command:
  -C DIR           the repository to work on (default: this folder)
  --format FORMAT  text, json or markdown (default: text)
  -o FILE          write the result to FILE; - is standard output
  -q, -v           errors only; every detail, and tracebacks of bugs
  --color WHEN     auto, always or never (NO_COLOR is respected)
  -h, --version    help, also of one command; the version
examples:
  knaster validate
  knaster placement plan --explain rerank
  knaster placement plan --without pve46/1
  knaster inventory collect --ssh root@pve44 root@pve46 --all
exit status: 0 yes, 1 no (an error, or not up to date), 2 could not tell
"""

_DEFAULTS = {"directory": ".", "format": "text", "output": "-", "quiet": False, "verbose": False, "color": "auto"}

_PARTS = {"plan": "placement plan", "collect": "inventory collect", "gate": "tofu gate"}
"""What people call a command by."""


def _formatter(prog: str) -> argparse.HelpFormatter:
    """80 columns: asking for the terminal's would import `shutil` and its compressors, half of the start-up time."""
    return argparse.HelpFormatter(prog, max_help_position=24, width=78)


class Parser(argparse.ArgumentParser):
    """argparse with our error text: one line, the nearest name, where to read on; exit status 2."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**{"formatter_class": _formatter, "allow_abbrev": False, **more})

    def error(self, message: str) -> None:  # type: ignore[override]
        """Print the error and leave with status 2 (argparse's contract: never return)."""
        text = f"knaster: error: {message}\n"
        near = _near(message, self._option_string_actions)
        if near:
            text = f"knaster: error: {message.partition(' (choose from')[0]}\nhint: did you mean {near}?\n"
        from knaster.reports.inert import inert

        safe = "\n".join(inert(line) for line in text.splitlines())
        self.exit(2, f"{safe}\nTry '{self.prog} --help'.\n")


class _FrontPage(Parser):
    def format_help(self) -> str:
        """The hand-set page instead of argparse's."""
        return HELP


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The arguments with every default filled in. Raises SystemExit for help, version and usage errors."""
    parser = _parser()
    words = list(sys.argv[1:] if argv is None else argv)
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


def _parser() -> Parser:
    common = _common()
    parser = _FrontPage(prog="knaster", parents=[common])
    parser.add_argument("--version", action="version", version=f"knaster {__version__}")
    commands = parser.add_subparsers(prog="knaster", metavar="COMMAND", parser_class=Parser)

    validate = _command(commands, common, "validate", "Check all inputs; plan and render in memory.")
    validate.set_defaults(module="validate")

    placement = _command(commands, common, "placement", "Placement of roles on cards.")
    kinds = placement.add_subparsers(prog="knaster placement", metavar="plan", required=True, parser_class=Parser)
    plan = _command(kinds, common, "plan", "Show which role runs on which card, and why.")
    plan.set_defaults(module="placement")
    question = plan.add_mutually_exclusive_group()
    question.add_argument("--explain", metavar="ROLE", help="list every GPU with why or why not")
    question.add_argument("--without", metavar="NODE[/INDEX]", help="show what the loss of a node or card would do")

    render = _command(commands, common, "render", "Write generated/: all files or none.")
    render.set_defaults(module="render")
    render.add_argument("--check", action="store_true", help="write nothing; report what differs")

    inventory = _command(commands, common, "inventory", "Facts of machines.")
    kinds = inventory.add_subparsers(prog="knaster inventory", metavar="collect", required=True, parser_class=Parser)
    _collect(
        _command(kinds, common, "collect", "Read the facts of machines into their profiles (-o, --all), or print one.")
    )

    tofu = _command(commands, common, "tofu", "OpenTofu and the generated module.")
    kinds = tofu.add_subparsers(prog="knaster tofu", metavar="gate", required=True, parser_class=Parser)
    gate = _command(kinds, common, "gate", "Say what a plan does; 1 where it must not be applied.")
    gate.set_defaults(module="tofu")
    gate.add_argument("plan", metavar="PLAN.json", help="what `tofu show -json PLAN` prints; - is standard input")

    explain = _command(commands, common, "explain", "Explain a diagnostic code; without one, list all codes.")
    explain.set_defaults(module="explain")
    explain.add_argument("code", nargs="?", metavar="CODE")
    return parser


def _collect(collect: Parser) -> None:
    collect.set_defaults(module="inventory")
    collect.usage = "knaster inventory collect [--from | --ssh | --pve] [-o | --all] [...]"
    source = collect.add_mutually_exclusive_group()
    source.add_argument("--from", dest="captures", metavar="PATH", help="a folder of NAME.capture files, or one file")
    source.add_argument("--ssh", nargs="+", action="extend", metavar="HOST", help="other machines, through ssh")
    source.add_argument("--pve", metavar="URL", help="a Proxmox VE cluster; token: $PROXMOX_VE_API_TOKEN")
    systems = ("linux", "windows", "proxmox")
    known = "the script that captures: linux, windows or proxmox"
    source.add_argument("--print-commands", choices=systems, metavar="OS", help=known)
    collect.add_argument(
        "--all", nargs="?", const="", metavar="DIR", help="write DIR/NAME.yaml of each host (default: inventory/)"
    )
    collect.add_argument("--name", help="the node's name (default: the machine's own)")
    collect.add_argument("--check", action="store_true", help="write nothing; report where profiles differ")


def _common() -> Parser:
    """The global options. Without defaults here, so that a sub-command does not reset what stood before it."""
    common = Parser(add_help=False, argument_default=argparse.SUPPRESS)
    group = common.add_argument_group("global options")
    group.add_argument("-C", dest="directory", metavar="DIR", help="the repository to work on (default: this folder)")
    group.add_argument("--format", choices=("text", "json", "markdown"), help="form of the result (default: text)")
    group.add_argument("-o", dest="output", metavar="FILE", help="write the result to FILE; - is standard output")
    group.add_argument("-q", "--quiet", action="store_true", help="errors only")
    group.add_argument("-v", "--verbose", action="store_true", help="every detail, and tracebacks of bugs")
    group.add_argument("--color", choices=("auto", "always", "never"), help="default: auto")
    return common


def _command(commands: argparse._SubParsersAction[Parser], common: Parser, name: str, text: str) -> Parser:
    parser = commands.add_parser(name, parents=[common], description=text, help=text)
    parser.set_defaults(parser=parser)
    return parser


def _near(message: str, options: Iterable[str]) -> str | None:
    """The nearest choice to an invalid one, or option to an unknown one, out of argparse's own message."""
    found = re.search(r"invalid choice: '(.*)' \(choose from (.*)\)", message, re.DOTALL)
    unknown = re.search(r"unrecognized arguments: (--[^\s=]+)", message)
    if not found and not unknown:
        return None
    from difflib import get_close_matches

    if not found:
        near = get_close_matches(unknown.group(1) if unknown else "", sorted(options), n=1)
        return near[0] if near else None
    choices = re.findall(r"[\w-]+", found.group(2))
    whole = {name: command for name, command in _PARTS.items() if command.partition(" ")[0] in choices}
    near = get_close_matches(found.group(1), [*choices, *whole], n=1)
    return whole.get(near[0], near[0]) if near else None
