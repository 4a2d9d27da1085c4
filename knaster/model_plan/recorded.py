"""How a catalog model is served, read from its own entry: the question to `fit.memory.need` for what is on record."""

from __future__ import annotations

from collections.abc import Sequence

from knaster.cluster import Engine, Model
from knaster.cluster.architecture import Architecture, CannotTell
from knaster.fit.memory.need import need
from knaster.fit.memory.serving import EngineName, Need, Serving, Split
from knaster.model_plan.engines import known

_MOST = 1 << 20
"""Slots, or tokens of a batch, beyond which an argument is taken for a slip."""
_PARALLEL = ("--parallel", "-np", "--n-parallel")
_UBATCH = ("--ubatch-size", "-ub")
_CACHE = ("--cache-type-k", "-ctk", "--kv-cache-dtype")
_ON_CARD = ("--n-gpu-layers", "-ngl", "--gpu-layers")


def recorded_need(model: Model, engine: Engine, architecture: Architecture) -> Need | CannotTell:
    """What `model` needs under `engine` as its entry says: precision, context, slots, cache, cards.

    Arguments that say nothing of size are not looked at; where cards share the layers, they do so evenly.
    """
    planning = next(iter(known({engine.name: engine}).values()), None)
    context = model.context or architecture.context
    if planning is None:
        return CannotTell(f"{engine.name} is no engine that is calculated here")
    if context is None:
        return CannotTell("the context is not known")
    if _value(model.args, _ON_CARD) == "0":
        return CannotTell("it runs without a card")
    cards = model.tensor_parallel * model.nodes
    several: Split = "tensor" if planning.kind == "vllm" else "layer"
    serving = _serving(model, planning.kind, architecture, context)
    return need(architecture, serving, cards, several if cards > 1 else "none")


def _serving(model: Model, kind: EngineName, architecture: Architecture, context: int) -> Serving:
    precision = (model.precision or architecture.stored).lower()
    cache = _value(model.args, _CACHE) or "auto"
    if kind == "vllm":
        return Serving(kind, precision, context, kv_precision="fp8" if cache.startswith("fp8") else "auto")
    parallel, ubatch = _count(model.args, _PARALLEL) or 1, _count(model.args, _UBATCH)
    return Serving(kind, precision, context, parallel, cache, min(ubatch, context) if ubatch else None)


def _count(args: Sequence[str], names: Sequence[str]) -> int | None:
    text = _value(args, names) or ""
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
    return number if 0 < number <= _MOST else None


def _value(args: Sequence[str], names: Sequence[str]) -> str | None:
    """What follows the last of these flags, or stands behind its ``=``."""
    found = None
    for number, word in enumerate(args):
        flag, equals, value = word.partition("=")
        if flag in names:
            found = value if equals else next(iter(args[number + 1 : number + 2]), None)
    return found
