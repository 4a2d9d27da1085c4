"""What the layers of a GGUF file keep: which ones attend or remember is read off their tensors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from knaster.cluster.architecture import LayerCache, TensorGroup
from knaster.fit.recognition.config import Config, UnknownError, quoted

WINDOWS: Mapping[str, int] = {"gemma2": 2, "gemma3": 6, "gemma3n": 5, "gemma4": 6, "gpt-oss": 2, "cohere2": 4}
"""Architectures with windows to the length of their pattern, whose last layer is global (llama.cpp, load_hparams)."""
_KEYS = ("attn_k.weight", "attn_k_b.weight", "attn_kv_a_mqa.weight", "attn_qkv.weight")
_STATES = ("ssm_conv1d.weight", "shortconv.conv.weight")


@dataclass(frozen=True, slots=True)
class Blocks:
    """The layers of a file: its metadata, architecture, their number and tensors."""

    config: Config
    arch: str
    layers: int
    groups: tuple[TensorGroup, ...]

    def owners(self, *parts: str) -> frozenset[int]:
        """The layers that own a tensor with one of these names."""
        names = {f"blk.{{}}.{part}" for part in parts}
        return frozenset(layer for group in self.groups if group.name in names for layer in group.layers)

    def of(self, key: str) -> str:
        """The key of the metadata, with the architecture in front."""
        return f"{self.arch}.{key}"

    def each(self, key: str, layer: int, default: int) -> int:
        """A number of a layer, where the metadata hold one for all or a list with one for each."""
        value = self.config.get(self.of(key))
        if value is None:
            return default
        if isinstance(value, list | tuple):
            if len(value) <= layer:
                raise UnknownError(f"{self.config.where}: {self.of(key)} names {len(value)} of {self.layers} layers")
            value = value[layer]
        return Config({key: value}, {}, where=self.config.where).zero(key)


def gguf_caches(blocks: Blocks) -> tuple[LayerCache, ...]:
    """The groups of like layers. A layer with a state and no keys of its own is recurrent, one with both is both."""
    states = blocks.owners(*_STATES)
    plain = blocks.owners("attn_k.weight")
    shared = blocks.config.zero(blocks.of("attention.shared_kv_layers"), most=blocks.layers)
    attending = (blocks.owners(*_KEYS) - states) | (plain & states)
    if not attending and not states:
        raise UnknownError(f"{blocks.config.where} has no tensor of an attention that is known")
    counted = Counter(_attention(blocks, layer) for layer in sorted(attending) if layer < blocks.layers - shared)
    recurrent = (_state(blocks, len(states)),) if states else ()
    return (
        tuple(
            LayerCache(kind.kind, number, kind.kv_heads, kind.key_dim, kind.value_dim, window=kind.window)
            for kind, number in counted.items()
            if kind.elements
        )
        + recurrent
    )


def _attention(blocks: Blocks, layer: int) -> LayerCache:
    rank = blocks.config.maybe(blocks.of("attention.kv_lora_rank"))
    if rank and blocks.config.get(blocks.of("attention.key_length_mla")) is not None:
        return LayerCache("latent", 1, 1, rank + blocks.config.zero(blocks.of("rope.dimension_count")))
    heads = blocks.each("attention.head_count", layer, 1)
    kv = blocks.each("attention.head_count_kv", layer, heads)
    width = blocks.config.count(blocks.of("embedding_length"))
    usual = width // heads if heads else 0
    key = blocks.config.maybe(blocks.of("attention.key_length")) or usual
    value = blocks.config.maybe(blocks.of("attention.value_length")) or key
    window = _window(blocks, layer)
    if window is None:
        return LayerCache("full", 1, kv if not rank else heads, key, value)
    key = blocks.config.maybe(blocks.of("attention.key_length_swa")) or key
    value = blocks.config.maybe(blocks.of("attention.value_length_swa")) or value
    return LayerCache("sliding", 1, kv, key, value, window=window)


def _window(blocks: Blocks, layer: int) -> int | None:
    size = blocks.config.zero(blocks.of("attention.sliding_window"))
    if not size or blocks.arch not in WINDOWS:
        return None
    pattern = blocks.config.get(blocks.of("attention.sliding_window_pattern"))
    if isinstance(pattern, list | tuple):
        if len(pattern) < blocks.layers:
            raise UnknownError(f"{blocks.config.where}: sliding_window_pattern names {len(pattern)} layers")
        return size if pattern[layer] else None
    every = WINDOWS[blocks.arch] if pattern is None else pattern
    if isinstance(every, bool) or not isinstance(every, int) or every < 1:
        raise UnknownError(f"{blocks.config.where}: sliding_window_pattern is {quoted(pattern)}")
    return None if (layer + 1) % every == 0 else size


def _state(blocks: Blocks, layers: int) -> LayerCache:
    """Delta nets and Mamba keep d_state x d_inner in F32 and conv - 1 columns; short convolutions the columns only."""
    short = blocks.config.maybe(blocks.of("shortconv.l_cache"))
    if short is not None:
        columns = (short - 1) * blocks.config.count(blocks.of("embedding_length"))
        return LayerCache("recurrent", layers, conv_elements=columns)
    inner = blocks.config.count(blocks.of("ssm.inner_size"))
    width = blocks.config.count(blocks.of("ssm.state_size"))
    groups = blocks.config.zero(blocks.of("ssm.group_count"))
    columns = (blocks.config.count(blocks.of("ssm.conv_kernel")) - 1) * (inner + 2 * groups * width)
    return LayerCache("recurrent", layers, state_bytes=4 * inner * width, conv_elements=columns)
