"""What serving a model needs on each card and in RAM, summed from its tensors, caches and the engine's overheads."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from knaster.fit.architecture import Architecture, CannotTell
from knaster.fit.serving import Need, Part, Serving, Split

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
    raise NotImplementedError
