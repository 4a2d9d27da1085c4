"""The JSON Schema door: is this data of the right shape, and if not, what exactly is wrong with it?

`jsonschema_rs` accepts, because it costs next to nothing; only data that it refused goes to `jsonschema`, whose errors
`knaster.schema.errors` turns into diagnostics. The schemas use nothing on which the two disagree (a test compares).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sized
from functools import cache
from itertools import islice
from typing import Any, Literal, get_args

from knaster.diagnostics import Diagnostic, Place, Route
from knaster.schema.errors import MOST, Refusal, explain
from knaster.schema.repeats import repeated
from knaster.shipped import shipped

Kind = Literal[
    "node",
    "models",
    "roles",
    "platform",
    "benchmarks",
    "placement",
    "proxmox",
    "registry",
    "litellm",
    "tfvars",
    "moved",
    "exclude",
    "hosts",
    "targets",
    "manifest",
    "architecture",
]
KINDS: tuple[Kind, ...] = get_args(Kind)


def check(kind: Kind, path: str, data: Mapping[str, Any]) -> tuple[Diagnostic, ...]:
    """Everything wrong with the shape of `data`, in document order of routes; empty means accepted.

    `path` is the file that the places name; lines and columns are filled in later (`knaster.document.locate`).
    Codes: ``schema-unknown-key``, ``schema-missing-key``, ``schema-type``, ``schema-value``.
    """
    accepted = _accepts(kind, data)
    if accepted:
        return ()
    found = explain(path, schema(kind), _refusals(kind, data))
    if not found and accepted is False:
        return (Diagnostic("schema-value", f"{path} does not fit the schema {kind}", Place(path)),)
    return found


@cache
def schema(kind: Kind) -> Mapping[str, Any]:
    """The schema itself."""
    loaded: dict[str, Any] = json.loads((shipped("schemas") / f"{kind}.schema.json").read_text("utf-8"))
    return loaded


def _accepts(kind: Kind, data: Mapping[str, Any]) -> bool | None:
    """The fast verdict; None for data that the fast validator cannot even read (a lone surrogate in a text)."""
    try:
        return bool(_fast(kind).is_valid(data))
    except ValueError:
        return None


@cache
def _fast(kind: Kind) -> Any:
    import jsonschema_rs

    return jsonschema_rs.Draft202012Validator(dict(schema(kind)))


@cache
def _slow(kind: Kind) -> Any:
    """`jsonschema`, but of a large list or mapping it looks only at what the fast validator refused.

    Its own way costs 50 microseconds a value, and compares all pairs of a list whose items have to differ.
    """
    import jsonschema  # costs more than all the rest of a run without errors

    parts: dict[str, Any] = {"items": _items, "additionalProperties": _entries, "propertyNames": _names}
    keywords = {**parts, "uniqueItems": _distinct}
    extend: Any = jsonschema.validators.extend
    return extend(jsonschema.Draft202012Validator, keywords)(schema(kind))


def _items(validator: Any, part: Any, value: Any, whole: Mapping[str, Any]) -> Iterator[Any]:
    """``items``. Those of a list that is too long are not looked at."""
    for at, item in enumerate(value if isinstance(value, list) and _within(value, whole) else ()):
        if not _part_accepts(part, item):
            yield from validator.descend(item, part, path=at)


def _entries(validator: Any, part: Any, value: Any, whole: Mapping[str, Any]) -> Iterator[Any]:
    """``additionalProperties``, a schema or False."""
    import jsonschema

    if not isinstance(value, dict) or not _within(value, whole):
        return
    others = [name for name in value if name not in whole.get("properties", {})]
    if part is False and others:
        yield jsonschema.ValidationError("unknown keys")
    for name in others if part is not False else ():
        if not _part_accepts(part, value[name]):
            yield from validator.descend(value[name], part, path=name)


def _names(validator: Any, part: Any, value: Any, whole: Mapping[str, Any]) -> Iterator[Any]:
    """``propertyNames``."""
    for name in value if isinstance(value, dict) and _within(value, whole) else ():
        if not _part_accepts(part, name):
            yield from validator.descend(name, part)


def _distinct(_validator: Any, wanted: Any, value: Any, whole: Mapping[str, Any]) -> Iterator[Any]:
    """``uniqueItems``."""
    import jsonschema

    if wanted and isinstance(value, list) and _within(value, whole) and repeated(value):
        yield jsonschema.ValidationError("an item more than once")


def _within(value: Sized, whole: Mapping[str, Any]) -> bool:
    """Whether it is as short as it has to be. Of what is not, that is said, and nothing of what it holds."""
    most = whole.get("maxItems" if isinstance(value, list) else "maxProperties")
    return most is None or len(value) <= most


_PARTS: dict[int, tuple[Any, Any]] = {}
"""By identity of a part of a schema (these live as long as the program): the part, and its fast validator."""


def _part_accepts(part: Any, value: Any) -> bool:
    import jsonschema_rs

    if id(part) not in _PARTS:
        _PARTS[id(part)] = (part, jsonschema_rs.Draft202012Validator(part))
    try:
        return bool(_PARTS[id(part)][1].is_valid(value))
    except ValueError:
        return False


def _refusals(kind: Kind, data: Mapping[str, Any]) -> list[Refusal]:
    """The errors of `jsonschema` as plain values."""
    return [
        Refusal(
            route=tuple(error.absolute_path),
            keyword=str(error.validator),
            limit=error.validator_value,
            value=error.instance,
            schema=error.schema,
            on_key="propertyNames" in error.absolute_schema_path,
            beside=_beside(data, tuple(error.absolute_path), str(error.validator)),
        )
        for error in islice(_slow(kind).iter_errors(data), MOST)
    ]


def _beside(data: Mapping[str, Any], route: Route, keyword: str) -> tuple[Any, ...]:
    """The list that holds a choice at `route`; nothing where it is no item of a list."""
    if keyword != "enum" or not route or isinstance(route[-1], str):
        return ()
    parent: Any = data
    for step in route[:-1]:
        parent = parent[step]
    return tuple(parent)
