"""Cards that need a benchmark before they serve: whether one is on record."""

from __future__ import annotations

from collections.abc import Iterator

from knaster.cards.types import Finder, names, slug
from knaster.cluster import CardPolicy, Catalog, Figure, Gpu

POWER, RATES = "power", frozenset({"prompt_rate", "generation_rate"})
ENGINE, PROGRAM = "llamacpp", "llama-bench"
"""The engine of a figure that `knaster bench llm` recorded, and how its source begins."""


def required(gpu: Gpu, policies: Finder) -> Iterator[CardPolicy]:
    """The policies of a card's type that require a benchmark.

    The type is found by `cards.types`: neither a missing key of the node nor another name gets a card round it.
    """
    return (policy for policy in policies(gpu) if policy.requires == "benchmark")


def missing(policy: CardPolicy, catalog: Catalog) -> str | None:
    """What the record of a card type lacks, in words; None where a whole run of any model has a power reading.

    Its rate need not be there: a later figure of another program (`bench server`) takes its place in the catalog.
    """
    known = names(policy)
    runs = [
        [figure for figure in model.figures if figure.kind == "measured" and slug(figure.card or "") in known]
        for model in catalog.models.values()
    ]
    whole = [[figure for figure in figures if _counts(figure)] for figures in runs]
    if any(_power(figures) for figures in whole):
        return None
    if any(_rates(figures) for figures in whole):
        return "the llama-bench record has no power reading"
    if any(figure.partial and figure.source for figures in runs for figure in figures):
        return "the only llama-bench run was cut before its end"
    return "no llama-bench run is on record"


def _counts(figure: Figure) -> bool:
    ours = (figure.source or "").split(" ")[0] == PROGRAM and figure.engine == ENGINE
    return ours and not figure.partial and figure.value > 0 and figure.date is not None


def _rates(figures: list[Figure]) -> bool:
    return any(figure.metric in RATES and figure.unit == "token/s" for figure in figures)


def _power(figures: list[Figure]) -> bool:
    return any(figure.metric == POWER and figure.unit == "W" for figure in figures)
