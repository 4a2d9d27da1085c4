"""argparse with our errors and the global options."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable

TYPE_CHECKING = False  # `typing` itself would be a fifth of the start-up time
if TYPE_CHECKING:
    from typing import Any

_PARTS = {
    "plan": "placement plan",
    "collect": "inventory collect",
    "gate": "tofu gate",
    "comment": "pr comment",
    "sweep": "pr sweep",
    "tts": "bench tts",
    "llm": "bench llm",
}
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


def common_options() -> Parser:
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


def command(commands: argparse._SubParsersAction[Parser], common: Parser, name: str, module: str, text: str) -> Parser:
    """A command that `module` below `knaster.commands` runs; "" for one that only holds others."""
    parser = commands.add_parser(name, parents=[common], description=text, help=text)
    parser.set_defaults(parser=parser)
    if module:
        parser.set_defaults(module=module)
    return parser


def _near(message: str, options: Iterable[str]) -> str | None:
    """The nearest choice to an invalid one, or option to an unknown one, out of argparse's own message."""
    found = re.search(r"invalid choice: '(.*)' \(choose from (.*)\)", message, re.DOTALL)
    unknown = re.search(r"unrecognized arguments: (--[^\s=]+)", message)
    if not found and not unknown:
        return None
    from knaster.names import nearest

    if not found:
        return nearest(unknown.group(1) if unknown else "", sorted(options))
    choices = re.findall(r"[\w-]+", found.group(2))
    whole = {name: command for name, command in _PARTS.items() if command.partition(" ")[0] in choices}
    near = nearest(found.group(1), [*choices, *whole])
    return whole.get(near, near) if near else None
