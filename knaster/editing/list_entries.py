"""Entries into a list of a YAML file of people: every byte that says something else stays as it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from knaster.diagnostics import Route
from knaster.editing import style
from knaster.editing.sheet import Edit, Sheet, sheet

Entry = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Changes:
    """What happens to one list: entries that take the place of those at their positions, and entries at its end."""

    replaced: Mapping[int, Entry] = field(default_factory=dict)
    added: Sequence[Entry] = ()


def rewrite(text: str, at: Route, key: str, old: Sequence[Any] | None, changes: Changes) -> str:
    """`text` with the list under `key` of the mapping `at` (it has `old`; None: no such key) changed.

    The caller reads the result again: there are layouts that defeat an edit.
    """
    page = sheet(text)
    if old is None:
        edits = [_new(page, at, key, changes.added)] if changes.added else []
    else:
        route = (*at, key)
        edits = [_replaced(page, (*route, position), one) for position, one in changes.replaced.items()]
        if changes.added:
            edits.append((_appended if old else _first)(page, route, changes.added))
    return page.with_edits(0, len(text), edits)


def _new(page: Sheet, at: Route, key: str, added: Sequence[Entry]) -> Edit:
    """The key with its list, behind the last key of the mapping."""
    children = [span for route, span in page.spans.items() if route[:-1] == at and span.key]
    last = max(children, key=lambda span: span.end)
    if page.is_flow(at):
        return Edit(last.end, last.end, f", {key}: [{_flow(added)}]")
    column = page.column(min(span.key[0] for span in children if span.key))
    end = page.below(page.line_end(last.end), column)
    lines = (f"{key}:", *(f"  - {style.flow(dict(one))}" for one in added))
    return Edit(end, end, "".join(f"{page.newline}{' ' * column}{line}" for line in lines))


def _appended(page: Sheet, route: Route, added: Sequence[Entry]) -> Edit:
    last = page.items(route)[-1]
    if page.is_flow(route):
        return Edit(last.end, last.end, f", {_flow(added)}")
    column = page.column(page.spans[route].start)
    end = page.below(page.line_end(last.end), column)
    return Edit(end, end, _lines(page, column, added))


def _first(page: Sheet, route: Route, added: Sequence[Entry]) -> Edit:
    """In place of ``[]``: a block where the mapping is one and nothing else stands on the line."""
    span = page.spans[route]
    key = span.key
    rest = page.text[span.end : page.line_end(span.end)]
    if key is None or page.is_flow(route[:-1]) or rest.strip() or "#" in page.text[span.start : span.end]:
        return Edit(span.start + 1, span.start + 1, _flow(added))
    colon = page.text.index(":", key[1]) + 1
    return Edit(colon, span.end, _lines(page, page.column(key[0]) + 2, added))


def _replaced(page: Sheet, route: Route, one: Entry) -> Edit:
    """The entry in the style of the one before it; comments that stood inside follow it."""
    span = page.spans[route]
    pad = page.newline + " " * page.column(span.start)
    if page.is_flow(route):
        put, inside = style.flow(dict(one)), f"{page.newline}{' ' * (page.indentation(span.start) + 2)}"
        after = inside if page.is_flow(route[:-1]) else ""
    else:
        put, inside, after = pad.join(f"{key}: {style.flow(value, key)}" for key, value in one.items()), pad, ""
    comments = page.inside(span.start, span.end)
    kept = "".join(f"{inside}{comment}" for comment in comments)
    return Edit(span.start, span.end, f"{put}{kept}{after if comments else ''}")


def _flow(entries: Iterable[Entry]) -> str:
    return ", ".join(style.flow(dict(one)) for one in entries)


def _lines(page: Sheet, column: int, entries: Iterable[Entry]) -> str:
    return "".join(f"{page.newline}{' ' * column}- {style.flow(dict(one))}" for one in entries)
