"""The schemas themselves: closed, described, with examples that hold, and readable by every validator in the same way.

They are found by walking ``schemas/``, so that a new one is held to the same rules.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import jsonschema_rs
import pytest

from knaster import schema
from knaster.loader.loading import ORDERED

FOLDER = Path(__file__).parent.parent / "schemas"
KINDS = sorted(path.name.removesuffix(".schema.json") for path in FOLDER.glob("*.schema.json"))
INPUTS = ("node", "models", "roles", "platform", "benchmarks")

Schema = Mapping[str, Any]


def read(kind: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((FOLDER / f"{kind}.schema.json").read_text(encoding="utf-8"))
    return loaded


def subschemas(node: Schema, trail: str = "") -> Iterator[tuple[str, Schema]]:
    """Every schema inside a schema, with a readable path to it."""
    yield trail or "/", node
    for key in ("properties", "$defs"):
        for name, child in node.get(key, {}).items():
            yield from subschemas(child, f"{trail}/{name}")
    for key in ("items", "additionalProperties", "propertyNames"):
        if isinstance(node.get(key), dict):
            yield from subschemas(node[key], f"{trail}/({key})")


def properties(node: Schema) -> Iterator[tuple[str, Schema]]:
    for trail, inner in subschemas(node):
        for name, child in inner.get("properties", {}).items():
            yield f"{trail}/{name}", child


def holds(sub: Schema) -> list[str]:
    kinds = sub.get("type", [])
    return [kinds] if isinstance(kinds, str) else list(kinds)


def test_every_kind_has_its_schema() -> None:
    assert sorted(schema.KINDS) == KINDS
    for kind in schema.KINDS:
        assert schema.schema(kind) == read(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_the_schema_is_a_valid_schema_with_a_name(kind: str) -> None:
    loaded = read(kind)
    jsonschema.Draft202012Validator.check_schema(loaded)
    jsonschema_rs.Draft202012Validator(loaded)
    assert loaded["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert loaded["$id"] == f"urn:knaster:schema:{kind}"
    assert loaded["title"]
    assert loaded["description"]
    assert loaded["type"] == "object"


@pytest.mark.parametrize("kind", KINDS)
def test_every_object_is_closed(kind: str) -> None:
    open_ones = [
        trail
        for trail, sub in subschemas(read(kind))
        if "object" in holds(sub) and not (sub.get("additionalProperties") is False or "propertyNames" in sub)
    ]
    assert open_ones == []


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_has_a_description_and_examples(kind: str) -> None:
    bare = [trail for trail, sub in properties(read(kind)) if not sub.get("description") or not sub.get("examples")]
    assert bare == []


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_gives_a_wall_of_errors(kind: str) -> None:
    walls = {"oneOf", "anyOf", "allOf", "not", "if", "dependentSchemas", "patternProperties"}
    assert [trail for trail, sub in subschemas(read(kind)) if walls & sub.keys()] == []


@pytest.mark.parametrize("kind", KINDS)
def test_every_example_is_valid(kind: str) -> None:
    loaded = read(kind)
    wrong = []
    for trail, sub in subschemas(loaded):
        whole = {**sub, "$defs": loaded.get("$defs", {})}
        slow, fast = jsonschema.Draft202012Validator(whole), jsonschema_rs.Draft202012Validator(whole)
        wrong += [
            (trail, each) for each in sub.get("examples", ()) if not slow.is_valid(each) or not fast.is_valid(each)
        ]
    assert wrong == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_default_is_valid_and_not_null(kind: str) -> None:
    wrong = [
        (trail, sub["default"])
        for trail, sub in subschemas(read(kind))
        if "default" in sub and not jsonschema.Draft202012Validator(sub).is_valid(sub["default"])
    ]
    assert wrong == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_pattern_is_anchored_and_refuses_a_trailing_newline_in_every_regex_dialect(kind: str) -> None:
    """Python's ``$`` matches before a final newline, those of ECMAScript and Rust do not."""
    wrong = []
    for trail, sub in subschemas(read(kind)):
        pattern = sub.get("pattern")
        if pattern is None:
            continue
        texts = [each for each in sub.get("examples", ()) if isinstance(each, str)]
        alone = {"type": "string", "pattern": pattern}
        slow, fast = jsonschema.Draft202012Validator(alone), jsonschema_rs.Draft202012Validator(alone)
        for text in texts:
            assert re.search(pattern, text)
            spoilt = (f"{text}\n", f"\n{text}", f"x y\n{text}", f"{text}\nx y")
            wrong += [(trail, each) for each in spoilt if slow.is_valid(each) or fast.is_valid(each)]
        if not texts and not pattern.startswith("^"):
            wrong.append((trail, pattern))
    assert wrong == []


@pytest.mark.parametrize("kind", INPUTS)
def test_numbers_have_bounds_and_texts_a_greatest_length(kind: str) -> None:
    unbounded = []
    for trail, sub in subschemas(read(kind)):
        if set(holds(sub)) & {"integer", "number"} and not (
            {"minimum", "exclusiveMinimum"} & sub.keys() and "maximum" in sub
        ):
            unbounded.append(trail)
        if "string" in holds(sub) and "enum" not in sub and "maxLength" not in sub:
            unbounded.append(trail)
    assert unbounded == []


@pytest.mark.parametrize("kind", INPUTS)
def test_lists_and_mappings_by_name_have_a_greatest_length(kind: str) -> None:
    """Whoever explains what is wrong with a file looks no further into what is too long."""
    unbounded = [
        trail
        for trail, sub in subschemas(read(kind))
        if ("array" in holds(sub) and "maxItems" not in sub)
        or (isinstance(sub.get("additionalProperties"), dict) and "maxProperties" not in sub)
    ]
    assert unbounded == []


@pytest.mark.parametrize("kind", KINDS)
def test_only_keywords_that_are_explained_the_fast_way_apply_to_many_values(kind: str) -> None:
    """`validator` has its own items, additionalProperties, propertyNames and uniqueItems."""
    others = {"prefixItems", "contains", "unevaluatedItems", "unevaluatedProperties", "dependentRequired", "$ref"}
    assert [trail for trail, sub in subschemas(read(kind)) if others & sub.keys()] == []


def test_the_ordered_lists_are_those_that_the_digest_keeps_in_order() -> None:
    ordered = {
        trail.rsplit("/", 1)[1] for kind in INPUTS for trail, sub in subschemas(read(kind)) if sub.get("x-ordered")
    }
    assert ordered == {"args", "fallback", "dns"}
    assert ordered == ORDERED


@pytest.mark.parametrize("kind", INPUTS)
def test_a_list_of_texts_that_is_a_set_has_every_item_once(kind: str) -> None:
    repeating = [
        trail
        for trail, sub in subschemas(read(kind))
        if "array" in holds(sub) and holds(sub["items"]) == ["string"] and not sub.get("uniqueItems")
    ]
    assert repeating == (["/models/(additionalProperties)/args"] if kind == "models" else [])
