"""Repositories for OpenTofu: one to change field by field, and five of other shapes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from knaster.files import Files
from tests import repo

PLATFORM = (
    repo.PLATFORM.replace("    storage: local-lvm\n    template", "    storage: tank\n    template")
    .replace("    services: [piper]", '    services: [piper]\n    replication: [{target: pve46, schedule: "*/15"}]')
    .replace(
        "storage:\n  local-lvm: {type: lvmthin}",
        """\
  ops:
    node: pve46
    vmid: 100
    address: "192.168.100.220"
    memory_gb: 4
    cores: 2
    disk_gb: 32
    storage: local-lvm
    template: "local:vztmpl/debian-13-standard_13.1-2_amd64.tar.zst"
    exists: true
storage:
  local-lvm: {type: lvmthin}
  tank: {type: zfspool}""",
    )
)

PVE46 = """\
name: pve46
platform: proxmox
cpu: {model: "Intel Xeon E5-1650 v3", cores: 6, threads: 12}
memory_gb: 64
disks: []
gpus:
  - index: 0
    name: "Quadro P2000"
    memory_gb: 5
    compute_cap: 6.1
    pci: {address: "0000:03:00.0", id: "10de:1c30", subsystem_id: "10de:11b3", iommu_group: 29}
"""

PVE61 = """\
name: pve61
platform: proxmox
cpu_roles: false
cpu: {model: "Intel Core i5-8500T", cores: 6, threads: 6}
memory_gb: 16
disks: []
gpus: []
"""

BASE: Files = {
    **repo.files(platform=PLATFORM),
    "inventory/pve46.yaml": PVE46,
    "inventory/pve61.yaml": PVE61,
}
"""pve44 (M4000, disabled; P2000; infra, which replicates), pve46 (P2000; ops, which exists), pve61 (no cards)."""


def edited(*edits: tuple[str, str, str], files: Files = BASE) -> dict[str, Any]:
    """`files` with (path, old, new) replaced, each at its first spot; an old text that is not there is a mistake."""
    found = dict(files)
    for path, old, new in edits:
        text = found.get(path, "")
        assert isinstance(text, str)
        assert old in text, f"{path} has no {old!r}"
        found[path] = text.replace(old, new, 1)
    return found


def real() -> Files:
    """The fleet that this repository ships."""
    root = Path(__file__).parent.parent
    folders = ("inventory", "catalog")
    return {
        f"{folder}/{path.name}": path.read_text("utf-8")
        for folder in folders
        for path in (root / folder).glob("*.yaml")
    }


def _node(name: str, *cards: dict[str, Any], **more: Any) -> str:
    """A node with these cards. JSON is YAML."""
    base = {
        "name": name,
        "platform": "proxmox",
        "cpu": {"model": "EPYC", "cores": 16, "threads": 32},
        "memory_gb": 256,
        "disks": [],
    }
    gpus = [{"index": at, "memory_gb": 20, "compute_cap": 8.9, **card} for at, card in enumerate(cards)]
    return json.dumps({**base, "gpus": gpus, **more})


def _card(name: str, bus: int, id_: str = "10de:27b2", **more: Any) -> dict[str, Any]:
    pci = {"address": f"0000:{bus:02x}:00.0", "id": id_, "subsystem_id": "10de:181b", "iommu_group": bus}
    return {"name": name, "pci": pci, **more}


def _fleet(*nodes: str, platform: str = PLATFORM, roles: str = "roles: {}\n") -> Files:
    files = {"catalog/models.yaml": repo.MODELS, "catalog/roles.yaml": roles, "catalog/platform.yaml": platform}
    return {**files, **{f"inventory/{json.loads(text)['name']}.yaml": text for text in nodes}}


ADA = "NVIDIA RTX 4000 Ada Generation"

# One VM per node and no containers, in a network with room for forty.
GPU_ONLY = (
    PLATFORM.split("guests:\n", maxsplit=1)[0]
    .replace('"192.168.100.0/24"', '"10.1.0.0/16"')
    .replace('"192.168.100.1"', '"10.1.0.1"')
    .replace('{first: "192.168.100.220", last: "192.168.100.239"}', '{first: "10.1.1.1", last: "10.1.1.250"}')
    .replace('"192.168.100.180"', '"10.1.1.0"')
    + "storage:\n  local-lvm: {type: lvmthin}\n"
)

FLEETS: dict[str, Files] = {
    "one node": _fleet(_node("pve1", _card(ADA, 1)), platform=GPU_ONLY),
    "40 nodes": _fleet(*(_node(f"pve{at}", _card(ADA, 1)) for at in range(1, 41)), platform=GPU_ONLY),
    "twin and quadruple cards": _fleet(
        _node("pve1", *(_card(ADA, bus) for bus in (2, 1))),
        _node("pve2", *(_card(ADA, bus) for bus in (0x41, 1, 0x81, 0xC1))),
        platform=GPU_ONLY,
    ),
    "11 cards": _fleet(_node("pve1", *(_card(f"Card {at}", at + 1) for at in range(11))), platform=GPU_ONLY),
    "mixed generations": _fleet(
        _node(
            "pve1",
            _card("Quadro M4000", 1, "10de:13f1", memory_gb=8, compute_cap=5.2),
            _card("Quadro P2000", 2, "10de:1c30", memory_gb=5, compute_cap=6.1),
            _card(ADA, 3),
        ),
        platform=GPU_ONLY,
    ),
    "no Proxmox": _fleet(
        _node("ws1", {"name": ADA}, platform="workstation", os="windows", cpu_roles=False, address="10.1.0.9"),
        platform=GPU_ONLY.split("gpu_vm:", maxsplit=1)[0],
    ),
}
"""Six fleets of other shapes."""
