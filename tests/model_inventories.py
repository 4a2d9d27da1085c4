"""Tensor inventories written by hand, for the tests of what a model weighs."""

from __future__ import annotations

from knaster.cluster.architecture import Architecture, TensorGroup


def weight(name: str, *shape: int, layers: int = 0, dtype: str = "bf16") -> TensorGroup:
    """A group of tensors of two bytes a number; `layers` like ones, or one outside the layers."""
    size = 2
    for length in shape:
        size *= length
    return TensorGroup(name, shape, dtype, size, tuple(range(layers)))


def llama(
    layers: int, hidden: int, heads: int, kv_heads: int, head_dim: int, ffn: int, vocab: int, *, tied: bool
) -> Architecture:
    """A dense model of Llama's kind: attention in four matrices, a gated feed-forward in three, two norms a layer."""
    tensors = (
        weight("token_embd.weight", vocab, hidden),
        *([] if tied else [weight("output.weight", vocab, hidden)]),
        weight("output_norm.weight", hidden),
        weight("blk.{}.attn_norm.weight", hidden, layers=layers),
        weight("blk.{}.attn_q.weight", heads * head_dim, hidden, layers=layers),
        weight("blk.{}.attn_k.weight", kv_heads * head_dim, hidden, layers=layers),
        weight("blk.{}.attn_v.weight", kv_heads * head_dim, hidden, layers=layers),
        weight("blk.{}.attn_output.weight", hidden, heads * head_dim, layers=layers),
        weight("blk.{}.ffn_norm.weight", hidden, layers=layers),
        weight("blk.{}.ffn_gate.weight", ffn, hidden, layers=layers),
        weight("blk.{}.ffn_up.weight", ffn, hidden, layers=layers),
        weight("blk.{}.ffn_down.weight", hidden, ffn, layers=layers),
    )
    return Architecture(
        name="a/model",
        family="llama",
        parameters=sum(group.elements for group in tensors),
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        vocab=vocab,
        context=None,
        stored="bf16",
        tied=tied,
        encoder=False,
        caches=(),
        tensors=tensors,
    )
