"""Quantised checkpoints: which stored tensors together are one weight, and what its real shape is."""

from __future__ import annotations

import re
from dataclasses import dataclass

from knaster.weights import Tensor

_SUFFIX = re.compile(
    r"^(?P<base>.+?)(?P<suffix>\.weight|\.bias|\.qweight|\.qzeros|\.scales|\.g_idx|\.weight_scale_inv|\.weight_scale_2|"
    r"\.weight_global_scale|\.weight_scale|\.weight_zero_point|\.weight_packed|\.weight_shape|\.weight_g_idx|"
    r"\.input_scale|\.input_global_scale|\.activation_scale|\.[kvq]_scale|\.k_proj\.output_scale|"
    r"_blocks|_scales|_bias)$"
)
_MAIN = frozenset({".weight", ".qweight", ".weight_packed", "_blocks", ".bias", "_bias", ""})
_BITS = {
    "f64": 64,
    "f32": 32,
    "i32": 32,
    "f16": 16,
    "bf16": 16,
    "i16": 16,
    "f8_e4m3": 8,
    "f8_e5m2": 8,
    "i8": 8,
    "u8": 8,
}


@dataclass(frozen=True, slots=True)
class Weight:
    """One weight or bias as an engine sees it: its base name, its kind (``weight``, ``bias`` or empty), its real shape,
    its type and all bytes that belong to it (scales and zeros too)."""

    base: str
    kind: str
    shape: tuple[int, ...]
    dtype: str
    size: int


@dataclass(frozen=True, slots=True)
class Packing:
    """How a checkpoint is quantised: the method (``awq``, ``gptq``, ``mxfp4``, ``nvfp4``, ``fp8`` …) and its bits."""

    method: str | None
    bits: int = 4


def weights(tensors: tuple[Tensor, ...], packing: Packing) -> tuple[Weight, ...]:
    """The weights that the stored tensors make up, in their order."""
    if packing.method is None and any(tensor.name.endswith(".weight_scale_2") for tensor in tensors):
        packing = Packing("nvfp4")  # ModelOpt declares it in a file of its own
    mains: dict[tuple[str, str], Tensor] = {}
    extra: dict[str, int] = {}
    for tensor in tensors:
        base, suffix = _split(tensor.name)
        if suffix in _MAIN:
            mains[base, suffix] = tensor
        else:
            extra[base] = extra.get(base, 0) + tensor.size
    return tuple(_weight(base, suffix, tensor, extra, packing) for (base, suffix), tensor in mains.items())


def _split(name: str) -> tuple[str, str]:
    found = _SUFFIX.match(name)
    return (found["base"], found["suffix"]) if found else (name, "")


def _weight(base: str, suffix: str, tensor: Tensor, extra: dict[str, int], packing: Packing) -> Weight:
    kind = "bias" if suffix in (".bias", "_bias") else "" if suffix == "" else "weight"
    aux = 0 if kind == "bias" else extra.get(base, 0)
    shape, dtype = _logical(suffix, tensor, packing)
    return Weight(base, kind, shape, dtype, tensor.size + aux)


def _logical(suffix: str, tensor: Tensor, packing: Packing) -> tuple[tuple[int, ...], str]:
    """The shape with the row length last, and the type; AWQ and GPTQ store columns first and pack along one of them."""
    shape, packed = tensor.shape, _BITS.get(tensor.dtype, 8) // max(packing.bits, 1)
    method = packing.method or "packed"
    if suffix == "_blocks" and len(shape) == 4:
        return (*shape[:2], shape[2] * shape[3] * 2), "mxfp4"
    if suffix == ".qweight" and len(shape) == 2:
        rows, columns = (shape[0], shape[1] * packed) if method == "awq" else (shape[0] * packed, shape[1])
        return (columns, rows), method
    if (suffix == ".weight_packed" or (suffix == ".weight" and tensor.dtype == "u8")) and shape:
        return (*shape[:-1], shape[-1] * packed), method
    return shape, tensor.dtype
