"""Into how many parts vLLM cuts a model: every tensor has to come out whole on each card, else it refuses to start."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from knaster.cluster.architecture import Architecture, TensorGroup

VOCAB_STEP = 64
"""vLLM pads a vocabulary to a multiple of this, and no further (``DEFAULT_VOCAB_PADDING_SIZE``)."""


def indivisible(model: Architecture, cards: int) -> str | None:
    """Why vLLM cannot cut the model for `cards` cards; None where it can.

    Heads divide, and KV heads divide or are copied evenly (the latent cache of MLA is whole on each card, so that only
    heads count); so do the padded vocabulary (vllm#31474: 151,552 by 6) and the feed-forward widths (``divide``); and
    no block or group of a quantised checkpoint is cut (vllm#52997, ``AWQLinearMethod.create_weights``).
    """
    if model.heads % cards:
        return f"{model.heads} attention heads cannot be divided by {cards} cards (vLLM refuses)"
    kv, latent = model.kv_heads, any(cache.kind == "latent" for cache in model.caches)
    if not latent and kv and kv % cards and (cards < kv or cards % kv):
        return f"{kv} KV heads cannot be divided by {cards} cards (vLLM refuses)"
    vocab = -(-model.vocab // VOCAB_STEP) * VOCAB_STEP
    if vocab % cards:
        return f"a vocabulary of {vocab:,} cannot be divided by {cards} cards (vLLM refuses)"
    for width, what in _widths(model):
        if width % cards:
            return f"{what} of {width:,} cannot be divided by {cards} cards (vLLM refuses)"
    return _cut(model, cards) if model.block > 1 and cards > 1 else None


def _widths(model: Architecture) -> Iterator[tuple[int, str]]:
    for group in model.tensors:
        if _matrix(group, "ffn_gate.", "ffn_up", "ffn_gate_up", "ffn_gate_exps", "ffn_gate_shexp"):
            fused = 2 if "ffn_gate_up" in group.name else 1
            yield group.shape[-2] // fused, "a feed-forward"


def _cut(model: Architecture, cards: int) -> str | None:
    """The weight of which a card would get no whole blocks. Experts in groups of 4 bits are regrouped, not refused."""
    both = model.stored == "fp8"  # blocks have rows and columns; groups lie in rows only
    sizes = [(ceil(model.kv_heads / cards) * model.head_dim, "the KV heads")] if both and not _latent(model) else []
    for group in model.tensors:
        if len(group.shape) > 2 and not both:
            continue
        if _matrix(group, "attn_output", "ffn_down"):
            sizes.append((group.shape[-1] // cards, "a row"))
    sizes += [(width // cards, what) for width, what in _widths(model)] if both else []
    for size, what in sizes:
        if size % model.block:
            return (
                f"{what} of {size:,} on each of {cards} cards would cut the {model.stored} blocks of {model.block} "
                "(vLLM refuses)"
            )
    return None


def _latent(model: Architecture) -> bool:
    return any(cache.kind == "latent" for cache in model.caches)


def _matrix(group: TensorGroup, *names: str) -> bool:
    """Whether the group is one of these weights."""
    return len(group.shape) > 1 and group.name.endswith(".weight") and any(name in group.name for name in names)
