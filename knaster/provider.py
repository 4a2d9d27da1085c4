"""What the provider does to a guest that exists when one of its attributes changes: the one table, for diff and gate.

Source: bpg/terraform-provider-proxmox 0.111.1 (commit d6bd1ff), ``proxmoxtf/resource/vm/vm.go`` (``vmUpdate``) with
``disk/disk.go``, and ``container/container.go`` (``containerUpdate``). ``ForceNew`` and ``CustomizeDiff`` replace;
``rebootRequired`` and ``shutdownForDisksRequired`` restart, with the defaults ``reboot_after_update = true`` and
``hotplug = network,disk,usb``; whatever else is sent takes effect at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

Kind = Literal["vm", "lxc"]
Does = Literal["replace", "refuse", "restart", "update"]
"""Worst first. ``refuse``: the plan calls it an update, and the apply ends with an error half way."""

REPLACE: Does = "replace"
RESTART: Does = "restart"
UPDATE: Does = "update"

ORDER: tuple[Does, ...] = ("replace", "refuse", "restart", "update")

_TABLE: Mapping[str, tuple[Does | None, Does | None]] = {
    # attribute                          VM       container; None: it has none
    "vm_id": (REPLACE, REPLACE),
    "node_name": (REPLACE, REPLACE),  # of a VM unless `migrate`, which the module sets to false
    "unprivileged": (None, REPLACE),
    "template": (RESTART, REPLACE),
    "pool_id": (UPDATE, REPLACE),
    "clone": (REPLACE, REPLACE),
    "mount_point": (None, REPLACE),
    "amd_sev": (REPLACE, None),
    "disk": (UPDATE, UPDATE),  # a running guest's disk grows; see `does` for one that shrinks
    "disk.datastore_id": (RESTART, REPLACE),  # a VM is shut down while its disk moves
    "disk.file_id": (REPLACE, None),
    "disk.aio": (RESTART, None),
    "disk.queues": (RESTART, None),
    "disk.mount_options": (None, RESTART),
    "efi_disk": (RESTART, None),
    "efi_disk.type": (REPLACE, None),
    "tpm_state": (RESTART, None),
    "tpm_state.version": (REPLACE, None),
    "initialization": (RESTART, RESTART),
    "initialization.type": (REPLACE, None),
    "initialization.user_data_file_id": (REPLACE, None),
    "initialization.vendor_data_file_id": (REPLACE, None),
    "initialization.network_data_file_id": (REPLACE, None),
    "initialization.meta_data_file_id": (REPLACE, None),
    "initialization.user_account": (RESTART, REPLACE),
    "operating_system": (RESTART, REPLACE),
    "memory": (RESTART, RESTART),
    "cpu": (RESTART, UPDATE),
    "network_device": (UPDATE, None),  # plugged while the VM runs
    "network_interface": (None, RESTART),
    "features": (None, UPDATE),
    "cdrom": (UPDATE, None),
    "description": (UPDATE, UPDATE),
    "hook_script_file_id": (UPDATE, UPDATE),
    "hotplug": (UPDATE, None),
    "name": (UPDATE, None),
    "on_boot": (UPDATE, None),
    "protection": (UPDATE, UPDATE),
    "smbios": (UPDATE, None),
    "start_on_boot": (None, UPDATE),
    "startup": (UPDATE, UPDATE),
    "tags": (UPDATE, UPDATE),
    # What the provider keeps to itself.
    "delete_unreferenced_disks_on_destroy": (UPDATE, None),
    "migrate": (UPDATE, None),
    "purge_on_destroy": (UPDATE, None),
    "reboot": (UPDATE, None),
    "reboot_after_update": (UPDATE, None),
    "stop_on_destroy": (UPDATE, None),
    "wait_for_ip": (None, UPDATE),
}
"""An attribute inside a block that has no row of its own does what the block does. What has no row at all restarts, as
all others of these two resources do (``acpi``, ``hostpci``, ``machine``, ``console``, ``idmap``, ...)."""

IGNORED: Mapping[Kind, tuple[str, ...]] = {
    "vm": ("disk.import_from", "initialization.user_account", "description"),
    "lxc": (
        *("operating_system", "initialization.user_account", "features"),
        *("mount_point", "device_passthrough", "idmap", "description"),
    ),
}
"""``ignore_changes`` of ``renderers/module/fleet``: read when the guest is made, or people's; left alone afterwards."""


def does(kind: Kind, path: Sequence[str], before: Any = None, after: Any = None) -> Does:
    """What the provider does for one attribute, by its path without indexes: ``("memory", "dedicated")``."""
    if tuple(path) == ("disk", "size") and isinstance(before, int) and isinstance(after, int) and after < before:
        return "refuse"
    if tuple(path) == ("started",):
        return UPDATE if after else RESTART
    for length in range(len(path), 0, -1):
        if (found := _TABLE.get(".".join(path[:length]))) is not None:
            return found[kind == "lxc"] or RESTART
    return UPDATE if path and path[0].startswith("timeout_") else RESTART


def ignored(kind: Kind, path: Sequence[str]) -> bool:
    """Whether the module takes no notice of a change of it."""
    name = ".".join(path)
    return any(name == one or name.startswith(f"{one}.") for one in IGNORED[kind])
