"""The size ladder: of everything that there is to say, as much as fits into a budget of bytes.

A body is a list of blocks: texts that are there or not, and sections that show any number of their rows. Bodies are
tried from the fullest to the smallest; in the first that fits, rows are added while there is room, worst things first.
"""

from __future__ import annotations

from collections.abc import Sequence

from knaster.reports.comment.sections import Section
from knaster.reports.comment.templates import Safe, render

_FIRST = 10
"""Rows that each section may show before any shows more."""
_NEEDED = 3
"""Things in the rows of the first section without which a smaller body, which names more of them, is better."""
GAP = "\n\n"


class Block:
    """A section whose rows are made once, when they are needed: of 5,000 most never are."""

    def __init__(self, section: Section) -> None:
        self.section = section
        self.total = len(section.items)
        self._rows: list[Safe] = []
        self._sizes = [0]
        self._things = [0]
        self._all = sum(map(section.number, section.items))
        self._frames: dict[tuple[bool, bool, int], int] = {}

    def text(self, shown: int) -> Safe:
        """The section with so many of its rows."""
        self._make(shown)
        return self._render(self._rows[:shown], shown)

    def size(self, shown: int) -> int:
        """The bytes of `text`."""
        self._make(shown)
        frame = (shown == 0, shown == self.total, len(str(self._things[shown])))
        if frame not in self._frames:
            self._frames[frame] = len(self._render([Safe("-")], shown).encode()) - (2 if shown else 0)
        return self._frames[frame] + self._sizes[shown]

    def enough(self, shown: int) -> bool:
        """Whether that many rows name as many things as a section that comes first must."""
        return self._things[shown] >= min(_NEEDED, self._all)

    def _render(self, rows: Sequence[Safe], shown: int) -> Safe:
        one, things = self.section, self._things[shown]
        text = render(
            "section", title=one.title, folded=one.folded, table=one.table, rows=rows, shown=things, total=self._all
        )
        return Safe(text.rstrip("\n"))

    def _make(self, number: int) -> None:
        one = self.section
        for item in one.items[len(self._rows) : number]:
            self._rows.append(render(one.template, row=one.view(item), bold=one.bold))
            self._sizes.append(self._sizes[-1] + len(self._rows[-1].encode()) + 1)
            self._things.append(self._things[-1] + one.number(item))


Body = Sequence[Block | Safe]


def fit(bodies: Sequence[Body], budget: int) -> str:
    """The first body whole, if that fits; else the first of the others that fits, filled up; else the last as it is."""
    whole = _whole(bodies[0], budget)
    if whole is not None:
        return whole
    found = (_filled(body, budget) for body in bodies[1:])
    return next((text for text in found if text is not None), _text(bodies[-1], [0] * len(bodies[-1])))


def _whole(body: Body, budget: int) -> str | None:
    """The body with all rows, if that fits; stops looking at the row that does not."""
    left = budget - len(GAP) * (len(body) - 1) - 1
    for one in body:
        if isinstance(one, Safe):
            left -= len(one.encode())
            continue
        for shown in range(1, one.total + 1):
            if one.size(shown) > left + 40:
                return None
        left -= one.size(one.total)
    return None if left < 0 else _text(body, [one.total if isinstance(one, Block) else 0 for one in body])


def _filled(body: Body, budget: int) -> str | None:
    shown = [0] * len(body)
    sizes = [one.size(0) if isinstance(one, Block) else len(one.encode()) for one in body]
    left = budget - sum(sizes) - len(GAP) * (len(body) - 1) - 1
    if left < 0:
        return None
    blocks = [(at, one) for at, one in enumerate(body) if isinstance(one, Block)]
    for most in (_FIRST, None):
        for at, one in blocks:
            before = one.size(shown[at])
            shown[at] = _grown(one, shown[at], left + before, most)
            left -= one.size(shown[at]) - before
    if blocks and not blocks[0][1].enough(shown[blocks[0][0]]):
        return None
    return _text(body, shown)


def _grown(one: Block, shown: int, room: int, most: int | None) -> int:
    """The most rows, from `shown` up, with which a section is not larger than `room`."""
    end = one.total if most is None else min(most, one.total)
    while shown < end and one.size(shown + 1) <= room:
        shown += 1
    return shown


def _text(body: Body, shown: Sequence[int]) -> str:
    parts = [one.text(number) if isinstance(one, Block) else one for one, number in zip(body, shown, strict=True)]
    return GAP.join(parts) + "\n"
