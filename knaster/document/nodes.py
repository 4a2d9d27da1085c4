"""PyYAML's nodes -> data, in one walk that keeps no node; and routes -> nodes, for the positions of diagnostics.

Nodes are told apart by their ``id``, so that this file needs no import of ``yaml``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from knaster.diagnostics import Diagnostic, Place, Related
from knaster.document.scalars import Scalar, Unclear, read, read_block, shown
from knaster.document.source import MAX_DEPTH
from knaster.document.tokens import too_deep

Value = Scalar | list["Value"] | dict[str, "Value"]

MAX_KEY = 1000
"""Characters of a key; YAML ends at 1,024."""

_KINDS = {"mapping": "a mapping", "sequence": "a list", "scalar": "a single value"}


@dataclass(frozen=True, slots=True)
class _Walk:
    path: str
    found: list[Diagnostic] = field(default_factory=list)
    seen: set[int] = field(default_factory=set)


def to_data(path: str, root: Any) -> tuple[dict[str, Value], tuple[Diagnostic, ...]]:
    """The data of a document and everything that is wrong with it; `root` is a node, or None for an empty file."""
    if root is None or (root.id == "scalar" and not root.value and not root.style):
        return {}, (_not_a_mapping(Place(path, line=1, column=1), "the file is empty"),)
    if root.id != "mapping":
        place = _place(path, root.start_mark)
        return {}, (_not_a_mapping(place, f"the file holds {_KINDS[root.id]} instead of a mapping"),)
    walk = _Walk(path)
    return _mapping(root, 1, walk), tuple(walk.found)


def _not_a_mapping(place: Place, message: str) -> Diagnostic:
    return Diagnostic("yaml-root", message, place, hint='write "key: value" lines, or delete the file')


def _place(path: str, mark: Any) -> Place:
    return Place(path, line=mark.line + 1, column=mark.column + 1)


_QUOTES = frozenset("'\"")


def _mapping(node: Any, depth: int, walk: _Walk) -> dict[str, Value]:
    data: dict[str, Value] = {}
    for key_node, value_node in node.value:
        key = key_node.value
        if (
            key.__class__ is not str
            or (key_node.style not in _QUOTES and read(key) != key)
            or key == "<<"
            or len(key) > MAX_KEY
        ):
            _refuse_key(key_node, walk)
        value = _value(value_node, depth, walk)
        if key.__class__ is str:
            data[key] = value
    if len(data) != len(node.value):
        _duplicates(node, walk)
    return data


def _value(node: Any, depth: int, walk: _Walk) -> Value:
    if node.id == "scalar":
        text: str = node.value
        value = text if node.style in _QUOTES else read_block(text) if node.style else read(text)
        if value.__class__ is not Unclear:
            return value  # type: ignore[return-value]  # mypy does not follow __class__, which is what makes it fast
        _refuse(node, value, walk)
        return text
    if depth == MAX_DEPTH:
        walk.found.append(too_deep(walk.path, node.start_mark))
        return None
    if id(node) in walk.seen:  # an alias, refused elsewhere: never expanded
        return None
    walk.seen.add(id(node))
    if node.id == "sequence":
        return [_value(item, depth + 1, walk) for item in node.value]
    return _mapping(node, depth + 1, walk)


def _refuse(node: Any, unclear: Any, walk: _Walk) -> None:
    walk.found.append(Diagnostic(unclear.code, unclear.message, _place(walk.path, node.start_mark), hint=unclear.hint))


def _refuse_key(node: Any, walk: _Walk) -> None:
    code, message, hint = _key_problem(node)
    walk.found.append(Diagnostic(code, message, _place(walk.path, node.start_mark), hint=hint))


def _key_problem(node: Any) -> tuple[str, str, str]:
    """Code, message and hint for a key that is not text to every reader."""
    key = node.value
    if node.id != "scalar":
        return "yaml-key", f"a key must be text, this one is {_KINDS[node.id]}", "write a plain word as key"
    if key == "<<":
        return "yaml-alias", "a merge key (<<) is not allowed", "write the keys out"
    if len(key) > MAX_KEY:
        return "yaml-bounds", f"a key of {len(key)} characters, over the bound of {MAX_KEY}", "shorten it"
    value = read(key)
    hint = f'quote this: "{shown(key)}"' if key else "write the key before the colon"
    if isinstance(value, Unclear) and value.code == "yaml-quote":
        return value.code, value.message, hint
    return "yaml-key", f"a key must be text, this one is {_named(value, key)}", hint


def _named(value: Scalar | Unclear, text: str) -> str:
    if not text:
        return "empty"
    return "null" if value is None else f"the boolean {text}" if isinstance(value, bool) else f"the number {text}"


def _duplicates(node: Any, walk: _Walk) -> None:
    first: dict[str, Any] = {}
    for key_node, _ in node.value:
        key = key_node.value
        if key.__class__ is not str:
            continue
        if key not in first:
            first[key] = key_node.start_mark
            continue
        related = Related(_place(walk.path, first[key]), "first written here")
        message = f"the key {shown(key)} is written twice (first in line {related.place.line})"
        place = _place(walk.path, key_node.start_mark)
        problem = Diagnostic("yaml-duplicate-key", message, place, hint="keep one of the two", related=(related,))
        walk.found.append(problem)


def finder(root: Any) -> Callable[[Place], tuple[int, int]]:
    """A function from a place's route to line and column; where it ends early, those of the last parent it reaches.

    Mappings are indexed once each, so that thousands of places in one file stay cheap.
    """
    tables: dict[int, dict[str, tuple[Any, Any]]] = {}

    def step(node: Any, part: str | int) -> tuple[Any, Any] | None:
        if node.id == "mapping" and isinstance(part, str):
            if id(node) not in tables:
                tables[id(node)] = {pair[0].value: pair for pair in node.value if pair[0].id == "scalar"}
            return tables[id(node)].get(part)
        if node.id == "sequence" and isinstance(part, int) and 0 <= part < len(node.value):
            return node.value[part], node.value[part]
        return None

    def position(place: Place) -> tuple[int, int]:
        node, mark = root, root.start_mark
        for part in place.route:
            pair = step(node, part)
            if pair is None:
                return mark.line + 1, mark.column + 1
            node = pair[1]
            mark = node.start_mark
            key_mark = pair[0].start_mark
        if place.on == "key" and place.route:
            mark = key_mark
        return mark.line + 1, mark.column + 1

    return position
