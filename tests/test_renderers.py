"""Plan to files (design §5): data literally, then what holds for all texts, then the readers of these files."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knaster import document, schema
from knaster.cluster import Worker
from knaster.emitter import dump
from knaster.placement.result import Assignment, DisabledGpu, PlacementPlan, Reason, Unplaced
from knaster.renderers import KINDS, RENDERERS, documents, placement_from, render
from knaster.renderers.known import HEAD
from knaster.renderers.placement import placement
from tests.builders import gpu, gpu_vm, node, pci, role, roles, slot
from tests.fleet import PLACEMENT, PROXMOX, REGISTRY, TFVARS, cards, fleet, ground, nodes, plan

DIGEST = "sha256:" + "a" * 64
VARIABLES = "tofu/knaster.auto.tfvars.json"


def texts(**more: Any) -> dict[str, str]:
    """All files of a fleet."""
    return render(documents(fleet(**more)), input_digest=DIGEST, version="0.1.0")


def every(value: Any) -> list[Any]:
    """The value and everything in it."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [value, *(deep for one in inner for deep in every(one))]


# -- the data of each file


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


# -- what holds for all of them


def test_the_files() -> None:
    assert list(texts()) == ["manifest.json", "placement.yaml", "proxmox.yaml", "registry.yaml", VARIABLES]
    assert {path for path, _ in RENDERERS} | {"manifest.json"} == set(KINDS)


def test_nothing_is_null_even_where_facts_are_unknown() -> None:
    unknown = (
        node("pve-x", gpu(0, None, None, name=None), platform="proxmox"),
        node("ws", gpu(0, None, None, name=None, disabled=True), platform="workstation", memory_gb=None),
    )
    answer = PlacementPlan(
        assignments=(Assignment("tts-de", "ws"), Assignment("gpu-flex", "pve-x", 0, guest="gpu-pve-x")),
        disabled_gpus=(DisabledGpu("ws", 0, None, None),),
    )
    found = documents(fleet(*unknown, plan=answer))
    assert not [path for path, data in found.items() if None in every(data)]
    assert "vmid" not in found[VARIABLES]["vms"]["gpu-pve-x"]
    assert found["placement.yaml"]["disabled_gpus"] == [{"node": "ws", "gpu_index": 0}]


@pytest.mark.parametrize("path", [path for path, _ in RENDERERS])
def test_each_file_is_accepted_by_its_schema(path: str) -> None:
    assert schema.check(KINDS[path], path, documents(fleet())[path]) == ()


def test_the_manifest_is_accepted_by_its_schema() -> None:
    assert schema.check("manifest", "manifest.json", json.loads(texts()["manifest.json"])) == ()


def in_order(value: Any, rules: Any) -> bool:
    """Whether the keys of every mapping in `value` stand in the order of the schema."""
    if isinstance(value, list):
        return all(in_order(one, rules["items"]) for one in value)
    if not isinstance(value, dict):
        return True
    if "properties" not in rules:
        return all(in_order(one, rules["additionalProperties"]) for one in value.values())
    known = [key for key in rules["properties"] if key in value]
    return list(value) == known and all(in_order(value[key], rules["properties"][key]) for key in known)


@pytest.mark.parametrize("path", list(KINDS))
def test_keys_stand_in_the_order_of_the_schema(path: str) -> None:
    data = json.loads(texts()[path]) if path.endswith(".json") else documents(fleet())[path]
    assert in_order(data, schema.schema(KINDS[path]))


def test_text_is_quoted_and_nothing_else_is() -> None:
    """A value after ``key: `` or ``- `` is a quoted text, a number, a boolean, or an empty list or mapping."""
    plain = re.compile(r'"(?:[^"\\]|\\.)*"|true|false|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?|\[\]|\{\}')
    values = []
    for path in ("placement.yaml", "proxmox.yaml", "registry.yaml"):
        for line in texts()[path].splitlines():
            value = re.sub(r'^(?:#.*|\s*(?:- )*(?:(?:"[^"]*"|[A-Za-z0-9_.-]+):(?: |$))?)', "", line)
            values += [value] if value else []
    assert [value for value in values if not plain.fullmatch(value)] == []
    assert {'"pve44"', "244", "0.55", "[]"} <= set(values)


def test_each_text_reads_back_as_its_data() -> None:
    found = documents(fleet())
    for path, text in texts().items():
        if path.endswith(".yaml"):
            parsed, problems = document.parse(path, text)
            assert parsed is not None
            assert (parsed.data, problems) == (found[path], ())
    assert json.loads(texts()[VARIABLES]) == TFVARS


