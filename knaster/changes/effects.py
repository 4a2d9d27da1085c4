"""What a changed field does to a guest that exists.

Source: bpg/terraform-provider-proxmox 0.111.1 (commit d6bd1ff), ``proxmoxtf/resource/vm`` and ``container``: what is
``ForceNew`` replaces the guest, what sets ``rebootRequired`` or ``shutdownForDisksRequired`` restarts it (with the
default ``reboot_after_update``). What the module ignores once a guest is made (``ignore_changes`` in
``renderers/module/fleet``) is for guests made from now on. Fields that OpenTofu does not know are Ansible's, which
changes them in place; but a driver cannot be exchanged under a running model: what runs in the VM stops, and comes back
after the update.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from knaster.changes.result import Effect, Field
from knaster.changes.words import changed, value
from knaster.units import show

GuestKind = Literal["vm", "lxc"]

_TABLE: Mapping[str, tuple[Effect, Effect, str]] = {
    # field                VM              container        how people call it
    "kind": (Effect.REPLACE, Effect.REPLACE, "kind"),
    "vmid": (Effect.REPLACE, Effect.REPLACE, "VM id"),
    "node": (Effect.REPLACE, Effect.REPLACE, "node"),  # `migrate` is not set
    "template": (Effect.UPDATE, Effect.UPDATE, "template"),  # operating_system is ignored after creation
    "os_type": (Effect.UPDATE, Effect.UPDATE, "OS type"),  # likewise
    "unprivileged": (Effect.REPLACE, Effect.REPLACE, "unprivileged"),
    "mount_points": (Effect.REPLACE, Effect.REPLACE, "mount points"),
    "storage": (Effect.RESTART, Effect.REPLACE, "storage"),  # a VM is shut down while its disk moves
    "hostpci": (Effect.RESTART, Effect.RESTART, "cards"),
    "machine": (Effect.RESTART, Effect.RESTART, "machine"),
    "bios": (Effect.RESTART, Effect.RESTART, "BIOS"),
    "memory_mib": (Effect.RESTART, Effect.RESTART, "memory"),
    "cores": (Effect.RESTART, Effect.UPDATE, "cores"),
    "address": (Effect.RESTART, Effect.RESTART, "address"),
    "gateway": (Effect.RESTART, Effect.RESTART, "gateway"),
    "bridge": (Effect.RESTART, Effect.RESTART, "bridge"),
    "dns": (Effect.RESTART, Effect.RESTART, "DNS"),
    "disk_gib": (Effect.UPDATE, Effect.UPDATE, "disk"),  # grows online; see `effect` for one that shrinks
    "driver": (Effect.RESTART, Effect.UPDATE, "driver"),  # its module is loaded only once nothing uses the cards
    "image": (Effect.UPDATE, Effect.UPDATE, "image"),  # `import_from` is ignored after the VM was made
    "user": (Effect.UPDATE, Effect.UPDATE, "user"),  # user_account is ignored after creation
    "ssh_keys": (Effect.UPDATE, Effect.UPDATE, "ssh keys"),  # likewise; later keys are Ansible's
    "exists": (Effect.UPDATE, Effect.UPDATE, "exists"),  # adopted by an import block
    "replicates": (Effect.UPDATE, Effect.UPDATE, "replicates"),  # `moved` takes it along in the state
    "moves": (Effect.UPDATE, Effect.UPDATE, "moves"),
    "tags": (Effect.UPDATE, Effect.UPDATE, "tags"),
    "description": (Effect.UPDATE, Effect.UPDATE, "description"),
    "services": (Effect.UPDATE, Effect.UPDATE, "services"),
    "replication": (Effect.UPDATE, Effect.UPDATE, "replication"),
    "storage_type": (Effect.RECORD, Effect.RECORD, "storage type"),  # what checks know of a storage
    "roles": (Effect.RECORD, Effect.RECORD, "roles"),
}
_WHY_THIS_DRIVER = (("driver", "oldest_card"), ("driver", "compute_cap"))
"""Which card decides the driver is only written down; the driver itself is beside it."""
_AT_CREATION = frozenset({"template", "os_type", "user", "ssh_keys"})
ORDER = tuple(_TABLE)
"""The fields in the order they are told."""


def effect(field: Field, kind: GuestKind, *, roams: bool = False) -> Effect:
    """What the change of one field of a guest's document does; an unknown field counts as a change in place.

    A container that replicates `roams`: the module ignores its node, because a failover may have moved it.
    """
    key = str(field.path[0]) if field.path else ""
    if field.path in _WHY_THIS_DRIVER:
        return Effect.RECORD
    if key == "node" and roams:
        return Effect.UPDATE
    if key == "disk_gib" and _shrinks(field):
        return Effect.REPLACE
    vm, lxc, _ = _TABLE.get(key, (Effect.UPDATE, Effect.UPDATE, key))
    return vm if kind == "vm" else lxc


def phrase(field: Field, kind: GuestKind, *, roams: bool = False) -> str:
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
            return f"{_gib(field.before)} → {_gib(field.after)} GiB"
        case "disk_gib":
            return f"{value(field.before)} → {value(field.after)} GiB"
        case "hostpci":
            return changed(_cards(field.before), _cards(field.after))
        case "replication":
            return changed(_jobs(field.before), _jobs(field.after))
    return changed(field.before, field.after)


def _note(key: str, field: Field, kind: GuestKind, *, roams: bool) -> str:
    """What a reader of both values would not guess."""
    if key == "disk_gib" and _shrinks(field):
        return f" (no disk shrinks{': OpenTofu fails until the VM is made anew' if kind == 'vm' else ''})"
    if key == "node" and roams:
        return " (it stays where it runs)"
    return f" ({_made(kind)})" if key in _AT_CREATION else ""


def _made(kind: GuestKind) -> str:
    return f"of {'VMs' if kind == 'vm' else 'containers'} made from now on"


def _shrinks(field: Field) -> bool:
    return isinstance(field.before, int) and isinstance(field.after, int) and field.after < field.before


def _gib(mib: Any) -> str:
    return show(mib / 1024) if isinstance(mib, int) else value(mib)


def _cards(slots: Any) -> list[str]:
    """The mapping in each slot; with its slot, so that two cards that change places differ."""
    return [f"{one['mapping']} in {one['device']}" for one in slots or ()]


def _jobs(jobs: Any) -> list[str]:
    return [f"{one['target']} ({one['schedule']})" for one in jobs or ()]
