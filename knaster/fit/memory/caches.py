"""Bytes of keys, values and recurrent states, by engine. Formulas: facts of llama.cpp's and vLLM's cache code."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from knaster.cluster.architecture import Architecture, CannotTell, LayerCache
from knaster.fit.memory.constants import (
    BLOCK,
    CELLS,
    KV_BITS,
    KV_PRECISIONS,
    LLAMACPP_WINDOWS,
    STATE_BLOCKS,
    STATE_BYTES,
    UBATCH,
)
from knaster.fit.memory.serving import Serving


@dataclass(frozen=True, slots=True)
class Kept:
    """What one group of like layers keeps on a card: bytes per layer for all sequences, and whether it is a state."""

    group: LayerCache
    each: int
    state: bool


def kv_bits(architecture: Architecture, serving: Serving) -> Fraction | CannotTell:
    """Bits per number of the cache; ``auto`` is two bytes in both engines, also under fp8 weights (vllm#21348)."""
    wanted = "f16" if serving.kv_precision == "auto" else serving.kv_precision
    offered = KV_PRECISIONS[serving.engine]
    if wanted not in offered:
        return CannotTell(f"{serving.engine} has no KV cache in {wanted} (it has {', '.join(offered)})")
    if KV_BITS[wanted].denominator == 1 and wanted != "q8_0":
        return KV_BITS[wanted]
    if not serving.flash_attention:
        return CannotTell(f"llama.cpp keeps values in {wanted} only with flash attention")
    attention = [group for group in architecture.caches if group.kind != "recurrent"]
    if any(group.key_dim % 32 or group.value_dim % 32 for group in attention):  # llama_init_from_model, for each head
        return CannotTell(f"{wanted} packs 32 numbers, and the heads of this model are no multiple of that")
    return KV_BITS[wanted]


def bytes_per_token(architecture: Architecture, bits: Fraction) -> int:
    """By how much all caches together grow with each token, once the windows are full."""
    growing = [group for group in architecture.caches if group.kind in ("full", "latent")]
    return ceil(sum(group.layers * group.elements for group in growing) * bits / 8)


def padded(number: int, step: int) -> int:
    """`number` rounded up to a multiple of `step`."""
    return -(-number // step) * step


def ubatch_of(architecture: Architecture, serving: Serving) -> int:
    """Tokens of one physical batch of llama.cpp: 512, or the whole text for an encoder, which cannot split it."""
    default = serving.context if architecture.encoder else int(UBATCH.value)
    return min(serving.ubatch or default, max(serving.context, 1))


def llamacpp_caches(architecture: Architecture, serving: Serving, bits: Fraction) -> tuple[Kept, ...]:
    """Caches of llama.cpp for all slots: cells in steps of 256; windows where it knows the family's, else full."""
    return tuple(_llamacpp(architecture, group, serving, bits) for group in architecture.caches)


def _llamacpp(architecture: Architecture, group: LayerCache, serving: Serving, bits: Fraction) -> Kept:
    if group.kind == "recurrent":
        each = group.state_bytes + group.conv_elements * int(STATE_BYTES.value)
        return Kept(group, each * serving.parallel, state=True)
    cells = _cells(architecture, group, serving)
    return Kept(group, ceil(cells * group.elements * bits / 8), state=False)


def _cells(architecture: Architecture, group: LayerCache, serving: Serving) -> int:
    """Cells of a layer for all slots. A window is kept for each slot, and the batch that is being read beside it."""
    step, slots = int(CELLS.value), serving.parallel
    slides = group.window is not None and architecture.family in LLAMACPP_WINDOWS and not serving.swa_full
    if not slides or group.window is None:
        return padded(serving.context * slots, step) if serving.unified else padded(serving.context, step) * slots
    batch = ubatch_of(architecture, serving)
    if serving.unified:
        return padded(min(serving.context * slots, group.window * slots + batch), step)
    return padded(min(serving.context, group.window + batch), step) * slots


def vllm_caches(architecture: Architecture, serving: Serving, bits: Fraction, ranks: int) -> tuple[Kept, ...]:
    """Caches of vLLM on one of `ranks` cards, for all sequences, in its blocks.

    KV heads are divided by the ranks and copied when there are fewer; the latent of MLA is whole on each. Where a
    model has recurrent layers, a block of attention is as large as a state, and each state takes two of them.
    """
    states = [group for group in architecture.caches if group.kind == "recurrent"]
    if states:
        return _paged(architecture, serving, bits, ranks)
    groups = architecture.caches
    if not serving.hybrid_cache:
        widest = max((_rank_bytes(group, bits, ranks) for group in groups), default=Fraction(0))
        tokens = padded(serving.context, int(BLOCK.value))
        return tuple(Kept(group, ceil(widest * tokens) * serving.parallel, state=False) for group in groups)
    return tuple(
        Kept(group, ceil(_rank_bytes(group, bits, ranks) * _tokens(group, serving)) * serving.parallel, state=False)
        for group in groups
    )


def _tokens(group: LayerCache, serving: Serving) -> int:
    """Tokens that a layer holds of one sequence, in whole blocks: a window keeps what is in flight beside it."""
    block = int(BLOCK.value)
    whole = padded(serving.context, block)
    if group.window is None:
        return whole
    return min(padded(group.window - 1 + serving.batched_tokens, block) + block, whole)


def _rank_bytes(group: LayerCache, bits: Fraction, ranks: int) -> Fraction:
    """Bytes per token and layer on one rank."""
    if group.kind == "latent":
        return group.key_dim * bits / 8
    heads = max(ceil(Fraction(group.kv_heads, ranks)), 1)
    return heads * (group.key_dim + group.value_dim) * bits / 8


def _paged(architecture: Architecture, serving: Serving, bits: Fraction, ranks: int) -> tuple[Kept, ...]:
    attention = [group for group in architecture.caches if group.kind != "recurrent"]
    states = [group for group in architecture.caches if group.kind == "recurrent"]
    state = max(-(-(group.state_bytes + 2 * group.conv_elements) // ranks) for group in states)
    token = max((_rank_bytes(group, bits, ranks) for group in attention), default=Fraction(0))
    block = block_tokens(state, token)
    page = ceil(token * block) if token else state
    kept = [
        Kept(group, page * ceil(Fraction(serving.context, block)) * serving.parallel, state=False)
        for group in attention
    ]
    twice = page * int(STATE_BLOCKS.value) * serving.parallel
    fewest = min(group.layers for group in architecture.caches)  # layers come in groups as large as the smallest
    return (
        *kept,
        *(
            Kept(group, ceil(Fraction(twice * padded(group.layers, fewest), group.layers)), state=True)
            for group in states
        ),
    )


def block_tokens(state: int, token: Fraction) -> int:
    """Tokens of a block of attention, so that its page holds a state of `state` bytes at `token` bytes per token."""
    return padded(ceil(state / token), int(BLOCK.value)) if token else 1
