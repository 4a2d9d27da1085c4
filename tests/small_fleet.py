"""A small fleet like the real one, with its plan written out, and what the renderers must make of it."""

from __future__ import annotations

from typing import Any

from knaster.cluster import External, Gpu, Node, Platform, Replication, Role, VramShare, Worker
from knaster.guests import expand
from knaster.placement.result import Assignment, DisabledGpu, PlacementPlan, Reason, Unplaced
from knaster.planned import Planned
from tests.builders import catalog, cluster, engine, gpu, lxc, model, node, pci, platform, role, roles, slot

NO_LINUX = "0/1 GPUs of gpu-flex fit: 1 on windows (pytorch runs on linux)"


def cards() -> tuple[Gpu, Gpu]:
    """The two cards of pve44: a disabled M4000 and a P2000, whose facts came in upper case."""
    return (
        gpu(
            0,
            8,
            5.2,
            name="Quadro M4000",
            disabled=True,
            reason="no benchmark yet",
            pci=pci("0000:01:00.0", "10de:13f1"),
        ),
        gpu(
            1,
            5,
            6.1,
            name="Quadro P2000",
            pci=pci("0000:0A:00.0", "10DE:1C30", subsystem_id="10DE:11B3", iommu_group=21),
        ),
    )


def nodes() -> tuple[Node, ...]:
    """A Proxmox node with cards, a kiosk without, and a Windows workstation."""
    return (
        node("pve44", *cards(), platform="proxmox", memory_gb=32, address="192.168.100.44"),
        node("pve61", platform="proxmox", cpu_roles=False),
        node("GODE-PC-05", gpu(0), platform="workstation", os="windows", cpu_roles=False, address="192.168.100.105"),
    )


def ground(**more: Any) -> Platform:
    """The platform: one container, one worker, one external endpoint."""
    infra = lxc(
        "infra", "pve44", services=("piper", "litellm"), replication=(Replication("pve61", "*/30"),), exists=True
    )
    more.setdefault("workers", {"GODE-PC-05": Worker("GODE-PC-05", "LocalLLMWorker.ps1")})
    more.setdefault("external", {"tier0": External("tier0", "https://tier0.example.org/v1", "TIER0_API_KEY")})
    return platform(infra, **more)


def some_roles() -> dict[str, Role]:
    """Embedding on the P2000, an LLM on the workstation with a training run in turns, speech in the container."""
    return roles(
        role("embedding", kinds=("embedding",), engine="llamacpp", slots=(slot("embed", None),)),
        role(
            "gpu-flex",
            engine="llamacpp",
            slots=(slot("tier1-flex", 8082, fallback=("tier0",)),),
            vram_share=VramShare(0.9, 0.55),
        ),
        role("training", engine="pytorch", share_with="gpu-flex"),
        role("tts-de", kinds=("tts",), engine="piper", gpu=False, guest="infra", slots=(slot("tts-de", 5000),)),
        role("tts-de-hq", kinds=("tts",), engine="pytorch", slots=(slot("tts-de-hq", 8090, fallback=("tts-de",)),)),
    )


def plan() -> PlacementPlan:
    """The plan of this fleet, written by hand."""
    return PlacementPlan(
        assignments=(
            Assignment("embedding", "pve44", 1, ("bge-m3",), "pci:0000:0a:00.0/10de:1c30", "gpu-pve44", ("embed",)),
            Assignment("gpu-flex", "GODE-PC-05", 0, ("phi", "qwen"), "index:0", None, ("tier1-flex",)),
            Assignment("tts-de", "pve44", None, ("piper-de",), None, "infra", ("tts-de",)),
        ),
        unplaced=(
            Unplaced("training", NO_LINUX, Reason()),
            Unplaced("tts-de-hq", "0/3 GPUs fit: 1 disabled", Reason()),
        ),
        disabled_gpus=(DisabledGpu("pve44", 0, "Quadro M4000", "no benchmark yet"),),
    )


def fleet(*some: Node, **more: Any) -> Planned:
    """The fleet with its plan; other nodes, platform, roles or plan as wanted."""
    some = some or nodes()
    ground_ = more.pop("platform", None) or ground()
    answer = more.pop("plan", None) or plan()
    more.setdefault("roles", some_roles())
    more.setdefault(
        "catalog",
        catalog(
            engine("llamacpp", port=8080),
            engine("piper", gpu="none"),
            engine("pytorch"),
            model("bge-m3", 2, kind="embedding", engines=("llamacpp",)),
            model("phi", 9, engines=("llamacpp",)),
            model("qwen", 10, engines=("llamacpp",)),
            model("piper-de", 1, kind="tts", engines=("piper",)),
        ),
    )
    return Planned(cluster(*some, platform=ground_, **more), expand(some, ground_), answer)