def test_texts_end_in_one_line_feed_and_hold_no_carriage_return() -> None:
    for text in texts().values():
        assert text.endswith("\n")
        assert not text.endswith("\n\n")
        assert "\r" not in text


def test_yaml_begins_with_a_constant_head_that_names_the_command() -> None:
    head = "".join(f"# {line}\n" for line in HEAD.splitlines())
    assert "`knaster render`" in head
    for path in ("placement.yaml", "proxmox.yaml", "registry.yaml"):
        assert texts()[path].startswith(head)
        assert texts(plan=PlacementPlan())[path].startswith(head)


def test_json_names_the_command_in_the_one_key_that_its_readers_ignore() -> None:
    for path in ("manifest.json", VARIABLES):
        assert next(iter(json.loads(texts()[path]).items())) == ("//", TFVARS["//"])


def test_only_the_manifest_knows_digest_and_version() -> None:
    found = documents(fleet())
    one = render(found, input_digest=DIGEST, version="0.1.0")
    other = render(found, input_digest="sha256:" + "b" * 64, version="0.2.0")
    assert [path for path in one if one[path] != other[path]] == ["manifest.json"]
    assert [path for path in one if "sha256:" in one[path]] == ["manifest.json"]


def test_the_manifest_holds_the_sha256_of_each_other_file() -> None:
    made = texts()
    manifest = json.loads(made.pop("manifest.json"))
    assert manifest == {
        "//": TFVARS["//"],
        "version": 1,
        "tool_version": "0.1.0",
        "input_digest": DIGEST,
        "files": {path: "sha256:" + hashlib.sha256(text.encode()).hexdigest() for path, text in made.items()},
    }


def test_two_changes_of_different_things_never_touch_the_same_line_of_a_file() -> None:
    """One pull request changes a VM, another the plan: what each changes in the other's file is nothing."""
    base, sized, moved = texts(), texts(platform=ground(gpu_vm=gpu_vm(memory_gb=16))), texts(plan=PlacementPlan())
    assert [path for path in base if base[path] != sized[path]] == ["manifest.json", "proxmox.yaml", VARIABLES]
    assert [path for path in base if base[path] != moved[path]] == [
        "manifest.json",
        "placement.yaml",
        "proxmox.yaml",
        "registry.yaml",
    ]
    lines = [text["proxmox.yaml"].splitlines() for text in (base, sized)]
    assert [(old.strip(), new.strip()) for old, new in zip(*lines, strict=True) if old != new] == [
        ("memory_mib: 12288", "memory_mib: 16384")
    ]


# -- the placement comes back

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8) | st.sampled_from(
    [
        "NO",
        "y",
        "on",
        "~",
        "null",
        "1e3",
        "08",
        "0x1f",
        "70e4411",
        "2026-1-2",
        "1:30",
        "=",
        "<<",
        "- a",
        "a: b",
        "#",
        '"',
        "é",
    ]
)
NAMES = st.lists(TEXT, unique=True, max_size=3).map(lambda names: tuple(sorted(names)))
INDEX = st.integers(0, 255)
ASSIGNMENTS = st.builds(Assignment, TEXT, TEXT, st.none() | INDEX, NAMES, st.none() | TEXT, st.none() | TEXT, NAMES)
PLANS = st.builds(
    PlacementPlan,
    st.lists(ASSIGNMENTS, max_size=4).map(tuple),
    st.lists(st.builds(Unplaced, TEXT, TEXT, st.just(Reason())), max_size=3).map(tuple),
    st.lists(st.builds(DisabledGpu, TEXT, INDEX, st.none() | TEXT, st.none() | TEXT), max_size=3).map(tuple),
)


@given(PLANS)
def test_render_then_load_is_the_identity(answer: PlacementPlan) -> None:
    parsed, problems = document.parse("placement.yaml", dump(placement(replace(fleet(), plan=answer)), HEAD))
    assert parsed is not None
    assert problems == ()
    assert placement_from(parsed.data) == answer


def test_only_the_detail_of_a_reason_is_not_in_the_file() -> None:
    answer = PlacementPlan(unplaced=(Unplaced("chat", "0/3 GPUs fit", Reason(total=3)),))
    assert placement_from(placement(replace(fleet(), plan=answer))) == PlacementPlan(
        unplaced=(Unplaced("chat", "0/3 GPUs fit", Reason()),)
    )
    assert placement_from(PLACEMENT) == plan()
