"""Make the text of a profile say new data and change nothing else: edits at the offsets of its keys and values.

Values are replaced where they stand, missing keys go behind the key that the schema has before them, and lists are
rearranged by `knaster.inventory.profile_lists`. Comments, blank lines, order, quotes and line ends stay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from knaster.diagnostics import Route
from knaster.document import Value
from knaster.editing import style
from knaster.editing.sheet import Edit, Sheet, sheet
from knaster.inventory.profile_facts import ListPlan
from knaster.inventory.profile_lists import ListJob, list_edits
from knaster.schema import schema


def rewrite(text: str, old: Mapping[str, Any], new: Mapping[str, Any], plans: Mapping[str, ListPlan]) -> str:
    """`text`, which says `old`, edited to say `new`; `plans` as in `Merged`.

    The caller reads the result again: there are layouts that defeat an edit.
    """
    page = sheet(text)
    return page.with_edits(0, len(text), _mapping(page, (), old, new, plans))


def _mapping(
    page: Sheet, route: Route, old: Mapping[str, Any], new: Mapping[str, Any], plans: Mapping[str, ListPlan]
) -> list[Edit]:
    if not old and page.is_flow(route):
        first = page.spans[route].start + 1
        return [Edit(first, first, style.flow({**new})[1:-1])]
    edits: list[Edit] = []
    for key in old:
        at = (*route, key)
        if key in plans:
            edits += list_edits(ListJob(page, key, new[key], plans[key], _items(page, at, old[key])), old[key])
        else:
            edits += _value(page, at, old[key], new[key])
    order = list(_properties(route))
    for key in (key for key in order if key in new and key not in old):
        before = [other for other in order[: order.index(key)] if other in old]
        into = _into_braces if page.is_flow(route) else _into_block
        edits.append(into(page, route, key, new[key], before))
    return edits


def _items(page: Sheet, route: Route, old: Any) -> Callable[[int, Value], list[Edit]]:
    return lambda position, new: _value(page, (*route, position), old[position], new)


def _value(page: Sheet, route: Route, old: Any, new: Any) -> list[Edit]:
    if old == new:
        return []
    if isinstance(old, dict) and isinstance(new, dict) and old:
        return _mapping(page, route, old, new, {})
    span = page.spans[route]
    key = str(route[-1])
    written = page.text[span.start : span.end]
    put = style.flow(new, key) if isinstance(new, dict | list) else style.scalar(new, key, written)
    if not written:
        has_colon = span.key is None or ":" in page.text[span.key[1] : span.start]
        put = f" {put}" if has_colon else f": {put}"
    return [Edit(span.start, span.end, put)]


def _into_braces(page: Sheet, route: Route, key: str, value: Value, before: Sequence[str]) -> Edit:
    put = f"{key}: {style.flow(value, key)}"
    if before:
        end = page.spans[(*route, before[-1])].end
        return Edit(end, end, f", {put}")
    first = page.first_key(route)
    return Edit(first, first, f"{put}, ")


def _into_block(page: Sheet, route: Route, key: str, value: Value, before: Sequence[str]) -> Edit:
    first = page.first_key(route)
    column = page.column(first)
    put = style.entry(key, value, " " * column, page.newline)
    if before:
        end = page.below(page.line_end(page.spans[(*route, before[-1])].end), column)
        return Edit(end, end, f"{page.newline}{' ' * column}{put}")
    return Edit(first, first, f"{put}{page.newline}{' ' * column}")


def _properties(route: Route) -> Mapping[str, Any]:
    rules: Mapping[str, Any] = schema("node")
    for part in route:
        rules = rules["items"] if isinstance(part, int) else rules["properties"][part]
    found: Mapping[str, Any] = rules["properties"]
    return found
