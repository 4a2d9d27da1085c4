"""The fleets that the readers of ``generated/`` are tried on: this repository's own, and nine others as texts.

Numbers of the made fleets: node ``pveN`` is 10.0.0.N, its GPU VM has id 1000 + N and address 10.1.0.N.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from knaster.pipeline import Evaluation, evaluate

ROOT = Path(__file__).parent.parent
Data = dict[str, Any]

CARDS: dict[str, Data] = {
    "Quadro M4000": {"memory_gb": 8, "compute_cap": 5.2, "id": "10de:13f1"},
    "Quadro P2000": {"memory_gb": 5, "compute_cap": 6.1, "id": "10de:1c30"},
    "NVIDIA RTX 4000 Ada Generation": {"memory_gb": 20, "compute_cap": 8.9, "id": "10de:27b2"},
    "NVIDIA GeForce RTX 5090": {"memory_gb": 32, "compute_cap": 12.0, "id": "10de:2b85"},
    "Radeon RX 7900 XTX": {"memory_gb": 24, "compute_cap": None, "id": "1002:744c"},
}
M4000, P2000, ADA, RTX5090, RADEON = CARDS


def own() -> dict[str, str]:
    """This repository's own inputs."""
    folders = ("inventory", "catalog")
    return {
        str(path.relative_to(ROOT)): path.read_text("utf-8")
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*.yaml"))
    }


def on_linux() -> dict[str, str]:
    """This repository's fleet after the workstations were changed to Linux."""
    return {
        path: text.replace("\nos: windows\n", "\nos: linux\n") if path.startswith("inventory/GODE-PC") else text
        for path, text in own().items()
    }


def in_the_cluster() -> dict[str, str]:
    """This repository's fleet after both Ada cards went from the workstations into Proxmox nodes."""
    files = {path: text for path, text in own().items() if not path.startswith("inventory/GODE-PC")}
    platform = "catalog/platform.yaml"
    workers = re.compile(r"^workers:\n(?:  .*\n)+", re.MULTILINE)
    files[platform] = workers.sub("", files[platform])
    for number in (49, 50):
        node = machine(f"pve{number}", ADA, address=f"192.168.100.{number}")
        files[f"inventory/pve{number}.yaml"] = json.dumps(node, indent=1)
    return files


def machine(name: str, *cards: str, **more: Any) -> Data:
    """A node with these cards; a Proxmox node unless `more` says so."""
    number = int("".join(filter(str.isdigit, name)))
    gpus = [
        {
            "index": index,
            "name": card,
            "memory_gb": CARDS[card]["memory_gb"],
            "compute_cap": CARDS[card]["compute_cap"],
            "vendor": "amd" if card == RADEON else "nvidia",
            "driver": "580.95.05",
            "pci": {
                "address": f"0000:{index + 1:02x}:00.0",
                "id": CARDS[card]["id"],
                "subsystem_id": "10de:1153",
                "iommu_group": 20 + index,
            },
        }
        for index, card in enumerate(cards)
    ]
    base: Data = {
        "name": name,
        "platform": "proxmox",
        "address": f"10.0.0.{number}",
        "cpu": {"model": "AMD EPYC 7302P", "cores": 16, "threads": 32},
        "memory_gb": 128,
        "disks": [],
        "gpus": gpus,
    }
    return base | more


MODELS: Data = {
    "engines": {
        "llamacpp": {"min_cc": 5.0, "os": ["linux", "windows"], "gpu": "optional", "port": 8080, "metrics": "/metrics"},
        "piper": {"os": ["linux", "windows"], "gpu": "none", "port": 5000},
    },
    "models": {
        "bge-m3": {"kind": "embedding", "vram_gb": 1.3, "engines": ["llamacpp"], "context": 2048},
        "qwen3-4b": {"kind": "llm", "vram_gb": 3.5, "engines": ["llamacpp"], "context": 8192, "lora": True},
        "piper-de": {"kind": "tts", "vram_gb": 0, "min_memory_gb": 1, "engines": ["piper"]},
    },
}


def roles(**more: Data) -> Data:
    """Chat and embedding on cards, speech on a CPU; `more` changes one of them."""
    some: Data = {
        "chat": {
            "needs": {"engine": "llamacpp", "min_vram_gb": 4},
            "kinds": ["llm"],
            "slots": [{"name": "chat", "port": 8081, "fallback": ["tier0"]}],
        },
        "embedding": {
            "priority": 50,
            "needs": {"engine": "llamacpp", "min_vram_gb": 4},
            "kinds": ["embedding"],
            "slots": [{"name": "embedding", "port": 8082}],
        },
        "speech": {
            "needs": {"engine": "piper", "gpu": False, "min_memory_gb": 1},
            "kinds": ["tts"],
            "slots": [{"name": "speech", "port": 5000}],
        },
    }
    return {"roles": {name: role | more.get(name, {}) for name, role in some.items()}}


