"""The architecture of a model, as far as memory depends on it: its tensors, and what each layer keeps per sequence."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Literal

CacheKind = Literal["full", "sliding", "latent", "recurrent"]


@dataclass(frozen=True, slots=True)
class LayerCache:
    """What each of `layers` like layers keeps for one sequence; layers that keep nothing are in no group.

    ``full`` and ``sliding`` layers keep ``kv_heads`` x (``key_dim`` + ``value_dim``) elements per token, a sliding one
    for its ``window`` only; ``latent`` (MLA) ones keep ``key_dim`` elements per token, one tensor, whole on each card;
    ``recurrent`` ones a state of ``state_bytes`` and ``conv_elements`` numbers in the precision of the cache.
    """

    kind: CacheKind
    layers: int
    kv_heads: int = 0
    key_dim: int = 0
    value_dim: int = 0
    window: int | None = None
    state_bytes: int = 0
    conv_elements: int = 0

    @property
    def elements(self) -> int:
        """Elements per token and layer."""
        return self.key_dim if self.kind == "latent" else self.kv_heads * (self.key_dim + self.value_dim)


@dataclass(frozen=True, slots=True)
class TensorGroup:
    """Like tensors of several layers: ``name`` with ``{}`` for the number of the layer, under GGUF's names.

    ``name`` follows llama.cpp (``token_embd.weight``, ``blk.{}.attn_v.weight``, ``blk.{}.ffn_down_exps.weight`` …), so
    that the rules of its quantisation apply; ``shape`` has the row length last; ``dtype`` is the published storage
    type. ``layers`` are the layers that own one, empty for a tensor outside the layers; ``size`` is the published bytes
    of one.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    size: int
    layers: tuple[int, ...] = ()

    @property
    def count(self) -> int:
        """How many tensors the group stands for."""
        return len(self.layers) or 1

    @property
    def elements(self) -> int:
        """Parameters in all tensors of the group together."""
        return self.count * prod(self.shape)


@dataclass(frozen=True, slots=True)
class Architecture:
    """A model that knaster can calculate with.

    ``family`` is the ``model_type`` of the config or GGUF's ``general.architecture``; ``layers`` are its blocks;
    ``context`` the trained context in tokens, None where not published; ``stored`` the precision in which it is
    published (``bf16``, ``f16``, ``f32``, ``fp8``, ``mxfp4``, ``awq``, ``gptq``, or that of a GGUF file); ``encoder``
    whether it keeps no cache and takes the whole text in one batch; ``tensors`` those that an engine loads for text;
    ``extra`` bytes (as stored) that are loaded on demand only, by what they are (vision, mtp); 0 where not known;
    ``block`` the numbers that a quantised checkpoint gives one scale, and that no split may cut; 0 where there is none.
    """

    name: str
    family: str
    parameters: int
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    vocab: int
    context: int | None
    stored: str
    tied: bool
    encoder: bool
    caches: tuple[LayerCache, ...]
    tensors: tuple[TensorGroup, ...]
    experts: int = 0
    extra: tuple[tuple[str, int], ...] = ()
    exact: bool = True
    block: int = 0


@dataclass(frozen=True, slots=True)
class CannotTell:
    """Why no number can be given for a model: the reason, in a sentence that names the fact that is missing."""

    reason: str
