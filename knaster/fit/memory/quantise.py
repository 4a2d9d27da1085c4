"""What each tensor of a model becomes in a GGUF file of a given precision, by the rules of ``llama-quantize``.

Source: ``src/llama-quant.cpp`` of ggml-org/llama.cpp (``llama_tensor_get_type_impl``, ``tensor_allows_quantization``,
``tensor_type_fallback``) and, for what stays in F32 before any quantisation, ``convert_hf_to_gguf.py``. These are the
mixes of the tool itself, without an importance matrix; publishers with tables of their own (unsloth ``UD-``, bartowski
``_L``) differ, and the file on disk wins. A fused attn_qkv has the rule under which nearly all published files were
made; since 2026 the tool treats it as attn_v, which weighs the same in q4_k_m and up to 3 %
more in iq4_xs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from knaster.cluster.architecture import Architecture, CannotTell, TensorGroup
from knaster.fit.memory.mixes import MIXES, Mix, Spot
from knaster.weights.gguf_types import BY_NAME

_NEVER = (
    "_norm.weight",
    "ffn_gate_inp.weight",
    "altup",
    "laurel",
    "per_layer_model_proj",
    "ssm_conv1d",
    "shortconv.conv.weight",
    "attn_rel_b.weight",
    ".position_embd",
    ".patch_embd",
)
"""Parts of the names that are not quantised, whatever their shape."""
_F32 = (
    "_norm.weight",
    "ffn_gate_inp.weight",
    "ssm_conv1d",
    "shortconv.conv.weight",
    "position_embd.weight",
    "token_types.weight",
    "altup_correct_coef",
    "altup_predict_coef",
)
"""Parts of the names that the conversion to GGUF writes as F32."""
_UNQUANTISED = frozenset({"f32", "f16", "bf16"})
_ELSEWHERE = _UNQUANTISED | {"f64", "i8", "i16", "i32", "i64", "mxfp4", "nvfp4"}
"""Types that other formats have too."""
_FALLBACK = {
    "iq4_xs": "iq4_nl",
    "q2_k": "q4_0",
    "q3_k": "q4_0",
    "q4_k": "q5_0",
    "q5_k": "q5_1",
    "q6_k": "q8_0",
}
"""For rows that are no whole number of blocks of 256; where blocks of 32 do not fit either, F16."""


@dataclass(frozen=True, slots=True)
class Stored:
    """One tensor in a file: name as in GGUF with ``{}`` for the layer, the layer (None outside), type, bytes."""

    name: str
    layer: int | None
    dtype: str
    size: int


def weight_bytes_gguf(architecture: Architecture, precision: str) -> tuple[Stored, ...] | CannotTell:
    """Each tensor as a GGUF file of `precision` holds it, in the order of the layers; sizes in bytes, exact.

    Padding (at most 31 bytes a tensor) and the file's metadata (6-15 MB, nearly all of it the tokenizer) come on top.
    A model that is a GGUF file of this very precision has the sizes of that file. `precision` is a
    key of `MIXES`, in lower case.
    """
    if precision == architecture.stored and is_quantised_file(architecture):
        return tuple(Stored(g.name, layer, g.dtype, g.size) for g, layer in _tensors(architecture.tensors))
    if precision not in MIXES:
        return CannotTell(f"{precision} is no precision of GGUF files that knaster knows the rules of")
    if precision == "mxfp4" and not architecture.experts:
        return CannotTell("mxfp4 is a format for the experts of a mixture of experts, and this model has none")
    return tuple(_mixed(architecture, precision))


def is_quantised_file(architecture: Architecture) -> bool:
    """Whether the tensors are those of a quantised GGUF file: some have a type that no other format has."""
    return any(group.dtype in BY_NAME and group.dtype not in _ELSEWHERE for group in architecture.tensors)


def _tensors(groups: Iterable[TensorGroup]) -> list[tuple[TensorGroup, int | None]]:
    """Every tensor: outside the layers first, then layer by layer, names in order, as llama.cpp walks through them."""
    spread = [(group, layer) for group in groups for layer in (group.layers or (None,))]
    return sorted(spread, key=lambda pair: (-1 if pair[1] is None else pair[1], pair[0].name))


def _mixed(architecture: Architecture, precision: str) -> Iterable[Stored]:
    mix = MIXES[precision]
    tensors = _tensors(architecture.tensors)
    tied = not any(group.name == "output.weight" for group, _ in tensors)
    categories = [_category(group.name, tied=tied) for group, _ in tensors]
    values, downs = 0, 0
    of_values = sum(category in ("attn_v", "attn_qkv") for category in categories)
    for index, (group, layer) in enumerate(tensors):
        category, position, of = categories[index], 0, architecture.layers
        if category == "attn_v" and quantisable(group):
            position, values, of = values, values + 1, of_values
        elif category == "ffn_down" and quantisable(group):
            position, downs = (layer or 0) if architecture.experts > 1 else downs, downs + 1
        dtype = _type(group, Spot(category, position, of, architecture), mix)
        yield Stored(group.name, layer, dtype, _size(group, dtype))


def _type(group: TensorGroup, spot: Spot, mix: Mix) -> str:
    if group.dtype == "mxfp4":
        return "mxfp4"  # gpt-oss: published so, and kept by every quantisation
    if not quantisable(group):
        return _unquantised(group, mix)
    if mix.base in _UNQUANTISED:
        return mix.base
    wanted = mix.choose(spot, group)
    row = group.shape[-1]
    if row % BY_NAME[wanted].block == 0:
        return wanted
    other = _FALLBACK.get(wanted, "f16")
    return other if row % BY_NAME[other].block == 0 else "f16"


def quantisable(group: TensorGroup) -> bool:
    """Whether llama-quantize touches the tensor at all: a weight of two or more dimensions that is not kept."""
    if _dimensions(group) < 2 or not group.name.endswith("weight"):
        return False
    return group.name not in ("position_embd.weight", "token_types.weight") and not any(
        part in group.name for part in _NEVER
    )


def _unquantised(group: TensorGroup, mix: Mix) -> str:
    small = _dimensions(group) < 2 or not group.name.endswith(".weight")
    if small or any(part in group.name for part in _F32):
        return "f32"
    return mix.base if mix.base in _UNQUANTISED else "bf16"


def _dimensions(group: TensorGroup) -> int:
    """As ggml counts: leading ones (of a shape with the row length last) are no dimensions."""
    shape = group.shape
    while len(shape) > 1 and shape[0] == 1:
        shape = shape[1:]
    return len(shape)


def _size(group: TensorGroup, dtype: str) -> int:
    elements = group.elements // group.count
    size = BY_NAME[dtype].bytes_of(elements, group.shape[-1] if group.shape else 1)
    assert size is not None, "the type was chosen to fit the row"
    return size


def _category(name: str, *, tied: bool = False) -> str:
    """The class of tensors that a rule speaks of. The compressed kv_b of MLA counts as ``attn_v``."""
    if name == "output.weight" or (tied and name == "token_embd.weight"):
        return "output"
    if "attn_kv_b.weight" in name or "attn_v.weight" in name:
        return "attn_v"
    others = (
        "attn_qkv.weight",
        "attn_k.weight",
        "attn_q.weight",
        "attn_output.weight",
        "ffn_up",
        "ffn_gate",
        "ffn_down",
    )
    return next((part.removesuffix(".weight") for part in others if part in name), "other")
