"""The schemas of generated files: closed, described, with examples that they accept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

GENERATED = (
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
)
SCHEMAS = Path(__file__).parent.parent / "schemas"


def load(kind: str) -> dict[str, Any]:
    """One schema as data."""
    loaded: dict[str, Any] = json.loads((SCHEMAS / f"{kind}.schema.json").read_text(encoding="utf-8"))
    return loaded


def parts(rules: dict[str, Any], name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema inside a schema, with a name for messages."""
    yield name, rules
    for key, inner in rules.get("properties", {}).items():
        yield from parts(inner, f"{name}.{key}")
    for key in ("items", "additionalProperties", "propertyNames"):
        if isinstance(rules.get(key), dict):
            yield from parts(rules[key], f"{name}[{key}]")


@pytest.mark.parametrize("kind", GENERATED)
def test_dialect_and_name(kind: str) -> None:
    rules = load(kind)
    assert rules["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert rules["$id"] == f"urn:knaster:schema:{kind}"


@pytest.mark.parametrize("kind", GENERATED)
def test_every_field_has_a_description_and_an_example(kind: str) -> None:
    fields = [(name, one) for name, one in parts(load(kind), kind) if name != kind]
    assert [name for name, one in fields if not one.get("description") or not one.get("examples")] == []


@pytest.mark.parametrize("kind", GENERATED)
def test_objects_are_closed_and_no_part_has_alternatives(kind: str) -> None:
    for name, one in parts(load(kind), kind):
        assert one["type"] in {"object", "array", "string", "integer", "number", "boolean"}, name
        assert not {"oneOf", "anyOf", "allOf", "not", "$ref"} & one.keys(), name
        if one["type"] == "object":
            assert one["additionalProperties"] is False or "propertyNames" in one, name


@pytest.mark.parametrize("kind", GENERATED)
def test_every_example_is_accepted(kind: str) -> None:
    from jsonschema import Draft202012Validator

    Draft202012Validator.check_schema(load(kind))
    for name, one in parts(load(kind), kind):
        for example in one.get("examples", ()):
            assert [problem.message for problem in Draft202012Validator(one).iter_errors(example)] == [], name


@pytest.mark.parametrize(
    ("kind", "route", "value"),
    [
        ("tfvars", ("vms", "gpu-pve44", "memory_mib"), None),
        ("tfvars", ("vms", "gpu-pve44", "vmid"), "244"),
        ("tfvars", ("vms", "gpu-pve44", "memmory_mib"), 8192),
        ("tfvars", ("vms", "gpu-pve44", "address"), "192.168.100.224"),
        ("tfvars", ("vms", "gpu-pve44", "tags"), ["GPU"]),
        ("tfvars", ("mappings", "gpu-p2000-pve44", "id"), "10DE:1C30"),
        ("tfvars", ("mappings", "gpu-p2000-pve44", "id"), "10de:1c30\n"),
        ("tfvars", ("mappings", "gpu-p2000-pve44", "path"), "01:00.0"),
        ("proxmox", ("guests", "gpu-pve44", "hostpci"), [{"device": "hostpci16", "mapping": "gpu-p2000-pve44"}]),
        ("registry", ("slots", "embed", "state"), "down"),
        ("litellm", ("router_settings", "cooldown_time"), 0),
        ("hosts", ("all", "children", "guests", "hosts"), ["infra"]),
        ("hosts", ("all", "children", "pve_kiosk"), {}),
        ("hosts", ("all", "hosts", "pve44", "vmid"), "244"),
        ("placement", ("assignments",), [{"role": "a", "node": "b", "slots": []}]),
        ("manifest", ("files", "placement.yaml"), "0" * 64),
    ],
)
def test_what_would_break_a_reader_is_refused(kind: str, route: tuple[str, ...], value: object) -> None:
    from jsonschema import Draft202012Validator

    rules = load(kind)
    data: Any = {key: field["examples"][0] for key, field in rules["properties"].items()}
    assert list(Draft202012Validator(rules).iter_errors(data)) == []
    inner = data
    for key in route[:-1]:
        inner = inner[key]
    inner[route[-1]] = value
    assert len(list(Draft202012Validator(rules).iter_errors(data))) >= 1
