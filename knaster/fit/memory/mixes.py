"""The mixes of ``llama-quantize``: which type a precision gives to which tensor. Source: see `quantise`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from knaster.cluster.architecture import Architecture, TensorGroup
from knaster.weights.gguf_types import BY_NAME

_LARGE = 80
"""Layers of the models that llama.cpp calls 70B, whose small attn_v it gives more bits."""
_EIGHT = 8
"""Experts of Mixtral and its like, whose attention is small beside them."""
_FALCON = "falcon"


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a tensor stands: its category, its number among `of` tensors of that category, and the model."""

    category: str
    number: int
    of: int
    model: Architecture


Rule = Callable[[Spot], str | None]
"""The type that a mix gives to a tensor at this spot; None: the base."""


@dataclass(frozen=True, slots=True)
class Mix:
    """A precision: the type of most tensors, the rules for attn_v and ffn_down, the types of attn_output and attn_qkv.

    ``wide``: with eight experts attn_output gets q5_k.
    """

    base: str
    values: Rule | None = None
    downs: Rule | None = None
    outputs: str | None = None
    fused: str | None = None
    wide: bool = False

    def choose(self, spot: Spot, group: TensorGroup) -> str:
        """The type that the rules ask for, whether or not the row length allows it."""
        if spot.category == "output":
            return self._output(spot, group)
        if self.base == "mxfp4":
            return "mxfp4" if len(group.shape) > 2 and group.shape[0] > 1 else "q8_0"
        if spot.category == "attn_v":
            return self._value(spot)
        if spot.category == "attn_k" and spot.model.experts == _EIGHT:
            return "q8_0"
        if spot.category == "ffn_down":
            return (self.downs and self.downs(spot)) or self.base
        if spot.category == "attn_qkv":
            return self.fused or self.base
        if spot.category == "attn_output" and spot.model.family != _FALCON:
            return self._attention_output(spot)
        return self.base

    def _output(self, spot: Spot, group: TensorGroup) -> str:
        """The output matrix, and the token embedding where it is both."""
        odd = group.shape[-1] % BY_NAME[self.base].block != 0
        if self.base in ("q8_0", "mxfp4") or spot.model.family == _FALCON or odd:
            return "q8_0"
        return "q6_k"

    def _value(self, spot: Spot) -> str:
        chosen = (self.values and self.values(spot)) or self.base
        if spot.model.layers == _LARGE and chosen in ("q3_k", "q4_k"):
            chosen = "q5_k"
        return "q8_0" if spot.model.experts == _EIGHT else chosen

    def _attention_output(self, spot: Spot) -> str:
        if spot.model.experts == _EIGHT:
            return "q5_k" if self.wide else self.base
        return self.outputs or self.base


def _more(number: int, of: int) -> bool:
    """About half of the layers: the first and the last eighth, and each third one between."""
    return number < of // 8 or number >= 7 * of // 8 or (number - of // 8) % 3 == 2


def _grouped(spot: Spot) -> bool:
    """Whether four or more heads share a KV head."""
    return spot.model.kv_heads > 0 and spot.model.heads // spot.model.kv_heads >= 4


def _six_where_more(spot: Spot) -> str | None:
    return "q6_k" if _more(spot.number, spot.of) else None


def _medium_down(spot: Spot) -> str | None:
    if spot.model.family == _FALCON:
        return "q6_k" if spot.number < spot.of // 16 else "q5_k" if _more(spot.number, spot.of) else None
    return _six_where_more(spot)


def _small_value(spot: Spot) -> str | None:
    return "q5_k" if spot.number < 4 else None


def _first_eighth(spot: Spot) -> str | None:
    return "q5_k" if spot.number < spot.of // 8 else None


def _small_down(spot: Spot) -> str | None:
    return None if spot.model.family == _FALCON else _first_eighth(spot)


def _iq4_value(spot: Spot) -> str | None:
    return "q5_k" if _grouped(spot) else None


def _three_value(spot: Spot) -> str | None:
    return "q5_k" if spot.number < 2 else "q4_k"


def _three_down(spot: Spot) -> str | None:
    if spot.number < spot.of // 16:
        return "q5_k"
    return "q4_k" if spot.model.family != _FALCON or _more(spot.number, spot.of) else None


def _two_value(spot: Spot) -> str | None:
    return "q4_k" if _grouped(spot) else "q3_k"


def _always(dtype: str) -> Rule:
    return lambda _spot: dtype


MIXES: dict[str, Mix] = {
    "bf16": Mix("bf16"),
    "f16": Mix("f16"),
    "q8_0": Mix("q8_0"),
    "q6_k": Mix("q6_k"),
    "q5_k_m": Mix("q5_k", _six_where_more, _six_where_more, fused="q6_k"),
    "q5_k_s": Mix("q5_k"),
    "q4_k_m": Mix("q4_k", _six_where_more, _medium_down, fused="q5_k", wide=True),
    "q4_k_s": Mix("q4_k", _small_value, _small_down, wide=True),
    "q4_0": Mix("q4_0"),
    "iq4_nl": Mix("iq4_nl", _iq4_value, _first_eighth, wide=True),
    "iq4_xs": Mix("iq4_xs", _iq4_value, _first_eighth, wide=True),
    "mxfp4": Mix("mxfp4"),
    "q3_k_m": Mix("q3_k", _three_value, _three_down, outputs="q4_k", fused="q4_k", wide=True),
    "q2_k": Mix("q2_k", _two_value, _always("q3_k"), outputs="q3_k", wide=True),
}
"""The mixes by precision. Q4_0 and IQ4 are those without an importance matrix."""
