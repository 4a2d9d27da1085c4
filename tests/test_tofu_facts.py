"""Public failures of this provider and its kin (docs: the links), each tried on knaster with the right outcome.

Field by field plans are in `test_tofu_plans`, the module's own guards in `test_tofu_module`, words in `test_gate`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from knaster.checks.guest_list import dropped
from knaster.pipeline import Evaluation, evaluate
from knaster.renderers import TFVARS
from knaster.renderers.module import module_texts
from knaster.renderers.passthrough import comment
from knaster.renderers.tofu import os_type
from tests import repo
from tests.tofu_fleets import BASE, FLEETS, edited
from tests.tofu_lab import right

PLATFORM, PVE44, PVE46 = "catalog/platform.yaml", "inventory/pve44.yaml", "inventory/pve46.yaml"
DOCS = (Path(__file__).parent.parent / "docs" / "opentofu.md").read_text("utf-8")


def errors(evaluation: Evaluation) -> list[str]:
    """The codes of the errors."""
    return [one.code for one in evaluation.diagnostics if one.severity == "error"]


@pytest.mark.parametrize(("name", "cards"), [("11 cards", 11), ("twin and quadruple cards", 4)])
def test_slots_ascend_as_numbers_and_every_default_is_written_out(name: str, cards: int) -> None:
    """bpg 1541, 2059: what differs from the way it is read back is a difference, and a reboot, for ever."""
    hostpci = max((vm["hostpci"] for vm in right(FLEETS[name]).documents[TFVARS]["vms"].values()), key=len)
    assert [card["device"] for card in hostpci] == [f"hostpci{slot}" for slot in range(cards)]
    assert {tuple(card) for card in hostpci} == {("device", "mapping", "pcie", "rombar", "xvga")}


def test_twins_have_a_mapping_each() -> None:
    """Of one mapping with two entries Proxmox hands out the first that is free: which card is where nobody knows."""
    mappings = right(FLEETS["twin and quadruple cards"]).documents[TFVARS]["mappings"]
    assert {key: value["path"] for key, value in mappings.items() if value["node"] == "pve2"} == {
        "gpu-rtx4000ada-pve2": "0000:01:00",
        "gpu-rtx4000ada-pve2-2": "0000:41:00",
        "gpu-rtx4000ada-pve2-3": "0000:81:00",
        "gpu-rtx4000ada-pve2-4": "0000:c1:00",
    }


def test_a_vm_of_mixed_generations_has_the_driver_of_its_oldest_card() -> None:
    """R580 is the last branch for Maxwell; it also serves Ada."""
    guest = right(FLEETS["mixed generations"]).documents["proxmox.yaml"]["guests"]["gpu-pve1"]
    assert guest["driver"] == {
        "generation": "legacy",
        "branch": "R580",
        "version": "580.95.05",
        "oldest_card": "gpu-m4000-pve1",
        "compute_cap": 5.2,
    }
    newer = (PLATFORM, "min_cc: 5.0}", 'min_cc: 5.0}\n  current: {branch: R595, version: "595.45.04", min_cc: 7.5}')
    mixed = edited(newer, (PLATFORM, "generation: legacy", "generation: current"), files=FLEETS["mixed generations"])
    assert errors(evaluate(mixed)) == ["driver-branch"]


def test_a_vm_may_have_a_driver_of_its_own() -> None:
    newer = (PLATFORM, "min_cc: 5.0}", 'min_cc: 5.0}\n  current: {branch: R595, version: "595.45.04", min_cc: 7.5}')
    own = (PLATFORM, "generation: legacy", "generation: legacy\n  overrides: {pve2: {driver_generation: current}}")
    twins = FLEETS["twin and quadruple cards"]
    vms = right(edited(newer, own, files=twins)).documents["proxmox.yaml"]["guests"]
    assert {name: vm["driver"]["branch"] for name, vm in vms.items() if "driver" in vm} == {
        "gpu-pve1": "R580",
        "gpu-pve2": "R595",
    }
    wrong = (PLATFORM, "driver_generation: current", "driver_generation: curent")
    assert errors(evaluate(edited(newer, own, wrong, files=twins))) == ["unknown-driver"]
    old = (PLATFORM, "generation: legacy", "generation: legacy\n  overrides: {pve46: {driver_generation: current}}")
    found = [one for one in evaluate(edited(newer, old)).diagnostics if one.code == "driver-branch"]
    assert [one.place.route for one in found if one.place] == [("gpu_vm", "overrides", "pve46", "driver_generation")]


def test_a_vm_with_more_memory_than_its_node_has_left_is_refused() -> None:
    """bpg 1353: passthrough pins all of it, and the VM does not start."""
    assert errors(evaluate(edited((PLATFORM, "memory_gb: 12", "memory_gb: 24")))) == ["memory-budget"]


def test_the_memory_budget_is_told() -> None:
    node = right(BASE).documents["proxmox.yaml"]["nodes"]["pve44"]["memory"]
    assert node == {"total_mib": 32768, "reserve_mib": 4096, "guests_mib": 20480, "free_mib": 8192}


def test_only_what_replicates_may_move_and_only_zfs_replicates() -> None:
    guests = right(BASE).documents["proxmox.yaml"]["guests"]
    assert {name: (guest["moves"], guest["storage_type"]) for name, guest in guests.items()} == {
        "gpu-pve44": (False, "lvmthin"),
        "gpu-pve46": (False, "lvmthin"),
        "infra": (True, "zfspool"),
        "ops": (False, "lvmthin"),
    }
    assert errors(evaluate(edited((PLATFORM, "storage: tank", "storage: local-lvm")))) == ["guest-conflict"]


def test_addresses_keys_and_name_servers_are_always_written_in_full() -> None:
    """bpg 1701, 1768: what is inherited is lost at the next change."""
    key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExampleExampleExampleExampleExampleExampleExam ops"
    data = right(BASE).documents[TFVARS]
    for guest in (*data["vms"].values(), *data["containers"].values()):
        assert guest["address"].endswith("/24")
        assert (guest["gateway"], guest["dns"], guest["ssh_keys"]) == ("192.168.100.1", ["192.168.100.1"], [key])


def test_a_typing_mistake_inside_an_object_is_an_error() -> None:
    """terraform 29204, 37300: OpenTofu drops it without a word."""
    assert errors(evaluate(edited((PLATFORM, "memory_gb: 8", "memmory_gb: 8")))) != []


def test_a_changed_cpu_memory_or_slot_reaches_the_running_vm() -> None:
    """bpg 2516: applied to the configuration, and the VM goes on as it was."""
    assert re.search(r"reboot_after_update\s+= true", module_texts()["tofu/fleet/vms.tf"])


def test_no_input_is_an_error_and_never_an_empty_plan() -> None:
    """What decodes to {} would be a full destroy."""
    without = {path: text for path, text in BASE.items() if not path.startswith("inventory/")}
    assert errors(evaluate(without)) != []
    assert evaluate(without).generated == {}
    assert evaluate({**BASE, PLATFORM: ""}).generated == {}


def test_tags_and_comments_are_what_proxmox_gives_back() -> None:
    """bpg 1577, 2980: other order, case or characters are a difference for ever."""
    data = right(edited((PVE46, '"Quadro P2000"', '"Quadro P2000, 5%=GB \\u00fc"'))).documents[TFVARS]
    for guest in (*data["vms"].values(), *data["containers"].values()):
        assert guest["tags"] == sorted(tag.lower() for tag in guest["tags"])
    assert all(re.fullmatch("[ -$&-+.-<>-~-]*", one["comment"]) for one in data["mappings"].values())
    assert comment("NVIDIA\tRTX 4000 Ada, 20 % = gut \u00fc\n") == "NVIDIA RTX 4000 Ada 20 gut"


def test_applies_are_one_guest_after_another() -> None:
    """bpg 995, 1521, 1929: guests made at once wait for each other's locks until they fail."""
    applies = re.findall(r"(?m)^ *tofu .* apply.*$", DOCS)
    assert applies
    assert all("-parallelism=1" in line for line in applies)


