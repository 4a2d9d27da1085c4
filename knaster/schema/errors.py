"""What a schema refused, as diagnostics: one mistake, one error, with need against have and the way out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from knaster.diagnostics import Diagnostic, Place, Route
from knaster.names import nearest
from knaster.schema.hints import example, missing_hint, remedy, respelled, usage
from knaster.schema.repeats import repeated
from knaster.schema.words import echo, joined, kind_of, types, where

Schema = Mapping[str, Any]

MOST = 200
"""Errors of one file that are explained, of keys and of values; more say nothing new and cost time."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """One error of a validator: the `keyword` with its value `limit` in `schema` refused `value` at `route`.

    With `on_key` the value is a key of the mapping at `route`; an item of a list stands `beside` its others.
    """

    route: Route
    keyword: str
    limit: Any
    value: Any
    schema: Schema
    on_key: bool = False
    beside: tuple[Any, ...] = ()


def explain(path: str, root: Schema, refusals: Iterable[Refusal]) -> tuple[Diagnostic, ...]:
    """Diagnostics for one file, sorted by route. `root` is the whole schema: keys out of place are looked up in it."""
    mappings: dict[Route, Refusal] = {}
    values: dict[tuple[Route, bool], Refusal] = {}
    for refusal in refusals:
        if refusal.keyword in {"required", "additionalProperties"}:
            mappings[refusal.route] = refusal
            continue
        at = (*refusal.route, refusal.value) if refusal.on_key else refusal.route
        kept = values.get((at, refusal.on_key))
        if kept is None or _rank(refusal) < _rank(kept):
            values[at, refusal.on_key] = refusal
    of_keys = (diagnostic for refusal in mappings.values() for diagnostic in _keys(path, root, refusal))
    of_values = (_value(Place(path, at, "key" if on_key else "value"), r) for (at, on_key), r in values.items())
    return tuple(sorted((*islice(of_keys, MOST), *islice(of_values, MOST)), key=_by_route))


def _rank(refusal: Refusal) -> int:
    """Of several refusals of one value the first says most: the wrong form of a text more than its length."""
    return {"type": 0, "minLength": 1, "enum": 2, "pattern": 3}.get(refusal.keyword, 4)


def _by_route(diagnostic: Diagnostic) -> tuple[Any, ...]:
    route = diagnostic.place.route if diagnostic.place else ()
    return ([(0, step, "") if isinstance(step, int) else (1, 0, step) for step in route], diagnostic.code)


def _keys(path: str, root: Schema, refusal: Refusal) -> Iterator[Diagnostic]:
    """Unknown and missing keys of one mapping. A key that is a misspelt required one is one mistake, not two."""
    allowed: Schema = refusal.schema.get("properties", {})
    closed = refusal.schema.get("additionalProperties") is False
    unknown = sorted(key for key in refusal.value if key not in allowed)[:MOST] if closed else []
    missing = [key for key in refusal.schema.get("required", ()) if key not in refusal.value]
    meant = _meant(unknown, missing)
    for key in unknown:
        absent = [name for name in allowed if name not in refusal.value]
        hint = _key_hint(key, meant.get(key), absent, allowed, root)
        message = f"unknown key {echo(key)} {_inside(refusal.route)}"
        yield Diagnostic("schema-unknown-key", message, Place(path, (*refusal.route, key), "key"), hint=hint)
    lacking = [key for key in missing if key not in meant.values()]
    if lacking:
        message = f"missing key{'s' if len(lacking) > 1 else ''} {joined(map(echo, lacking))} {_inside(refusal.route)}"
        hint = missing_hint(lacking, allowed)
        yield Diagnostic(
            "schema-missing-key", message, Place(path, refusal.route, "key" if refusal.route else "value"), hint=hint
        )


def _meant(unknown: Sequence[str], missing: Sequence[str]) -> dict[str, str]:
    """Unknown keys that stand for missing ones: near misses, and the only unknown key beside the only missing one."""
    meant: dict[str, str] = {}
    for key in unknown:
        match = nearest(key, [name for name in missing if name not in meant.values()])
        if match:
            meant[key] = match
    if not meant and len(unknown) == len(missing) == 1:
        meant[unknown[0]] = missing[0]
    return meant


def _key_hint(key: str, meant: str | None, absent: Sequence[str], allowed: Schema, root: Schema) -> str:
    """What to do about an unknown key; ``x-also`` in a schema lists the names that people give a field elsewhere."""
    if meant:
        return f'did you mean "{meant}"? It is required here.'
    other = next((name for name in absent if key in allowed[name].get("x-also", ())), None)
    if other:
        return f'did you mean "{other}"?'
    homes = list(_homes(key, root))
    if len(homes) == 1:
        return f'"{key}" belongs {_inside_text(homes[0])}'
    match = nearest(key, absent)
    if match:
        return f'did you mean "{match}"?'
    return f"allowed here: {', '.join(allowed)}"


def _homes(key: str, node: Schema, trail: str = "") -> Iterator[str]:
    """Where in the schema a key is at home; mappings by name count as ``<name>``, lists as ``[]``."""
    properties: Schema = node.get("properties", {})
    if key in properties:
        yield trail
    for name, child in properties.items():
        yield from _homes(key, child, f"{trail}.{name}" if trail else name)
    if isinstance(node.get("additionalProperties"), Mapping):
        yield from _homes(key, node["additionalProperties"], f"{trail}.<name>" if trail else "<name>")
    if isinstance(node.get("items"), Mapping):
        yield from _homes(key, node["items"], f"{trail}[]")


def _inside(route: Route) -> str:
    return _inside_text(where(route))


def _inside_text(place: str) -> str:
    return f"in {place}" if place else "at the top level"


def _value(place: Place, refusal: Refusal) -> Diagnostic:
    """A value, or the name of an entry, that its schema refuses."""
    what = where(place.route) or "the file"
    if refusal.keyword == "type":
        shown = kind_of(refusal.value, hidden=_hidden(refusal.schema))
        message = f"{what}: need {types(refusal.limit)}, have {shown}"
        return Diagnostic("schema-type", message, place, hint=remedy(refusal.value, refusal.schema))
    message = f"{what}: {_NEEDS.get(refusal.keyword, _other)(refusal)}"
    return Diagnostic("schema-value", message, place, hint=_value_hint(refusal))


def _hidden(schema: Schema) -> bool:
    """Values that may hold a secret by mistake (``x-secret``), or that should have been a mapping, are not echoed."""
    kinds = schema.get("type", "")
    return bool(schema.get("x-secret")) or ("object" in kinds and "string" not in kinds)


def _value_hint(refusal: Refusal) -> str | None:
    if refusal.keyword == "enum":
        match = nearest(
            str(refusal.value), [one for one in refusal.limit if isinstance(one, str) and one not in refusal.beside]
        )
        return f'did you mean "{match}"?' if match else usage(refusal.schema)
    if refusal.keyword == "pattern" and not _hidden(refusal.schema):
        match = respelled(refusal.value, refusal.limit)
        return f"did you mean {echo(match)}? {usage(refusal.schema)}" if match else usage(refusal.schema)
    return usage(refusal.schema)


def _have(refusal: Refusal) -> str:
    return "text that is not shown" if _hidden(refusal.schema) else echo(refusal.value)


def _form(refusal: Refusal) -> str:
    model = example(refusal.schema)
    return f"need {'a form like ' + model if model else 'another form'}, have {_have(refusal)}"


def _one_of(refusal: Refusal) -> str:
    choices = ["nothing (null)" if choice is None else echo(choice) for choice in refusal.limit]
    need = choices[0] if len(choices) == 1 else f"one of {', '.join(choices)}"
    return f"need {need}; have {_have(refusal)}"


def _bound(words: str) -> Callable[[Refusal], str]:
    return lambda refusal: f"need {words} {echo(refusal.limit)}, have {_have(refusal)}"


def _length(words: str, unit: str) -> Callable[[Refusal], str]:
    def text(refusal: Refusal) -> str:
        plural = "" if refusal.limit == 1 else "s"
        return f"need {words} {refusal.limit} {unit}{plural}, have {len(refusal.value) or 'none'}"

    return text


def _twice(refusal: Refusal) -> str:
    return f"need every item once, have {kind_of(*repeated(refusal.value), bare=True)} more than once"


def _other(refusal: Refusal) -> str:
    return f'the value breaks the rule "{refusal.keyword}" of the schema'


_NEEDS: Mapping[str, Callable[[Refusal], str]] = {
    "enum": _one_of,
    "const": lambda refusal: f"need {echo(refusal.limit)}, have {_have(refusal)}",
    "pattern": _form,
    "minimum": _bound("at least"),
    "maximum": _bound("at most"),
    "exclusiveMinimum": _bound("more than"),
    "exclusiveMaximum": _bound("less than"),
    "minLength": _length("at least", "character"),
    "maxLength": _length("at most", "character"),
    "minItems": _length("at least", "item"),
    "maxItems": _length("at most", "item"),
    "maxProperties": _length("at most", "key"),
    "uniqueItems": _twice,
}
