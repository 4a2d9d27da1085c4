"""Schema-valid data to dataclasses: defaults of the design, order that means nothing, whole numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knaster import building, document
from knaster.cluster import (
    Assumption,
    CardPolicy,
    Cpu,
    Disk,
    Driver,
    Engine,
    External,
    Figure,
    Gpu,
    GpuVm,
    Image,
    Lxc,
    Model,
    Needs,
    Network,
    Node,
    Pci,
    Replication,
    Role,
    Slot,
    VmOverride,
    VramShare,
    Worker,
)

ROOT = Path(__file__).parent.parent
NODE: dict[str, Any] = {"name": "n1", "cpu": {}, "memory_gb": None, "disks": [], "gpus": []}
ROLE: dict[str, Any] = {"needs": {"engine": "vllm"}, "kinds": ["llm"]}
NETWORK = {
    "cidr": "10.0.0.0/8",
    "gateway": "10.0.0.1",
    "bridge": "vmbr0",
    "guest_range": {"first": "10.0.1.0", "last": "10.0.1.9"},
}
IMAGE = {"url": "https://example.org/i.img", "checksum": "0" * 64}
GPU_VM = {
    "name": "gpu-{node}",
    "vmid_base": 200,
    "address_base": "10.0.1.0",
    "memory_gb": 12,
    "cores": 6,
    "disk_gb": 100,
    "storage": "local-lvm",
    "image": IMAGE,
    "driver_generation": "legacy",
}
LXC = {
    "node": "n1",
    "vmid": 101,
    "address": "10.0.1.1",
    "memory_gb": 4,
    "cores": 2,
    "disk_gb": 8,
    "storage": "tank",
    "template": "local:vztmpl/debian-13-standard_13.1-2_amd64.tar.zst",
}


def parsed(path: str) -> dict[str, Any]:
    loaded, problems = document.parse(path, (ROOT / path).read_text(encoding="utf-8"))
    assert problems == ()
    assert loaded is not None
    return loaded.data


def test_a_node_with_the_fixed_keys_alone_has_the_defaults() -> None:
    assert building.node(NODE, "inventory/n1.yaml") == Node(
        name="n1",
        cpu=Cpu(None, None, None),
        memory_gb=None,
        disks=(),
        gpus=(),
        os="linux",
        platform="bare",
        address=None,
        fabric=None,
        source="collected",
        warnings=(),
        cpu_roles=True,
        groups=(),
        state="active",
        reason=None,
        file="inventory/n1.yaml",
    )


def test_a_node_with_everything() -> None:
    data = {
        "name": "n1",
        "cpu": {"model": "Xeon", "cores": 6, "threads": 12},
        "memory_gb": 32,
        "disks": [{"name": "sda", "size_gb": 512, "rotational": False}],
        "gpus": [],
        "os": "windows",
        "platform": "workstation",
        "address": "10.0.0.5",
        "fabric": "f1",
        "source": "assumed",
        "warnings": ["b", "a"],
        "cpu_roles": False,
        "groups": ["y", "x"],
        "state": "cordoned",
        "reason": "fan",
    }
    assert building.node(data) == Node(
        name="n1",
        cpu=Cpu("Xeon", 6, 12),
        memory_gb=32,
        disks=(Disk("sda", 512, rotational=False),),
        gpus=(),
        os="windows",
        platform="workstation",
        address="10.0.0.5",
        fabric="f1",
        source="assumed",
        warnings=("a", "b"),
        cpu_roles=False,
        groups=("x", "y"),
        state="cordoned",
        reason="fan",
        file="",
    )


def test_cards_are_sorted_by_index_and_know_their_place_in_the_file() -> None:
    pci = {"address": "0000:02:00.0", "id": "10de:13f1", "subsystem_id": "10de:1153", "iommu_group": 28}
    full = {
        "index": 3,
        "name": "Quadro M4000",
        "memory_gb": 8,
        "memory_mib": 8192,
        "compute_cap": 5.2,
        "driver": "580.95.05",
        "vendor": "nvidia",
        "uuid": "GPU-7f9c2b1e-3d44-4c5a-9a1b-0c2d3e4f5a6b",
        "pci": pci,
        "bound_driver": "vfio-pci",
        "memory_kind": "unified",
        "disabled": True,
        "reason": "slow",
    }
    assert building.node({**NODE, "gpus": [full, {"index": 1, "pci": None}]}).gpus == (
        Gpu(index=1, position=1),
        Gpu(
            index=3,
            name="Quadro M4000",
            memory_gb=8,
            compute_cap=5.2,
            driver="580.95.05",
            memory_mib=8192,
            vendor="nvidia",
            uuid="GPU-7f9c2b1e-3d44-4c5a-9a1b-0c2d3e4f5a6b",
            pci=Pci("0000:02:00.0", "10de:13f1", "10de:1153", 28),
            bound_driver="vfio-pci",
            memory_kind="unified",
            disabled=True,
            reason="slow",
            position=0,
        ),
    )


def test_an_engine_and_a_model_have_the_defaults() -> None:
    built = building.catalog(
        {"engines": {"e": {}}, "models": {"m": {"kind": "llm", "vram_gb": 4.5, "engines": ["z", "e"]}}}
    )
    assert built.engines == {"e": Engine("e", min_cc=0, max_cc=None, os=("linux",), gpu="required", port=None)}
    assert built.models == {
        "m": Model("m", "llm", 4.5, ("e", "z"), min_cc=0, context=None, lora=False, args=(), tensor_parallel=1, nodes=1)
    }


def test_estimated_and_measured_figures_become_one_sorted_tuple() -> None:
    estimated = [{"metric": "power", "value": 120, "unit": "W", "card": "Quadro M4000"}]
    measured = [
        {"metric": "rate", "value": 20.5, "unit": "token/s", "date": "2026-11-29", "node": "n1", "engine": "b1"},
        {"metric": "power", "value": 99, "unit": "W", "date": "2026-11-29", "source": "bench"},
    ]
    model = {"kind": "llm", "vram_gb": 4, "engines": ["e"], "estimated": estimated, "measured": measured}
    assert building.catalog({"engines": {}, "models": {"m": model}}).models["m"].figures == (
        Figure("power", 120, "W", "estimated", card="Quadro M4000"),
        Figure("power", 99, "W", "measured", date="2026-11-29", source="bench"),
        Figure("rate", 20.5, "token/s", "measured", node="n1", engine="b1", date="2026-11-29"),
    )


def test_a_role_has_the_defaults_of_the_design() -> None:
    assert building.roles({"roles": {"r": ROLE}})["r"] == Role(
        name="r",
        needs=Needs("vllm", min_vram_gb=0, min_cc=0, max_cc=None, gpu=True, min_memory_gb=0),
        kinds=("llm",),
        priority=100,
        prefer="smallest_fitting",
        count=1,
        slots=(),
        share_with=None,
        share_mode="alternating",
        vram_share=None,
        cpu_fallback=False,
        pin=None,
        required=False,
        guest=None,
        description=None,
    )


def test_slots_are_a_set_of_names_or_mappings_and_fallback_is_a_sequence() -> None:
    slots = [{"name": "b", "port": 8081, "fallback": ["z", "a"], "model": "m"}, "a"]
    built = building.roles({"roles": {"r": {**ROLE, "slots": slots}}})["r"].slots
    assert built == (Slot("a"), Slot("b", 8081, ("z", "a"), "m"))
    assert [slot.position for slot in built] == [1, 0]


def test_vram_shares() -> None:
    role = {**ROLE, "vram_share": {"alone": 1, "shared": 0.55}}
    assert building.roles({"roles": {"r": role}})["r"].vram_share == VramShare(1, 0.55)


def test_a_platform_with_its_network_alone() -> None:
    built = building.platform({"network": NETWORK})
    assert built.network == Network("10.0.0.0/8", "10.0.0.1", "vmbr0", "10.0.1.0", "10.0.1.9", ())
    assert built.gpu_vm is None
    assert (built.host_reserve_gb, built.vram_reserve_gb, built.retire, built.assumptions) == (0, {}, (), ())
    assert (built.drivers, built.cards, built.guests, built.storage, built.workers, built.external) == ({},) * 6


def test_a_platform_with_everything() -> None:
    jobs = [{"target": "n3"}, {"target": "n2", "schedule": "*/30"}]
    built = building.platform(
        {
            "network": {**NETWORK, "dns": ["10.0.0.9", "10.0.0.2"]},
            "host_reserve_gb": 4,
            "vram_reserve_gb": {"windows": 2},
            "gpu_vm": {**GPU_VM, "overrides": {"n2": {"vmid": 260, "memory_gb": 24}}},
            "drivers": {"legacy": {"branch": "R580", "version": "580.95.05", "min_cc": 5.0}},
            "cards": {
                "10de:13f1": {"name": "M4000", "engines": ["b", "a"], "requires": "benchmark"},
                "10de:27b2": {"name": "x"},
            },
            "guests": {"infra": {**LXC, "services": ["n8n", "litellm"], "replication": jobs, "exists": True}},
            "storage": {"tank": {"type": "zfspool"}},
            "workers": {"w1": {"program": "w.ps1"}},
            "external": {"t0": {"url": "https://t0"}, "t1": {"url": "https://t1", "credential": {"env": "T1"}}},
            "retire": ["old", "ancient"],
            "assumptions": [{"about": "z", "assumed": "1"}, {"about": "a", "assumed": "2"}],
        }
    )
    assert built.network.dns == ("10.0.0.9", "10.0.0.2")
    assert (built.host_reserve_gb, built.vram_reserve_gb) == (4, {"windows": 2})
    assert built.gpu_vm == GpuVm(
        name="gpu-{node}",
        vmid_base=200,
        address_base="10.0.1.0",
        memory_gb=12,
        cores=6,
        disk_gb=100,
        storage="local-lvm",
        image=Image("https://example.org/i.img", "0" * 64, "sha256"),
        driver_generation="legacy",
        overrides={"n2": VmOverride(vmid=260, memory_gb=24)},
    )
    assert built.drivers == {"legacy": Driver("legacy", "R580", "580.95.05", 5.0, None)}
    assert built.cards == {
        "10de:13f1": CardPolicy("10de:13f1", "M4000", ("a", "b"), "benchmark"),
        "10de:27b2": CardPolicy("10de:27b2", "x", None, None),
    }
    assert built.guests == {
        "infra": Lxc(
            name="infra",
            node="n1",
            vmid=101,
            address="10.0.1.1",
            memory_gb=4,
            cores=2,
            disk_gb=8,
            storage="tank",
            template="local:vztmpl/debian-13-standard_13.1-2_amd64.tar.zst",
            services=("litellm", "n8n"),
            replication=(Replication("n2", "*/30"), Replication("n3", "*/15")),
            exists=True,
        )
    }
    assert [job.position for job in built.guests["infra"].replication] == [1, 0]
    assert built.storage == {"tank": "zfspool"}
    assert built.workers == {"w1": Worker("w1", "w.ps1")}
    assert built.external == {"t0": External("t0", "https://t0"), "t1": External("t1", "https://t1", "T1")}
    assert built.retire == ("ancient", "old")
    # Each is reported at its own place in the file, so these keep their order.
    assert built.assumptions == (Assumption("z", "1"), Assumption("a", "2"))


def test_whole_numbers_written_with_a_point_are_whole_in_the_cluster() -> None:
    node = building.node({**NODE, "cpu": {"cores": 6.0}, "gpus": [{"index": 0.0, "memory_mib": 8192.0}]})
    role = building.roles({"roles": {"r": {**ROLE, "priority": 5.0, "count": 2.0}}})["r"]
    guest = building.platform({"network": NETWORK, "guests": {"g": {**LXC, "vmid": 101.0}}}).guests["g"]
    numbers = (node.cpu.cores, node.gpus[0].index, node.gpus[0].memory_mib, role.priority, role.count, guest.vmid)
    assert numbers == (6, 0, 8192, 5, 2, 101)
    assert {type(number) for number in numbers} == {int}


ORDERED = {"args", "fallback", "dns", "assumptions"}


def shuffled(value: Any, random: Random, under: str = "") -> Any:
    """The same data with its keys, and the items of its sets, in another order."""
    if isinstance(value, dict):
        keys = list(value)
        random.shuffle(keys)
        return {key: shuffled(value[key], random, key) for key in keys}
    if isinstance(value, list):
        items = [shuffled(item, random) for item in value]
        if under not in ORDERED:
            random.shuffle(items)
        return items
    return value


def without_positions(node: Node) -> Node:
    return replace(node, gpus=tuple(replace(gpu, position=0) for gpu in node.gpus))


@pytest.mark.parametrize("path", sorted(path.name for path in ROOT.glob("inventory/*.yaml")))
@given(seed=st.integers(0, 2**32))
def test_the_order_of_a_node_file_never_shows(path: str, seed: int) -> None:
    data = parsed(f"inventory/{path}")
    again = building.node(shuffled(data, Random(seed)), path)
    assert without_positions(again) == without_positions(building.node(data, path))


@given(seed=st.integers(0, 2**32))
def test_the_order_of_a_catalog_file_never_shows(seed: int) -> None:
    for name, make in (("models", building.catalog), ("roles", building.roles), ("platform", building.platform)):
        data = parsed(f"catalog/{name}.yaml")
        built: Any = make(data)
        again: Any = make(shuffled(data, Random(seed)))
        assert again == built
        if isinstance(built, dict):
            assert list(again) == list(built)
