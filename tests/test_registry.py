"""``registry.yaml`` of this repository's fleet, today and once the workstations run Linux (design §2, §5)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.consumer_fleets import FLEETS, evaluated

Data = dict[str, Any]


def registry(name: str = "own") -> Data:
    """The data of one fleet."""
    return dict(evaluated(name).documents["registry.yaml"])


def test_every_declared_slot_is_there_and_says_why_it_is_not_available() -> None:
    slots = registry()["slots"]
    assert list(slots) == ["embedding", "rerank", "tier1-flex", "tier1-general", "tts-de", "tts-de-hq", "verifier"]
    down = {name: slot["reason"] for name, slot in slots.items() if slot["state"] == "unavailable"}
    assert down == {"tts-de-hq": "0/1 GPUs of gpu-flex fit: 1 on windows (pytorch runs on linux)"}
    assert all(("reason" in slot) == (slot["state"] == "unavailable") for slot in slots.values())


@pytest.mark.parametrize("name", FLEETS)
def test_a_slot_is_available_with_an_endpoint_or_unavailable_with_a_reason(name: str) -> None:
    for slot in registry(name)["slots"].values():
        served = any("host" in one or one["backend"] == "worker" for one in slot["endpoints"])
        assert (slot["state"] == "available") == (served and "reason" not in slot)
        assert slot["state"] != "available" or slot["model"] in slot["models"]


def test_a_worker_has_its_program_and_no_ops_labels() -> None:
    (endpoint,) = registry()["slots"]["tier1-general"]["endpoints"]
    assert endpoint == {
        "backend": "worker",
        "node": "GODE-PC-05",
        "program": "LocalLLMWorker.ps1",
        "host": "192.168.100.105",
        "port": 8084,
        "gpu_indices": [0],
    }
    assert registry()["slots"]["embedding"]["endpoints"][0]["labels"] == {"pve_node": "pve44", "vmid": 244}


def test_the_flex_engine_keeps_55_percent_while_speech_is_active_and_training_excludes_both() -> None:
    """Today both have no place; the rule must be right on the day that Windows goes."""
    today, then = registry()["slots"], registry("on linux")["slots"]
    assert today["tier1-flex"]["vram_share"] == then["tier1-flex"]["vram_share"] == {"alone": 1, "shared": 0.55}
    assert (today["tier1-flex"]["concurrent"], today["tier1-flex"]["excludes_roles"]) == ([], [])
    assert (then["tier1-flex"]["concurrent"], then["tier1-flex"]["excludes_roles"]) == (["tts-de-hq"], ["training"])
    assert (then["tts-de-hq"]["concurrent"], then["tts-de-hq"]["excludes_roles"]) == (["tier1-flex"], ["training"])
    assert then["tts-de-hq"]["state"] == "available"
    assert {one["node"] for name in ("tier1-flex", "tts-de-hq") for one in then[name]["endpoints"]} == {"GODE-PC-06"}


def test_speech_of_high_quality_in_the_cluster_answers_from_a_vm() -> None:
    """Ada cards in pve49 and pve50: the general LLM takes the first by name, the flexible one and its sharers pve50."""
    slots = registry("in the cluster")["slots"]
    assert slots["tier1-general"]["endpoints"][0]["node"] == "pve49"
    for name, port in (("tier1-flex", 8085), ("tts-de-hq", 8091)):
        assert slots[name]["endpoints"] == [
            {
                "backend": "vm",
                "node": "pve50",
                "guest": "gpu-pve50",
                "host": "192.168.100.230",
                "port": port,
                "gpu_indices": [0],
                "mappings": ["gpu-rtx4000ada-pve50"],
                "labels": {"pve_node": "pve50", "vmid": 250},
            }
        ]
        assert (slots[name]["state"], slots[name]["excludes_roles"]) == ("available", ["training"])
    assert slots["tier1-flex"]["vram_share"] == {"alone": 1, "shared": 0.55}
    assert slots["tts-de-hq"]["vram_share"] == {"alone": 0.45, "shared": 0.45}
    assert (slots["tier1-flex"]["concurrent"], slots["tts-de-hq"]["concurrent"]) == (["tts-de-hq"], ["tier1-flex"])
    assert (slots["tts-de-hq"]["model"], slots["tts-de-hq"]["fallback"]) == ("qwen3-tts-1.7b-bf16", ["tts-de"])


def test_while_they_are_displaced_requests_fall_back() -> None:
    slots = registry("on linux")["slots"]
    assert slots["tts-de-hq"]["fallback"] == ["tts-de"]
    assert slots["tier1-flex"]["fallback"] == ["tier1-general", "tier0"]
    assert (slots["tts-de"]["processor"], slots["tts-de"]["state"]) == ("cpu", "available")


@pytest.mark.parametrize("name", FLEETS)
def test_exclusion_is_mutual_and_every_name_is_known(name: str) -> None:
    data = registry(name)
    slots = data["slots"]
    for slot, one in slots.items():
        assert all(slot in slots[other]["excludes"] for other in one["excludes"])
        assert all(slot in slots[other]["concurrent"] for other in one["concurrent"])
        assert set(one["fallback"]) <= slots.keys() | data["external"].keys()
        assert set(one["models"]) | ({one["model"]} if "model" in one else set()) <= data["models"].keys()


def test_the_models_that_slots_name_are_told_and_no_other() -> None:
    models = registry()["models"]
    assert models["qwen3-14b-q4_k_m"] == {
        "kind": "llm",
        "source": "Qwen/Qwen3-14B",
        "precision": "q4_k_m",
        "vram_gb": 10.89,
        "context": 16384,
        "lora": False,
        "args": [],
        "tensor_parallel": 1,
    }
    assert models["bge-m3-f16"]["args"][:2] == ["--embeddings", "--pooling"]
    assert "qwen3-embedding-8b-q4_k_m" not in models
    assert registry("one node")["models"]["qwen3-4b"]["lora"] is True
