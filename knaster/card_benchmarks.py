"""Cards that need a benchmark before they serve: whether one is on record, and the command that makes it."""

from __future__ import annotations

from collections.abc import Iterator

from knaster.card_types import Finder, names, slug
from knaster.cluster import CardPolicy, Catalog, Figure, Gpu, Model, Node, Platform
from knaster.fit.fits import card_device, fits
from knaster.names import spot

POWER, RATES = "power", frozenset({"prompt_rate", "generation_rate"})
PROGRAM = "llama-bench"
"""How the source of a figure begins that `knaster bench llm` recorded."""

_ENGINE = "llamacpp"


def required(gpu: Gpu, policies: Finder) -> Iterator[CardPolicy]:
    """The policies of a card's type that require a benchmark.

    The type is found by `card_types`: neither a missing key of the node nor another name gets a card round it.
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


def command(node: Node, gpu: Gpu, policy: CardPolicy, catalog: Catalog, platform: Platform | None) -> str:
    """What to run on the machine, with a model to measure in it."""
    model = _model(node, gpu, policy, catalog, platform)
    return f"knaster bench llm {model} --card {spot(node.name, gpu.index)} --file {model}.gguf"


def _model(node: Node, gpu: Gpu, policy: CardPolicy, catalog: Catalog, platform: Platform | None) -> str:
    """The model to measure: one with figures for this card type, else the largest that fits the card."""
    engine = catalog.engines.get(_ENGINE)
    if engine is None:
        return "MODEL"
    device, known = card_device(node, gpu, platform), names(policy)
    fitting = [model for model in catalog.models.values() if model.kind == "llm" and fits(model, device, engine)]

    def rank(model: Model) -> tuple[bool, float, str]:
        figures = any(slug(figure.card or "") in known for figure in model.figures)
        return (not figures, -model.vram_gb, model.name)

    return min(fitting, key=rank).name if fitting else "MODEL"


def _counts(figure: Figure) -> bool:
    ours = (figure.source or "").startswith(PROGRAM) and figure.engine == _ENGINE
    return ours and not figure.partial and figure.value > 0 and figure.date is not None


def _rates(figures: list[Figure]) -> bool:
    return any(figure.metric in RATES and figure.unit == "token/s" for figure in figures)


def _power(figures: list[Figure]) -> bool:
    return any(figure.metric == POWER and figure.unit == "W" for figure in figures)
