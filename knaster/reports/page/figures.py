"""Figures of models: how fast, how much power; each says whether anybody measured it."""

from __future__ import annotations

from dataclasses import dataclass

from knaster.cluster import Catalog, Figure
from knaster.figures import quantity, shown


@dataclass(frozen=True, slots=True)
class FigureRow:
    """One figure of one model."""

    model: str
    what: str
    value: str
    kind: str
    on: str
    origin: str


def figures(catalog: Catalog | None) -> dict[str, FigureRow]:
    """Those that `knaster.figures` shows, by model, metric and place."""
    found: dict[str, FigureRow] = {}
    for name, model in sorted(catalog.models.items()) if catalog else ():
        for row in (_row(name, figure) for figure in shown(model.figures)):
            found[" ".join((row.model, row.what, row.on, row.kind, row.origin))] = row
    return found


def _row(model: str, figure: Figure) -> FigureRow:
    voice = f"with {figure.voice}" if figure.voice else ""
    places = [part for part in (figure.card, figure.node, figure.engine, voice) if part]
    cut = "a run that was cut" if figure.partial else ""
    source = figure.source if figure.source != "estimate" else None
    origin = [part for part in (figure.date, source, cut) if part]
    what = figure.metric.replace("_", " ")
    return FigureRow(model, what, quantity(figure), figure.kind, ", ".join(places), ", ".join(origin))
