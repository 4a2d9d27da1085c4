"""Sizes of catalog models, compared with the architectures that are on record."""

from __future__ import annotations

from collections.abc import Iterator

from knaster.cluster import Cluster, Engine, Model, Platform, models_place
from knaster.cluster.architecture import Architecture, CannotTell
from knaster.diagnostics import Diagnostic, Place, Severity
from knaster.fit.memory.serving import Need
from knaster.fit.records import record_file, record_name
from knaster.model_plan.recorded import recorded_need
from knaster.names import Names
from knaster.units import Exact, exact, gib, show, show_hundredths


def stray_records(cluster: Cluster) -> Iterator[Diagnostic]:
    """One warning per record that belongs to no model."""
    if cluster.catalog is None:
        return
    names = {record_name(model) for model in cluster.catalog.models}
    known = Names(cluster.catalog.models, "models")
    for name in sorted(cluster.architectures.keys() - names):
        yield Diagnostic(
            "record-ignored",
            f'there is no model "{name}" in the catalog, so nothing is compared with this architecture',
            Place(record_file(name)),
            Severity.WARNING,
            known.suggestion(name),
        )


def understated(cluster: Cluster) -> Iterator[Diagnostic]:
    """One warning per model whose ``vram_gb``, with the reserve of a card, is less than what it needs there.

    The reserve stands for the CUDA context and buffers; of several systems that of the smallest one counts.
    """
    catalog = cluster.catalog
    for name, model in sorted(catalog.models.items()) if catalog else ():
        architecture = cluster.architectures.get(record_name(name))
        engines = [catalog.engines[one] for one in model.engines if catalog and one in catalog.engines]
        if architecture is not None and model.vram_gb:
            yield from list(_understated(model, architecture, engines, cluster.platform))[:1]


def _understated(
    model: Model, architecture: Architecture, engines: list[Engine], platform: Platform | None
) -> Iterator[Diagnostic]:
    for engine in engines:
        found = recorded_need(model, engine, architecture)
        if isinstance(found, CannotTell) or not found.per_card:
            continue
        need, reserve = gib(max(found.per_card)), _reserve(engine, platform)
        if need > exact(model.vram_gb) + reserve:
            yield Diagnostic(
                "vram-understated",
                f"{model.name} needs {show_hundredths(need, up=True)} GiB on a card under {engine.name} "
                f"({_parts(found, model)}); {_said(model, reserve)}",
                models_place("models", model.name, "vram_gb"),
                Severity.WARNING,
                f"set vram_gb to {show_hundredths(need - reserve, up=True)} or more, or give it a smaller context",
            )


def _reserve(engine: Engine, platform: Platform | None) -> Exact:
    reserves = platform.vram_reserve_gb if platform else {}
    return min((exact(reserves.get(name, 0)) for name in engine.os), default=0)


def _said(model: Model, reserve: Exact) -> str:
    said = exact(model.vram_gb)
    if not reserve:
        return f"its vram_gb is {show(said)}"
    return f"its vram_gb is {show(said)}, with the reserve of {show(reserve)} that is {show(said + reserve)}"


def _parts(need: Need, model: Model) -> str:
    context = f" for {model.context} tokens" if model.context else ""
    sizes = (
        ("weights", need.weights),
        (f"KV cache{context}", need.cache),
        ("state", need.state),
        ("buffers", need.compute + need.context_overhead),
    )
    over = f", over {len(need.per_card)} cards" if len(need.per_card) > 1 else ""
    return ", ".join(f"{name} {show_hundredths(gib(size), up=True)}" for name, size in sizes if size) + over
