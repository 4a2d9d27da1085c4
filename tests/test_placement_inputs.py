"""`plan` takes what a YAML file holds, and says everything that is wrong with it at once."""

from __future__ import annotations

from typing import Any

import pytest

from knaster.inventory import plan
from tests.builders import catalog, gpu, node, role

NODE: dict[str, Any] = {
    "name": "pve-ada",
    "cpu": {"model": "Xeon", "cores": 8, "threads": 16},
    "memory_gb": 64,
    "disks": [{"name": "nvme0n1", "size_gb": 256, "rotational": False}],
    "gpus": [
        {
            "index": 0,
            "name": "NVIDIA RTX 4000 Ada Generation",
            "memory_gb": 20,
            "compute_cap": 8.9,
            "driver": "580.95.05",
        }
    ],
}
ROLES: dict[str, Any] = {"chat": {"needs": {"engine": "vllm", "min_vram_gb": 8}, "kinds": ["llm"]}}
MODELS: dict[str, Any] = {
    "engines": {"vllm": {"min_cc": 7.0}},
    "models": {"m": {"kind": "llm", "vram_gb": 9, "min_cc": 7.0, "engines": ["vllm"]}},
}


@pytest.mark.parametrize("roles", [ROLES, {"roles": ROLES}])
def test_parsed_files(roles: dict[str, Any]) -> None:
    (found,) = plan([NODE], roles, MODELS).assignments
    assert (found.role, found.node, found.gpu_index, found.models_fitting) == ("chat", "pve-ada", 0, ("m",))


def test_dataclasses_and_mappings_mix() -> None:
    (found,) = plan([node("n", gpu())], [role("chat")], MODELS).assignments
    assert (found.role, found.node, found.models_fitting) == ("chat", "n", ("m",))
    assert plan([NODE], {"chat": role("chat")}, catalog()).assignments[0].node == "pve-ada"


def test_every_problem_of_every_part_is_told_with_its_node() -> None:
    bad_node = {**NODE, "memory_gb": "much"}
    bad_roles = {"chat": {"needs": {"engin": "vllm"}, "kinds": ["llm"]}}
    with pytest.raises(ValueError, match="node pve-ada: memory_gb: need") as error:
        plan([NODE, bad_node], bad_roles, MODELS)
    assert 'roles: unknown key "engin" in roles.chat.needs' in str(error.value)
    assert str(error.value).count(";") == 1
