"""The command that measures a card whose type needs a benchmark, with a model that fits it."""

from __future__ import annotations

from knaster.cards.benchmarks import ENGINE
from knaster.cards.types import names, slug
from knaster.cluster import CardPolicy, Catalog, Gpu, Model, Node, Platform
from knaster.fit.fits import card_device, fits
from knaster.names import spot


def command(node: Node, gpu: Gpu, policy: CardPolicy, catalog: Catalog, platform: Platform | None) -> str:
    """What to run on the machine, with a model to measure in it."""
    model = _model(node, gpu, policy, catalog, platform)
    return f"knaster bench llm {model} --card {spot(node.name, gpu.index)} --file {model}.gguf"


def _model(node: Node, gpu: Gpu, policy: CardPolicy, catalog: Catalog, platform: Platform | None) -> str:
    """The model to measure: one with figures for this card type, else the largest that fits the card."""
    engine = catalog.engines.get(ENGINE)
    if engine is None:
        return "MODEL"
    device, known = card_device(node, gpu, platform), names(policy)
    fitting = [model for model in catalog.models.values() if model.kind == "llm" and fits(model, device, engine)]

    def rank(model: Model) -> tuple[bool, float, str]:
        figures = any(slug(figure.card or "") in known for figure in model.figures)
        return (not figures, -model.vram_gb, model.name)

    return min(fitting, key=rank).name if fitting else "MODEL"