def container(node: str, vmid: int, *targets: str) -> Data:
    """A container of 4 GiB on ZFS, replicated to these nodes."""
    return {
        "node": node,
        "vmid": vmid,
        "address": f"10.2.0.{vmid - 100}",
        "memory_gb": 4,
        "cores": 2,
        "disk_gb": 32,
        "storage": "tank",
        "template": "local:vztmpl/debian-13-standard_13.1-2_amd64.tar.zst",
        "services": ["piper"],
        "replication": [{"target": target} for target in targets],
    }


def ground(**more: Any) -> Data:
    """The platform of the made fleets."""
    base: Data = {
        "network": {
            "cidr": "10.0.0.0/8",
            "gateway": "10.0.0.254",
            "bridge": "vmbr0",
            "guest_range": {"first": "10.1.0.0", "last": "10.2.255.254"},
        },
        "host_reserve_gb": 4,
        "gpu_vm": {
            "name": "gpu-{node}",
            "vmid_base": 1000,
            "address_base": "10.1.0.0",
            "memory_gb": 32,
            "cores": 8,
            "disk_gb": 100,
            "storage": "tank",
            "image": {"url": "https://example.org/20260911/noble.img", "checksum": "0123456789abcdef" * 4},
        },
        "drivers": {
            "legacy": {"branch": "R580", "version": "580.95.05", "min_cc": 5.0, "max_cc": 12.1},
            "current": {"branch": "R595", "version": "595.45.04", "min_cc": 7.5, "max_cc": 12.1},
        },
        "storage": {"tank": {"type": "zfspool"}},
        "external": {"tier0": {"url": "https://tier0.example.org/v1", "credential": {"env": "TIER0_API_KEY"}}},
    }
    return base | more


def texts(*nodes: Data, platform: Data | None = None, wanted: Data | None = None) -> dict[str, str]:
    """A repository of these nodes. JSON is YAML."""
    parts = {"models": MODELS, "roles": wanted or roles(), "platform": platform or ground()}
    return {f"catalog/{name}.yaml": json.dumps(part, indent=1) for name, part in parts.items()} | {
        f"inventory/{node['name']}.yaml": json.dumps(node, indent=1) for node in nodes
    }


def desk(name: str, os: str = "windows", *cards: str) -> Data:
    """A workstation."""
    return machine(name, *cards, platform="workstation", os=os)


def workstations() -> dict[str, str]:
    """No Proxmox at all: two Windows workstations with workers, and a Linux one whose CPU speaks."""
    workers = {name: {"program": "LocalLLMWorker.ps1"} for name in ("PC-1", "PC-2")}
    platform = ground(workers=workers)
    del platform["gpu_vm"]
    both = {"count": 2}
    nodes = (desk("PC-1", "windows", ADA), desk("PC-2", "windows", ADA), desk("PC-3", "linux", P2000))
    nodes[0]["cpu_roles"] = nodes[1]["cpu_roles"] = False
    return texts(
        *nodes, platform=platform, wanted=roles(chat=both | {"needs": {"engine": "llamacpp", "min_vram_gb": 8}})
    )


def forty() -> dict[str, str]:
    """Forty Proxmox nodes with a card each, and containers on some of them."""
    nodes = (machine(f"pve{number}", (P2000, M4000)[number % 2]) for number in range(1, 41))
    guests = {f"ct{number}": container(f"pve{number}", 100 + number, f"pve{number + 1}") for number in (1, 2, 39)}
    return texts(*nodes, platform=ground(guests=guests))


FLEETS: dict[str, dict[str, str]] = {
    "own": own(),
    "on linux": on_linux(),
    "in the cluster": in_the_cluster(),
    "one node": texts(machine("pve1", P2000, P2000)),
    "forty nodes": forty(),
    "twins and quadruplets": texts(machine("pve1", ADA, ADA), machine("pve2", P2000, P2000, P2000, P2000)),
    "eleven cards": texts(machine("pve7", *[P2000] * 11)),
    "mixed generations": texts(machine("pve1", M4000, P2000, ADA, RTX5090)),
    "two makers": texts(machine("pve1", RADEON), machine("pve2", ADA, RADEON)),
    "workstations only": workstations(),
}


@cache
def evaluated(name: str) -> Evaluation:
    """One fleet, evaluated."""
    return evaluate(FLEETS[name])


def generated(name: str) -> dict[str, str]:
    """The files of one fleet, by path below ``generated/``."""
    return dict(evaluated(name).generated)
