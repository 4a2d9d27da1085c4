"""Generated documents taken apart into objects by identity, and what differs between two sets of them. Pure and total.

Whatever the table does not know is an object too (collection ``setting``, named by its key at the top), so that nothing
of a document is ever lost, not even of one that is invented next year.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from knaster.changes.fields import fields
from knaster.changes.result import Field, Object

SETTING = "setting"
PLACEMENT, PROXMOX, REGISTRY = "placement.yaml", "proxmox.yaml", "registry.yaml"
TFVARS = "tofu/knaster.auto.tfvars.json"

Documents = Mapping[str, Mapping[str, Any]]
Objects = dict[str, Any]
"""Name to value, of one collection."""


@dataclass(frozen=True, slots=True)
class Delta:
    """One object that differs: its value on both sides, None where it is not there, and the fields that differ."""

    before: Any
    after: Any
    fields: tuple[Field, ...]

    def changed(self, *keys: str) -> bool:
        """Whether one of these keys differs in an object that both sides have."""
        return any(field.path and field.path[0] in keys for field in self.fields)

    @property
    def only_changed(self) -> bool:
        """Whether both sides have the object."""
        return self.before is not None and self.after is not None


def differences(before: Documents, after: Documents) -> dict[Object, Delta]:
    """Every object that differs, sorted; empty exactly when the documents are the same data, in order and types too."""
    found = {}
    for file in sorted({*before, *after}):
        old, new = before.get(file, {}), after.get(file, {})
        if old is new or _exact(old) == _exact(new):
            continue
        one, other = apart(file, old), apart(file, new)
        for collection in sorted({*one, *other}):
            for name, was, now in _differing(one.get(collection, {}), other.get(collection, {})):
                found[Object(file, collection, name)] = Delta(was, now, fields(was, now))
    return found


def apart(file: str, document: Mapping[str, Any]) -> dict[str, Objects]:
    """The document's objects by collection. What was taken out leaves an empty mapping or list as a setting."""
    rest = dict(document)
    found = {}
    for collection, take in _TABLE.get(file, ()):
        found[collection] = take(rest)
    return {**found, SETTING: rest}


def _differing(one: Objects, other: Objects) -> Iterator[tuple[str, Any, Any]]:
    names = sorted(one.keys() | other.keys())
    equal = [name for name in names if name in one and name in other and one[name] == other[name]]
    if _exact([one[name] for name in equal]) != _exact([other[name] for name in equal]):
        equal = [name for name in equal if _exact(one[name]) == _exact(other[name])]
    same = frozenset(equal)
    yield from ((name, one.get(name), other.get(name)) for name in names if name not in same)


def _exact(value: Any) -> bytes:
    """Equal for equal data only: to ``==`` 1, 1.0 and True are one, and the order of keys is nothing; files differ."""
    return marshal.dumps(value, 2)


def _keyed(key: str) -> Callable[[dict[str, Any]], Objects]:
    """A mapping by name."""

    def take(rest: dict[str, Any]) -> Objects:
        items = rest.get(key)
        if not isinstance(items, dict):
            return {}
        rest[key] = {}
        return items

    return take


def _listed(key: str, name: Callable[[Mapping[str, Any]], str]) -> Callable[[dict[str, Any]], Objects]:
    """A list of mappings, each with a name."""

    def take(rest: dict[str, Any]) -> Objects:
        items = rest.get(key)
        if not isinstance(items, list):
            return {}
        rest[key] = []
        return _named((name(item), item) for item in items)

    return take


def _named(pairs: Iterable[tuple[str, Any]]) -> Objects:
    """Names that occur twice (an error of the inputs) are numbered."""
    found: Objects = {}
    for name, value in pairs:
        free, number = name, 2
        while free in found:
            free, number = f"{name}#{number}", number + 1
        found[free] = value
    return found


def _node_mappings(rest: dict[str, Any]) -> Objects:
    """The mappings of every node, as ``pve44/gpu-p2000-pve44``; the nodes stay behind without them."""
    nodes = rest.get("nodes")
    if not isinstance(nodes, dict):
        return {}
    rest["nodes"] = {name: {**node, "mappings": []} for name, node in nodes.items()}
    return _named((f"{name}/{item['name']}", item) for name, node in nodes.items() for item in node["mappings"])


def _assignment(item: Mapping[str, Any]) -> str:
    return f"{item['role']} {spot(item['node'], item.get('gpu_index'))}"


def _disabled(item: Mapping[str, Any]) -> str:
    return spot(item["node"], item["gpu_index"])


def _role(item: Mapping[str, Any]) -> str:
    return str(item["role"])


def spot(node: str, index: int | None) -> str:
    """``pve44/1`` for a card, ``pve44`` for a node's CPU."""
    return node if index is None else f"{node}/{index}"


_TABLE: Mapping[str, tuple[tuple[str, Callable[[dict[str, Any]], Objects]], ...]] = {
    PLACEMENT: (
        ("assignments", _listed("assignments", _assignment)),
        ("unplaced", _listed("unplaced", _role)),
        ("disabled_gpus", _listed("disabled_gpus", _disabled)),
    ),
    PROXMOX: (("mappings", _node_mappings), ("nodes", _keyed("nodes")), ("guests", _keyed("guests"))),
    REGISTRY: (("slots", _keyed("slots")), ("external", _keyed("external"))),
    TFVARS: (("mappings", _keyed("mappings")), ("vms", _keyed("vms")), ("containers", _keyed("containers"))),
}
"""File, and each collection in it with the function that takes its objects out."""
