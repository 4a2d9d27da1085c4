"""The architecture of a GGUF file, from its own header: metadata for the sizes, tensors for which layer keeps what."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping

from knaster.cluster.architecture import Architecture, TensorGroup
from knaster.document.scalars import shown
from knaster.fit.recognition.config import MOST_LAYERS, Config, UnknownError, quoted
from knaster.fit.recognition.gguf_caches import WINDOWS, Blocks, gguf_caches
from knaster.fit.recognition.gguf_types import precision_of
from knaster.fit.recognition.headers import complete, fitting
from knaster.weights import GgufFile, Tensor

ENCODERS = frozenset(
    {"bert", "nomic-bert", "nomic-bert-moe", "jina-bert-v2", "jina-bert-v3", "modern-bert", "gemma-embedding"}
)
DECODERS = frozenset(
    {
        *("llama", "mistral3", "deci", "granite", "granitemoe", "granitehybrid", "smollm3", "stablelm", "starcoder2"),
        *("qwen2", "qwen2moe", "qwen2vl", "qwen3", "qwen3moe", "qwen3vl", "qwen3vlmoe", "qwen3next"),
        *("qwen35", "qwen35moe", "phi2", "phi3", "gemma", "glm4", "glm4moe", "deepseek2", "minimax-m2", "command-r"),
        *("internlm2", "olmo", "olmo2", "olmoe", "nemotron_h", "nemotron_h_moe", "falcon-h1", "jamba"),
        *("lfm2", "lfm2moe", "mamba", "mamba2"),
    }
)
"""``general.architecture`` values whose caches follow from their tensors; those with windows are in `WINDOWS`."""
_BLOCK = re.compile(r"^blk\.(\d{1,4})\.(.+)$")


def gguf_architecture(name: str, file: GgufFile) -> Architecture:
    """The architecture of a file whose header was read; raises UnknownError where that is not possible."""
    config = Config(file.metadata, {}, where=shown(file.path))
    arch = _arch(config)
    tensors = tuple(tensor for tensor in file.tensors if tensor.elements)
    if not tensors:
        raise UnknownError(f"{config.where} holds no tensors")
    nextn = config.zero(f"{arch}.nextn_predict_layers", most=MOST_LAYERS)
    layers = config.count(f"{arch}.block_count", most=MOST_LAYERS) - nextn
    if layers < 1:
        raise UnknownError(f"{config.where}: no layers are left beside those that predict several tokens")
    groups, extra = _grouped(tensors, layers)
    hidden = config.count(f"{arch}.embedding_length", most=1 << 24)
    heads = _largest(config, f"{arch}.attention.head_count") or 1
    kv = _largest(config, f"{arch}.attention.head_count_kv") or heads
    encoder = arch in ENCODERS
    blocks = Blocks(config, arch, layers, groups)
    return Architecture(
        name=name,
        family=arch,
        parameters=sum(group.elements for group in groups),
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=kv,
        head_dim=config.maybe(f"{arch}.attention.key_length") or max(hidden // heads, 1),
        vocab=_vocabulary(groups, config, arch),
        context=config.maybe(f"{arch}.context_length"),
        stored=precision_of(config, groups),
        tied=not encoder and all(group.name != "output.weight" for group in groups),
        encoder=encoder,
        caches=() if encoder else gguf_caches(blocks),
        tensors=complete(groups, layers),
        experts=config.zero(f"{arch}.expert_count", most=1 << 20),
        extra=(("mtp", extra),) if extra else (),
    )


def _arch(config: Config) -> str:
    kind = config.text_of("general.type")
    if kind not in (None, "model"):
        raise UnknownError(f"{config.where} is of the type {quoted(kind)}, not a model")
    arch = config.text_of("general.architecture")
    if arch is None:
        raise UnknownError(f"{config.where} does not say general.architecture")
    if arch == "clip":
        raise UnknownError(f"{config.where} is the projector of a vision model, not the model")
    sparse = any(key.startswith(f"{arch}.attention.indexer.") for key in config.top)
    if sparse or arch not in ENCODERS | DECODERS | WINDOWS.keys():
        raise UnknownError(
            f"the architecture {quoted(arch)} is not modelled: what its layers keep per token is not known"
        )
    return arch


def _grouped(tensors: tuple[Tensor, ...], layers: int) -> tuple[tuple[TensorGroup, ...], int]:
    """Like tensors of the layers as groups, and the bytes of layers beyond them (multi-token prediction)."""
    groups: dict[tuple[str, tuple[int, ...], str, int], list[int]] = defaultdict(list)
    beyond = 0
    for tensor in tensors:
        fitting(tensor.name, tensor.shape, tensor.dtype)
        block = _BLOCK.match(tensor.name)
        if block is None:
            groups[tensor.name, tensor.shape, tensor.dtype, tensor.size] += []
        elif int(block[1]) < layers:
            groups[f"blk.{{}}.{block[2]}", tensor.shape, tensor.dtype, tensor.size].append(int(block[1]))
        else:
            beyond += tensor.size
    return (
        tuple(
            TensorGroup(name, shape, kind, size, tuple(sorted(of))) for (name, shape, kind, size), of in groups.items()
        ),
        beyond,
    )


def _largest(config: Config, key: str) -> int:
    """A number, or the largest of a list with one for each layer; 0 where absent."""
    value = config.get(key)
    if not isinstance(value, list | tuple):
        return config.zero(key)
    return max((_number(config, key, entry) for entry in value), default=0)


def _number(config: Config, key: str, value: object) -> int:
    return Config({key: value}, {}, where=config.where).zero(key)


def _vocabulary(groups: tuple[TensorGroup, ...], config: Config, arch: str) -> int:
    shapes: Mapping[str, tuple[int, ...]] = {group.name: group.shape for group in groups}
    shape = shapes.get("token_embd.weight", ())
    return shape[0] if len(shape) == 2 else config.count(f"{arch}.vocab_size")
