"""One try: a model in one precision, under one engine, on one shape or in one room. A row, or why it is none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from knaster.cluster.architecture import Architecture, CannotTell
from knaster.fit.memory.constants import CUDA_CONTEXT
from knaster.fit.memory.layer_split import layer_counts
from knaster.fit.memory.need import need
from knaster.fit.memory.serving import Need, Serving, Split
from knaster.fit.memory.tensor_parallel import indivisible
from knaster.fit.memory.vllm import in_flight
from knaster.model_plan.engines import PLAIN, Planning, budget, overflows
from knaster.model_plan.shapes import Shape
from knaster.units import GIB, gib, show_hundredths

CPU_EXTRA = 2 * GIB
"""RAM beside the model for a row without a card: the engine itself and the system around it (design: need + 2 GiB)."""


@dataclass(frozen=True, slots=True)
class Ask:
    """How the model is to be served: tokens of one sequence, sequences at once, precision of the KV cache; ``whole``:
    llama.cpp has to take a text in one batch."""

    context: int
    parallel: int = 1
    kv_precision: str = "auto"
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Try:
    """What is tried: a model in one precision under one engine; `file`: the model is what a GGUF file of it says."""

    model: Architecture
    planning: Planning
    precision: str
    ask: Ask
    file: bool = False

    def at(self, context: int) -> Try:
        """The same for another context."""
        return replace(self, ask=replace(self.ask, context=context))

    @property
    def serving(self) -> Serving:
        """The question to `memory.need`; a GGUF file, and a quantised repository under vLLM, is served as stored."""
        kept = self.precision == self.model.stored and self.precision not in PLAIN
        stored = self.file or (kept and self.planning.kind == "vllm")
        ask = self.ask
        precision = "stored" if stored else self.precision
        batch = ask.context if ask.whole and self.planning.kind == "llamacpp" else None
        return Serving(self.planning.kind, precision, ask.context, ask.parallel, ask.kv_precision, batch)


@dataclass(frozen=True, slots=True)
class Fit:
    """A way that works. ``demand`` and ``offer`` are bytes of each card of one node (of the room for ``cpu``).

    ``demand`` leaves out what the platform's VRAM reserve holds anyway (the CUDA context under llama.cpp). ``shares``
    are the parts of ``--tensor-split``, empty where all cards get the same.
    """

    tried: Try
    shape: Shape | None
    split: Split
    need: Need
    demand: tuple[int, ...]
    offer: tuple[int, ...]
    shares: tuple[Fraction, ...] = ()

    @property
    def cards(self) -> int:
        """All cards; 0 for a row without one."""
        return self.shape.cards if self.shape else 0

    @property
    def headroom(self) -> int:
        """Bytes left on the fullest card."""
        return min(have - want for want, have in zip(self.demand, self.offer, strict=True))


@dataclass(frozen=True, slots=True)
class Short:
    """Why a way does not work; ``missing`` bytes on the fullest card where it is a matter of size."""

    reason: str
    missing: int = 0


def on_cards(tried: Try, shape: Shape) -> Fit | Short:
    """The model on a shape whose every card may run the engine."""
    cards = shape.cards
    if tried.planning.kind == "vllm":
        reason = _refused(tried, shape)
        return Short(reason) if reason else _judged(tried, shape, "none" if cards == 1 else "tensor")
    if cards == 1:
        return _judged(tried, shape, "none")
    if cards > tried.model.layers:
        return Short(f"it has {tried.model.layers} layers, fewer than cards")
    return _split(tried, shape)


def _refused(tried: Try, shape: Shape) -> str | None:
    """Why vLLM would not start, whatever the bytes."""
    model, trained = tried.model, tried.model.context
    if trained and tried.ask.context > trained:
        return f"vLLM refuses more than the {trained:,} tokens of its config, unless that scales RoPE"
    lowest = min(kind.compute_cap for kind in shape.each)
    return overflows(model, tried.precision, lowest) or indivisible(model, shape.cards)


def _split(tried: Try, shape: Shape) -> Fit | Short:
    """Layers over the cards: in equal parts where they do, else as many on each as fill it best."""
    least = _least(tried.model, tried.serving)
    there = sum(kind.free for kind in shape.each)
    if least > there:
        return _short("it needs", "on its cards together", least, there)
    even = _judged(tried, shape, "layer", (Fraction(1),) * shape.cards) if shape.like else None
    if isinstance(even, Fit):
        return even
    kept = min(tried.planning.reserve, int(CUDA_CONTEXT.value))
    counts = layer_counts(tried.model, tried.serving, [kind.free + kept for kind in shape.each])
    if isinstance(counts, CannotTell):
        return Short(counts.reason)
    if not all(counts) or sum(counts) != tried.model.layers + 1:
        return even or Short("a card of it would hold no layer, or not every layer finds a card")
    return _judged(tried, shape, "layer", tuple(map(Fraction, counts)))


@lru_cache(maxsize=64)
def _least(model: Architecture, serving: Serving) -> int:
    """What all cards together hold at least: weights, cache and state; 0 where no number can be given."""
    answer = need(model, serving)
    return 0 if isinstance(answer, CannotTell) else answer.weights + answer.cache + answer.state


def in_room(tried: Try, size: int) -> Fit | Short:
    """The model without a card, in a room of `size` bytes of RAM."""
    answer = need(tried.model, tried.serving, 0, "cpu")
    if isinstance(answer, CannotTell):
        return Short(answer.reason)
    demand = _whole(answer.ram_bytes + CPU_EXTRA)
    if demand > size:
        return Short(
            f"it needs {show_hundredths(gib(demand), up=True)} GiB of RAM, {show_hundredths(gib(size))} GiB are there",
            demand - size,
        )
    return Fit(tried, None, "cpu", answer, (demand,), (size,))


def _judged(tried: Try, shape: Shape, split: Split, shares: tuple[Fraction, ...] = ()) -> Fit | Short:
    serving = tried.serving
    if serving.engine == "vllm":
        serving = replace(serving, batched_tokens=in_flight(min(kind.total for kind in shape.each)))
    answer = need(tried.model, serving, shape.cards, split, shares or None)
    if isinstance(answer, CannotTell):
        return Short(answer.reason)
    planning, each = tried.planning, shape.each
    overhead = answer.context_overhead // shape.cards
    demand = tuple(_less(planning, size, overhead) for size in answer.per_card[: len(each)])
    peak = tuple(_less(planning, size, overhead) for size in answer.load_peak[: len(each)])
    offer = tuple(budget(planning.kind, kind) for kind in each)
    fullest = max(range(len(each)), key=lambda at: demand[at] - offer[at])
    if demand[fullest] > offer[fullest]:
        return _short("it needs", "on a card", demand[fullest], offer[fullest])
    loading = max(range(len(each)), key=lambda at: peak[at] - each[at].free)
    if peak[loading] > each[loading].free:
        return _short("while it loads it needs", "on a card", peak[loading], each[loading].free)
    return Fit(tried, shape, split, answer, demand, offer, () if len(set(shares)) == 1 else shares)


def _short(words: str, where: str, want: int, have: int) -> Short:
    need, room = show_hundredths(gib(want), up=True), show_hundredths(gib(have))
    return Short(f"{words} {need} GiB {where}, {room} GiB are there", want - have)


def _less(planning: Planning, size: int, overhead: int) -> int:
    """What a card has to offer beside its reserve, which holds the CUDA context of llama.cpp already.

    In whole hundredths of a GiB, as the catalog will say it: what is written must fit where it was planned.
    """
    return _whole(size - min(overhead, planning.reserve) if planning.kind == "llamacpp" else size)


def _whole(size: int) -> int:
    """Rounded up to hundredths of a GiB (to less than a byte, so that they are the same hundredths when shown)."""
    return -(-size * 100 // GIB) * GIB // 100
