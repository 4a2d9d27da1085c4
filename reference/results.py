"""What `--format json` prints, from the schema of results."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from knaster.shipped import shipped
from reference.markdown import code, page, table

_ABOUT = (
    "What `--format json` prints: one object for each command, on standard output, and nothing else there. The schema\n"
    "is `schemas/output/results.schema.json`; every result in the tests is checked against it. `format_version` is\n"
    "that of all: a new key raises its second number, a key that goes or changes its meaning the first."
)


def results() -> str:
    """The page of results."""
    schema = json.loads((shipped("schemas") / "output/results.schema.json").read_text("utf-8"))
    defs = schema["$defs"]
    commands = [one["$ref"].rpartition("/")[2] for one in schema["anyOf"]]
    names = [*commands, *(name for name in defs if name not in commands and "properties" in defs[name])]
    parts = []
    for name in names:
        parts += [f"## {name}", defs[name]["description"], table(("key", "type", "meaning"), _rows(defs[name], ""))]
    return page("Results as JSON", _ABOUT, parts)


def _rows(found: Mapping[str, Any], path: str) -> Iterator[tuple[str, ...]]:
    """The keys of one object and of what lies below; what has a section of its own is named."""
    required = found.get("required", ())
    for name, below in found.get("properties", {}).items():
        here = f"{path}.{name}".lstrip(".")
        told = code(here) if name in required else f"{code(here)} (not always)"
        yield told, _type(below), below.get("description", "")
        yield from _rows(below, here)
        yield from _rows(below.get("items", {}), f"{here}[]")


def _type(found: Mapping[str, Any]) -> str:
    if "$ref" in found:
        name = found["$ref"].rpartition("/")[2]
        return "string" if name == "format_version" else f"[{name}](#{name})"
    if "const" in found:
        return code(json.dumps(found["const"]))
    if "enum" in found:
        return ", ".join(code(json.dumps(value)) for value in found["enum"])
    names = found.get("type", "any")
    told = " or ".join(names) if isinstance(names, list) else str(names)
    if "items" in found:
        return f"list of {_type(found['items'])}"
    return (
        f"{told} by name, each {_type(more)}" if isinstance(more := found.get("additionalProperties"), dict) else told
    )
