"""Nemotron-NAS (DeciLM): every layer is what a search made of it, so ``block_configs`` is read layer by layer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from knaster.cluster.architecture import LayerCache
from knaster.fit.recognition.config import Config, UnknownError, quoted
from knaster.fit.recognition.heads import heads_of
from knaster.fit.recognition.kinds import Kind
from knaster.fit.recognition.sheet import Sheet


@dataclass(frozen=True, slots=True)
class Block:
    """KV heads of a layer (0: no attention, None: a linear layer instead); width of its feed-forward likewise."""

    kv: int | None
    width: int | None


def blocks(config: Config) -> tuple[Block, ...]:
    """One block for each layer; raises UnknownError where the list is not that."""
    listed = config.entries("block_configs") or []
    if len(listed) != config.layers():
        raise UnknownError(f"{config.where}: block_configs describes {len(listed)} layers of {config.layers()}")
    return tuple(_block(config, entry) for entry in listed)


def _block(config: Config, entry: object) -> Block:
    parts = [entry.get(key) if isinstance(entry, Mapping) else None for key in ("attention", "ffn")]
    attention, forward = (
        Config(part, {}, where=f"{config.where}: block_configs") if isinstance(part, Mapping) else None
        for part in parts
    )
    if attention is None or forward is None:
        raise UnknownError(f"{config.where}: block_configs has a layer without attention or ffn")
    return Block(_kv(config, attention), _width(config, forward))


def _kv(config: Config, attention: Config) -> int | None:
    if attention.flag("no_op"):
        return 0
    if attention.flag("replace_with_linear"):
        return None
    return max(config.count("num_attention_heads") // attention.count("n_heads_in_group"), 1)


def _width(config: Config, forward: Config) -> int | None:
    """The modelling code's rule: 2/3 of the factor times the width, rounded up to 256."""
    if forward.flag("no_op"):
        return 0
    if forward.flag("replace_with_linear"):
        return None
    factor = forward.get("ffn_mult")
    if isinstance(factor, bool) or not isinstance(factor, int | float) or not 0 < factor < 1000:
        raise UnknownError(f"{config.where}: ffn_mult is {quoted(factor)}")
    return -(-int(2 * factor * config.count("hidden_size") / 3) // 256) * 256


def nas_caches(config: Config) -> tuple[LayerCache, ...]:
    """Groups of layers with as many KV heads; layers without attention keep nothing."""
    dim = heads_of(config).dim
    counted = Counter(block.kv for block in blocks(config) if block.kv)
    return tuple(LayerCache("full", layers, kv, dim, dim) for kv, layers in counted.items())


def nas(config: Config, kinds: tuple[Kind, ...], sheet: Sheet) -> None:
    """The tensors of each layer that has them."""
    heads, every = heads_of(config), list(enumerate(blocks(config)))
    assert len(every) == len(kinds)
    sheet.norms([layer for layer, block in every if block.kv != 0], "attn_norm")
    sheet.norms([layer for layer, block in every if block.width != 0], "ffn_norm")
    sheet.linear([layer for layer, block in every if block.kv is None], "attn_output", sheet.hidden, sheet.hidden)
    for kv in sorted({block.kv for _, block in every if block.kv}):
        layers = [layer for layer, block in every if block.kv == kv]
        sheet.linear(layers, "attn_q", heads.count * heads.dim, sheet.hidden)
        sheet.linear(layers, "attn_k", kv * heads.dim, sheet.hidden)
        sheet.linear(layers, "attn_v", kv * heads.dim, sheet.hidden)
        sheet.linear(layers, "attn_output", sheet.hidden, heads.count * heads.dim)
    _forward(every, sheet)


def _forward(every: list[tuple[int, Block]], sheet: Sheet) -> None:
    sheet.linear([layer for layer, block in every if block.width is None], "ffn_up", sheet.hidden, sheet.hidden)
    for width in sorted({block.width for _, block in every if block.width}):
        layers = [layer for layer, block in every if block.width == width]
        sheet.linear(layers, "ffn_gate", width, sheet.hidden)
        sheet.linear(layers, "ffn_up", width, sheet.hidden)
        sheet.linear(layers, "ffn_down", sheet.hidden, width)