PLACEMENT = {
    "assignments": [
        {
            "role": "embedding",
            "node": "pve44",
            "gpu_index": 1,
            "card": "pci:0000:0a:00.0/10de:1c30",
            "guest": "gpu-pve44",
            "slots": ["embed"],
            "models_fitting": ["bge-m3"],
        },
        {
            "role": "gpu-flex",
            "node": "GODE-PC-05",
            "gpu_index": 0,
            "card": "index:0",
            "slots": ["tier1-flex"],
            "models_fitting": ["phi", "qwen"],
        },
        {"role": "tts-de", "node": "pve44", "guest": "infra", "slots": ["tts-de"], "models_fitting": ["piper-de"]},
    ],
    "unplaced": [
        {"role": "training", "reason": NO_LINUX},
        {"role": "tts-de-hq", "reason": "0/3 GPUs fit: 1 disabled"},
    ],
    "disabled_gpus": [{"node": "pve44", "gpu_index": 0, "name": "Quadro M4000", "reason": "no benchmark yet"}],
}

PROXMOX = {
    "nodes": {
        "pve44": {
            "state": "active",
            "source": "collected",
            "memory": {"total_mib": 32768, "reserve_mib": 0, "guests_mib": 20480, "free_mib": 12288},
            "mappings": [
                {
                    "name": "gpu-m4000-pve44",
                    "comment": "Quadro M4000",
                    "id": "10de:13f1",
                    "subsystem_id": "10de:181b",
                    "path": "0000:01:00",
                    "iommu_group": 15,
                },
                {
                    "name": "gpu-p2000-pve44",
                    "comment": "Quadro P2000",
                    "id": "10de:1c30",
                    "subsystem_id": "10de:11b3",
                    "path": "0000:0a:00",
                    "iommu_group": 21,
                },
            ],
            "guests": ["gpu-pve44", "infra"],
        },
        "pve61": {
            "state": "active",
            "source": "collected",
            "memory": {"total_mib": 65536, "reserve_mib": 0, "guests_mib": 0, "free_mib": 65536},
            "mappings": [],
            "guests": [],
        },
    },
    "guests": {
        "gpu-pve44": {
            "kind": "vm",
            "node": "pve44",
            "vmid": 244,
            "address": "192.168.100.224",
            "memory_mib": 12288,
            "cores": 6,
            "disk_gib": 120,
            "storage": "local-lvm",
            "storage_type": "lvmthin",
            "tags": ["gpu", "knaster"],
            "driver": {
                "generation": "legacy",
                "branch": "R580",
                "version": "580.95.05",
                "oldest_card": "gpu-m4000-pve44",
                "compute_cap": 5.2,
            },
            "hostpci": [
                {"device": "hostpci0", "mapping": "gpu-m4000-pve44"},
                {"device": "hostpci1", "mapping": "gpu-p2000-pve44"},
            ],
            "exists": False,
            "moves": False,
            "services": [],
            "replication": [],
            "roles": ["embedding"],
        },
        "infra": {
            "kind": "lxc",
            "node": "pve44",
            "vmid": 101,
            "address": "192.168.100.221",
            "memory_mib": 8192,
            "cores": 4,
            "disk_gib": 60,
            "storage": "tank",
            "storage_type": "zfspool",
            "tags": ["knaster"],
            "hostpci": [],
            "exists": True,
            "moves": True,
            "services": ["litellm", "piper"],
            "replication": [{"target": "pve61", "schedule": "*/30"}],
            "roles": ["tts-de"],
        },
    },
}

