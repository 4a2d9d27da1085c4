"""Reports as Markdown. Data stands only in code spans and fences longer than its own backticks, so it stays inert.

Sentences are plain text as far as they are made of plain words; a name with a digit or a mark in it, a path, a link, a
mention, anything that Markdown or a forge could read as more than a word, is a code span.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

from knaster.reports import text as plain
from knaster.reports.blocks import Block, Items, Line, Problems, Report, Style, Table
from knaster.reports.inert import inert

_WORD = re.compile(r"\(?(?![0-9a-f]{7,}\b)(?:[A-Za-z]+(?:'[a-z]+)?|[0-9]+(?:[./][0-9]+)?)[.,:;]?\)?[.,:;]?|→")
"""A word or a number with its punctuation, or an arrow; not what could be the hash of a commit."""


def render(report: Report, style: Style = plain.PLAIN) -> str:
    """The whole report; empty, or ending with a line break."""
    parts = ["\n".join(lines) for block in report.blocks if (lines := tuple(_block(block, style)))]
    return "\n\n".join(parts) + "\n" if parts else ""


def code(text: str) -> str:
    """A code span that shows the text as it is, also inside a table."""
    safe = inert(text).replace("|", "\\|")
    if not safe.strip():
        return ""
    fence = "`" * (_longest_run(safe) + 1)
    pad = " " if safe.startswith("`") or safe.endswith("`") else ""
    return f"{fence}{pad}{safe}{pad}{fence}"


def span(text: str) -> str:
    """A code span outside of tables, where a pipe is a pipe."""
    return code(text).replace("\\|", "|")


def cell(text: str) -> str:
    """A sentence inside a table."""
    return prose(text).replace("|", "\\|")


def prose(text: str) -> str:
    """A sentence: plain words as they are, everything else in code spans."""
    words = inert(text).split(" ")
    if re.fullmatch(r"[0-9]+[.)].*", words[0]):  # would begin a list
        return span(text)
    groups = groupby(words, key=lambda word: _WORD.fullmatch(word) is not None)
    return " ".join(" ".join(some) if harmless else _span(" ".join(some)) for harmless, some in groups).strip()


def _span(text: str) -> str:
    """A code span for each item of a list, with the punctuation of the sentence behind it."""
    return " ".join(_item(part) for part in re.split("(?<=,) ", text))


def _item(text: str) -> str:
    end = text[-1:] if text[-1:] in (",", ":", ";") else ""
    return span(text.removesuffix(end)) + end


def _block(block: Block, style: Style) -> Iterator[str]:
    match block:
        case Table() if block.rows:
            if block.title:
                yield f"### {prose(block.title)}\n"
            yield f"| {' | '.join(block.head)} |"
            yield f"|{' --- |' * len(block.head)}"
            yield from (f"| {' | '.join(code(cell) for cell in row)} |" for row in block.rows)
        case Items() if block.lines:
            yield f"### {prose(block.title)}\n"
            yield from (f"- {span(line)}" for line in block.lines)
        case Line() if not style.quiet or block.tone == "bad":
            yield prose(block.text)
        case Problems():
            body = plain.render(Report({}, (block,)), replace(style, color=False))
            if body:
                fence = "`" * max(3, _longest_run(body) + 1)
                yield f"{fence}text\n{body}{fence}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
