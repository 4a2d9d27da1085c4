"""A GPU VM that was there before knaster: adopted by an import block, as containers are, and never made anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from knaster.changes import Effect, compare
from knaster.pipeline import evaluate
from knaster.renderers import TFVARS
from tests.test_tofu_gate import Case
from tests.tofu_fleets import BASE, edited
from tests.tofu_lab import OPS, Lab, needs_tofu, rendered, right

PLATFORM = "catalog/platform.yaml"
ADOPTED = edited((PLATFORM, "drivers:\n", "  overrides: {pve46: {exists: true}}\ndrivers:\n"))
"""gpu-pve46 (id 246) is there already; gpu-pve44 is made."""


def by_hand(efi: str) -> dict[str, Any]:
    """What a VM that somebody made by hand looks like when it is imported: i440fx, a raw card, another name."""
    return {
        "name": "gpu-test",
        "machine": "pc",
        "bios": "ovmf",
        "efi_disk": [{"datastore_id": "local-lvm", "file_format": "raw", "type": efi, "pre_enrolled_keys": True}],
        "disk": [{"interface": "scsi0", "datastore_id": "local-lvm", "size": 100, "file_format": "raw"}],
        "hostpci": [{"device": "hostpci0", "id": "0000:03:00", "pcie": False, "rombar": True, "xvga": False}],
    }


def test_the_module_is_told_which_vms_are_there() -> None:
    vms = right(ADOPTED).documents[TFVARS]["vms"]
    assert {name: vm["exists"] for name, vm in vms.items()} == {"gpu-pve44": False, "gpu-pve46": True}
    guests = right(ADOPTED).documents["proxmox.yaml"]["guests"]
    assert {name for name, guest in guests.items() if guest["exists"]} == {"gpu-pve46", "ops"}


def test_a_vm_that_comes_with_its_node_is_adopted() -> None:
    files = {path: text for path, text in ADOPTED.items() if path != "inventory/pve46.yaml"}
    before = evaluate({**files, PLATFORM: str(BASE[PLATFORM]).replace("node: pve46", "node: pve61")})
    after = evaluate({**ADOPTED, PLATFORM: str(ADOPTED[PLATFORM]).replace("node: pve46", "node: pve61")})
    (vm,) = (one for one in compare(before, after).changes if (one.kind, one.name) == ("guest", "gpu-pve46"))
    assert (vm.effect, vm.summary.partition(":")[0]) == (Effect.CREATE, "is adopted")


@needs_tofu
def test_a_vm_that_exists_is_imported_changed_in_place_and_then_at_rest(tmp_path: Path) -> None:
    lab = Lab(tmp_path, rendered(ADOPTED))
    lab.imports["pve46/246"] = by_hand("4m")
    first = lab.plan()
    assert first.status == 0, first.text
    imported = {
        one["index"]: one["change"]["actions"] for one in first.json["resource_changes"] if "importing" in one["change"]
    }
    assert imported == {"gpu-pve46": ["update"], "ops": ["update"]}
    assert first.changes["vm gpu-pve44"] == "create"
    lab.apply()
    assert lab.plan("-detailed-exitcode").status == 0
    lab.write(rendered(BASE))
    assert lab.told() == {}, "once adopted, whether it is still said is nothing"


@needs_tofu
def test_the_mount_points_of_a_container_that_is_adopted_stay(tmp_path: Path) -> None:
    """To the provider, one more or less is a new container (bpg 3028)."""
    lab = Lab(tmp_path, rendered(BASE))
    lab.imports["pve46/100"] = {**OPS, "mount_point": [{"volume": "tank:subvol-100-disk-1", "path": "/data"}]}
    first = lab.plan()
    assert first.status == 0, first.text
    ops = next(one["change"] for one in first.json["resource_changes"] if one["index"] == "ops")
    assert ops["actions"] == ["update"]
    assert ops["after"]["mount_point"] == ops["before"]["mount_point"] != []
    lab.apply()
    assert lab.plan("-detailed-exitcode").status == 0


@needs_tofu
def test_a_vm_whose_disk_has_another_name_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The provider would take it out and give the VM a new, empty scsi0."""
    lab = Lab(tmp_path / "lab", rendered(ADOPTED))
    vm = by_hand("4m")
    lab.imports["pve46/246"] = {**vm, "disk": [{**vm["disk"][0], "interface": "virtio0"}]}
    case = Case(lab, ADOPTED, tmp_path / "repository")
    case.plan()
    status, text = case.gate(capsys)
    assert status == 1
    assert "error: disk virtio0 (100 GiB on local-lvm) of guest gpu-pve46 would be taken out of it" in text


@needs_tofu
def test_a_vm_that_could_only_be_made_anew_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An EFI disk cannot grow from 2m to 4m: the provider would replace the VM (bpg 1998)."""
    lab = Lab(tmp_path / "lab", rendered(ADOPTED))
    lab.imports["pve46/246"] = by_hand("2m")
    case = Case(lab, ADOPTED, tmp_path / "repository")
    case.plan()
    status, text = case.gate(capsys)
    assert status == 1
    assert "guest gpu-pve46 exists and is to be adopted, but would be destroyed and made anew" in text
