"""Every key of every file that people write or that knaster renders, from its schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from knaster.schema import schema
from knaster.schema.validator import KINDS, Kind
from reference.markdown import code, page, table

_INPUTS: tuple[Kind, ...] = ("node", "models", "roles", "platform")
_ABOUT_INPUTS = (
    "What people write, key by key. `NAME` stands for a name that you give, `[]` for an item of a list. A list is a\n"
    "set unless it says that its order counts. A key in bold is required where its parent is there."
)
_ABOUT_GENERATED = (
    "What `knaster render` writes, key by key, for those who read it. Who reads what: [consumers](../consumers.md)."
)


def inputs() -> str:
    """The page of the files that people write."""
    return page("Input files", _ABOUT_INPUTS, _sections(_INPUTS))


def generated() -> str:
    """The page of the files below ``generated/``."""
    return page("Generated files", _ABOUT_GENERATED, _sections(tuple(kind for kind in KINDS if kind not in _INPUTS)))


def _sections(kinds: tuple[Kind, ...]) -> Iterator[str]:
    for kind in kinds:
        found = schema(kind)
        yield f"## {found['title']}"
        yield found["description"]
        yield table(("key", "type", "default", "meaning", "example"), _rows(found, ""))


def _rows(found: Mapping[str, Any], path: str) -> Iterator[tuple[str, ...]]:
    """The keys below one schema, each before its own keys."""
    required = found.get("required", ())
    for name, below in found.get("properties", {}).items():
        yield from _key(below, f"{path}.{name}".lstrip("."), required=name in required)
    named = found.get("additionalProperties")
    if isinstance(named, Mapping):
        yield from _key(named, f"{path}.NAME".lstrip("."), required=False)
    if isinstance(found.get("items"), Mapping):
        yield from _rows(found["items"], f"{path}[]")


def _key(found: Mapping[str, Any], path: str, *, required: bool) -> Iterator[tuple[str, ...]]:
    example = next(iter(found.get("examples", ())), None)
    default = code(json.dumps(found["default"])) if "default" in found else ""
    meaning = found.get("description", "") + (" The order counts." if found.get("x-ordered") else "")
    shown = "" if _deep(example) else code(json.dumps(example, ensure_ascii=False))
    yield (f"**{code(path)}**" if required else code(path)), _type(found), default, meaning, shown
    yield from _rows(found, path)


def _deep(example: object) -> bool:
    """Whether an example is none, or one whose keys have rows of their own."""
    items = example if isinstance(example, list) else [example]
    return any(item is None or isinstance(item, dict) for item in items)


def _type(found: Mapping[str, Any]) -> str:
    if "enum" in found:
        return ", ".join(code(json.dumps(value).strip('"')) for value in found["enum"])
    names = found.get("type", "any")
    told = " or ".join(names) if isinstance(names, list) else str(names)
    items = found.get("items")
    if told == "array" and isinstance(items, Mapping):
        return f"list of {_type(items)}"
    return told + _bounds(found)


def _bounds(found: Mapping[str, Any]) -> str:
    low, high = found.get("minimum", found.get("exclusiveMinimum")), found.get("maximum")
    if low is None or high is None:
        return ""
    return f", {'over ' if 'exclusiveMinimum' in found else ''}{low} to {high}"