REGISTRY = {
    "slots": {
        "embed": {
            "role": "embedding",
            "kinds": ["embedding"],
            "engine": "llamacpp",
            "processor": "gpu",
            "model": "bge-m3",
            "models": ["bge-m3"],
            "state": "available",
            "endpoints": [
                {
                    "backend": "vm",
                    "node": "pve44",
                    "guest": "gpu-pve44",
                    "host": "192.168.100.224",
                    "port": 8080,
                    "gpu_indices": [1],
                    "mappings": ["gpu-p2000-pve44"],
                    "labels": {"pve_node": "pve44", "vmid": 244},
                }
            ],
            "fallback": [],
            "excludes": [],
            "excludes_roles": [],
            "concurrent": [],
        },
        "tier1-flex": {
            "role": "gpu-flex",
            "kinds": ["llm"],
            "engine": "llamacpp",
            "processor": "gpu",
            "model": "qwen",
            "models": ["phi", "qwen"],
            "state": "available",
            "endpoints": [
                {
                    "backend": "worker",
                    "node": "GODE-PC-05",
                    "program": "LocalLLMWorker.ps1",
                    "host": "192.168.100.105",
                    "port": 8082,
                    "gpu_indices": [0],
                }
            ],
            "fallback": ["tier0"],
            "excludes": [],
            "excludes_roles": [],
            "concurrent": [],
            "vram_share": {"alone": 0.9, "shared": 0.55},
        },
        "tts-de": {
            "role": "tts-de",
            "kinds": ["tts"],
            "engine": "piper",
            "processor": "cpu",
            "model": "piper-de",
            "models": ["piper-de"],
            "state": "available",
            "endpoints": [
                {
                    "backend": "lxc",
                    "node": "pve44",
                    "guest": "infra",
                    "host": "192.168.100.221",
                    "port": 5000,
                    "gpu_indices": [],
                    "labels": {"pve_node": "pve44", "vmid": 101},
                }
            ],
            "fallback": [],
            "excludes": [],
            "excludes_roles": [],
            "concurrent": [],
        },
        "tts-de-hq": {
            "role": "tts-de-hq",
            "kinds": ["tts"],
            "engine": "pytorch",
            "processor": "gpu",
            "models": [],
            "state": "unavailable",
            "reason": "0/3 GPUs fit: 1 disabled",
            "endpoints": [],
            "fallback": ["tts-de"],
            "excludes": [],
            "excludes_roles": [],
            "concurrent": [],
        },
    },
    "models": {
        "bge-m3": {"kind": "embedding", "vram_gb": 2, "lora": False, "args": [], "tensor_parallel": 1},
        "phi": {"kind": "llm", "vram_gb": 9, "lora": False, "args": [], "tensor_parallel": 1},
        "piper-de": {"kind": "tts", "vram_gb": 1, "lora": False, "args": [], "tensor_parallel": 1},
        "qwen": {"kind": "llm", "vram_gb": 10, "lora": False, "args": [], "tensor_parallel": 1},
    },
    "external": {"tier0": {"url": "https://tier0.example.org/v1", "credential_env": "TIER0_API_KEY"}},
}

TFVARS = {
    "//": "Made by `knaster render` from inventory/ and catalog/. Do not edit: change those and run `knaster render`.",
    "nodes": ["pve44", "pve61"],
    "mappings": {
        "gpu-m4000-pve44": {
            "node": "pve44",
            "comment": "Quadro M4000",
            "id": "10de:13f1",
            "subsystem_id": "10de:181b",
            "path": "0000:01:00",
            "iommu_group": 15,
        },
        "gpu-p2000-pve44": {
            "node": "pve44",
            "comment": "Quadro P2000",
            "id": "10de:1c30",
            "subsystem_id": "10de:11b3",
            "path": "0000:0a:00",
            "iommu_group": 21,
        },
    },
    "vms": {
        "gpu-pve44": {
            "node": "pve44",
            "vmid": 244,
            "address": "192.168.100.224/24",
            "gateway": "192.168.100.1",
            "bridge": "vmbr0",
            "dns": ["192.168.100.1"],
            "ssh_keys": ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExampleExample ops"],
            "memory_mib": 12288,
            "cores": 6,
            "disk_gib": 120,
            "storage": "local-lvm",
            "user": "ubuntu",
            "image": {
                "url": "https://cloud-images.ubuntu.com/noble/20261101/noble-server-cloudimg-amd64.img",
                "checksum": "0" * 64,
                "checksum_algorithm": "sha256",
                "storage": "local",
            },
            "hostpci": [
                {"device": "hostpci0", "mapping": "gpu-m4000-pve44", "pcie": True, "rombar": True, "xvga": False},
                {"device": "hostpci1", "mapping": "gpu-p2000-pve44", "pcie": True, "rombar": True, "xvga": False},
            ],
            "exists": False,
            "tags": ["gpu", "knaster"],
        }
    },
    "containers": {
        "infra": {
            "node": "pve44",
            "vmid": 101,
            "address": "192.168.100.221/24",
            "gateway": "192.168.100.1",
            "bridge": "vmbr0",
            "dns": ["192.168.100.1"],
            "ssh_keys": ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExampleExample ops"],
            "memory_mib": 8192,
            "cores": 4,
            "disk_gib": 60,
            "storage": "tank",
            "template": "local:vztmpl/debian-12-standard_12.7-1_amd64.tar.zst",
            "os_type": "debian",
            "unprivileged": True,
            "exists": True,
            "replicates": True,
            "tags": ["knaster"],
        }
    },
}
