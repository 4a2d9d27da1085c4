"""What an apply takes out of a guest because the module does not declare it.

Source: bpg/terraform-provider-proxmox 0.111.1, ``vmUpdate`` (``proxmoxtf/resource/vm/vm.go``): as soon as one disk
differs, every disk of the VM that the plan does not have is sent as ``delete``; the same for network devices. Proxmox
keeps the volume (``unused0``), and the guest does not have it any more. The plan calls all of that an update.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from knaster.diagnostics import Diagnostic, Severity
from knaster.gate.differing import blocks, label
from knaster.gate.plan import Change

VM = "proxmox_virtual_environment_vm"
CONTAINER = "proxmox_virtual_environment_container"
_CODE = "gate-detaches"
_DEVICES: Mapping[str, tuple[tuple[str, str, str], ...]] = {
    # attribute, what it is called, how it is called in the guest's configuration
    VM: (("network_device", "network device", "net"), ("usb", "USB device", "usb"), ("virtiofs", "share", "virtiofs")),
    CONTAINER: (("network_interface", "network interface", "net"),),
}
"""Devices that the module either declares once or not at all; the provider numbers them as they stand."""


def keeps_all(change: Change) -> bool:
    """Whether every volume that the guest has is still its own afterwards."""
    return not list(_lost(change))


def detached(change: Change, mappings: Any, gone: Collection[str] = ()) -> Iterator[Diagnostic]:
    """Volumes that would be taken out of it: errors; other devices: warnings.

    ``mappings`` are those of the fleet, ``gone`` the names of those that the plan destroys.
    """
    if change.destroys or "update" not in change.actions:
        return
    for what, hint in _lost(change):
        yield Diagnostic(_CODE, f"{what} of guest {change.name} would be taken out of it", hint=hint)
    if lost := [*_devices(change), *_cards(change, mappings if isinstance(mappings, dict) else {}, gone)]:
        message = f"{', '.join(lost)} of guest {change.name} would be taken out of it: the module does not declare that"
        yield Diagnostic(_CODE, message, severity=Severity.WARNING)
    if change.kind == VM and (change.before.get("bios"), change.after.get("bios")) == ("seabios", "ovmf"):
        message = f"guest {change.name} changes from SeaBIOS to UEFI: a system installed for the former does not start"
        yield Diagnostic("gate-firmware", message, severity=Severity.WARNING)


def _lost(change: Change) -> Iterator[tuple[str, str]]:
    """Each volume that goes, and the way out."""
    if change.kind != VM or "disk" not in change.after:
        return
    old, new = _disks(change.before), _disks(change.after)
    for interface in sorted(old.keys() - new.keys()):
        yield f"disk {interface} ({_described(old[interface])})", _way_out(change, interface, old, new)
    if blocks(change.before, "tpm_state") and not blocks(change.after, "tpm_state"):
        hint = f"if nothing needs it, take it out on its node: qm set {_id(change)} --delete tpmstate0; then plan again"
        yield "the TPM state", hint


def _way_out(change: Change, interface: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    first = next(iter(new), "scsi0")
    if first not in old:
        return (
            f"the module calls the only disk {first}, and {first} would be new and empty: with the VM off, detach "
            f"{interface} on its node and attach the volume as {first} (qm set {_id(change)}), then plan again"
        )
    return (
        f"copy what it holds to {first}, which can grow (disk_gb), then take it out on its node: "
        f"qm disk unlink {_id(change)} --idlist {shlex.quote(interface)}; the next plan has nothing to take out"
    )


def _described(disk: Mapping[str, Any]) -> str:
    return f"{disk.get('size')} GiB on {disk.get('datastore_id')}"


def _id(change: Change) -> str:
    found = change.before.get("vm_id")
    return str(found) if isinstance(found, int) else "VMID"


def _devices(change: Change) -> Iterator[str]:
    for attribute, noun, key in _DEVICES.get(change.kind, ()):
        old, new = blocks(change.before, attribute), blocks(change.after, attribute)
        for at in range(len(new), len(old)):
            name = old[at].get("bridge") or label(old[at])
            yield f"{noun} {key}{at}" + (f" ({name})" if isinstance(name, str) and name else "")


def _cards(change: Change, mappings: Mapping[str, Any], gone: Collection[str]) -> Iterator[str]:
    """PCI devices that are no cards of the fleet, an HBA or NVMe perhaps: by address, or by a mapping of somebody's."""
    after = blocks(change.after, "hostpci")
    known = [mappings.get(str(one.get("mapping"))) for one in after]
    paths = {_slot(one.get("path")) for one in known if isinstance(one, dict)}
    kept = {one.get(key) for one in after for key in ("id", "mapping")} | {*mappings, *gone}
    for one in blocks(change.before, "hostpci"):
        name = label(one)
        if name and name not in kept and _slot(name) not in paths:
            yield f"PCI device {name}"


def _slot(address: Any) -> str:
    """An address without function, with domain: Proxmox takes both forms."""
    text = str(address).lower().partition(".")[0]
    return text if text.count(":") > 1 else f"0000:{text}"


def _disks(guest: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {one["interface"]: one for one in blocks(guest, "disk") if isinstance(one.get("interface"), str)}
