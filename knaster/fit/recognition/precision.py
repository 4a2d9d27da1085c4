"""In which precision a checkpoint is stored, as its config declares it and its headers show it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from knaster.cluster.architecture import TensorGroup
from knaster.fit.recognition.config import Config, UnknownError, quoted
from knaster.fit.recognition.packing import Packing
from knaster.fit.recognition.sheet import Row

_LARGEST_BLOCK = 1 << 24
_FLOATS = {"bfloat16": "bf16", "float16": "f16", "half": "f16", "float32": "f32", "float": "f32"}
_SHORT = {"f8_e4m3": "fp8", "f8_e5m2": "fp8"}
_KEPT = ("token_embd", "position_embd", "token_types", "ffn_gate_inp", "norm")
"""Never quantised by what publishes fp8, AWQ, GPTQ or MXFP4 checkpoints, unless the headers show otherwise."""
_LISTED: Mapping[str, tuple[str, ...]] = {
    "self_attn": ("attn_q", "attn_k", "attn_v", "attn_output"),
    "linear_attn": ("ssm_", "attn_qkv", "attn_gate"),
    "shared_expert": ("_shexp",),
    ".mlp": ("ffn_gate.", "ffn_up.", "ffn_down."),
    "mlp\\.(": ("ffn_gate.", "ffn_up.", "ffn_down."),
}
"""Words in the lists of what a checkpoint leaves unquantised, to the parts of GGUF's names that they mean."""


@dataclass(frozen=True, slots=True)
class Stored:
    """The plain type of a checkpoint (``bf16``, ``f16``, ``f32``), and how it is quantised, to how many bits, in groups
    of how many numbers; ``kept`` are parts of names that stay plain; ``mixed``: which layers are in what, only the
    headers say."""

    plain: str
    packing: Packing
    group_size: int = 128
    kept: tuple[str, ...] = ()
    mixed: bool = False
    block: int = 0

    def group(self, row: Row) -> TensorGroup:
        """The tensors of a row of an inventory, in the type in which a checkpoint of this kind stores them."""
        if self.mixed:
            raise UnknownError("the weights are stored in mixed precisions, and no header of safetensors was read")
        name, shape, layers = row
        kind = self._kind(name, shape)
        return TensorGroup(name, shape, kind, self._size(kind, prod(shape)), layers)

    def named(self, tensors: tuple[TensorGroup, ...]) -> str:
        """The precision in one word: what is declared, else the type that holds most of the parameters."""
        if self.packing.method:
            return self.packing.method
        counted: Counter[str] = Counter()
        for group in tensors:
            counted[group.dtype] += group.elements
        return _SHORT.get(top := counted.most_common(1)[0][0], top) if counted else self.plain

    def _kind(self, name: str, shape: tuple[int, ...]) -> str:
        method = self.packing.method
        plain = name == "output.weight" or any(part in name for part in (*_KEPT, *self.kept))
        linear = len(shape) > 1 and name.endswith(".weight") and not plain
        if method is None or not linear or (method == "mxfp4" and "_exps" not in name):
            return self.plain
        return "f8_e4m3" if method == "fp8" else method

    def _size(self, kind: str, elements: int) -> int:
        """Bytes with scales: F32 for a block of 128 x 128 (fp8), a byte for 16 (nvfp4) or 32 (mxfp4), two for
        a group, and a zero of the weight's own bits (awq, gptq)."""
        plain = {"bf16": 2, "f16": 2, "f32": 4}
        if kind in plain:
            return elements * plain[kind]
        bits = self.packing.bits
        if kind == "f8_e4m3":
            return elements + 4 * -(-elements // (128 * 128))
        if kind in ("nvfp4", "mxfp4"):
            return elements // 2 + elements // (16 if kind == "nvfp4" else 32)
        scale = 16 + (bits if kind in ("awq", "gptq") else 0)
        return elements * bits // 8 + (-(-elements // self.group_size) * scale // 8 if bits < 8 else 0)


def stored_as(config: Config) -> Stored:
    """What the config declares: ``dtype`` (or ``torch_dtype``) and ``quantization_config``."""
    declared = config.get("dtype", "torch_dtype")
    plain = _FLOATS.get(declared.removeprefix("torch."), "bf16") if isinstance(declared, str) else "bf16"
    quantised = config.get("quantization_config", "compression_config")
    if quantised is None:
        return Stored(plain, Packing(None))
    if not isinstance(quantised, Mapping):
        raise UnknownError(f"{config.where}: quantization_config is {quoted(quantised)}, not an object")
    inner = Config(quantised, _first_group(quantised), where=f"{config.where}: quantization_config")
    method = _method(inner)
    bits = inner.maybe("bits", "w_bit", "num_bits", most=16) or (8 if method in ("fp8", "int8") else 4)
    size = inner.get("group_size", "q_group_size")
    return Stored(
        plain,
        Packing(method, bits),
        size if isinstance(size, int) and size > 0 else 128,  # -1: a scale for each row
        _kept(inner),
        inner.get("quant_algo") == "MIXED_PRECISION",
        _block(inner, method, size),
    )


def _first_group(quantised: Mapping[str, object]) -> Mapping[str, object]:
    """The weights of the first group of compressed-tensors and ModelOpt: ``num_bits``, ``group_size``."""
    groups = quantised.get("config_groups")
    first = next(iter(groups.values()), None) if isinstance(groups, Mapping) else None
    weights = first.get("weights") if isinstance(first, Mapping) else None
    return weights if isinstance(weights, Mapping) else {}


def _block(inner: Config, method: str, group: object) -> int:
    """Numbers in a row that share a scale; 0 where a whole row or tensor does, or where engines pad."""
    said = group if method in ("awq", "gptq", "int4") else None
    if method == "fp8":
        blocks = inner.get("weight_block_size", "block_structure")
        said = blocks[-1] if isinstance(blocks, list) and blocks else None
    return said if type(said) is int and 0 < said <= _LARGEST_BLOCK else 0


def _kept(inner: Config) -> tuple[str, ...]:
    """Parts of GGUF's names that the lists of what is not quantised speak of; some layers of a kind count as all."""
    listed = inner.get("ignore", "modules_to_not_convert", "exclude_modules")
    text = " ".join(entry for entry in listed if isinstance(entry, str)) if isinstance(listed, list) else ""
    return tuple(part for word, parts in _LISTED.items() if word in text for part in parts)


def _method(inner: Config) -> str:
    method = (inner.text_of("quant_method") or "modelopt").lower()
    algorithm = inner.get("quant_algo", "format")
    told = algorithm.lower() if isinstance(algorithm, str) else ""
    if method == "modelopt" and not told:
        raise UnknownError(f"{inner.where} says neither quant_method nor quant_algo")
    if method in ("modelopt", "compressed-tensors", "quark"):
        table = (("nvfp4", "nvfp4"), ("mixed", "nvfp4"), ("mxfp4", "mxfp4"), ("fp8", "fp8"), ("float", "fp8"))
        return next((name for part, name in table if part in told), "int4" if "pack" in told else "int8")
    if method == "bitsandbytes":
        return "bnb-4bit" if inner.get("load_in_4bit") is True else "bnb-8bit"
    if method in ("awq", "gptq", "fp8", "mxfp4", "auto-round", "fbgemm_fp8"):
        return {"auto-round": "gptq", "fbgemm_fp8": "fp8"}.get(method, method)
    raise UnknownError(f"{inner.where}: what {quoted(method)} makes of the weights is not modelled")
