"""Routes to offsets: where each key and value of a document stands in its text, for editing the text in place."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from knaster.diagnostics import Route

_CR_LF = re.compile("\r\n")


@dataclass(frozen=True, slots=True)
class Span:
    """Offsets into the text as it is (byte order mark and CR included): ``text[start:end]`` is the value as written.

    A block collection ends where its last value does, a block scalar at its last character that is no blank. A value
    that is not written (``key:``) has ``start == end``, after the colon. ``key`` is None for list items and the root;
    a list item starts after its dash, a block list at its first dash.
    """

    start: int
    end: int
    key: tuple[int, int] | None = None


def walk(root: Any, text: str) -> Iterator[tuple[Route, Span]]:
    """The span of each value under (and with) a node whose marks count in the normalised `text`; parents go last."""
    offset = _offsets(text)

    def visit(node: Any, route: Route, key: tuple[int, int] | None) -> Iterator[tuple[Route, Span]]:
        start, end = offset(node.start_mark.index), offset(node.end_mark.index)
        if node.id == "mapping":
            for key_node, value_node in node.value:
                place = offset(key_node.start_mark.index), offset(key_node.end_mark.index)
                for found in visit(value_node, (*route, key_node.value), place):
                    yield found
                    last = found[1].end
        elif node.id == "sequence":
            for position, item in enumerate(node.value):
                for found in visit(item, (*route, position), None):
                    yield found
                    last = found[1].end
        if node.id == "scalar":
            end = start + len(text[start:end].rstrip()) if node.style in {"|", ">"} else end
        elif not node.flow_style:
            end = last
        yield route, Span(start, end, key)

    return visit(root, (), None)


def _offsets(text: str) -> Callable[[int], int]:
    """From an offset in the normalised text (see `knaster.document.source.normalise`) to one in `text`."""
    mark = 1 if text.startswith("\ufeff") else 0
    shortened = [match.start() - mark - before for before, match in enumerate(_CR_LF.finditer(text))]
    if not mark and not shortened:
        return lambda index: index
    return lambda index: index + mark + bisect_left(shortened, index)
