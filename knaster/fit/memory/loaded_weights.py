"""Bytes of weights as an engine holds them: tensors of a GGUF file in llama.cpp, what vLLM makes of a checkpoint."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil

from knaster.cluster.architecture import Architecture, CannotTell, TensorGroup
from knaster.fit.memory.constants import LOADED
from knaster.fit.memory.quantise import Stored, weight_bytes_gguf
from knaster.weights.gguf_types import BY_NAME

INPUT = frozenset(
    {
        "token_embd.weight",
        "position_embd.weight",
        "token_types.weight",
        "token_embd_norm.weight",
        "token_embd_norm.bias",
        "per_layer_token_embd.weight",
    }
)
"""Tensors of llama.cpp's input layer: they stay in RAM (``llama_model::load_tensors``)."""
_NO_SOURCE = frozenset({"awq", "bnb-4bit", "bnb-8bit", "int8"})
"""Quantised checkpoints that ``convert_hf_to_gguf.py`` does not read (``ModelBase.dequant_model``)."""
_FLOATS = frozenset({"bf16", "f16", "f32"})
_TWO_BYTES = ("bf16", "f16")
_UNQUANTISED = ("norm", "ffn_gate_inp", "ssm_conv1d", "shortconv.conv", "altup", "laurel")


@lru_cache(maxsize=64)
def gguf_tensors(architecture: Architecture, precision: str) -> tuple[Stored, ...] | CannotTell:
    """Each tensor as llama.cpp loads it; ``stored`` is the file at hand."""
    if architecture.stored in _NO_SOURCE and not _is_gguf(architecture):
        return CannotTell(
            f"the weights are published in {architecture.stored}, which no conversion to GGUF reads: take the original"
        )
    if precision != "stored":
        return weight_bytes_gguf(architecture, precision)
    if not _is_gguf(architecture):
        return weight_bytes_gguf(architecture, architecture.stored)
    return tuple(
        Stored(group.name, layer, group.dtype, group.size)
        for group in architecture.tensors
        for layer in (group.layers or (None,))
    )


def _is_gguf(architecture: Architecture) -> bool:
    """Whether the tensors are those of a GGUF file: some type that no other format has."""
    kinds = {group.dtype for group in architecture.tensors} - {"mxfp4", "nvfp4", *_FLOATS}
    return any(kind in BY_NAME and not kind.startswith(("i8", "i16", "i32", "i64", "f64")) for kind in kinds)


def vllm_weights(architecture: Architecture, precision: str) -> int | CannotTell:
    """Bytes of all weights in vLLM, on all ranks together, with what loading adds.

    ``fp8`` of a two-byte checkpoint is made online: linear and expert weights take a byte, embedding, output and norms
    keep two. F32 is cast to two bytes.
    """
    if _is_gguf(architecture):
        return CannotTell("vLLM is not planned with GGUF files: it takes them only through a plug-in of its own")
    stored = architecture.stored
    if precision in ("stored", stored) or (precision in _TWO_BYTES and stored in _TWO_BYTES):
        return _with_loading(sum(_as_stored(group) for group in architecture.tensors))
    if stored not in _FLOATS:
        return CannotTell(f"the weights are published in {stored}; vLLM does not make {precision} of that")
    if precision in _TWO_BYTES:
        return _with_loading(sum(2 * group.elements for group in architecture.tensors))
    if precision == "fp8":
        return _with_loading(sum(_online(group) for group in architecture.tensors))
    return CannotTell(f"vLLM does not make {precision} of a checkpoint in {stored}: it needs one that is published so")


def largest_tensor(architecture: Architecture) -> int:
    """Bytes of the largest tensor at two bytes a number."""
    return max((2 * group.elements // group.count for group in architecture.tensors), default=0)


def _with_loading(size: int) -> int:
    return ceil(size * LOADED.value)


def _as_stored(group: TensorGroup) -> int:
    return 2 * group.elements if group.dtype == "f32" else group.size * group.count


def linear(group: TensorGroup) -> bool:
    """Whether vLLM holds the tensor in a linear or expert layer, which online quantisation is about."""
    inside = group.name.startswith("blk.") and group.name.endswith(".weight")
    return inside and len(group.shape) > 1 and not any(part in group.name for part in _UNQUANTISED)


def _online(group: TensorGroup) -> int:
    """A byte a number, and a scale of four bytes for each row."""
    if not linear(group):
        return 2 * group.elements
    return ceil(group.elements * (1 + Fraction(4, group.shape[-1])))
