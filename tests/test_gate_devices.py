"""What a guest has and the module does not declare: the provider takes it out, and the plan calls it an update.

Source of what is taken out: ``vmUpdate`` (bpg/terraform-provider-proxmox 0.111.1, vm.go, "Handle disk deletion", and
"Delete any device that exists on the VM but is not in the plan").
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from knaster.gate import judge, read_plan
from knaster.gate.plan import Plan
from tests.test_gate import FLEET, LXC, MAPPING, VM, change, codes, judged, plan, words

ROOT = {"interface": "scsi0", "size": 120, "datastore_id": "local-lvm"}
DATA = {"interface": "scsi1", "size": 500, "datastore_id": "tank"}
VIRTIO = {**ROOT, "interface": "virtio0"}
IMPORT = {"id": "pve46/246"}


def guest(kind: str, attribute: str, old: list[Any], new: list[Any], **more: Any) -> dict[str, Any]:
    """A guest of which one list of blocks differs."""
    sides = {"before": {"vm_id": 246, attribute: old}, "after": {"vm_id": 246, attribute: new}}
    return change(kind, "gpu-pve46", "update", **sides, **more)


@pytest.mark.parametrize("more", [{}, {"importing": IMPORT}])
@pytest.mark.parametrize(
    ("old", "message", "hint"),
    [
        (
            [ROOT, DATA],
            "disk scsi1 (500 GiB on tank) of guest gpu-pve46 would be taken out of it",
            "qm disk unlink 246 --idlist scsi1",
        ),
        (
            [DATA, ROOT],
            "disk scsi1 (500 GiB on tank) of guest gpu-pve46 would be taken out of it",
            "copy what it holds to scsi0",
        ),
        (
            [VIRTIO],
            "disk virtio0 (120 GiB on local-lvm) of guest gpu-pve46 would be taken out of it",
            "scsi0 would be new and empty",
        ),
    ],
)
def test_a_disk_that_the_module_does_not_declare(old: list[Any], message: str, hint: str, more: Any) -> None:
    verdict = judged(guest(VM, "disk", old, [ROOT], **more))
    (found,) = verdict.diagnostics
    assert (found.code, found.message, str(found.severity)) == ("gate-detaches", message, "error")
    assert hint in (found.hint or "")
    assert words(verdict)[1].startswith("! guest gpu-pve46 cannot be changed like this: disk")


def test_two_disks_that_go_are_two_errors() -> None:
    assert codes(judged(guest(VM, "disk", [VIRTIO, DATA], [ROOT]))) == [("gate-detaches", "error")] * 2


@pytest.mark.parametrize(
    "entry",
    [
        guest(VM, "disk", [ROOT], [{**ROOT, "size": 140}]),
        guest(VM, "disk", [ROOT], [{**ROOT, "datastore_id": "tank"}]),
        guest(VM, "disk", [], [ROOT]),
        guest(VM, "disk", [ROOT, DATA], [ROOT, DATA]),
        change(VM, "v", "update", before={"disk": [ROOT]}, after={}, after_unknown={"disk": True}),
        guest(LXC, "disk", [{"size": 60}], [{"size": 61}]),
        guest(VM, "tpm_state", [], []),
    ],
)
def test_what_stays_is_not_told_of(entry: dict[str, Any]) -> None:
    assert codes(judged(entry)) == []


def test_the_tpm_state_is_a_volume_too() -> None:
    entry = guest(VM, "tpm_state", [{"version": "v2.0"}], [])
    entry["change"]["before"]["disk"] = entry["change"]["after"]["disk"] = [ROOT]
    assert [one.message for one in judged(entry).diagnostics] == [
        "the TPM state of guest gpu-pve46 would be taken out of it"
    ]


NET = {"bridge": "vmbr0"}
GPU = {"device": "hostpci0", "mapping": "gpu-p2000-pve46", "id": ""}
MAPPINGS = {"gpu-p2000-pve46": {"node": "pve46", "path": "0000:03:00"}}


@pytest.mark.parametrize(
    ("entry", "what"),
    [
        (guest(VM, "network_device", [NET, {"bridge": "vmbr7"}], [NET]), "network device net1 (vmbr7)"),
        (guest(VM, "usb", [{"host": "1234:5678", "mapping": ""}], []), "USB device usb0 (1234:5678)"),
        (guest(VM, "virtiofs", [{"mapping": "data"}], []), "share virtiofs0 (data)"),
        (
            guest(LXC, "network_interface", [{"name": "eth0"}, {"name": "eth1"}], [{"name": "eth0"}]),
            "network interface net1 (eth1)",
        ),
        (guest(VM, "hostpci", [{"id": "0000:09:00", "mapping": ""}], [GPU]), "PCI device 0000:09:00"),
        (guest(VM, "hostpci", [GPU, {"id": "09:00.0"}], [GPU]), "PCI device 09:00.0"),
        (guest(VM, "hostpci", [GPU, {"id": "", "mapping": "nvme-pve46"}], [GPU]), "PCI device nvme-pve46"),
    ],
)
def test_another_device_is_a_warning(entry: dict[str, Any], what: str) -> None:
    found = judge(_plan(entry), replace(FLEET, variables={"mappings": MAPPINGS}))
    assert [(one.message, str(one.severity)) for one in found.diagnostics if one.code == "gate-detaches"] == [
        (f"{what} of guest gpu-pve46 would be taken out of it: the module does not declare that", "warning")
    ]


@pytest.mark.parametrize("address", ["0000:03:00", "0000:03:00.0", "03:00", "03:00.0"])
def test_a_card_that_was_handed_over_by_address_and_now_by_mapping_stays(address: str) -> None:
    entry = guest(VM, "hostpci", [{"id": address, "mapping": ""}], [GPU])
    found = judge(_plan(entry), replace(FLEET, variables={"mappings": MAPPINGS}))
    assert [one for one in found.diagnostics if one.code == "gate-detaches"] == []


def _plan(entry: dict[str, Any]) -> Plan:
    found = read_plan(json.dumps(plan(entry)))
    assert isinstance(found, Plan)
    return found


def test_a_card_that_goes_with_its_mapping_is_no_device_of_somebody_else() -> None:
    entry = guest(VM, "hostpci", [GPU, {"id": "", "mapping": "gpu-m4000-pve46"}], [GPU])
    assert codes(judged(entry, change(MAPPING, "gpu-m4000-pve46", "delete"))) == []


def test_from_seabios_to_uefi() -> None:
    entry = change(VM, "v", "update", before={"bios": "seabios"}, after={"bios": "ovmf"}, importing=IMPORT)
    assert codes(judged(entry)) == [("gate-firmware", "warning")]
    assert codes(judged(change(VM, "v", "create", after={"bios": "ovmf"}))) == []


@pytest.mark.parametrize(
    ("attribute", "old", "new", "line"),
    [
        ("disk", [ROOT, DATA], [ROOT], "disk -scsi1"),
        ("usb", [{"host": "1234:5678"}], [], "usb -1234:5678"),
        ("network_device", [NET, NET], [NET], "network_device 2 -> 1"),
        ("tags", ["a", "b"], ["b", "c"], "tags +c, -a"),
        ("boot_order", ["a", "b"], ["b", "a"], "boot_order"),
        (
            "initialization",
            [{"ip_config": [{"ipv4": [{"address": "10.0.0.1/24"}]}], "type": None}],
            [{"ip_config": [{"ipv4": [{"address": "10.0.0.2/24"}]}], "type": ""}],
            "initialization.ip_config.ipv4.address 10.0.0.1/24 -> 10.0.0.2/24",
        ),
        ("hostpci", [{**GPU, "id": None}, GPU], [GPU, {**GPU, "xvga": True}], ""),
        ("hostpci", [GPU], [GPU, {"mapping": "b"}], "hostpci +b"),
    ],
)
def test_what_differs_is_told_down_to_the_attribute(attribute: str, old: Any, new: Any, line: str) -> None:
    """Nothing in another form (null, "") is no difference: it would hide what is."""
    told = judged(guest(VM, attribute, old, new)).changes[0]
    assert told.cause == line


def test_a_change_of_everything_is_cut_short() -> None:
    sides = ({f"a{at:02}": old for at in range(20)} for old in (1, 2))
    before, after = sides
    assert (
        judged(change(VM, "v", "update", before=before, after=after))
        .changes[0]
        .cause.endswith("a15 1 -> 2, and 4 more")
    )


def test_ways_out_name_the_address_and_no_shell_reads_more() -> None:
    address = 'x.y["it\'s; rm -rf /"]'
    entry = change("null_resource", "x", "delete", address=address)
    (found,) = judged(entry).diagnostics
    assert found.hint == (
        "knaster makes no such resource; to keep the thing: tofu state rm 'x.y[\"it'\"'\"'s; rm -rf /\"]'"
    )


@pytest.mark.parametrize("kind", [VM, LXC])
def test_a_guest_whose_making_failed_half_way_has_a_way_out(kind: str) -> None:
    entry = change(kind, "v", "delete", "create", action_reason="replace_because_tainted")
    (found,) = judged(entry).diagnostics
    assert found.code == "gate-replaces"
    assert (found.hint or "").startswith("if it is whole: tofu untaint 'module.fleet.")


@pytest.mark.parametrize(
    ("path", "moves"), [(["node_name"], True), (["disk", 0, "datastore_id"], True), (["unprivileged"], False)]
)
def test_a_container_of_another_node_or_storage_can_be_moved_by_proxmox(path: list[Any], moves: bool) -> None:
    (found,) = judged(change(LXC, "infra", "delete", "create", replace_paths=[path])).diagnostics
    assert found.code == "gate-replaces"
    assert ("pct migrate, pct move-volume" in (found.hint or "")) is moves
