"""Ansible itself reads ``ansible/hosts.yaml``: groups, hosts and variables, of every fleet (design §5)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.consumer_fleets import FLEETS, evaluated, generated
from tests.programs import ansible, lay

Data = dict[str, Any]

OURS = {
    "pve_hosts",
    "pve_gpu_hosts",
    "pve_kiosk",
    "bare_hosts",
    "workstations",
    "guests",
    "gpu_vms",
    "lxc_guests",
}


def listed(folder: Path, name: str) -> tuple[dict[str, list[str]], Data]:
    """Members of each group, and the variables of each host, as ansible-inventory tells them."""
    lay(folder, generated(name))
    done = ansible("ansible-inventory", folder, "-i", "ansible/hosts.yaml", "--list")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    variables = found.pop("_meta")["hostvars"]
    return {group: sorted(data.get("hosts", ())) for group, data in found.items()}, variables


@pytest.mark.parametrize("name", FLEETS)
def test_every_machine_and_guest_arrives_in_its_groups(name: str, tmp_path: Path) -> None:
    groups, variables = listed(tmp_path, name)
    planned = evaluated(name).planned
    assert planned is not None
    nodes, guests = planned.cluster.nodes, planned.guests
    assert sorted(variables) == sorted([*(node.name for node in nodes), *(guest.name for guest in guests)])
    expected = {
        "pve_hosts": [node.name for node in nodes if node.platform == "proxmox"],
        "pve_gpu_hosts": [node.name for node in nodes if node.platform == "proxmox" and node.gpus],
        "workstations": [node.name for node in nodes if node.platform == "workstation"],
        "guests": [guest.name for guest in guests],
        "gpu_vms": [guest.name for guest in guests if guest.cards],
        "lxc_guests": [guest.name for guest in guests if not guest.cards],
    }
    assert {group: groups.get(group, []) for group in expected} == {
        group: sorted(members) for group, members in expected.items()
    }


@pytest.mark.parametrize("name", FLEETS)
def test_a_group_without_members_is_there_all_the_same(name: str) -> None:
    children = evaluated(name).documents["ansible/hosts.yaml"]["all"]["children"]
    assert set(children) >= OURS
    assert all(isinstance(group["hosts"], dict) for group in children.values())


def test_this_fleet(tmp_path: Path) -> None:
    groups, variables = listed(tmp_path, "own")
    assert groups["pve_gpu_hosts"] == ["pve44", "pve46", "pve48", "pve52"]
    assert groups["pve_kiosk"] == groups["kiosk"] == ["pve61"]
    assert groups["workstations"] == ["GODE-PC-05", "GODE-PC-06"]
    assert groups["guests"] == ["gpu-pve44", "gpu-pve46", "gpu-pve48", "gpu-pve52", "infra", "ops"]
    assert variables["pve44"] == {
        "ansible_host": "192.168.100.44",
        "ansible_user": "root",
        "knaster_kind": "proxmox",
        "knaster_os": "linux",
        "knaster_state": "active",
    }
    assert variables["GODE-PC-05"] == {
        "ansible_host": "192.168.100.105",
        "knaster_kind": "workstation",
        "knaster_os": "windows",
        "knaster_state": "active",
    }
    assert variables["gpu-pve44"] == {
        "ansible_host": "192.168.100.224",
        "ansible_user": "ubuntu",
        "knaster_kind": "vm",
        "pve_node": "pve44",
        "vmid": 244,
        "knaster_roles": ["embedding"],
        "knaster_driver": {"generation": "legacy", "branch": "R580", "version": "580.95.05", "cards": 2},
        "knaster_mappings": ["gpu-m4000-pve44", "gpu-p2000-pve44"],
        "knaster_replication": [],
    }
    assert variables["infra"] == {
        "ansible_host": "192.168.100.221",
        "ansible_user": "root",
        "knaster_kind": "lxc",
        "pve_node": "pve52",
        "vmid": 101,
        "knaster_roles": ["tts-de"],
        "knaster_services": ["litellm", "monitoring", "n8n", "piper", "postgres", "router"],
        "knaster_replication": [
            {"target": "pve44", "schedule": "*/15"},
            {"target": "pve48", "schedule": "*/15"},
        ],
    }


def test_eleven_cards_keep_the_order_of_their_slots(tmp_path: Path) -> None:
    variables = listed(tmp_path, "eleven cards")[1]
    twins = [f"gpu-p2000-pve7-{number}" for number in range(2, 12)]
    assert variables["gpu-pve7"]["knaster_mappings"] == ["gpu-p2000-pve7", *twins]


def test_group_vars_beside_a_playbook_say_who_logs_in(tmp_path: Path) -> None:
    lay(tmp_path, generated("own") | {"group_vars/pve_hosts.yml": "ansible_user: ops\n"})
    lay(tmp_path, {"play.yml": "- {hosts: pve44, gather_facts: false, tasks: [{debug: {var: ansible_user}}]}\n"})
    hosts = ("-i", "ansible/hosts.yaml")
    done = ansible("ansible-playbook", tmp_path, *hosts, "play.yml", "-e", "ansible_connection=local")
    assert '"ansible_user": "ops"' in done.stdout, done.stdout + done.stderr
