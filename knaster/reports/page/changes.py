"""The changes at the top of the page: what `knaster diff` tells, with a sign for each group."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from knaster.changes.result import Comparison, InputChange
from knaster.redact import masked
from knaster.reports import diff
from knaster.reports.blocks import Items, Table

_SIGNS = {
    "taken away": "\N{MINUS SIGN}",
    "restarted": "\N{CLOCKWISE OPEN CIRCLE ARROW}",
    "moves and new places": "\N{RIGHTWARDS ARROW}",
    "changed in place": "\N{PLUS-MINUS SIGN}",
    "new": "+",
    "only recorded": "\N{MIDDLE DOT}",
    "edited": "\N{LOWER RIGHT PENCIL}",
    "new problems": "!",
    "fixed problems": "\N{CHECK MARK}",
}


@dataclass(frozen=True, slots=True)
class ChangeGroup:
    """Changes of one sort: sentences (with the place of what was edited), or rows under a head."""

    title: str
    sign: str
    lines: tuple[tuple[str, str], ...] = ()
    head: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


def change_groups(comparison: Comparison) -> tuple[ChangeGroup, ...]:
    """The groups that hold something, worst first."""
    safe = replace(comparison, inputs=tuple(map(_masked, comparison.inputs)))
    return tuple(_groups(diff.blocks(safe)))


def _masked(change: InputChange) -> InputChange:
    """Values as data, where a flag before a secret still tells that it is one."""
    return replace(change, before=masked(change.before), after=masked(change.after))


def _groups(blocks: Iterable[object]) -> Iterable[ChangeGroup]:
    for block in blocks:
        if isinstance(block, Items) and block.lines:
            yield ChangeGroup(
                block.title.capitalize(), _SIGNS.get(block.title, ""), lines=tuple(map(_split, block.lines))
            )
        elif isinstance(block, Table) and block.rows:
            yield ChangeGroup(block.title.capitalize(), _SIGNS.get(block.title, ""), head=block.head, rows=block.rows)


def _split(line: str) -> tuple[str, str]:
    """A line of `diff`, and the ``file:line`` that follows two spaces in it."""
    text, gap, place = line.rpartition("  ")
    return (text, place) if gap else (line, "")
