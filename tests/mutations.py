"""Schema-guided spoiling of data: values just inside and just outside what a schema allows, at any place."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]
Route = tuple[str | int, ...]

ANYTHING: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 1.0, 2.5, -0.5, 10**30,
    "", " ", "a", "a\n", "A b", "ß", "0", "1.5", [], [[]], {}, {"a": 1},
)  # fmt: skip


def subschemas(node: Schema) -> Iterator[Schema]:
    """Every schema inside a schema."""
    yield node
    for key in ("properties", "$defs"):
        for child in node.get(key, {}).values():
            yield from subschemas(child)
    for key in ("items", "additionalProperties", "propertyNames"):
        if isinstance(node.get(key), dict):
            yield from subschemas(node[key])


def pool(root: Schema) -> list[Any]:
    """Values that the schema speaks of, and their neighbours."""
    found: list[Any] = list(ANYTHING)
    for sub in subschemas(root):
        for bound in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
            if bound in sub:
                found += [sub[bound], sub[bound] - 1, sub[bound] + 1, sub[bound] + 0.5, float(sub[bound])]
        for length in ("minLength", "maxLength"):
            if length in sub:
                found += ["x" * max(0, sub[length] + more) for more in (-1, 0, 1)] + ["é" * sub[length]]
        found += [*sub.get("enum", ()), *sub.get("examples", ())]
        for text in [each for each in sub.get("examples", ()) if isinstance(each, str)]:
            found += [f"{text}\n", f" {text}", text.upper(), text[:-1], f"{text}\N{NO-BREAK SPACE}", f"{text}\0"]
    return found


def keys(root: Schema) -> list[str]:
    """All keys that the schema knows, and some that it does not."""
    known = {name for sub in subschemas(root) for name in sub.get("properties", {})}
    return [*sorted(known), "", "zz", "a b", "a\n", "10de:13f1", "x" * 101]


def routes(value: Any, at: Route = ()) -> Iterator[Route]:
    """Every place in the data, the root first."""
    yield at
    steps: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, child in steps:
        yield from routes(child, (*at, step))


def get(data: Any, route: Route) -> Any:
    """The value at a route."""
    for step in route:
        data = data[step]
    return data


def changed(data: Any, route: Route, change: Callable[[Any, Any], None]) -> Any:
    """A copy of the data where `change(parent, last step)` was made at a route that is not the root."""
    again = copy.deepcopy(data)
    change(get(again, route[:-1]), route[-1])
    return again


def sample(node: Schema) -> Any:
    """An instance of a schema, with every field that it knows."""
    if node.get("properties"):
        return {name: sample(child) for name, child in node["properties"].items()}
    if node.get("examples"):
        return copy.deepcopy(node["examples"][0])
    return {"object": {}, "array": []}.get(str(node.get("type")))
