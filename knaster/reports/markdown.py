"""Reports as Markdown. Data stands only in code spans and fences longer than its own backticks, so it stays inert."""

from __future__ import annotations

import re
from collections.abc import Iterator

from knaster.reports import text as plain
from knaster.reports.blocks import Block, Items, Line, Problems, Report, Table
from knaster.reports.inert import inert


def render(report: Report) -> str:
    """The whole report; empty, or ending with a line break."""
    parts = ["\n".join(lines) for block in report.blocks if (lines := tuple(_block(block)))]
    return "\n\n".join(parts) + "\n" if parts else ""


def code(text: str) -> str:
    """A code span that shows the text as it is, also inside a table."""
    safe = inert(text).replace("|", "\\|")
    if not safe.strip():
        return ""
    fence = "`" * (_longest_run(safe) + 1)
    pad = " " if safe.startswith("`") or safe.endswith("`") else ""
    return f"{fence}{pad}{safe}{pad}{fence}"


def _block(block: Block) -> Iterator[str]:
    match block:
        case Table() if block.rows:
            if block.title:
                yield f"### {code(block.title)}\n"
            yield f"| {' | '.join(block.head)} |"
            yield f"|{' --- |' * len(block.head)}"
            yield from (f"| {' | '.join(code(cell) for cell in row)} |" for row in block.rows)
        case Items() if block.lines:
            yield f"### {code(block.title)}\n"
            yield from (f"- {code(line).replace(chr(92) + '|', '|')}" for line in block.lines)
        case Line():
            yield code(block.text).replace("\\|", "|")
        case Problems() if block.diagnostics:
            body = plain.render(Report({}, (block,)))
            fence = "`" * max(3, _longest_run(body) + 1)
            yield f"{fence}text\n{body}{fence}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
