"""Generated documents taken apart into objects by identity, and what differs between two sets of them. Pure and total.

Whatever the table does not know is an object too (collection ``setting``, named by its key at the top), so that nothing
of a document is ever lost, not even of one that is invented next year.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from knaster.changes import taking
from knaster.changes.fields import fields
from knaster.changes.result import Field, Object
from knaster.changes.taking import Objects

SETTING = "setting"
PLACEMENT, PROXMOX, REGISTRY = "placement.yaml", "proxmox.yaml", "registry.yaml"
TFVARS = "tofu/knaster.auto.tfvars.json"
MOVED, EXCLUDE = "tofu/fleet/moved.tf.json", "tofu/down.exclude"
LITELLM, HOSTS = "litellm.yaml", "ansible/hosts.yaml"
NODES, GUESTS, GPUS, SLOTS = TARGETS = tuple(f"prometheus/{job}.json" for job in ("nodes", "guests", "gpus", "slots"))

Documents = Mapping[str, Mapping[str, Any]]


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


_TABLE: Mapping[str, tuple[tuple[str, taking.Take], ...]] = {
    PLACEMENT: (
        ("assignments", taking.listed("assignments", taking.assignment)),
        ("unplaced", taking.listed("unplaced", taking.role)),
        ("disabled_gpus", taking.listed("disabled_gpus", taking.disabled)),
    ),
    PROXMOX: (
        ("mappings", taking.node_mappings),
        ("nodes", taking.keyed("nodes")),
        ("guests", taking.keyed("guests")),
    ),
    REGISTRY: tuple((name, taking.keyed(name)) for name in ("slots", "models", "external")),
    LITELLM: (
        ("model_list", taking.listed("model_list", taking.deployment)),
        ("model_group_alias", taking.within("router_settings", taking.keyed("model_group_alias"))),
        ("fallbacks", taking.within("router_settings", taking.listed("fallbacks", taking.only_key))),
    ),
    TFVARS: (
        ("nodes", taking.listed("nodes", str)),
        *((name, taking.keyed(name)) for name in ("mappings", "vms", "containers")),
    ),
    MOVED: (("moved", taking.listed("moved", taking.mover)),),
    EXCLUDE: (("addresses", taking.listed("addresses", taking.addressed)),),
    HOSTS: (
        ("hosts", taking.within("all", taking.keyed("hosts"))),
        ("members", taking.within("all", taking.members)),
        ("children", taking.within("all", taking.keyed("children"))),
    ),
    **{file: (("groups", taking.listed("groups", taking.target)),) for file in TARGETS},
}
"""File, and each collection in it with the function that takes its objects out."""
