"""A YAML text as a sheet to edit: where its keys, values, lines and comments are, and edits at offsets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from knaster.diagnostics import Route
from knaster.document import Span, spans

NEWLINE = re.compile(r"\r\n|\r|\n")
_COMMENT = re.compile(r"#[^\r\n]*")
_COMMENT_BELOW = re.compile(r"(?:(?:\r\n|\r|\n) *)*(?:\r\n|\r|\n)( *)#[^\r\n]*")


@dataclass(frozen=True, slots=True)
class Edit:
    """``text[start:end]`` becomes `put`; of two insertions at one offset the first made comes first."""

    start: int
    end: int
    put: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """A strict YAML text with the spans of its values, its own line end, and the offsets of its comments."""

    text: str
    spans: Mapping[Route, Span]
    newline: str
    comments: tuple[tuple[int, int], ...]

    def line(self, offset: int) -> int:
        """Where the line of an offset begins (behind a byte order mark)."""
        begin = max(self.text.rfind("\n", 0, offset), self.text.rfind("\r", 0, offset)) + 1
        return begin + 1 if self.text.startswith("\ufeff", begin) else begin

    def line_end(self, offset: int) -> int:
        """Where the line of an offset ends, before its line end."""
        found = NEWLINE.search(self.text, offset)
        return found.start() if found else len(self.text)

    def line_break_before(self, line: int) -> str:
        """The line end directly before the begin of a line; nothing at the begin of the text."""
        before = self.text[max(0, line - 2) : line]
        return before if before == "\r\n" else before[-1:] if before[-1:] in ("\r", "\n") else ""

    def column(self, offset: int) -> int:
        """How far an offset stands from the begin of its line."""
        return offset - self.line(offset)

    def indentation(self, offset: int) -> int:
        """The spaces at the begin of the line of an offset."""
        line = self.text[self.line(offset) : offset]
        return len(line) - len(line.lstrip(" "))

    def below(self, end: int, column: int) -> int:
        """`end` (of a line) moved behind the comments under it that are indented deeper than `column`."""
        while (match := _COMMENT_BELOW.match(self.text, end)) and len(match[1]) > column:
            end = match.end()
        return end

    def is_flow(self, route: Route) -> bool:
        """Whether a collection is written with brackets or braces."""
        return self.text[self.spans[route].start] in "[{"

    def items(self, route: Route) -> list[Span]:
        """The spans of a list's items."""
        found: list[Span] = []
        while (span := self.spans.get((*route, len(found)))) is not None:
            found.append(span)
        return found

    def first_key(self, route: Route) -> int:
        """Where the first key of a mapping begins."""
        return min(span.key[0] for at, span in self.spans.items() if span.key and at[:-1] == route)

    def inside(self, start: int, end: int) -> list[str]:
        """The comments that begin between two offsets."""
        return [self.text[first:last] for first, last in self.comments if start <= first < end]

    def with_edits(self, start: int, end: int, edits: Sequence[Edit]) -> str:
        """``text[start:end]`` with those of the edits that lie in it."""
        parts: list[str] = []
        at = start
        for edit in sorted((one for one in edits if start <= one.start <= one.end <= end), key=lambda one: one.start):
            parts += [self.text[at : edit.start], edit.put]
            at = edit.end
        return "".join((*parts, self.text[at:end]))


def sheet(text: str) -> Sheet:
    """The sheet of a text that `knaster.document.parse` accepts."""
    places = spans(text)
    found = NEWLINE.search(text)
    return Sheet(text, places, found[0] if found else "\n", tuple(_comments(text, places)))


def comments(text: str) -> list[str]:
    """Every comment of a strict YAML text from its ``#`` to the end of its line, in order."""
    return [text[start:end] for start, end in _comments(text, spans(text))]


def _comments(text: str, places: Mapping[Route, Span]) -> Iterator[tuple[int, int]]:
    """A ``#`` that stands in no key and no single value begins a comment; one between empty brackets does."""
    parents = {route[:-1] for route in places if route}
    leaves = (span for route, span in places.items() if route not in parents)
    solid = [(span.start, span.end) for span in leaves if text[span.start : span.start + 1] not in ("[", "{")]
    solid += [span.key for span in places.values() if span.key]
    at = 0
    for start, end in (*sorted(solid), (len(text), len(text))):
        while match := _COMMENT.search(text, at, start):
            yield match.span()
            at = match.end()
        at = max(at, end)
