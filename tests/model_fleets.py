"""Fleets for `model plan`: the cards and rooms of small fleets, and whole repositories with a model beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from knaster.cluster import Cluster, Engine, Gpu, Node
from knaster.cluster.architecture import Architecture
from knaster.fit.memory.serving import EngineName
from knaster.fit.recognise import recognise
from knaster.guests import expand
from knaster.model_plan.engines import Planning
from knaster.model_plan.pools import Hardware, hardware
from knaster.placement import plan as place
from knaster.planned import Planned
from knaster.weights import Published
from tests.builders import catalog, cluster, gpu, node, platform
from tests.model_truth import TRUTH

LLAMACPP = Engine("llamacpp", min_cc=5.0, os=("linux", "windows"), gpu="optional", port=8080)
VLLM = Engine("vllm", min_cc=7.0, os=("linux",), gpu="required", port=8000)
ENGINES: dict[EngineName, Planning] = {
    "llamacpp": Planning("llamacpp", LLAMACPP, 2**29),
    "vllm": Planning("vllm", VLLM, 2**29),
}
"""Both engines, with the half GiB of reserve that the platform of `fleet` keeps on Linux."""

QWEN3_14B: Mapping[str, object] = {
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "num_hidden_layers": 40,
    "hidden_size": 5120,
    "num_attention_heads": 40,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "intermediate_size": 17408,
    "vocab_size": 151936,
    "max_position_embeddings": 40960,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}
"""The config.json of Qwen/Qwen3-14B, as far as memory depends on it."""

LLAMA_70B: Mapping[str, object] = TRUTH["meta-llama/Llama-3.3-70B-Instruct"].config
BGE_M3: Mapping[str, object] = {
    "architectures": ["XLMRobertaModel"],
    "model_type": "xlm-roberta",
    "num_hidden_layers": 24,
    "hidden_size": 1024,
    "num_attention_heads": 16,
    "intermediate_size": 4096,
    "vocab_size": 250002,
    "max_position_embeddings": 8194,
    "type_vocab_size": 1,
    "torch_dtype": "float32",
}
"""The config.json of BAAI/bge-m3."""


def model(config: Mapping[str, object], name: str = "owner/model") -> Architecture:
    """The architecture that a config describes."""
    found = recognise(Published(name, config=config))
    assert isinstance(found, Architecture), found
    return found


def ada(index: int = 0, **more: Any) -> Gpu:
    """An RTX 4000 Ada as the driver reports it: 20,475 MiB."""
    return gpu(index, 20, 8.9, memory_mib=20475, **more)


def p2000(index: int = 0, **more: Any) -> Gpu:
    """A Quadro P2000: 5 GB, Pascal."""
    return gpu(index, 5, 6.1, name="Quadro P2000", memory_mib=5120, **more)


def m4000(index: int = 0, **more: Any) -> Gpu:
    """A Quadro M4000: 8 GB, Maxwell."""
    return gpu(index, 8, 5.2, name="Quadro M4000", memory_mib=8192, **more)


def h100(index: int = 0, **more: Any) -> Gpu:
    """An H100 of 80 GB."""
    return gpu(index, 80, 9.0, name="NVIDIA H100 80GB HBM3", **more)


def cards(count: int, make: Any) -> tuple[Gpu, ...]:
    """So many like cards with the indices 0, 1, …"""
    return tuple(make(index) for index in range(count))


def planned(*nodes: Node, **more: Any) -> Planned:
    """The nodes with both engines in the catalog, a platform with reserves, and their placement."""
    engines = more.pop("engines", (LLAMACPP, VLLM))
    more.setdefault("platform", platform(host_reserve_gb=4, vram_reserve_gb={"linux": 0.5, "windows": 2}))
    whole: Cluster = cluster(*nodes, catalog=catalog(*engines), **more)
    assert whole.catalog is not None
    assert whole.roles is not None
    answer = place(whole.nodes, whole.roles, whole.catalog, platform=whole.platform)
    return Planned(whole, expand(whole.nodes, whole.platform), answer)


def fleet(*nodes: Node, **more: Any) -> Hardware:
    """What `model plan` sees of the nodes."""
    return hardware(planned(*nodes, **more), LLAMACPP)


def four() -> Node:
    """One Linux node with four RTX 4000 Ada."""
    return node("quad", *cards(4, ada), memory_gb=256)


def lay_model(folder: Path, config: Mapping[str, object]) -> Path:
    """A model's folder with its config alone."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    return folder


MODELS_YAML = """\
engines:
  llamacpp: {min_cc: 5.0, os: [linux, windows], gpu: optional, port: 8080}
  vllm: {min_cc: 7.0, os: [linux], gpu: required, port: 8000}
models: {}
"""
PLATFORM_YAML = """\
network: {cidr: 10.0.0.0/8, gateway: 10.0.0.1, bridge: vmbr0, guest_range: {first: 10.0.1.1, last: 10.0.1.99}}
host_reserve_gb: 4
vram_reserve_gb: {linux: 0.5, windows: 2}
"""


def node_yaml(name: str, gpus: list[tuple[str, int, float]], memory_gb: int = 64, **more: str) -> str:
    """A profile; a card is (name, GiB, compute capability)."""
    lines = [f"name: {name}", "cpu: {model: x, cores: 16, threads: 32}", f"memory_gb: {memory_gb}", "disks: []"]
    lines += [f"{key}: {value}" for key, value in more.items()]
    lines.append("gpus:" if gpus else "gpus: []")
    for index, (card, size, capability) in enumerate(gpus):
        text = f'{{index: {index}, name: "{card}", memory_gb: {size}, compute_cap: {capability}, driver: "580.95.05"}}'
        lines.append(f"  - {text}")
    return "\n".join(lines) + "\n"


def lay_fleet(root: Path, *profiles: str) -> Path:
    """A repository of these profiles with both engines, no roles and no models."""
    texts = {"models": MODELS_YAML, "roles": "roles: {}\n", "platform": PLATFORM_YAML}
    for folder in ("catalog", "inventory"):
        (root / folder).mkdir(parents=True)
    for name, text in texts.items():
        (root / f"catalog/{name}.yaml").write_text(text, "utf-8")
    for profile in profiles:
        name = profile.partition("\n")[0].removeprefix("name: ")
        (root / f"inventory/{name}.yaml").write_text(profile, "utf-8")
    return root
