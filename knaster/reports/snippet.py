"""The line of a file that a diagnostic speaks of, with a caret under the spot."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from knaster.diagnostics import Place
from knaster.document.source import normalise
from knaster.reports.hidden import masked
from knaster.reports.inert import spelled, width

_WIDTH = 100
_SPAN = 2000


def snippet(text: str, place: Place, *, secret: bool = False) -> tuple[str, ...]:
    """``12 |   gpus: 0`` and the caret below; nothing when the place has no line in the text.

    With `secret` nothing from the column on is shown. A masked line gets no caret, because masking moves its columns.
    A long line is cut to a window around the spot.
    """
    lines = _lines(text)
    if not 1 <= place.line <= len(lines):
        return ()
    line = lines[place.line - 1]
    if not line.strip():
        return ()
    if len(line) > 2 * _SPAN:  # else every diagnostic of a huge line would work through all of it
        start = max(0, place.column - _SPAN)
        line = line[start : start + 2 * _SPAN]
        lines = [*lines[: place.line - 1], line]
        place = replace(place, column=place.column - start)
    safe = masked(lines, place.line - 1, place.column if secret else None)
    head = f"{place.line:>5} | "
    if safe != line or not place.column:
        return (head + _cut(spelled(safe), 0)[0],)
    before = spelled(line[: place.column - 1])
    shown, start = _cut(spelled(line), len(before))
    return (head + shown, " " * 5 + " | " + " " * width(shown[: len(before) - start]) + "^")


@lru_cache(maxsize=64)
def _lines(text: str) -> list[str]:
    return normalise(text).split("\n")


def _cut(line: str, spot: int) -> tuple[str, int]:
    """The part of a line around `spot`, and how many characters of the line stand before what is shown."""
    if len(line) <= _WIDTH:
        return line, 0
    start = max(0, spot - _WIDTH // 2)
    left, right = "…" if start else "", "…" if start + _WIDTH < len(line) else ""
    return left + line[start : start + _WIDTH] + right, start - len(left)
