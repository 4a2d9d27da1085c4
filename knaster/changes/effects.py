"""What a changed field does to a guest that exists.

What OpenTofu knows of is in `knaster.provider`, the table that the gate reads too; a field names the attribute that
the module makes of it. What the module ignores once a guest is made is for guests made from now on. Fields that
OpenTofu does not know are Ansible's, which changes them in place; but a driver cannot be exchanged under a running
model: what runs in the VM stops, and comes back after the update.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from knaster import provider
from knaster.changes.result import Effect, Field
from knaster.changes.words import changed, gib, value
from knaster.provider import Kind

_DOES: Mapping[provider.Does, Effect] = {
    "replace": Effect.REPLACE,
    "refuse": Effect.REFUSE,
    "restart": Effect.RESTART,
    "update": Effect.UPDATE,
}
_TABLE: Mapping[str, tuple[str | Effect, str | Effect, str]] = {
    # field          VM: an attribute, or what it does    container                            how people call it
    "kind": (Effect.REPLACE, Effect.REPLACE, "kind"),
    "vmid": ("vm_id", "vm_id", "VM id"),
    "node": ("node_name", "node_name", "node"),
    "template": (Effect.UPDATE, "operating_system.template_file_id", "template"),
    "os_type": (Effect.UPDATE, "operating_system.type", "OS type"),
    "unprivileged": ("unprivileged", "unprivileged", "unprivileged"),
    "storage": ("disk.datastore_id", "disk.datastore_id", "storage"),
    "hostpci": ("hostpci", "hostpci", "cards"),
    "memory_mib": ("memory.dedicated", "memory.dedicated", "memory"),
    "cores": ("cpu.cores", "cpu.cores", "cores"),
    "address": ("initialization.ip_config", "initialization.ip_config", "address"),
    "gateway": ("initialization.ip_config", "initialization.ip_config", "gateway"),
    "bridge": ("network_device.bridge", "network_interface.bridge", "bridge"),
    "dns": ("initialization.dns", "initialization.dns", "DNS"),
    "disk_gib": ("disk.size", "disk.size", "disk"),
    "driver": (Effect.RESTART, Effect.UPDATE, "driver"),  # its module is loaded only once nothing uses the cards
    "image": ("disk.import_from", Effect.UPDATE, "image"),
    "user": ("initialization.user_account.username", Effect.UPDATE, "user"),
    "ssh_keys": ("initialization.user_account.keys", "initialization.user_account.keys", "ssh keys"),
    "exists": (Effect.UPDATE, Effect.UPDATE, "exists"),  # adopted by an import block
    "replicates": (Effect.UPDATE, Effect.UPDATE, "replicates"),  # `moved` takes it along in the state
    "moves": (Effect.UPDATE, Effect.UPDATE, "moves"),
    "tags": ("tags", "tags", "tags"),
    "services": (Effect.UPDATE, Effect.UPDATE, "services"),
    "replication": (Effect.UPDATE, Effect.UPDATE, "replication"),
    "storage_type": (Effect.RECORD, Effect.RECORD, "storage type"),  # what checks know of a storage
    "roles": (Effect.RECORD, Effect.RECORD, "roles"),
}
_WHY_THIS_DRIVER = (("driver", "oldest_card"), ("driver", "compute_cap"))
"""Which card decides the driver is only written down; the driver itself is beside it."""
_AT_CREATION = frozenset({"template", "os_type", "ssh_keys"})
ORDER = tuple(_TABLE)
"""The fields in the order they are told."""


def effect(field: Field, kind: Kind, *, roams: bool = False) -> Effect:
    """What the change of one field of a guest's document does; an unknown field counts as a change in place.

    A container that replicates `roams`: the module ignores its node, because a failover may have moved it.
    """
    key = str(field.path[0]) if field.path else ""
    if field.path in _WHY_THIS_DRIVER:
        return Effect.RECORD
    if key == "node" and roams:
        return Effect.UPDATE
    found = _TABLE.get(key, (Effect.UPDATE, Effect.UPDATE, key))[kind == "lxc"]
    if isinstance(found, Effect):
        return found
    path = found.split(".")
    if provider.ignored(kind, path):
        return Effect.UPDATE
    return _DOES[provider.does(kind, path, field.before, field.after)]


def phrase(field: Field, kind: Kind, *, roams: bool = False) -> str:
    """One field for people: ``memory 12 → 16 GiB``."""
    key = str(field.path[0]) if field.path else ""
    label = _TABLE[key][2] if key in _TABLE else ".".join(map(str, field.path))
    match key:
        case "image":
            return f"image {'.'.join(map(str, field.path[1:]))} ({_made(kind)})".replace("  ", " ")
        case "ssh_keys":
            return f"{label} ({_made(kind)})"
        case "driver":
            label = " ".join(map(str, field.path))
    return f"{label} {_ends(key, field)}{_note(key, field, kind, roams=roams)}"


def _ends(key: str, field: Field) -> str:
    """Both values."""
    match key:
        case "memory_mib":
            return f"{gib(field.before)} → {gib(field.after)} GiB"
        case "disk_gib":
            return f"{value(field.before)} → {value(field.after)} GiB"
        case "hostpci":
            return changed(_cards(field.before), _cards(field.after))
        case "replication":
            return changed(_jobs(field.before), _jobs(field.after))
    return changed(field.before, field.after)


def _note(key: str, field: Field, kind: Kind, *, roams: bool) -> str:
    """What a reader of both values would not guess."""
    if key == "disk_gib" and _shrinks(field):
        return " (no disk shrinks: OpenTofu's gate refuses it, and the apply would end half way)"
    if key == "node" and roams:
        return " (it stays where it runs)"
    if key == "user":
        return f" ({_made(kind)}; this one keeps {value(field.before)}, and Ansible logs in as {value(field.after)})"
    return f" ({_made(kind)})" if key in _AT_CREATION else ""


def _made(kind: Kind) -> str:
    return f"of {'VMs' if kind == 'vm' else 'containers'} made from now on"


def _shrinks(field: Field) -> bool:
    return isinstance(field.before, int) and isinstance(field.after, int) and field.after < field.before


def _cards(slots: Any) -> list[str]:
    """The mapping in each slot; with its slot, so that two cards that change places differ."""
    return [f"{one['mapping']} in {one['device']}" for one in slots or ()]


def _jobs(jobs: Any) -> list[str]:
    return [f"{one['target']} ({one['schedule']})" for one in jobs or ()]
