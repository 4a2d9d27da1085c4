"""The lines of each item of a block list, with the comments that are its own.

Its own are: the comment lines directly above its dash, and those below it that are indented deeper than the dash. Blank
lines belong to the place in the list, not to the item, so that a list keeps its air when items move.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from knaster.diagnostics import Route
from knaster.editing.sheet import Sheet

_COMMENT_LINE = re.compile(r" *#[^\r\n]*")


@dataclass(frozen=True, slots=True)
class Chunk:
    """An item with its comments: ``text[start:end]``, whole lines without the last line end.

    ``above``: the line ends (and blank lines) between it and what stands before.
    """

    start: int
    end: int
    above: str


def chunks(page: Sheet, route: Route) -> list[Chunk]:
    """One chunk for each item of the block list at a route, in order."""
    first = page.spans[route].start
    column = page.column(first)
    dash = re.compile(rf"(?:\r\n|\r|\n) {{{column}}}(-)(?=\s|$)")
    found: list[Chunk] = []
    for item in page.items(route):
        if not found:
            start = _above(page, page.line(first))
            found.append(Chunk(start, _end(page, item.end, column), page.line_break_before(start)))
            continue
        last = found[-1].end
        match = dash.search(page.text, last, item.start + 1)
        line = page.line(match.start(1) if match else item.start)
        start = page.line(next((at for at, _ in page.comments if last <= at < line), line))
        found.append(Chunk(start, _end(page, item.end, column), page.text[last:start]))
    return found


def _end(page: Sheet, end: int, column: int) -> int:
    return page.below(page.line_end(end), column)


def _above(page: Sheet, line: int) -> int:
    """The begin of the first of the comment lines that stand directly above a line."""
    while (end := line - len(page.line_break_before(line))) < line:
        begin = page.line(end)
        if not _COMMENT_LINE.fullmatch(page.text, begin, end):
            break
        line = begin
    return line
