"""Real plans against the stub: what each change of an input does to guests, and that all kinds of fleets work."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from knaster.changes import Effect, compare
from knaster.files import Files
from knaster.gate import Plan, read_plan
from knaster.gate.telling import KINDS, effect_of
from tests.tofu_fleets import BASE, FLEETS, edited, real
from tests.tofu_lab import Lab, Outcome, needs_tofu, rendered, right

pytestmark = needs_tofu

PLATFORM, PVE44, PVE46 = "catalog/platform.yaml", "inventory/pve44.yaml", "inventory/pve46.yaml"
NOTHING: dict[str, str] = {}
ALL_VMS = {"vm gpu-pve44": "update", "vm gpu-pve46": "update"}
ALL = {**ALL_VMS, "lxc infra": "update", "lxc ops": "update"}
CARD = """
  - index: 2
    name: "Quadro M4000"
    memory_gb: 8
    compute_cap: 5.2
    pci: {address: "0000:04:00.0", id: "10de:13f1", subsystem_id: "10de:1153", iommu_group: 30}
"""

P2000 = str(BASE[PVE44])[str(BASE[PVE44]).index("  - index: 1\n") :]
"""The second card of pve44, which is the last thing in its file."""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """The base fleet, applied."""
    found = Lab(tmp_path_factory.mktemp("lab"), rendered(BASE))
    assert found.plan().status == 0
    found.apply()
    yield found
    shutil.rmtree(found.folder)


def changes(lab: Lab, files: Files) -> dict[str, str]:
    """What the plan for `files` would do; nothing is applied."""
    lab.write(rendered(files))
    return lab.told("-refresh=false")


TABLE: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
    # -- nodes and cards
    "a card comes back": ((PVE44, "disabled: true", "disabled: false"), NOTHING),
    "reason": ((PVE44, "no benchmark yet", "another reason"), NOTHING),
    "state cordoned": ((PVE44, "platform: proxmox", 'platform: proxmox\nstate: cordoned\nreason: "x"'), NOTHING),
    "state down": ((PVE44, "platform: proxmox", 'platform: proxmox\nstate: down\nreason: "x"'), NOTHING),
    "memory of a node": ((PVE46, "memory_gb: 64", "memory_gb: 128"), NOTHING),
    "threads of a node": ((PVE46, "threads: 12", "threads: 24"), NOTHING),
    "driver on record": ((PVE44, 'driver: "580.95.05"', 'driver: "580.99"'), NOTHING),
    "VRAM of a card": ((PVE46, "memory_gb: 5\n", "memory_gb: 6\n"), NOTHING),
    "iommu_group": ((PVE46, "iommu_group: 29", "iommu_group: 31"), {"mapping gpu-p2000-pve46": "update"}),
    "subsystem_id": ((PVE46, "10de:11b3", "103c:11b3"), {"mapping gpu-p2000-pve46": "update"}),
    "pci id": ((PVE46, "10de:1c30", "10de:1cfa"), {"mapping gpu-p2000-pve46": "update"}),
    "pci address": ((PVE46, "0000:03:00.0", "0000:05:00.0"), {"mapping gpu-p2000-pve46": "update"}),
    "another card": (
        (PVE46, '"Quadro P2000"', '"Quadro P4000"'),
        {"mapping gpu-p2000-pve46": "delete", "mapping gpu-p4000-pve46": "create", "vm gpu-pve46": "update"},
    ),
    "a card more": (
        (PVE46, "iommu_group: 29}\n", "iommu_group: 29}" + CARD.replace("index: 2", "index: 1")),
        {"mapping gpu-m4000-pve46": "create", "vm gpu-pve46": "update"},
    ),
    "a card more, a twin": (
        (PVE44, "iommu_group: 21}\n", "iommu_group: 21}" + CARD),
        {"mapping gpu-m4000-pve44-2": "create", "vm gpu-pve44": "update"},
    ),
    "a card less": (
        (PVE44, P2000, ""),
        {"mapping gpu-p2000-pve44": "delete", "vm gpu-pve44": "update"},
    ),
    "the numbers of two cards": (
        (PVE44, "index: 0", "index: 7", "index: 1", "index: 0", "index: 7", "index: 1"),
        NOTHING,
    ),
    "the slots of two cards": (
        (PVE44, "0000:01:", "0000:0f:", "0000:02:", "0000:01:", "0000:0f:", "0000:02:"),
        {"mapping gpu-m4000-pve44": "update", "mapping gpu-p2000-pve44": "update", "vm gpu-pve44": "update"},
    ),
    # -- the VMs' template
    "memory of VMs": ((PLATFORM, "memory_gb: 12", "memory_gb: 14"), ALL_VMS),
    "cores of VMs": ((PLATFORM, "cores: 6", "cores: 8"), ALL_VMS),
    "disk of VMs": ((PLATFORM, "disk_gb: 120", "disk_gb: 140"), ALL_VMS),
    "storage of VMs": ((PLATFORM, "storage: local-lvm", "storage: tank"), ALL_VMS),
    "image": (
        (PLATFORM, "20261101", "20261201"),
        {"image pve44": "delete+create", "image pve46": "delete+create"},
    ),
    "image checksum": (
        (PLATFORM, "0f0e0d0c", "1f0e0d0c"),
        {"image pve44": "delete+create", "image pve46": "delete+create"},
    ),
    "driver version": ((PLATFORM, "580.95.05", "580.99.01"), NOTHING),
    "address rule": ((PLATFORM, '"192.168.100.180"', '"192.168.100.181"'), ALL_VMS),
    "VM id rule": (
        (PLATFORM, "vmid_base: 200", "vmid_base: 300"),
        {"vm gpu-pve44": "delete+create", "vm gpu-pve46": "delete+create"},
    ),
    "names of VMs": (
        (PLATFORM, "gpu-{node}", "ai-{node}"),
        {
            "vm gpu-pve44": "delete",
            "vm gpu-pve46": "delete",
            "vm ai-pve44": "create",
            "vm ai-pve46": "create",
        },
    ),
    "override of one VM": (
        (PLATFORM, "driver_generation: legacy", "driver_generation: legacy\n  overrides: {pve46: {memory_gb: 20}}"),
        {"vm gpu-pve46": "update"},
    ),
    # -- network and reserves
    "gateway": ((PLATFORM, 'gateway: "192.168.100.1"', 'gateway: "192.168.100.2"'), ALL),
    "bridge": ((PLATFORM, "vmbr0", "vmbr1"), ALL),
    "dns": ((PLATFORM, 'dns: ["192.168.100.1"]', 'dns: ["192.168.100.2"]'), ALL),
    "no dns": ((PLATFORM, 'dns: ["192.168.100.1"]', "dns: []"), ALL),
    "host reserve": ((PLATFORM, "host_reserve_gb: 4", "host_reserve_gb: 2"), NOTHING),
    "ssh key": (
        (PLATFORM, "Exam ops", "Exam other"),
        NOTHING,
    ),
    "user": ((PLATFORM, "access:", "access:\n  user: admin"), NOTHING),
    # -- containers
    "memory of a container": ((PLATFORM, "memory_gb: 8", "memory_gb: 9"), {"lxc infra": "update"}),
    "cores of a container": ((PLATFORM, "cores: 4", "cores: 5"), {"lxc infra": "update"}),
    "disk of a container grows": ((PLATFORM, "disk_gb: 60", "disk_gb: 61"), {"lxc infra": "update"}),
    "disk of a container shrinks": (
        (PLATFORM, "disk_gb: 60", "disk_gb: 50"),
        {"lxc infra": "update"},
    ),  # the gate refuses
    "address of a container": ((PLATFORM, "100.221", "100.222"), {"lxc infra": "update"}),
    "template of a container": ((PLATFORM, "debian-12-standard_12.7-1", "debian-13-standard_13.1-2"), NOTHING),
    "services": ((PLATFORM, "services: [piper]", "services: [n8n, piper]"), NOTHING),
    "schedule of replication": ((PLATFORM, "*/15", "*/30"), NOTHING),
    "target of replication": ((PLATFORM, "target: pve46", "target: pve61"), NOTHING),
    "end of replication": ((PLATFORM, '    replication: [{target: pve46, schedule: "*/15"}]\n', ""), NOTHING),
    "begin of replication": (
        (
            PLATFORM,
            "storage: local-lvm\n    template",
            "storage: tank\n    replication: [{target: pve61}]\n    template",
        ),
        {"lxc ops": "delete+create"},  # because of the storage
    ),
    "node of a container that replicates": (
        (PLATFORM, "node: pve44", "node: pve46", "target: pve46", "target: pve61"),
        NOTHING,
    ),
    "node of another container": ((PLATFORM, "node: pve46", "node: pve61"), {"lxc ops": "delete+create"}),
    "VM id of a container": ((PLATFORM, "vmid: 101", "vmid: 102"), {"lxc infra": "delete+create"}),
    "privileged": ((PLATFORM, "exists: true", "exists: true\n    unprivileged: false"), {"lxc ops": "delete+create"}),
    "adopted, and no longer said": ((PLATFORM, "exists: true", "exists: false"), NOTHING),
    "name of a container": (
        (PLATFORM, "  ops:\n", "  ops2:\n"),
        {"lxc ops": "delete", "lxc ops2": "update"},  # adopted under its new name
    ),
    # -- the catalog, and what else has nothing to do with guests
    "a model": (("catalog/models.yaml", "vram_gb: 1.2", "vram_gb: 1.3"), NOTHING),
    "priority of a role": (("catalog/roles.yaml", "priority: 10", "priority: 20"), NOTHING),
    "an endpoint outside": ((PLATFORM, "tier0.example.org", "tier0.example.net"), NOTHING),
    "retire, of a guest that stays": ((PLATFORM, "workers:", "retire: [infra]\nworkers:"), NOTHING),
}


@pytest.mark.parametrize("what", TABLE)
def test_a_change_of_one_field(lab: Lab, what: str) -> None:
    """Field by field: updated in place, replaced (which the gate or the guard refuses), or nothing at all."""
    files, expected = row(what)
    lab.write(rendered(files))
    found = lab.plan("-refresh=false")
    assert found.changes == expected
    agree(found, files)


def row(what: str) -> tuple[Files, dict[str, str]]:
    """The edited fleet of a row of `TABLE`, and what its plan does."""
    (path, *texts), expected = TABLE[what]
    return edited(*[(path, old, new) for old, new in zip(texts[::2], texts[1::2], strict=True)]), expected


def agree(planned: Outcome, files: Files) -> None:
    """The diff says before the merge what the gate will say of the plan."""
    plan = read_plan(json.dumps(planned.json))
    assert isinstance(plan, Plan)
    gate = {
        one.name: effect_of(one) if not one.imported else "create"
        for one in plan.changes
        if one.kind in KINDS and not one.quiet
    }
    compared = compare(right(BASE), right(files)).changes
    diff = {one.name: one for one in compared if one.kind == "guest"}
    assert {name: diff[name].effect.value for name in gate} == gate
    for name in diff.keys() - gate.keys():
        assert diff[name].effect in (Effect.UPDATE, Effect.RECORD) or "by Ansible" in diff[name].summary


GROWTH: dict[str, Any] = {
    "a node": {
        **BASE,
        "inventory/pve48.yaml": str(BASE[PVE46]).replace("pve46", "pve48"),
    },
    "a node without cards": {**BASE, "inventory/pve62.yaml": str(BASE["inventory/pve61.yaml"]).replace("61", "62")},
    "a card": edited((PVE46, "iommu_group: 29}\n", "iommu_group: 29}" + CARD.replace("index: 2", "index: 1"))),
    "a role": edited(
        ("catalog/roles.yaml", "roles:", "roles:\n  more: {needs: {engine: llamacpp, min_vram_gb: 2}, kinds: [llm]}")
    ),
    "an enabled card": edited((PVE44, "disabled: true", "disabled: false")),
    "a moved role": edited(("catalog/roles.yaml", "priority: 10", "priority: 10\n    pin: pve46")),
    "a cordoned node": edited((PVE46, "memory_gb: 64", 'memory_gb: 64\nstate: cordoned\nreason: "test"')),
}


@pytest.mark.parametrize("what", GROWTH)
def test_growth_destroys_nothing(lab: Lab, what: str) -> None:
    found = changes(lab, GROWTH[what])
    assert [name for name, actions in found.items() if "delete" in actions] == []
    assert all(actions in ("create", "update") for actions in found.values())


def test_a_card_that_travels_between_two_nodes_touches_both_vms_and_destroys_none(lab: Lab) -> None:
    gone = str(BASE[PVE44]).partition("  - index: 1\n")[0]
    there = str(BASE[PVE46]) + CARD.replace("index: 2", "index: 1").replace("M4000", "P2000").lstrip("\n")
    assert changes(lab, {**BASE, PVE44: gone, PVE46: there}) == {
        "mapping gpu-p2000-pve44": "delete",
        "mapping gpu-p2000-pve46-2": "create",
        "vm gpu-pve44": "update",
        "vm gpu-pve46": "update",
    }


def test_the_order_of_cards_in_the_inventory_changes_nothing(lab: Lab) -> None:
    head, first, second = str(BASE[PVE44]).split("  - index: ")
    assert changes(lab, {**BASE, PVE44: f"{head}  - index: {second}  - index: {first}"}) == {}


def test_a_guest_that_is_given_up_goes_only_when_retire_names_it(lab: Lab) -> None:
    """Without, the guard of stateful guests ends the plan. With, it comes to where there is no guard."""
    text = str(BASE[PLATFORM])
    start, end = text.index("  ops:\n"), text.index("storage:\n  local-lvm")
    without = text[:start] + text[end:]
    lab.write(rendered({**BASE, PLATFORM: without}))
    refused = lab.plan("-refresh=false")
    assert refused.status == 1
    assert "prevent_destroy" in refused.text
    assert refused.changes == {"lxc ops": "delete"}
    lab.write(rendered({**BASE, PLATFORM: f"{without}retire: [ops]\n"}))
    allowed = lab.plan("-refresh=false")
    assert (allowed.status, allowed.changes) == (0, {"lxc ops": "delete"})


def test_a_container_that_ends_to_replicate_changes_its_resource_and_nothing_else(lab: Lab) -> None:
    lab.write(rendered(edited((PLATFORM, '    replication: [{target: pve46, schedule: "*/15"}]\n', ""))))
    moved = [one for one in lab.plan("-refresh=false").json["resource_changes"] if "previous_address" in one]
    assert [(one["previous_address"].rpartition(".")[2], one["address"].rpartition(".")[2]) for one in moved] == [
        ('replicated["infra"]', 'fixed["infra"]')
    ]


def test_the_second_plan_of_the_base_is_empty(lab: Lab) -> None:
    lab.write(rendered(BASE))
    found = lab.plan("-detailed-exitcode")
    assert (found.status, found.changes) == (0, {})


@pytest.mark.parametrize("name", FLEETS)
def test_other_fleets_are_planned_applied_and_then_at_rest(name: str, tmp_path: Path) -> None:
    lab = Lab(tmp_path, rendered(FLEETS[name]))
    first = lab.plan()
    assert first.status == 0, first.text
    assert set(first.changes.values()) <= {"create"}
    lab.apply()
    again = lab.plan("-detailed-exitcode")
    assert (again.status, again.changes) == (0, {}), again.text


def test_the_fleet_of_this_repository_is_planned_applied_and_then_at_rest(tmp_path: Path) -> None:
    lab = Lab(tmp_path, rendered(real()))
    first = lab.plan()
    assert first.status == 0, first.text
    adopted = [one for one in first.json["resource_changes"] if "importing" in one["change"]]
    assert [(one["index"], one["change"]["actions"]) for one in adopted] == [("ops", ["update"])]
    lab.apply()
    assert lab.plan("-detailed-exitcode").status == 0
    assert (lab.folder / "repository" / ".tofu" / "terraform.tfstate").exists()


def test_cards_stand_in_the_order_of_their_slots(tmp_path: Path) -> None:
    """As text hostpci10 sorts before hostpci2: the provider reads back by number, and any other order is a reboot."""
    lab = Lab(tmp_path, rendered(FLEETS["11 cards"]))
    vm = next(one for one in lab.plan().json["resource_changes"] if one["type"] == "proxmox_virtual_environment_vm")
    cards = vm["change"]["after"]["hostpci"]
    assert [card["device"] for card in cards] == [f"hostpci{slot}" for slot in range(11)]
    assert [card["mapping"] for card in cards] == [f"gpu-card{slot}-pve1" for slot in range(11)]
    assert {(card["pcie"], card["rombar"], card["xvga"], card["id"]) for card in cards} == {(True, True, False, None)}
