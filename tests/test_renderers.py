"""The data of each generated file, literally (design §5)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from knaster import schema
from knaster.cluster import Worker
from knaster.placement.result import Assignment, PlacementPlan
from knaster.renderers import documents
from tests.builders import gpu, node, pci, role, roles, slot
from tests.small_fleet import PLACEMENT, PROXMOX, REGISTRY, TFVARS, cards, fleet, ground, nodes

VARIABLES = "tofu/knaster.auto.tfvars.json"


def test_placement_is_the_plan() -> None:
    assert documents(fleet())["placement.yaml"] == PLACEMENT


def test_proxmox_holds_mappings_and_guests_with_their_roles() -> None:
    assert documents(fleet())["proxmox.yaml"] == PROXMOX


def test_registry_holds_slots_and_external_endpoints() -> None:
    assert documents(fleet())["registry.yaml"] == REGISTRY


def test_tfvars_hold_mappings_vms_and_containers() -> None:
    assert documents(fleet())[VARIABLES] == TFVARS


def test_twin_cards_get_numbers_by_pci_address() -> None:
    twins = (gpu(0, pci=pci("0000:41:00.0")), gpu(1, pci=pci("0000:01:00.0")), gpu(2, pci=pci("0000:21:00.0")))
    found = documents(fleet(node("pve44", *twins, platform="proxmox")))
    names = ["gpu-rtx4000ada-pve44", "gpu-rtx4000ada-pve44-2", "gpu-rtx4000ada-pve44-3"]
    assert [(one["name"], one["path"]) for one in found["proxmox.yaml"]["nodes"]["pve44"]["mappings"]] == [
        (names[0], "0000:01:00"),
        (names[1], "0000:21:00"),
        (names[2], "0000:41:00"),
    ]
    assert [card["mapping"] for card in found[VARIABLES]["vms"]["gpu-pve44"]["hostpci"]] == names


def test_a_mapping_is_named_in_lower_case() -> None:
    found = documents(fleet(node("PVE-Box7", gpu(0, name="NVIDIA GeForce GTX 1080 Ti", pci=pci()), platform="proxmox")))
    assert list(found[VARIABLES]["mappings"]) == ["gpu-gtx1080ti-pve-box7"]
    assert found[VARIABLES]["mappings"]["gpu-gtx1080ti-pve-box7"]["node"] == "PVE-Box7"


def test_eleven_cards_stand_in_the_order_of_their_slots() -> None:
    many = tuple(gpu(index, name=f"Card {index}", pci=pci(f"0000:{index + 1:02x}:00.0")) for index in range(11))
    hostpci = documents(fleet(node("pve44", *many, platform="proxmox")))[VARIABLES]["vms"]["gpu-pve44"]["hostpci"]
    assert [(card["device"], card["mapping"]) for card in hostpci] == [
        (f"hostpci{index}", f"gpu-card{index}-pve44") for index in range(11)
    ]


def test_the_order_of_cards_and_nodes_in_the_inventory_changes_nothing() -> None:
    one, two = cards()
    first, *others = nodes()
    assert documents(fleet(*reversed(others), replace(first, gpus=(two, one)))) == documents(fleet())


@pytest.mark.parametrize(
    ("address", "path"),
    [("0000:01:00.0", "0000:01:00"), ("0000:C1:00.0", "0000:c1:00"), ("0000:01:00", "0000:01:00")],
)
def test_the_path_of_a_mapping_is_the_whole_card(address: str, path: str) -> None:
    found = documents(fleet(node("pve44", gpu(0, pci=pci(address)), platform="proxmox")))
    assert found[VARIABLES]["mappings"]["gpu-rtx4000ada-pve44"]["path"] == path


def test_a_card_that_is_not_function_0_keeps_its_function() -> None:
    found = documents(fleet(node("pve44", gpu(0, pci=pci("0000:01:00.4")), platform="proxmox")))
    assert found[VARIABLES]["mappings"]["gpu-rtx4000ada-pve44"]["path"] == "0000:01:00.4"


@pytest.mark.parametrize("unknown", [{"id": None}, {"subsystem_id": None}, {"iommu_group": None}])
def test_a_card_without_a_pci_fact_has_no_mapping_and_the_others_keep_their_slots(unknown: dict[str, None]) -> None:
    pair = (gpu(0, name="A1", pci=pci("0000:01:00.0", **unknown)), gpu(1, name="B2", pci=pci("0000:02:00.0")))
    found = documents(fleet(node("pve44", *pair, platform="proxmox")))
    assert list(found[VARIABLES]["mappings"]) == ["gpu-b2-pve44"]
    assert found["proxmox.yaml"]["guests"]["gpu-pve44"]["hostpci"] == [
        {"device": "hostpci1", "mapping": "gpu-b2-pve44"}
    ]


def test_iommu_group_0_is_a_fact() -> None:
    found = documents(fleet(node("pve44", gpu(0, pci=pci(iommu_group=0)), platform="proxmox")))
    assert found[VARIABLES]["mappings"]["gpu-rtx4000ada-pve44"]["iommu_group"] == 0


def test_guests_of_a_node_that_is_down_stay() -> None:
    first, *others = nodes()
    found = documents(fleet(replace(first, state="down"), *others, plan=PlacementPlan()))
    assert found[VARIABLES] == TFVARS
    assert list(found["proxmox.yaml"]["guests"]) == ["gpu-pve44", "infra"]
    assert found["proxmox.yaml"]["guests"]["gpu-pve44"]["roles"] == []


def test_a_role_that_moves_changes_no_guest() -> None:
    assert documents(fleet(plan=PlacementPlan()))[VARIABLES] == documents(fleet())[VARIABLES]


def test_only_proxmox_nodes_are_nodes_of_the_cluster() -> None:
    assert list(documents(fleet())["proxmox.yaml"]["nodes"]) == ["pve44", "pve61"]


def test_a_guest_lists_each_of_its_roles_once() -> None:
    twice = tuple(Assignment("chat", "pve44", index, guest="gpu-pve44") for index in (0, 1))
    answer = PlacementPlan((Assignment("alpha", "pve44", 1, guest="gpu-pve44"), *twice))
    assert documents(fleet(plan=answer))["proxmox.yaml"]["guests"]["gpu-pve44"]["roles"] == ["alpha", "chat"]


def test_a_bare_node_is_a_host_without_labels() -> None:
    answer = PlacementPlan((Assignment("chat", "bare1", 0, slots=("chat",)),))
    found = documents(
        fleet(
            node("bare1", gpu(0), address="10.0.0.9"), roles=roles(role("chat", slots=(slot("chat", 1),))), plan=answer
        )
    )
    assert found["registry.yaml"]["slots"]["chat"]["endpoints"] == [
        {"backend": "host", "node": "bare1", "host": "10.0.0.9", "port": 1, "gpu_indices": [0]}
    ]


def test_a_proxmox_node_without_a_gpu_vm_answers_itself() -> None:
    answer = PlacementPlan((Assignment("embedding", "pve44", 1, slots=("embed",)),))
    found = documents(fleet(plan=answer, platform=ground(gpu_vm=None)))["registry.yaml"]
    assert found["slots"]["embed"]["endpoints"] == [
        {
            "backend": "host",
            "node": "pve44",
            "host": "192.168.100.44",
            "port": 8080,
            "gpu_indices": [1],
            "labels": {"pve_node": "pve44"},
        }
    ]
    assert schema.check("registry", "registry.yaml", found) == ()


def test_a_linux_worker_outside_the_cluster_has_no_labels_either() -> None:
    answer = PlacementPlan((Assignment("chat", "bare1", 0, slots=("chat",)),))
    ground_ = ground(workers={"bare1": Worker("bare1", "worker.sh")})
    some = roles(role("chat", slots=(slot("chat"),)))
    (endpoint,) = documents(fleet(node("bare1", gpu(0)), roles=some, plan=answer, platform=ground_))["registry.yaml"][
        "slots"
    ]["chat"]["endpoints"]
    assert (endpoint["backend"], "labels" in endpoint, "host" in endpoint) == ("worker", False, False)


def test_roles_that_alternate_on_a_card_are_marked() -> None:
    some = roles(
        role("flex", slots=(slot("flex"),)),
        role("night", share_with="flex", slots=(slot("night"),)),
        role("tts", share_with="flex", share_mode="concurrent", slots=(slot("tts"),)),
        role("training", share_with="flex"),
    )
    answer = PlacementPlan(tuple(Assignment(name, "GODE-PC-05", 0) for name in sorted(some)))
    slots = documents(fleet(roles=some, plan=answer))["registry.yaml"]["slots"]
    assert [(name, one["excludes"], one["excludes_roles"], one["concurrent"]) for name, one in slots.items()] == [
        ("flex", ["night"], ["training"], ["tts"]),
        ("night", ["flex", "tts"], ["training"], []),
        ("tts", ["night"], ["training"], ["flex"]),
    ]
