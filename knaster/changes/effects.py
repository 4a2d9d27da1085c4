"""What a changed field does to a guest that exists.

Source: bpg/terraform-provider-proxmox 0.111.1 (commit d6bd1ff), ``proxmoxtf/resource/vm`` and ``container``: what is
``ForceNew`` replaces the guest, what sets ``rebootRequired`` or ``shutdownForDisksRequired`` restarts it (with the
default ``reboot_after_update``). Fields that OpenTofu does not know are Ansible's, which changes them in place; but a
driver cannot be exchanged under a running model: what runs in the VM stops, and comes back after the update.
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
    "template": (Effect.REPLACE, Effect.REPLACE, "template"),
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
    "driver_generation": (Effect.RESTART, Effect.UPDATE, "driver generation"),
    "image": (Effect.UPDATE, Effect.UPDATE, "image"),  # `import_from` is ignored after the VM was made
    "exists": (Effect.UPDATE, Effect.UPDATE, "exists"),
    "tags": (Effect.UPDATE, Effect.UPDATE, "tags"),
    "description": (Effect.UPDATE, Effect.UPDATE, "description"),
    "services": (Effect.UPDATE, Effect.UPDATE, "services"),
    "replication": (Effect.UPDATE, Effect.UPDATE, "replication"),
    "roles": (Effect.RECORD, Effect.RECORD, "roles"),
}
ORDER = tuple(_TABLE)
"""The fields in the order they are told."""


def effect(field: Field, kind: GuestKind) -> Effect:
    """What the change of one field of a guest's document does; an unknown field counts as a change in place."""
    key = str(field.path[0]) if field.path else ""
    if key == "disk_gib" and _shrinks(field):
        return Effect.REPLACE
    vm, lxc, _ = _TABLE.get(key, (Effect.UPDATE, Effect.UPDATE, key))
    return vm if kind == "vm" else lxc


def phrase(field: Field, kind: GuestKind) -> str:
    """One field for people: ``memory 12 → 16 GiB``."""
    key = str(field.path[0]) if field.path else ""
    label = _TABLE[key][2] if key in _TABLE else ".".join(map(str, field.path))
    match key:
        case "memory_mib":
            return f"{label} {_gib(field.before)} → {_gib(field.after)} GiB"
        case "disk_gib" if _shrinks(field):
            why = "no disk shrinks: OpenTofu fails until the VM is made anew" if kind == "vm" else "no disk shrinks"
            return f"{label} {value(field.before)} → {value(field.after)} GiB ({why})"
        case "disk_gib":
            return f"{label} {value(field.before)} → {value(field.after)} GiB"
        case "hostpci":
            return f"{label} {changed(_cards(field.before), _cards(field.after))}"
        case "driver":
            return f"{'.'.join(map(str, field.path)).replace('.', ' ')} {changed(field.before, field.after)}"
        case "image":
            return f"image {'.'.join(map(str, field.path[1:]))} (of VMs made from now on)".replace("  ", " ")
        case "replication":
            return f"{label} {changed(_jobs(field.before), _jobs(field.after))}"
    return f"{label} {changed(field.before, field.after)}"


def _shrinks(field: Field) -> bool:
    return isinstance(field.before, int) and isinstance(field.after, int) and field.after < field.before


def _gib(mib: Any) -> str:
    return show(mib / 1024) if isinstance(mib, int) else value(mib)


def _cards(slots: Any) -> list[str]:
    """The mapping in each slot; with its slot, so that two cards that change places differ."""
    return [f"{one['mapping']} in {one['device']}" for one in slots or ()]


def _jobs(jobs: Any) -> list[str]:
    return [f"{one['target']} ({one['schedule']})" for one in jobs or ()]