def test_a_moved_iommu_group_changes_the_mapping_alone() -> None:
    """After a change of BIOS or slot the VM does not start until its mapping is right again."""
    before, after = (
        right(files).documents[TFVARS] for files in (BASE, edited((PVE46, "iommu_group: 29", "iommu_group: 30")))
    )
    assert before["vms"] == after["vms"]
    assert [name for name in before["mappings"] if before["mappings"][name] != after["mappings"][name]] == [
        "gpu-p2000-pve46"
    ]


@pytest.mark.parametrize(
    ("template", "kind"),
    [
        ("local:vztmpl/debian-13-standard_13.1-2_amd64.tar.zst", "debian"),
        ("nas:vztmpl/Ubuntu-24.04-standard_24.04-2_amd64.tar.zst", "ubuntu"),
        ("local:vztmpl/debianish.tar.zst", "unmanaged"),
        ("local:vztmpl/1.tar.gz", "unmanaged"),
        ("", "unmanaged"),
    ],
)
def test_what_proxmox_sets_up_inside_a_container(template: str, kind: str) -> None:
    assert os_type(template) == kind


def test_guests_that_go_without_retire_are_told_at_render() -> None:
    before = {TFVARS: json.dumps(right(BASE).documents[TFVARS])}
    renamed = right(edited((PLATFORM, "gpu-{node}", "ai-{node}")))
    found = dropped(before, renamed.documents, ())
    assert found is not None
    assert found.message.startswith("gpu-pve44, gpu-pve46 will be gone, and retire does not name them")
    assert dropped(before, renamed.documents, ("gpu-pve44", "gpu-pve46")) is None
    assert dropped(before, right(BASE).documents, ()) is None
    assert dropped({}, renamed.documents, ()) is None
    assert dropped({TFVARS: "{"}, renamed.documents, ()) is None


def test_render_tells_of_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from knaster.cli import main

    repo.lay(tmp_path, dict(BASE))  # type: ignore[arg-type]
    assert main(["-C", str(tmp_path), "render", "-q"]) == 0
    repo.lay(tmp_path, edited((PLATFORM, "gpu-{node}", "ai-{node}")))
    assert main(["-C", str(tmp_path), "render", "--check"]) == 1
    assert "gpu-pve44, gpu-pve46 will be gone" in capsys.readouterr().out
    assert main(["-C", str(tmp_path), "render"]) == 0
    assert "gpu-pve44, gpu-pve46 will be gone" in capsys.readouterr().out
    assert main(["-C", str(tmp_path), "render"]) == 0
    assert "will be gone" not in capsys.readouterr().out
