"""Reports as Markdown. Data stands only in code spans and fences longer than its own backticks, so it stays inert.

Sentences are plain text as far as they are made of plain words; a name with a digit or a mark in it, a path, a link, a
mention, anything that Markdown or a forge could read as more than a word, is a code span. So is what a sentence itself
puts between backticks or quotes, and every name that it is told of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import groupby

from knaster.reports import text as plain
from knaster.reports.blocks import Block, Code, Items, Line, Problems, Report, Style, Table
from knaster.reports.inert import inert

_WORD = re.compile(r"\(?(?![0-9a-f]{7,}\b)(?:[A-Za-z]+(?:'[a-z]+)?|[0-9]+(?:[./][0-9]+)?)[.,:;?]?\)?[.,:;?]?|→")
"""A word or a number with its punctuation, or an arrow; not what could be the hash of a commit."""
_AROUND = re.compile(r"(\(?)(.*?)(\)?[.,:;?]?|[.,:;?]\)[.,:;?]?)")
"""The punctuation of the sentence around an item of it."""


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


def prose(text: str, names: frozenset[str] = frozenset()) -> str:
    """A sentence: plain words as they are, everything else, and each of `names`, in code spans."""
    line = inert(text)
    if re.match(r"[0-9]+[.)]", line):  # would begin a list
        return span(text)
    found, at = [], 0
    for mark in _marks(names).finditer(line):
        found += [_words(line[at : mark.start()], names), _around(mark[0])]
        at = mark.end()
    return " ".join(part for part in (*found, _words(line[at:], names)) if part)


@lru_cache(maxsize=8)
def _marks(names: frozenset[str]) -> re.Pattern[str]:
    """What is one span whatever stands in it: between backticks, between quotes, and a name of several words."""
    several = sorted((re.escape(name) for name in names if " " in name), key=lambda name: (-len(name), name))
    one = "|".join(("`[^`]*[^` ][^`]*`", '"[^"]+"', *several))
    return re.compile(rf"(?<![^ ])\(?(?:{one})\)?[.,:;?]?\)?[.,:;?]?(?![^ ])")


def _words(text: str, names: frozenset[str]) -> str:
    """Words that belong to no span before: plain ones, names, and the rest, neighbours together."""

    def kind(word: str) -> str:
        if _AROUND.fullmatch(word)[2] in names:  # type: ignore[index]  # it matches everything
            return "name"
        return "plain" if _WORD.fullmatch(word) else "code"

    groups = ((what, list(some)) for what, some in groupby(text.strip(" ").split(" "), key=kind))
    return " ".join(_group(what, some) for what, some in groups)


def _group(what: str, words: list[str]) -> str:
    if what == "plain":
        return " ".join(words)
    return " ".join(map(_around, words if what == "name" else re.split(r"(?<=[,:;)]) | (?=\()", " ".join(words))))


def _around(text: str) -> str:
    """A code span with the punctuation of the sentence outside of it."""
    found = _AROUND.fullmatch(text)
    lead, inner, tail = found.groups() if found else ("", text, "")
    if not inner or inner[-1] in ".(" or "(" in inner or ")" in inner:
        lead, inner, tail = "", text, ""
    marked = inner[:1] == inner[-1:] == "`" and "`" not in inner[1:-1] and inner[1:-1].strip()
    return f"{lead}{span(inner[1:-1] if marked else inner)}{tail}"


def _block(block: Block, style: Style) -> Iterator[str]:
    match block:
        case Table() if block.rows and (block.bad or not style.quiet):
            if block.title:
                yield f"### {prose(block.title)}\n"
            yield f"| {' | '.join(block.head)} |"
            yield f"|{' --- |' * len(block.head)}"
            yield from (f"| {' | '.join(code(cell) for cell in row)} |" for row in block.rows)
        case Items() if block.lines and (block.bad or not style.quiet):
            yield f"### {prose(block.title)}\n"
            yield from (f"- {span(line)}" for line in block.lines)
        case Line() if not style.quiet or block.tone == "bad":
            yield prose(block.text)
        case Code() if block.lines and not style.quiet:
            yield f"### {prose(block.title)}\n"
            yield from _fenced([inert(line) for line in block.lines], block.language)
        case Problems():
            body = plain.render(Report({}, (block,)), replace(style, color=False))
            if body:
                yield from _fenced(body.splitlines(), "text")


def _fenced(lines: list[str], language: str) -> Iterator[str]:
    """Lines in a fence that is longer than any in them."""
    fence = "`" * max(3, _longest_run("\n".join(lines)) + 1)
    yield from (f"{fence}{language}", *lines, fence)


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
