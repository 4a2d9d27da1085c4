"""What llama.cpp needs: on one card, over several by layers, or in RAM alone."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from math import ceil

from knaster.cluster.architecture import Architecture, CannotTell
from knaster.fit.memory.buffers import compute_buffer
from knaster.fit.memory.caches import Kept, bytes_per_token, kv_bits, llamacpp_caches
from knaster.fit.memory.constants import CUDA_CONTEXT
from knaster.fit.memory.loaded_weights import INPUT, gguf_tensors
from knaster.fit.memory.quantise import Stored
from knaster.fit.memory.serving import Need, Part, Serving

_ATTENTION = ("attn_k.weight", "attn_qkv.weight", "attn_kv_a_mqa.weight")


def on_cpu(architecture: Architecture, serving: Serving) -> Need | CannotTell:
    """Everything in RAM, each tensor once."""
    found = _parts(architecture, serving)
    if isinstance(found, CannotTell):
        return found
    tensors, kept, bits = found
    weights = sum(tensor.size for tensor in tensors)
    return _summed(architecture, serving, (weights, kept, bits), (), weights)


def on_cards(architecture: Architecture, serving: Serving, shares: Sequence[Fraction], cards: int) -> Need | CannotTell:
    """Layers on `cards` in parts of `shares`; the embedding in RAM, a tied one as output matrix on the last card too.

    A layer's cache lies with the layer; every card has a compute buffer of its own, however few layers it holds.
    """
    if len(shares) != cards or any(part < 0 for part in shares) or not sum(shares):
        raise ValueError("one share per card, none negative, not all zero")
    found = _parts(architecture, serving)
    if isinstance(found, CannotTell):
        return found
    tensors, kept, bits = found
    owner = owners(architecture.layers, shares)
    each = [0] * cards
    for tensor in tensors:
        if tensor.name not in INPUT or (tensor.name == "token_embd.weight" and architecture.tied):
            each[owner[architecture.layers if tensor.layer is None else tensor.layer]] += tensor.size
    weights = sum(each)
    for one in kept:
        for card, layers in enumerate(_spread(architecture, one, owner, cards)):
            each[card] += one.each * layers
    ram = sum(tensor.size for tensor in tensors if tensor.name in INPUT)
    return _summed(architecture, serving, (weights, kept, bits), tuple(each), ram)


def owners(layers: int, shares: Sequence[Fraction]) -> tuple[int, ...]:
    """The card of each layer and, last, of the output: the first whose cumulative share lies above i / (n + 1).

    llama.cpp counts layers, not bytes (``llama_model::load_tensors``).
    """
    total = sum(shares)
    ends = [end / total for end in accumulate(shares)]
    places = [Fraction(layer, layers + 1) for layer in range(layers + 1)]
    return tuple(next(card for card, end in enumerate(ends) if end > place) for place in places)


def _parts(
    architecture: Architecture, serving: Serving
) -> tuple[tuple[Stored, ...], tuple[Kept, ...], Fraction] | CannotTell:
    bits = kv_bits(architecture, serving)
    if isinstance(bits, CannotTell):
        return bits
    tensors = gguf_tensors(architecture, serving.precision)
    if isinstance(tensors, CannotTell):
        return tensors
    return tensors, llamacpp_caches(architecture, serving, bits), bits


def attention_layers(architecture: Architecture, kept: Kept) -> frozenset[int] | None:
    """The layers that a group stands for, where the tensors show them: one kind of attention, its owners all named."""
    attention = [group for group in architecture.caches if group.kind != "recurrent"]
    having = {layer for group in architecture.tensors if group.name.endswith(_ATTENTION) for layer in group.layers}
    shown = len(attention) == 1 and kept.group in attention and len(having) == kept.group.layers
    return frozenset(having) if shown else None


def _spread(architecture: Architecture, kept: Kept, owner: tuple[int, ...], cards: int) -> list[int]:
    """How many layers of a group lie on each card: exactly where the tensors show which, else evenly and rounded up."""
    known = attention_layers(architecture, kept)
    if known is not None:
        return [sum(owner[layer] == card for layer in known) for card in range(cards)]
    held = [owner[:-1].count(card) for card in range(cards)]
    return [ceil(Fraction(kept.group.layers * some, architecture.layers)) for some in held]


def _summed(
    architecture: Architecture,
    serving: Serving,
    sizes: tuple[int, tuple[Kept, ...], Fraction],
    cards: tuple[int, ...],
    ram: int,
) -> Need:
    weights, kept, bits = sizes
    cache = sum(one.each * one.group.layers for one in kept if not one.state)
    state = sum(one.each * one.group.layers for one in kept if one.state)
    buffer, context = compute_buffer(architecture, serving), int(CUDA_CONTEXT.value)
    number = max(len(cards), 1)
    per_card = tuple(size + buffer + context for size in cards)
    overhead = context * len(cards)
    parts = (
        Part("weights", weights, "each tensor as the GGUF file holds it; the embedding stays in RAM (llama.cpp)"),
        Part("cache", cache, "llama.cpp: cells in steps of 256, by kind of layer"),
        Part("state", state, "llama.cpp: recurrent states of all slots in F32"),
        Part("compute", buffer * number, "llama.cpp: the largest step of a batch, on every card"),
        Part("overhead", overhead, CUDA_CONTEXT.source),
    )
    return Need(
        per_card=per_card,
        weights=weights,
        cache=cache,
        state=state,
        compute=buffer * number,
        context_overhead=overhead,
        load_peak=per_card,
        ram_bytes=ram if cards else weights + cache + state + buffer,
        bytes_per_token=bytes_per_token(architecture, bits),
        sequence=(cache + state) // serving.parallel,
        parts=tuple(part for part in parts if part.size),
    )
