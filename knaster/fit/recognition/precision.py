"""In which precision a checkpoint is stored, as its config declares it and its headers show it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from knaster.fit.architecture import TensorGroup
from knaster.fit.recognition.config import Config, UnknownError, quoted
from knaster.fit.recognition.packing import Packing
from knaster.fit.recognition.sheet import Row

_FLOATS = {"bfloat16": "bf16", "float16": "f16", "half": "f16", "float32": "f32", "float": "f32"}
_SHORT = {"f8_e4m3": "fp8", "f8_e5m2": "fp8"}
_KEPT = ("token_embd", "output.weight", "position_embd", "token_types", "ffn_gate_inp", "norm")
"""Never quantised by what publishes fp8, AWQ, GPTQ or MXFP4 checkpoints, unless the headers show otherwise."""
_PER_32 = 17
"""Bytes of 32 numbers in MXFP4: 16 of nibbles and a scale."""


@dataclass(frozen=True, slots=True)
class Stored:
    """The plain type of a checkpoint (``bf16``, ``f16``, ``f32``), how it is quantised, and to how many bits."""

    plain: str
    packing: Packing
    group_size: int = 128

    def group(self, row: Row) -> TensorGroup:
        """The tensors of a row of an inventory, in the type in which a checkpoint of this kind stores them."""
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
        linear = len(shape) > 1 and name.endswith(".weight") and not any(part in name for part in _KEPT)
        if method is None or not linear or (method == "mxfp4" and "_exps" not in name):
            return self.plain
        return "f8_e4m3" if method == "fp8" else method

    def _size(self, kind: str, elements: int) -> int:
        if kind == "f8_e4m3":
            return elements + 4 * -(-elements // (128 * 128))
        if kind == "mxfp4":
            return elements * _PER_32 // 32
        if kind in ("bf16", "f16"):
            return elements * 2
        if kind == "f32":
            return elements * 4
        scales = -(-elements // self.group_size) * 2.5 if self.packing.bits < 8 else 0
        return elements * self.packing.bits // 8 + int(scales)


def stored_as(config: Config) -> Stored:
    """What the config declares: ``dtype`` (or ``torch_dtype``) and ``quantization_config``."""
    declared = config.get("dtype", "torch_dtype")
    plain = _FLOATS.get(declared.removeprefix("torch."), "bf16") if isinstance(declared, str) else "bf16"
    quantised = config.get("quantization_config", "compression_config")
    if quantised is None:
        return Stored(plain, Packing(None))
    if not isinstance(quantised, Mapping):
        raise UnknownError(f"{config.where}: quantization_config is {quoted(quantised)}, not an object")
    inner = Config(quantised, {}, where=f"{config.where}: quantization_config")
    bits = inner.maybe("bits", "w_bit", most=16)
    method = _method(inner)
    return Stored(
        plain, Packing(method, bits or (8 if method in ("fp8", "int8") else 4)), inner.maybe("group_size") or 128
    )


def _method(inner: Config) -> str:
    method = (inner.text_of("quant_method") or "").lower()
    algorithm = inner.get("quant_algo", "format")
    told = algorithm.lower() if isinstance(algorithm, str) else ""
    if method in ("modelopt", "compressed-tensors", "quark"):
        table = (("nvfp4", "nvfp4"), ("mixed", "nvfp4"), ("mxfp4", "mxfp4"), ("fp8", "fp8"), ("float", "fp8"))
        return next((name for part, name in table if part in told), "int4" if "pack" in told else "int8")
    if method == "bitsandbytes":
        return "bnb-4bit" if inner.get("load_in_4bit") is True else "bnb-8bit"
    if method in ("awq", "gptq", "fp8", "mxfp4", "auto-round", "fbgemm_fp8"):
        return {"auto-round": "gptq", "fbgemm_fp8": "fp8"}.get(method, method)
    raise UnknownError(f"{inner.where}: what {quoted(method or None)} makes of the weights is not modelled")
