"""The tensors of safetensors headers, grouped by layer under GGUF's names: what an engine loads, and what not."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from knaster.cluster.architecture import TensorGroup
from knaster.fit.recognition.config import UnknownError, quoted
from knaster.fit.recognition.names import outside, place
from knaster.fit.recognition.packing import Packing, Weight, weights
from knaster.weights import Tensor
from knaster.weights.gguf_types import BY_NAME


@dataclass(frozen=True, slots=True)
class Loaded:
    """Groups of tensors that serve text; bytes of others by what they are; whether an output matrix is among them."""

    tensors: tuple[TensorGroup, ...]
    extra: tuple[tuple[str, int], ...]
    output: bool


def loaded(
    tensors: tuple[Tensor, ...], packing: Packing, layers: int, *, tied: bool, norms_after: bool = False
) -> Loaded:
    """What of the stored `tensors` is loaded for text.

    Vision and audio towers and layers beyond `layers` (multi-token prediction) are counted apart, and so is an output
    matrix that is stored though it is `tied`: engines take the embedding.
    """
    own: list[tuple[str, int | None, bool, Weight]] = []
    extra: dict[str, int] = defaultdict(int)
    for weight in weights(tuple(tensor for tensor in tensors if tensor.elements), packing):
        name, layer, expert = place(weight.base, norms_after=norms_after)
        what = outside(weight.base) or ("mtp" if layer is not None and layer >= layers else None)
        if what is None and tied and name == "output":
            what = "copy of the embedding"
        if what is not None:
            extra[what] += weight.size
        elif not name.endswith("inv_freq") and not name.endswith("position_ids"):
            own.append((_full(name, weight.kind), layer, expert, weight))
    output = any(name == "output.weight" for name, *_ in own)
    return Loaded(complete(_grouped(own), layers), tuple(sorted(extra.items())), output)


def _full(name: str, kind: str) -> str:
    return f"{name}.{kind}" if kind and not name.endswith((".bias", ".weight")) else name


def complete(groups: tuple[TensorGroup, ...], layers: int) -> tuple[TensorGroup, ...]:
    """`groups`, where most layers own a matrix (some of a pruned model own none); raises UnknownError for headers of a
    part of a model, or of something else."""
    having = {layer for group in groups if len(group.shape) > 1 for layer in group.layers}
    if 2 * len(having) < layers:
        raise UnknownError(f"the headers hold weights of {len(having)} layers, and the model has {layers}")
    return groups


def fitting(name: str, shape: tuple[int, ...], kind: str) -> None:
    """Raises UnknownError where a tensor's rows are no whole number of the blocks of its type."""
    packed = BY_NAME.get(kind)
    row = shape[-1] if shape else 1
    if packed is not None and row % packed.block:
        raise UnknownError(f"the tensor {quoted(name)} has rows of {quoted(row)} numbers, which {kind} cannot pack")


def _grouped(own: list[tuple[str, int | None, bool, Weight]]) -> tuple[TensorGroup, ...]:
    """Experts of a layer become one tensor, as in GGUF; then like tensors of several layers one group."""
    merged: dict[tuple[str, int | None, tuple[int, ...], str], list[int]] = defaultdict(list)
    single: list[tuple[str, int | None, tuple[int, ...], str, int]] = []
    for name, layer, expert, weight in own:
        if expert:
            merged[name, layer, weight.shape, weight.dtype].append(weight.size)
        else:
            single.append((name, layer, weight.shape, weight.dtype, weight.size))
    single += [
        (name, layer, (len(sizes), *shape), kind, sum(sizes)) for (name, layer, shape, kind), sizes in merged.items()
    ]
    groups: dict[tuple[str, tuple[int, ...], str, int], list[int]] = defaultdict(list)
    for name, layer, shape, kind, size in single:
        fitting(name, shape, kind)
        groups[name, shape, kind, size] += [] if layer is None else [layer]
    return tuple(
        TensorGroup(name, shape, kind, size, tuple(sorted(layers)))
        for (name, shape, kind, size), layers in groups.items()
    )
