"""How many layers each card takes in a layer split, by bytes; llama.cpp itself only counts layers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import ceil

from knaster.cluster.architecture import Architecture, CannotTell
from knaster.fit.memory.buffers import compute_buffer
from knaster.fit.memory.caches import kv_bits, llamacpp_caches
from knaster.fit.memory.constants import CUDA_CONTEXT
from knaster.fit.memory.llamacpp import attention_layers
from knaster.fit.memory.loaded_weights import INPUT, gguf_tensors
from knaster.fit.memory.serving import Serving


def layer_counts(architecture: Architecture, serving: Serving, offers: Sequence[int]) -> tuple[int, ...] | CannotTell:
    """Layers per card (the output counts as one) that leave most room on the fullest of cards offering `offers` bytes.

    As ``--tensor-split`` these counts put exactly so many layers on each card: slot i of n goes where i / n lies below
    the cumulative share. Some card may get none. A model that is too large gets the counts that overshoot least.
    """
    slots = slot_sizes(architecture, serving)
    if isinstance(slots, CannotTell):
        return slots
    fixed = compute_buffer(architecture, serving) + int(CUDA_CONTEXT.value)
    rooms = [offer - fixed for offer in offers]
    low, high = -sum(slots) - max(map(abs, rooms)), max(rooms)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if sum(_filled(slots, rooms, middle)) == len(slots) else (low, middle - 1)
    return _filled(slots, rooms, low)


@lru_cache(maxsize=64)
def slot_sizes(architecture: Architecture, serving: Serving) -> tuple[int, ...] | CannotTell:
    """Bytes of each layer with its cache and, last, of the output."""
    tensors, bits = gguf_tensors(architecture, serving.precision), kv_bits(architecture, serving)
    if isinstance(tensors, CannotTell):
        return tensors
    if isinstance(bits, CannotTell):
        return bits
    sizes = [Fraction(0)] * (architecture.layers + 1)
    for tensor in tensors:
        if tensor.name not in INPUT or (tensor.name == "token_embd.weight" and architecture.tied):
            sizes[architecture.layers if tensor.layer is None else tensor.layer] += tensor.size
    for kept in llamacpp_caches(architecture, serving, bits):
        known = attention_layers(architecture, kept)
        for layer in range(architecture.layers) if known is None else known:
            of = architecture.layers if known is None else len(known)
            sizes[layer] += Fraction(kept.each * kept.group.layers, of)
    return tuple(ceil(size) for size in sizes)


def _filled(slots: tuple[int, ...], rooms: Sequence[int], left: int) -> tuple[int, ...]:
    """How many slots each card takes in order while `left` bytes stay free on it."""
    counts, at = [], 0
    for room in rooms:
        start, used = at, 0
        while at < len(slots) and used + slots[at] <= room - left:
            used += slots[at]
            at += 1
        counts.append(at - start)
    return tuple(counts)
