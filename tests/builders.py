"""Builders with sane defaults, so that a test states only what it is about."""

from __future__ import annotations

from typing import Any

from knaster.cluster import (
    Access,
    CardPolicy,
    Catalog,
    Cluster,
    Cpu,
    Disk,
    Driver,
    Engine,
    Gpu,
    GpuVm,
    Image,
    Lxc,
    Model,
    Needs,
    Network,
    Node,
    Pci,
    Platform,
    Role,
    Slot,
)


def gpu(index: int = 0, memory_gb: float | None = 20, compute_cap: float | None = 8.9, **more: Any) -> Gpu:
    """A card, by default an RTX 4000 Ada without PCI facts; ``position`` follows the index."""
    more.setdefault("name", "NVIDIA RTX 4000 Ada Generation")
    more.setdefault("position", index)
    return Gpu(index=index, memory_gb=memory_gb, compute_cap=compute_cap, **more)


def pci(address: str = "0000:01:00.0", id: str | None = "10de:27b2", **more: Any) -> Pci:
    """PCI facts of a card that can be handed to a VM."""
    more.setdefault("subsystem_id", "10de:181b")
    more.setdefault("iommu_group", 15)
    return Pci(address=address, id=id, **more)


def node(name: str = "node1", *gpus: Gpu, **more: Any) -> Node:
    """A bare Linux machine with 64 GB."""
    more.setdefault("cpu", Cpu("AMD EPYC 7302P", 16, 32))
    more.setdefault("memory_gb", 64)
    more.setdefault("disks", (Disk("nvme0n1", 512, rotational=False),))
    more.setdefault("file", f"inventory/{name}.yaml")
    return Node(name=name, gpus=gpus, **more)


def engine(name: str = "vllm", **more: Any) -> Engine:
    """An engine without floors that runs on Linux."""
    return Engine(name=name, **more)


def model(name: str = "m", vram_gb: float = 4, **more: Any) -> Model:
    """An LLM of 4 GiB for vllm."""
    more.setdefault("kind", "llm")
    more.setdefault("engines", ("vllm",))
    return Model(name=name, vram_gb=vram_gb, **more)


NEEDS = ("engine", "min_vram_gb", "min_cc", "max_cc", "gpu", "min_memory_gb")


def role(name: str = "chat", **more: Any) -> Role:
    """An LLM role on vllm; needs may be given flat (``min_vram_gb=8``)."""
    needs = {key: more.pop(key) for key in NEEDS if key in more}
    needs.setdefault("engine", "vllm")
    more.setdefault("kinds", ("llm",))
    return Role(name=name, needs=Needs(**needs), **more)


def slot(name: str, port: int | None = 8080, **more: Any) -> Slot:
    """A slot with a port."""
    return Slot(name=name, port=port, **more)


def roles(*some: Role) -> dict[str, Role]:
    """Roles by name."""
    return {one.name: one for one in some}


def catalog(*parts: Engine | Model) -> Catalog:
    """Engines and models by name; the engine vllm is there unless given."""
    engines = {part.name: part for part in parts if isinstance(part, Engine)}
    engines.setdefault("vllm", engine())
    return Catalog(engines, {part.name: part for part in parts if isinstance(part, Model)})


def lxc(name: str = "infra", node: str = "pve44", vmid: int = 101, **more: Any) -> Lxc:
    """A container of 8 GiB."""
    defaults: dict[str, Any] = {
        "address": "192.168.100.221",
        "memory_gb": 8,
        "cores": 4,
        "disk_gb": 60,
        "storage": "tank",
        "template": "local:vztmpl/debian-12-standard_12.7-1_amd64.tar.zst",
    }
    return Lxc(name=name, node=node, vmid=vmid, **{**defaults, **more})


def gpu_vm(**more: Any) -> GpuVm:
    """The GPU VM template of 12 GiB."""
    defaults: dict[str, Any] = {
        "name": "gpu-{node}",
        "vmid_base": 200,
        "address_base": "192.168.100.180",
        "memory_gb": 12,
        "cores": 6,
        "disk_gb": 120,
        "storage": "local-lvm",
        "image": Image("https://cloud-images.ubuntu.com/noble/20261101/noble-server-cloudimg-amd64.img", "0" * 64),
        "driver_generation": "legacy",
    }
    return GpuVm(**{**defaults, **more})


def platform(*guests: Lxc, **more: Any) -> Platform:
    """A platform with a network, a GPU VM template, two storages and the R580 branch."""
    defaults: dict[str, Any] = {
        "network": Network(
            "192.168.100.0/24", "192.168.100.1", "vmbr0", "192.168.100.220", "192.168.100.239", ("192.168.100.1",)
        ),
        "gpu_vm": gpu_vm(),
        "guests": {guest.name: guest for guest in guests},
        "storage": {"local-lvm": "lvmthin", "tank": "zfspool"},
        "drivers": {"legacy": Driver("legacy", "R580", "580.95.05", 5.0, None)},
        "access": Access(ssh_keys=("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExampleExample ops",)),
    }
    return Platform(**{**defaults, **more})


def policy(id: str, *engines: str, **more: Any) -> CardPolicy:
    """A card policy that allows only the engines named."""
    return CardPolicy(id=id, name=more.pop("name", "card"), engines=engines or None, **more)


def cluster(*nodes: Node, **more: Any) -> Cluster:
    """A cluster of these nodes, with an empty catalog, no roles and no platform unless given."""
    more.setdefault("catalog", catalog())
    more.setdefault("roles", {})
    more.setdefault("platform", None)
    return Cluster(nodes=nodes, **more)
