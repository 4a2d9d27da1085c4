"""A card whose type needs a benchmark serves nobody before one is on record."""

from __future__ import annotations

from collections.abc import Iterator

from knaster.card_types import finder, names, slug
from knaster.cluster import MODELS_FILE, CardPolicy, Catalog, Cluster, Figure, Gpu, Model, Node, platform_place
from knaster.diagnostics import Diagnostic, Related
from knaster.fit.fits import card_device, fits
from knaster.names import spot

POWER, RATES = "power", frozenset({"prompt_rate", "generation_rate"})
PROGRAM = "llama-bench"
"""How the source of a figure begins that `knaster bench llm` recorded."""

_ENGINE = "llamacpp"


def benchmarks(cluster: Cluster) -> Iterator[Diagnostic]:
    """A card that is not disabled, of a type that requires a benchmark, has a record with a power reading.

    The type is found by `card_types`: neither a missing key of the node nor another name gets a card round it.
    """
    if cluster.catalog is None or cluster.platform is None:
        return
    policies = finder(cluster.platform)
    for node in cluster.nodes:
        for gpu in node.gpus:
            for policy in () if gpu.disabled else policies(gpu):
                if policy.requires == "benchmark" and (lacking := missing(policy, cluster.catalog)):
                    yield _refused(cluster, node, gpu, policy, lacking)


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
    ours = (figure.source or "").startswith(PROGRAM) and figure.engine == _ENGINE
    return ours and not figure.partial and figure.value > 0 and figure.date is not None


def _rates(figures: list[Figure]) -> bool:
    return any(figure.metric in RATES and figure.unit == "token/s" for figure in figures)


def _power(figures: list[Figure]) -> bool:
    return any(figure.metric == POWER and figure.unit == "W" for figure in figures)


def _refused(cluster: Cluster, node: Node, gpu: Gpu, policy: CardPolicy, lacking: str) -> Diagnostic:
    card = spot(node.name, gpu.index)
    by_id = gpu.pci is not None and gpu.pci.id == policy.id
    told = policy.name if by_id else f"{gpu.name or 'no name'}, by its name or facts a {policy.name}"
    model = _model(cluster, node, gpu, policy)
    return Diagnostic(
        "benchmark-missing",
        f"card {card} ({told}) is enabled, but a {policy.name} needs a benchmark with a power reading first: {lacking}",
        node.place("gpus", gpu.position),
        hint=f"set `disabled: true`; on the machine run: knaster bench llm {model} --card {card} --file {model}.gguf; "
        f"commit what it writes to {MODELS_FILE} together with the card",
        related=(Related(platform_place("cards", policy.id, on="key"), "the policy of this card type"),),
    )


def _model(cluster: Cluster, node: Node, gpu: Gpu, policy: CardPolicy) -> str:
    """The model to measure: one with figures for this card type, else the largest that fits the card."""
    catalog = cluster.catalog
    engine = catalog.engines.get(_ENGINE) if catalog else None
    if catalog is None or engine is None:
        return "MODEL"
    device, known = card_device(node, gpu, cluster.platform), names(policy)
    fitting = [model for model in catalog.models.values() if model.kind == "llm" and fits(model, device, engine)]

    def rank(model: Model) -> tuple[bool, float, str]:
        figures = any(slug(figure.card or "") in known for figure in model.figures)
        return (not figures, -model.vram_gb, model.name)

    return min(fitting, key=rank).name if fitting else "MODEL"
