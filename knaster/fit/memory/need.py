"""What serving a model needs on each card and in RAM, summed from its tensors, caches and the engine's overheads."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from knaster.cluster.architecture import Architecture, CannotTell
from knaster.fit.memory.llamacpp import on_cards, on_cpu
from knaster.fit.memory.serving import Need, Part, Serving, Split
from knaster.fit.memory.vllm import on_ranks

__all__ = ["Need", "Part", "Serving", "Split", "need"]


def need(
    architecture: Architecture,
    serving: Serving,
    cards: int = 1,
    split: Split = "none",
    shares: Sequence[Fraction | int] | None = None,
) -> Need | CannotTell:
    """What `architecture` needs when it is served like `serving` on `cards` cards.

    `split`: ``none`` (one card), ``layer`` (llama.cpp, in parts of `shares`, by default equal ones), ``tensor`` (vLLM;
    every card gets the same) or ``cpu`` (llama.cpp without a card: `cards` is not looked at). Raises ValueError for a
    combination that no engine has (a layer split in vLLM, several cards without a split).
    """
    allowed = {"llamacpp": ("none", "layer", "cpu"), "vllm": ("none", "tensor")}
    if split not in allowed[serving.engine]:
        raise ValueError(f"{serving.engine} has no split {split}")
    if split != "cpu" and (cards < 1 or (split == "none" and cards != 1)):
        raise ValueError(f"a split {split} has no {cards} cards")
    if serving.engine == "vllm":
        return on_ranks(architecture, serving, cards)
    if split == "cpu":
        return on_cpu(architecture, serving)
    return on_cards(architecture, serving, tuple(Fraction(part) for part in shares or (1,) * cards), cards)
