"""One input field changes only what it should, in the files that the registry, LiteLLM, Ansible and Prometheus read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from knaster.pipeline import evaluate
from tests.consumer_fleets import own

REGISTRY, LITELLM, HOSTS = "registry.yaml", "litellm.yaml", "ansible/hosts.yaml"
NODES, GUESTS, GPUS, SLOTS = (f"prometheus/{job}.json" for job in ("nodes", "guests", "gpus", "slots"))
BOTH = {REGISTRY, LITELLM}
MINE = (REGISTRY, LITELLM, HOSTS, NODES, GUESTS, GPUS, SLOTS)
PVE44, PC5, PVE61 = "inventory/pve44.yaml", "inventory/GODE-PC-05.yaml", "inventory/pve61.yaml"
MODELS, ROLES, PLATFORM = "catalog/models.yaml", "catalog/roles.yaml", "catalog/platform.yaml"

TABLE: list[tuple[str, str, str, str, set[str]]] = [
    ("a cpu fact", PVE44, "cores: 6, threads: 12", "cores: 8, threads: 16", set()),
    ("memory of a node", PVE44, "memory_gb: 32", "memory_gb: 64", set()),
    ("the reason of a disabled card", PVE44, "Back only after", "Back after", set()),
    ("the address of a Proxmox node", PVE44, "192.168.100.44", "192.168.100.144", {HOSTS, NODES}),
    ("the address of a workstation", PC5, "192.168.100.105", "192.168.100.115", set(MINE) - {GUESTS}),
    ("a group", PVE61, "groups: [kiosk]", "groups: [kiosk, hall]", {HOSTS}),
    ("a node is cordoned", PVE61, "cpu_roles: false", "cpu_roles: false\nstate: cordoned\nreason: \"x\"", {HOSTS}),
    ("the context of a model in use", MODELS, "context: 16384", "context: 8192", BOTH),
    ("LoRA of a model in use", MODELS, "    context: 16384\n", "    context: 16384\n    lora: true\n", {REGISTRY}),
    ("a model that fits nowhere", MODELS, "source: Qwen/Qwen3-Embedding-8B", "source: Qwen/other", set()),
    ("a figure", MODELS, "value: 12,", "value: 13,", {REGISTRY}),
    ("the metrics of an engine", MODELS, "    metrics: /metrics\n  vllm", "    metrics: /m\n  vllm", {SLOTS}),
    ("the port of a slot", ROLES, "port: 8083", "port: 8183", {REGISTRY, LITELLM, SLOTS}),
    ("the port of a worker's slot", ROLES, "port: 8084", "port: 8184", {REGISTRY, LITELLM, SLOTS}),
    ("a fallback", ROLES, "port: 8085, fallback: [tier1-general, tier0]", "port: 8085, fallback: [tier0]", BOTH),
    ("a share of VRAM", ROLES, "alone: 1, shared: 0.55", "alone: 1, shared: 0.5", {REGISTRY}),
    ("a description", ROLES, "The general LLM.", "The LLM.", set()),
    ("the model of a slot", ROLES, "port: 8081, model: bge-m3-f16", "port: 8081, model: bge-m3-q8_0", BOTH),
    ("the memory of a VM", PLATFORM, "memory_gb: 12\n  cores: 6", "memory_gb: 14\n  cores: 6", set()),
    ("a driver version", PLATFORM, 'version: "580.95.05", min_cc', 'version: "580.105.08", min_cc', {HOSTS}),
    ("a replication target", PLATFORM, '      - {target: pve48, schedule: "*/15"}\n', "", {HOSTS}),
    ("a service", PLATFORM, "n8n, piper", "n8n, ntfy, piper", {HOSTS}),
    ("the address of a container", PLATFORM, "192.168.100.221", "192.168.100.223", BOTH | {HOSTS, GUESTS}),
    ("the id of a container", PLATFORM, "vmid: 101", "vmid: 102", {REGISTRY, HOSTS, GUESTS}),
    ("the address of tier0", PLATFORM, "url: \"https://litellm.example", "url: \"https://t0.example", BOTH),
    ("the model of tier0", PLATFORM, "  tier0:\n", "  tier0:\n    model: gpt-oss\n", BOTH),
    ("the port of an exporter", PLATFORM, "external:\n", "exporters: {gpu: 9400}\nexternal:\n", {GPUS}),
    ("the port of another", PLATFORM, "external:\n", "exporters: {node: 9101}\nexternal:\n", {NODES, GUESTS}),
    ("a worker's program", PLATFORM, "PC-05: {program: LocalLLMWorker.ps1}", "PC-05: {program: W2.ps1}", {REGISTRY}),
    ("an assumption", PLATFORM, "One VM per GPU node; the decision", "One VM per GPU node: the decision", set()),
]  # fmt: skip


def mine(files: Mapping[str, str]) -> dict[str, Any]:
    """The data of these files, from inputs without an error."""
    found = evaluate(files)
    assert found.ok, [one.message for one in found.diagnostics if one.severity == "error"]
    return {path: found.documents[path] for path in MINE}


@pytest.mark.parametrize(("what", "file", "old", "new", "expected"), TABLE, ids=[row[0] for row in TABLE])
def test_a_field_changes_the_files_that_it_should(what: str, file: str, old: str, new: str, expected: set[str]) -> None:
    before = own()
    assert before[file].count(old) >= 1, f"{what}: the fleet has no such text"
    after = before | {file: before[file].replace(old, new, 1)}
    then, now = mine(before), mine(after)
    assert {path for path in MINE if then[path] != now[path]} == expected


def differences(then: Any, now: Any, route: str = "") -> set[str]:
    """The routes of all values that differ."""
    if isinstance(then, dict) and isinstance(now, dict):
        return {
            found
            for key in then.keys() | now.keys()
            for found in differences(then.get(key), now.get(key), f"{route}/{key}")
        }
    return set() if then == now else {route}


def test_a_driver_version_changes_that_one_variable_of_each_gpu_vm() -> None:
    before = own()
    after = before | {PLATFORM: before[PLATFORM].replace('version: "580.95.05"', 'version: "580.105.08"')}
    assert differences(mine(before)[HOSTS], mine(after)[HOSTS]) == {
        f"/all/hosts/gpu-pve{number}/knaster_driver/version" for number in (44, 46, 48, 52)
    }


def test_a_new_node_is_new_and_changes_no_other() -> None:
    before = own()
    node = before[PVE61].replace("pve61", "pve62").replace("192.168.100.61", "192.168.100.62")
    after = before | {"inventory/pve62.yaml": node}
    then, now = mine(before), mine(after)
    assert differences(then[HOSTS], now[HOSTS]) == {
        "/all/hosts/pve62",
        *(f"/all/children/{group}/hosts/pve62" for group in ("pve_hosts", "pve_kiosk", "kiosk")),
    }
    assert {path for path in MINE if then[path] != now[path]} == {HOSTS, NODES}
    (added,) = [one for one in now[NODES]["groups"] if one not in then[NODES]["groups"]]
    assert added["targets"] == ["192.168.100.62:9100"]
