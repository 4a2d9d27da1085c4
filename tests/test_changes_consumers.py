"""What is told of files that consumers read: with the slot, guest, node or model it follows from, else in one line."""

from __future__ import annotations

import pytest
from hypothesis import given

from knaster.changes import Comparison, compare
from knaster.changes.objects import EXCLUDE, HOSTS, LITELLM, TARGETS
from knaster.pipeline import Evaluation, evaluate
from tests.compared import pairs
from tests.consumer_fleets import own
from tests.test_changes import told
from tests.test_changes_closed import MANY
from tests.test_consumer_changes import MODELS, PC5, PLATFORM, PVE44, PVE61, ROLES

OF_CONSUMERS = {LITELLM, HOSTS, EXCLUDE, *TARGETS}


def compared(before: dict[str, str], after: dict[str, str]) -> Comparison:
    """Both fleets, the newer one on top of the older."""
    old = evaluate(before)
    assert old.planned is not None
    return compare(old, evaluate(after, old.planned.plan, like=old))


def edited(path: str, old: str, new: str) -> Comparison:
    """What one edit does."""
    texts = own()
    assert old in texts[path]
    return compared(texts, texts | {path: texts[path].replace(old, new)})


@pytest.mark.parametrize(
    ("path", "old", "new", "expected"),
    [
        (PVE44, "192.168.100.44", "192.168.100.144", ("node", "pve44", "address 192.168.100.44 → 192.168.100.144")),
        (PVE44, "memory_gb: 32", "memory_gb: 64", ("node", "pve44", "memory 32 → 64 GiB")),
        (PVE44, "source: assumed\n", "", ("node", "pve44", "its facts are collected now, assumed before")),
        (PVE61, "cpu_roles: false", "cpu_roles: false\nstate: cordoned", ("node", "pve61", "is cordoned now")),
        (PVE61, "groups: [kiosk]", "groups: [kiosk, hall]", ("node", "pve61", "joins Ansible's group hall")),
        (MODELS, "    context: 16384\n", "    context: 8192\n", ("model", "qwen3-14b-q4_k_m", "context 16384 → 8192")),
        (MODELS, "vram_gb: 10.89", "vram_gb: 10.9", ("model", "qwen3-14b-q4_k_m", "vram_gb 10.89 → 10.9")),
        (
            ROLES,
            "port: 8084",
            "port: 8184",
            ("slot", "tier1-general", "answers at 192.168.100.105:8184 instead of 192.168.100.105:8084"),
        ),
        (
            PLATFORM,
            "PC-05: {program: LocalLLMWorker.ps1}",
            "PC-05: {program: W2.ps1}",
            ("slot", "tier1-general", "worker program LocalLLMWorker.ps1 → W2.ps1"),
        ),
        (
            PLATFORM,
            "litellm.example.internal",
            "t0.example.internal",
            ("external", "tier0", "changes: url https://litellm.example.internal/v1 → https://t0.example.internal/v1"),
        ),
        (
            PLATFORM,
            '      - {target: pve48, schedule: "*/15"}\n',
            "",
            ("guest", "infra", "changes in place: replication -pve48 (*/15)"),
        ),
    ],
)
def test_one_edit_is_one_line(path: str, old: str, new: str, expected: tuple[str, str, str]) -> None:
    assert [one[1:4] for one in told(edited(path, old, new))] == [expected]


def test_the_address_of_a_workstation_is_told_once_by_its_slot() -> None:
    (change,) = edited(PC5, "192.168.100.105", "192.168.100.115").changes
    assert (change.kind, change.name) == ("slot", "tier1-general")
    assert {one.file for one in change.covers} >= {"registry.yaml", LITELLM, HOSTS, "prometheus/nodes.json"}


def test_another_port_of_an_exporter_is_one_line_for_all_hosts() -> None:
    """The real fleet has four GPU VMs and two workstations with cards; of seven nodes two are on Windows."""
    found = edited(PLATFORM, "external:\n", "exporters: {gpu: 9400}\nexternal:\n")
    line = "asks for metrics on port 9400 instead of 9835"
    assert told(found) == [("update", "setting", "prometheus/gpus.json", line, "")]
    assert len(found.changes[0].covers) == 6
    both = edited(PLATFORM, "external:\n", "exporters: {node: 9111, windows: 9222}\nexternal:\n")
    assert {one[2]: one[3] for one in told(both)} == {
        "prometheus/guests.json": "asks for metrics on port 9111 instead of 9100",
        "prometheus/nodes.json": (
            "asks for metrics on port 9222 instead of 9182; asks for metrics on port 9111 instead of 9100"
        ),
    }


