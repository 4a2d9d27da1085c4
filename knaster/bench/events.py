"""Server-sent events as they arrived. Pure. Lines and fields: WHATWG HTML, 9.2.6; a last line may lack its end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_LINE = re.compile(rb"([^\r\n]*)(\r\n|\n|\r|\Z)")


def events(body: bytes, arrivals: Sequence[tuple[int, float]]) -> Iterator[tuple[str, str, float]]:
    """Field, value and time of arrival of each line with a field: ``("data", "{...}", 12.5)``; no comments."""
    times = _Times(arrivals)
    for match in _LINE.finditer(body):
        line = match[1].decode("utf-8", "replace")
        name, _, text = line.partition(":")
        if name:
            yield name, text.removeprefix(" "), times.at(max(match.end(1) - 1, 0))


class _Times:
    """`stats.reached` for rising offsets, in one go through them."""

    def __init__(self, arrivals: Sequence[tuple[int, float]]) -> None:
        self._arrivals = arrivals
        self._next = 0

    def at(self, offset: int) -> float:
        while self._next + 1 < len(self._arrivals) and self._arrivals[self._next][0] <= offset:
            self._next += 1
        return self._arrivals[self._next][1] if self._arrivals else 0.0
