"""A committed profile and fresh facts -> what the profile should say, and each fact that changes. Data only, no text.

Facts replace facts; policy keys are never touched; a fact that is None (its source failed) never replaces a known one.
What the file does not write and the schema gives by default stays unwritten.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from knaster.document import Value
from knaster.schema import schema

Facts = Mapping[str, Value]
"""Facts of one machine in the shape of the node schema, no policy keys; None: not known."""

POLICY = frozenset({"fabric", "cpu_roles", "groups", "state", "reason"})
CARD_POLICY = frozenset({"disabled", "reason"})

_FIXED = {
    "cpu": ("model", "cores", "threads"),
    "disks": ("name", "size_gb", "rotational"),
    "gpus": ("index", "name", "memory_gb", "compute_cap", "driver"),
}
"""Keys that are written even where they are unknown."""


@dataclass(frozen=True, slots=True)
class FactChange:
    """One fact that differs: ``gpus[GPU-1].pci.iommu_group``, or a whole item that came (before None) or went.

    ``note``: what follows from it for a person, where something does.
    """

    path: str
    before: Value
    after: Value
    note: str | None = None


@dataclass(frozen=True, slots=True)
class ListPlan:
    """How a list changes: for each new item its position in the old list (None: new), and the names of what is gone."""

    origins: tuple[int | None, ...]
    gone: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Merged:
    """What the profile should say, how its lists come about (by key), and what to tell people."""

    data: dict[str, Value]
    plans: Mapping[str, ListPlan]
    changes: tuple[FactChange, ...]
    warnings: tuple[str, ...]


def fresh(facts: Facts) -> dict[str, Value]:
    """The data of a new profile: what the schema requires and every other known fact, in the order of the schema."""
    node = schema("node")
    data: dict[str, Value] = {}
    for key in node["properties"]:
        value: Any = facts.get(key)
        if key in POLICY or (value in (None, []) and key not in node["required"]):
            continue
        if key == "cpu":
            data[key] = {part: (value or {}).get(part) for part in _FIXED[key]}
        elif key in _FIXED:
            data[key] = [fresh_item(key, item) for item in value or ()]
        else:
            data[key] = value
    return data


def fresh_item(key: str, facts: Mapping[str, Any]) -> dict[str, Value]:
    """A new card or disk: its fixed keys, and every other fact that is known and not the default."""
    properties = schema("node")["properties"][key]["items"]["properties"]
    return {
        name: known(facts.get(name))
        for name in properties
        if name not in CARD_POLICY
        and (name in _FIXED[key] or facts.get(name) not in (None, properties[name].get("default")))
    }


def known(value: Any) -> Value:
    """A mapping without its unknown parts, None if nothing is left; any other value as it is."""
    if not isinstance(value, dict):
        return value  # type: ignore[no-any-return]
    return {name: part for name, part in value.items() if part is not None} or None


def unread(facts: Facts) -> list[str]:
    """The required facts whose source failed."""
    return [key for key in schema("node")["required"] if facts.get(key) is None]


def merge_root(old: Mapping[str, Any], facts: Facts) -> tuple[dict[str, Value], list[FactChange]]:
    """Everything but the lists. What is assumed stays ``assumed`` until all that is required could be read."""
    node = schema("node")
    mine = {key: rules for key, rules in node["properties"].items() if rules["type"] != "array" and key not in POLICY}
    if old.get("source") == "assumed" and unread(facts):
        mine.pop("source")
    data, changes = merge_mapping("", old, facts, mine)
    new = fresh(facts)
    required = {key: new[key] for key in node["required"] if key in mine and key not in data}
    return data | required, [*changes, *(FactChange(key, None, value) for key, value in required.items())]


def merge_mapping(
    path: str, old: Mapping[str, Any], facts: Mapping[str, Any], properties: Mapping[str, Any], *, reset: bool = False
) -> tuple[dict[str, Value], list[FactChange]]:
    """`old` with its facts replaced, and what changed. `path` begins the paths of the changes.

    `reset`: `old` was another product, so that what is unknown now is unknown.
    """
    data: dict[str, Value] = dict(old)
    changes: list[FactChange] = []
    for key, rules in properties.items():
        before, after = old.get(key), facts.get(key)
        if isinstance(before, dict) and isinstance(after, dict):
            data[key], deeper = merge_mapping(f"{path}{key}.", before, after, rules["properties"], reset=reset)
            changes += deeper
            continue
        if after is None and not (reset and "null" in rules["type"]):
            continue
        if key not in old and after in (None, rules.get("default")):
            continue
        after = _as_written(key, before, after)
        if before != after:
            data[key] = known(after)
            changes.append(FactChange(f"{path}{key}", before, data[key]))
    return data, changes


def _as_written(key: str, before: Value, after: Any) -> Any:
    """``0000:01:00`` hands the whole card to a VM: a choice of people, so a fact never gives it a function."""
    whole = key == "address" and isinstance(before, str) and before.count(":") == 2 and "." not in before
    return after.removesuffix(".0") if whole and isinstance(after, str) else after
