"""What vLLM needs on each card: its budget has to hold weights, activations, graphs and the caches."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from knaster.cluster.architecture import Architecture, CannotTell
from knaster.fit.memory.buffers import activations
from knaster.fit.memory.caches import bytes_per_token, kv_bits, vllm_caches
from knaster.fit.memory.constants import (
    ACTIVATION_WIDTHS,
    BATCHED_TOKENS,
    BATCHED_TOKENS_LARGE,
    LARGE_CARD,
    LOADED,
    NON_TORCH,
    RUNTIME,
    RUNTIME_SHARE,
    STATE_BLOCKS,
)
from knaster.fit.memory.loaded_weights import largest_tensor, vllm_weights
from knaster.fit.memory.serving import Need, Part, Serving

_CACHE = "vLLM: blocks of one sequence at full context, times the sequences; windows keep what is in flight beside them"
_UNIFORM = "vLLM without its hybrid cache manager: every layer keeps the full context in pages of one size"


def in_flight(card: int) -> int:
    """Tokens of one batch that vLLM's server takes by default on cards of `card` bytes, the smallest of a group."""
    return int((BATCHED_TOKENS_LARGE if card >= LARGE_CARD.value else BATCHED_TOKENS).value)


def on_ranks(architecture: Architecture, serving: Serving, ranks: int) -> Need | CannotTell:
    """The need on `ranks` cards with tensor parallelism: all get the same; the smallest card decides."""
    if architecture.encoder:
        return CannotTell("encoders are planned with llama.cpp only: what vLLM needs for them is not modelled")
    bits = kv_bits(architecture, serving)
    weights = vllm_weights(architecture, serving.precision)
    if isinstance(bits, CannotTell):
        return bits
    if isinstance(weights, CannotTell):
        return weights
    return _summed(architecture, serving, (weights, bits), ranks)


def _summed(architecture: Architecture, serving: Serving, sizes: tuple[int, Fraction], ranks: int) -> Need:
    weights, bits = sizes
    own = -(-weights // ranks)
    kept = vllm_caches(architecture, serving, bits, ranks)
    cache = sum(one.each * one.group.layers for one in kept if not one.state)
    state = sum(one.each * one.group.layers for one in kept if one.state)
    compute = activations(architecture, serving, ranks)
    overhead = _overhead(serving, own, compute)
    card = own + cache + state + compute + overhead
    return Need(
        per_card=(card,) * ranks,
        weights=own * ranks,
        cache=cache * ranks,
        state=state * ranks,
        compute=compute * ranks,
        context_overhead=overhead * ranks,
        load_peak=(max(card, _loading(architecture, serving, own, ranks)),) * ranks,
        ram_bytes=0,
        bytes_per_token=bytes_per_token(architecture, bits),
        sequence=(cache + state) * ranks // serving.parallel,
        parts=_parts(serving, (own, cache, state, compute, overhead), ranks),
    )


def _parts(serving: Serving, sizes: tuple[int, ...], ranks: int) -> tuple[Part, ...]:
    sources = (
        ("weights", LOADED.source),
        ("cache", _CACHE if serving.hybrid_cache else _UNIFORM),
        ("state", STATE_BLOCKS.source),
        ("activations", ACTIVATION_WIDTHS.source),
        ("overhead", f"{RUNTIME.source}; {RUNTIME_SHARE.source}" if serving.graphs else NON_TORCH.source),
    )
    parts = (Part(name, size * ranks, source) for (name, source), size in zip(sources, sizes, strict=True))
    return tuple(part for part in parts if part.size)


def _overhead(serving: Serving, weights: int, compute: int) -> int:
    """What is neither weights, cache nor activations: with CUDA graphs at least what KAITO learnt from crash loops."""
    least = int(NON_TORCH.value)
    if not serving.graphs:
        return least
    return max(least, ceil(RUNTIME.value + RUNTIME_SHARE.value * weights) - compute)


def _loading(architecture: Architecture, serving: Serving, own: int, ranks: int) -> int:
    """The peak while weights are loaded: online fp8 needs one tensor, or before it streamed all, at two bytes."""
    online = serving.precision == "fp8" and architecture.stored in ("bf16", "f16", "f32")
    if not online:
        return own
    if serving.streamed_load:
        return own + largest_tensor(architecture) // ranks + int(NON_TORCH.value)
    whole = sum(2 * group.elements for group in architecture.tensors)
    return ceil(whole * LOADED.value / ranks) + int(NON_TORCH.value)