def test_another_os_brings_another_exporter_and_is_told_by_its_node() -> None:
    found = edited(PC5, "os: windows", "os: linux")
    assert [one for one in found.changes if one.kind == "setting"] == []
    (node,) = (one for one in found.changes if (one.kind, one.name) == ("node", "GODE-PC-05"))
    assert "prometheus/nodes.json" in {one.file for one in node.covers}


def test_the_name_of_a_group_is_known_as_a_name() -> None:
    """So that a report can set it apart from the words around it."""
    found = edited(PVE61, "groups: [kiosk]", "groups: [kiosk, hall]")
    assert {"kiosk", "hall", "tank"} <= found.names


def test_other_metrics_of_an_engine_are_told_by_slot() -> None:
    found = told(edited(MODELS, "    metrics: /metrics\n  vllm", "    metrics: /m\n  vllm"))
    assert {one[1] for one in found} == {"slot"}
    assert {one[3] for one in found} == {"shows its metrics at /m instead of /metrics"}


def test_a_node_that_is_down_takes_its_guests_out_of_plans() -> None:
    found = edited(PVE44, "name: pve44\n", "name: pve44\nstate: down\nreason: fan\n")
    (node,) = (one for one in found.changes if one.kind == "node")
    assert (node.name, node.effect.value, node.summary, node.cause) == (
        "pve44",
        "update",
        "is down; plans leave out gpu-pve44",
        "fan",
    )
    assert EXCLUDE in {one.file for one in node.covers}


def test_a_node_that_joins_brings_all_its_groups_and_targets() -> None:
    node = own()[PVE61].replace("pve61", "pve62").replace("192.168.100.61", "192.168.100.62")
    (change,) = compared(own(), own() | {"inventory/pve62.yaml": node}).changes
    assert (change.kind, change.name, change.summary) == ("node", "pve62", "joins the Proxmox cluster")


def test_to_retire_a_guest_that_is_gone_already_destroys_it_and_the_end_of_it_is_only_recorded() -> None:
    retired = own()
    retired[PLATFORM] = retired[PLATFORM].replace("external:\n", "retire: [old]\nexternal:\n")
    text = "is under `retire` now: if it still exists, it is destroyed with its data"
    assert told(compared(own(), retired)) == [("destroy", "guest", "old", text, "")]
    assert told(compared(retired, own())) == [("record", "guest", "old", "is no longer under `retire`", "")]


def test_another_user_is_for_new_vms_and_for_ansible_at_once() -> None:
    found = told(edited(PLATFORM, "external:\n", "access: {user: ops}\nexternal:\n"))
    assert (
        "update",
        "setting",
        "ansible/hosts.yaml: gpu_vms",
        "Ansible logs in as ops instead of ubuntu; VMs that exist keep ubuntu, and know no ops until it is made",
        "",
    ) in found
    assert {one[3] for one in found if one[1] == "guest"} == {
        "changes in place: user ubuntu → ops (of VMs made from now on; this one keeps ubuntu, and Ansible logs in as "
        "ops)"
    }


def test_a_container_that_replicates_stays_where_it_runs() -> None:
    node = own()[PLATFORM].partition("  infra:\n")[2].partition("node: ")[2].partition("\n")[0].split(",")[0]
    found = edited(PLATFORM, f"  infra:\n    node: {node}", "  infra:\n    node: pve46")
    (change,) = (one for one in found.changes if one.kind == "guest" and one.name == "infra")
    assert change.effect.value == "update"
    assert f"node {node} → pve46 (it stays where it runs)" in change.summary


def test_no_secret_among_the_arguments_of_a_model_is_in_a_sentence() -> None:
    line = '    context: 16384\n    args: ["--api-key", "hunter2hunter2"]\n'
    assert "hunter2" not in str(told(edited(MODELS, "    context: 16384\n", line)))


@MANY
@given(pairs())
def test_what_only_consumers_read_is_told_in_short_sentences(both: tuple[Evaluation, Evaluation]) -> None:
    for change in compare(*both).changes:
        if {one.file for one in change.covers} <= OF_CONSUMERS:
            assert len(change.summary) <= 120
            assert "{" not in change.summary
