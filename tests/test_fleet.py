"""The data that this repository ships: the facts of the real fleet, and the plan that an engineer there expects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from knaster import building, document, schema
from knaster.cluster import Catalog, Gpu, Node, Pci, Platform, Role
from knaster.guests import expand
from knaster.placement import plan
from knaster.placement.result import PlacementPlan

ROOT = Path(__file__).parent.parent
ENABLED = "Back only after a llama-bench run with a power reading, and then for llama.cpp alone."


@cache
def data(path: str) -> Mapping[str, Any]:
    parsed, problems = document.parse(path, (ROOT / path).read_text(encoding="utf-8"))
    assert problems == ()
    assert parsed is not None
    kind: Any = Path(path).stem if path.startswith("catalog/") else "node"
    assert schema.check(kind, path, parsed.data) == ()
    return parsed.data


@cache
def nodes() -> dict[str, Node]:
    paths = sorted(f"inventory/{path.name}" for path in ROOT.glob("inventory/*.yaml"))
    return {Path(path).stem: building.node(data(path), path) for path in paths}


def catalog() -> Catalog:
    return building.catalog(data("catalog/models.yaml"))


def roles() -> dict[str, Role]:
    return building.roles(data("catalog/roles.yaml"))


def platform() -> Platform:
    return building.platform(data("catalog/platform.yaml"))


def placement(fleet: Mapping[str, Node] | None = None) -> PlacementPlan:
    return plan(tuple((fleet or nodes()).values()), roles(), catalog(), platform=platform())


def test_seven_machines_all_of_them_assumed() -> None:
    assert list(nodes()) == ["GODE-PC-05", "GODE-PC-06", "pve44", "pve46", "pve48", "pve52", "pve61"]
    assert {node.source for node in nodes().values()} == {"assumed"}
    assert {name: node.name for name, node in nodes().items()} == {name: name for name in nodes()}


def test_every_file_tells_editors_its_schema() -> None:
    for path in (*ROOT.glob("inventory/*.yaml"), *ROOT.glob("catalog/*.yaml")):
        kind = path.stem if path.parent.name == "catalog" else "node"
        first = path.read_text(encoding="utf-8").splitlines()[0]
        assert first == f"# yaml-language-server: $schema=../schemas/{kind}.schema.json"
        assert (path.parent / f"../schemas/{kind}.schema.json").is_file()


@pytest.mark.parametrize(
    ("name", "memory", "cards"),
    [
        ("pve44", 32, [("Quadro M4000", 8, 5.2, True), ("Quadro P2000", 5, 6.1, False)]),
        ("pve46", 32, [("Quadro M4000", 8, 5.2, True), ("Quadro P2000", 5, 6.1, False)]),
        ("pve48", 32, [("Quadro M4000", 8, 5.2, True), ("Quadro P2000", 5, 6.1, False)]),
        ("pve52", 32, [("Quadro M4000", 8, 5.2, True)]),
        ("GODE-PC-05", 64, [("NVIDIA RTX 4000 Ada Generation", 20, 8.9, False)]),
        ("GODE-PC-06", 64, [("NVIDIA RTX 4000 Ada Generation", 20, 8.9, False)]),
    ],
)
def test_the_machines_with_cards(name: str, memory: int, cards: list[tuple[str, int, float, bool]]) -> None:
    node = nodes()[name]
    assert node.memory_gb == memory
    assert [(gpu.name, gpu.memory_gb, gpu.compute_cap, gpu.disabled) for gpu in node.gpus] == cards


def test_proxmox_kiosk_and_workstations() -> None:
    kinds = {name: (node.platform, node.os, node.cpu_roles, node.groups) for name, node in nodes().items()}
    assert kinds == {
        "GODE-PC-05": ("workstation", "windows", False, ()),
        "GODE-PC-06": ("workstation", "windows", False, ()),
        "pve44": ("proxmox", "linux", True, ()),
        "pve46": ("proxmox", "linux", True, ()),
        "pve48": ("proxmox", "linux", True, ()),
        "pve52": ("proxmox", "linux", True, ()),
        "pve61": ("proxmox", "linux", False, ("kiosk",)),
    }
    assert nodes()["pve61"].gpus == ()


def test_cards_report_the_memory_that_their_driver_reports() -> None:
    seen = {(gpu.name, gpu.memory_mib) for node in nodes().values() for gpu in node.gpus}
    assert seen == {("Quadro M4000", 8192), ("Quadro P2000", 5120), ("NVIDIA RTX 4000 Ada Generation", 20475)}


def test_cards_of_proxmox_nodes_have_every_fact_that_a_mapping_needs() -> None:
    ids = {"Quadro M4000": "10de:13f1", "Quadro P2000": "10de:1c30"}
    for node in (node for node in nodes().values() if node.platform == "proxmox"):
        groups = [gpu.pci.iommu_group for gpu in node.gpus if gpu.pci]
        assert len(set(groups)) == len(node.gpus)
        for gpu in node.gpus:
            assert isinstance(gpu.pci, Pci)
            assert gpu.pci.id == ids[gpu.name or ""]
            assert gpu.pci.subsystem_id is not None


def test_every_disabled_card_says_why() -> None:
    off = [(name, gpu.reason) for name, node in nodes().items() for gpu in node.gpus if gpu.disabled]
    assert off == [(name, ENABLED) for name in ("pve44", "pve46", "pve48", "pve52")]


def test_engine_floors() -> None:
    engines = catalog().engines
    assert {name: (engine.min_cc, engine.os, engine.gpu) for name, engine in engines.items()} == {
        "llamacpp": (5.0, ("linux", "windows"), "optional"),
        "piper": (0, ("linux", "windows"), "none"),
        "pytorch": (7.5, ("linux",), "required"),
        "vllm": (7.0, ("linux",), "required"),
    }


KV_14B = 2 * 40 * 8 * 128 * 2
KV_PHI4 = 2 * 40 * 10 * 128 * 2
KV_4B = 2 * 36 * 8 * 128 * 2
KV_06B = 2 * 28 * 8 * 128 * 2
KV_7B = 2 * 32 * 8 * 128 * 2
SCORES = 16 * 2048 * 2048 * 4


def buffers(hidden: int) -> int:
    """512 rows of logits and of the last layer at 4 bytes, and 300 MiB of CUDA, less the 512 MiB that are reserved."""
    return 512 * (151_665 + hidden) * 4 - 212 * 2**20


@pytest.mark.parametrize(
    ("name", "file_gb", "more_bytes"),
    [
        ("bge-m3-f16", 1.16, SCORES),
        ("bge-m3-q8_0", 0.635, SCORES),
        ("bge-reranker-v2-m3-f16", 1.16, SCORES),
        ("bge-reranker-v2-m3-q8_0", 0.635, SCORES),
        ("qwen3-embedding-0.6b-q8_0", 0.64, KV_06B * 8192 + buffers(1024)),
        ("qwen3-embedding-4b-q4_k_m", 2.5, KV_4B * 8192 + buffers(2560)),
        ("qwen3-embedding-8b-q4_k_m", 4.68, KV_4B * 8192 + buffers(4096)),
        ("qwen3-4b-q4_k_m", 2.5, KV_4B * 8192 + buffers(2560)),
        ("mistral-7b-instruct-v0.3-q4_k_m", 4.37, KV_7B * 8192),
        ("phi-4-q4_k_m", 9.05, KV_PHI4 * 8192),
        ("qwen3-14b-q4_k_m", 9.0, KV_14B * 16384),
        ("qwen3-tts-1.7b-bf16", 2 * 1.93, 0.64 * 2**30 + KV_06B * 4096 + 2**30),
    ],
)
def test_sizes_are_published_gigabytes_in_gib_and_the_cache_for_the_context(
    name: str, file_gb: float, more_bytes: float
) -> None:
    """``vram_gb`` is rounded up, by at most 0.02 GiB (the estimate of Qwen3-TTS to a tenth)."""
    need = (file_gb * 1e9 + more_bytes) / 2**30
    slack = 0.1 if "tts" in name else 0.02
    assert need <= catalog().models[name].vram_gb <= need + slack


def test_speech_never_runs_on_the_old_cards() -> None:
    speech = [model for model in catalog().models.values() if model.kind == "tts"]
    assert {engine for model in speech for engine in model.engines} == {"piper", "pytorch"}
    for card in platform().cards.values():
        assert card.engines == ("llamacpp",)
    assert {card.id: card.requires for card in platform().cards.values()} == {
        "10de:13f1": "benchmark",
        "10de:1c30": None,
    }


def test_figures_on_record_are_marked_as_estimates() -> None:
    figures = [figure for model in catalog().models.values() for figure in model.figures]
    assert [(figure.metric, figure.value, figure.unit, figure.card, figure.kind) for figure in figures] == [
        ("generation_rate_high", 25, "token/s", "Quadro M4000", "estimated"),
        ("generation_rate_low", 12, "token/s", "Quadro M4000", "estimated"),
        ("power", 120, "W", "Quadro M4000", "estimated"),
        ("real_time_factor", 7.3, "s/s", "Tesla P40", "estimated"),
    ]


def test_every_slot_has_a_port_of_its_own() -> None:
    ports = {slot.name: slot.port for role in roles().values() for slot in role.slots}
    assert sorted(ports) == ["embedding", "rerank", "tier1-flex", "tier1-general", "tts-de", "tts-de-hq", "verifier"]
    assert None not in ports.values()
    assert len(set(ports.values())) == len(ports)


def test_fallback_chains() -> None:
    chains = {slot.name: slot.fallback for role in roles().values() for slot in role.slots}
    assert chains == {
        "embedding": (),
        "rerank": (),
        "verifier": ("tier0",),
        "tier1-general": ("tier0",),
        "tier1-flex": ("tier1-general", "tier0"),
        "tts-de": (),
        "tts-de-hq": ("tts-de",),
    }
    assert list(platform().external) == ["tier0"]
    assert platform().external["tier0"].credential_env == "TIER0_API_KEY"


def test_the_shared_card() -> None:
    flex, speech, training = (roles()[name] for name in ("gpu-flex", "tts-de-hq", "training"))
    assert (speech.share_with, speech.share_mode) == ("gpu-flex", "concurrent")
    assert (training.share_with, training.share_mode) == ("gpu-flex", "alternating")
    assert flex.vram_share is not None
    assert speech.vram_share is not None
    assert (flex.vram_share.alone, flex.vram_share.shared, speech.vram_share.shared) == (1, 0.55, 0.45)
    assert flex.needs.min_vram_gb + speech.needs.min_vram_gb <= 20
    assert flex.needs.min_vram_gb <= 0.55 * 20
    assert speech.needs.min_vram_gb <= 0.45 * 20


def test_the_network_and_the_guests() -> None:
    network = platform().network
    assert (network.cidr, network.guest_first, network.guest_last) == (
        "192.168.100.0/24",
        "192.168.100.220",
        "192.168.100.239",
    )
    found = [(g.name, g.kind, g.node, g.vmid, g.address, g.memory_mib) for g in expand(nodes().values(), platform())]
    assert found == [
        ("gpu-pve44", "vm", "pve44", 244, "192.168.100.224", 12288),
        ("gpu-pve46", "vm", "pve46", 246, "192.168.100.226", 12288),
        ("gpu-pve48", "vm", "pve48", 248, "192.168.100.228", 12288),
        ("gpu-pve52", "vm", "pve52", 252, "192.168.100.232", 12288),
        ("infra", "lxc", "pve52", 101, "192.168.100.221", 12288),
        ("ops", "lxc", "pve46", 100, "192.168.100.220", 4096),
    ]


def test_a_gpu_vm_has_all_cards_of_its_node_disabled_ones_too() -> None:
    cards = {guest.name: [card.mapping for card in guest.cards] for guest in expand(nodes().values(), platform())}
    assert cards["gpu-pve44"] == ["gpu-m4000-pve44", "gpu-p2000-pve44"]
    assert cards["gpu-pve52"] == ["gpu-m4000-pve52"]


def test_the_containers() -> None:
    infra, ops = platform().guests["infra"], platform().guests["ops"]
    assert infra.services == ("litellm", "monitoring", "n8n", "piper", "postgres", "router")
    assert (infra.storage, platform().storage["tank"]) == ("tank", "zfspool")
    assert [job.target for job in infra.replication] == ["pve44", "pve48"]
    assert (ops.services, ops.storage, ops.exists) == (("ansible", "opentofu"), "local-lvm", True)


def test_ram_of_every_proxmox_node_is_enough_for_its_guests() -> None:
    for node in (node for node in nodes().values() if node.platform == "proxmox"):
        used = sum(guest.memory_gb for guest in expand(nodes().values(), platform()) if guest.node == node.name)
        assert used + 4 <= (node.memory_gb or 0)
    assert platform().host_reserve_gb == 4


def test_driver_branches() -> None:
    drivers = platform().drivers
    assert {guest.driver_generation for guest in expand(nodes().values(), platform()) if guest.kind == "vm"} == {
        "legacy"
    }
    assert (drivers["legacy"].branch, drivers["legacy"].version, drivers["legacy"].min_cc) == ("R580", "580.95.05", 5.0)
    assert (int(drivers["current"].branch[1:]) >= 590, drivers["current"].min_cc) == (True, 7.5)


def test_what_nobody_confirmed_is_on_the_list_of_assumptions() -> None:
    about = {assumption.about for assumption in platform().assumptions}
    assert about >= {"gpu_vm", "workers", "network.guest_range", "guests.infra.node", "guests.ops.node"}


def test_the_placement() -> None:
    found = placement()
    assert [(a.role, a.node, a.gpu_index, a.guest, a.slots) for a in found.assignments] == [
        ("embedding", "pve44", 1, "gpu-pve44", ("embedding",)),
        ("gpu-flex", "GODE-PC-06", 0, None, ("tier1-flex",)),
        ("gpu-general", "GODE-PC-05", 0, None, ("tier1-general",)),
        ("rerank", "pve46", 1, "gpu-pve46", ("rerank",)),
        ("tts-de", "pve52", None, "infra", ("tts-de",)),
        ("verifier", "pve48", 1, "gpu-pve48", ("verifier",)),
    ]
    assert [(u.role, u.reason) for u in found.unplaced] == [
        ("training", "0/1 GPUs of gpu-flex fit: 1 on windows (pytorch runs on linux)"),
        ("tts-de-hq", "0/1 GPUs of gpu-flex fit: 1 on windows (pytorch runs on linux)"),
    ]
    assert [(d.node, d.gpu_index, d.name, d.reason) for d in found.disabled_gpus] == [
        (name, 0, "Quadro M4000", ENABLED) for name in ("pve44", "pve46", "pve48", "pve52")
    ]


def test_the_models_that_fit() -> None:
    fitting = {a.role: a.models_fitting for a in placement().assignments}
    llms = ("mistral-7b-instruct-v0.3-q4_k_m", "phi-4-q4_k_m", "qwen3-14b-q4_k_m", "qwen3-4b-q4_k_m")
    assert {role: tuple(sorted(models)) for role, models in fitting.items()} == {
        "embedding": ("bge-m3-f16", "bge-m3-q8_0", "qwen3-embedding-0.6b-q8_0", "qwen3-embedding-4b-q4_k_m"),
        "rerank": ("bge-reranker-v2-m3-f16", "bge-reranker-v2-m3-q8_0"),
        "verifier": ("qwen3-4b-q4_k_m",),
        "gpu-general": llms,
        "gpu-flex": llms,
        "tts-de": ("piper-de-thorsten-high", "piper-de-thorsten-medium"),
    }


def test_a_named_model_fits_its_role() -> None:
    fitting = {a.role: a.models_fitting for a in placement().assignments}
    named = [(name, slot.model) for name, role in roles().items() for slot in role.slots if slot.model]
    assert named == [("embedding", "bge-m3-f16")]
    assert all(model in fitting[role] for role, model in named)


def with_cards(node: Node, **change: Any) -> Node:
    cards: list[Gpu] = [replace(gpu, **change) for gpu in node.gpus]
    return replace(node, gpus=tuple(cards))


def test_small_roles_stay_on_the_small_cards_when_the_m4000_come_back() -> None:
    back = {name: with_cards(node, disabled=False) for name, node in nodes().items()}
    before, after = placement(), placement(back)
    places = [(a.role, a.node, a.gpu_index) for a in before.assignments]
    assert [(a.role, a.node, a.gpu_index) for a in after.assignments] == places


def test_the_loss_of_a_small_card_never_costs_a_workstation() -> None:
    lost = {name: node for name, node in nodes().items() if name != "pve44"}
    found = placement(lost)
    assert {a.role: a.node for a in found.assignments if a.gpu_index == 0} == {
        "gpu-flex": "GODE-PC-06",
        "gpu-general": "GODE-PC-05",
    }
    assert [u.role for u in found.unplaced] == ["training", "tts-de-hq", "verifier"]


def test_speech_and_training_find_their_place_once_windows_is_gone() -> None:
    linux = {name: replace(node, os="linux") for name, node in nodes().items()}
    found = placement(linux)
    assert found.unplaced == ()
    assert {
        a.role: (a.node, a.gpu_index) for a in found.assignments if a.role in {"gpu-flex", "tts-de-hq", "training"}
    } == {
        "gpu-flex": ("GODE-PC-06", 0),
        "tts-de-hq": ("GODE-PC-06", 0),
        "training": ("GODE-PC-06", 0),
    }
    fitting = {a.role: a.models_fitting for a in found.assignments}
    assert fitting["tts-de-hq"] == ("qwen3-tts-1.7b-bf16",)
    assert "qwen3-14b-q4_k_m" in fitting["gpu-flex"]
