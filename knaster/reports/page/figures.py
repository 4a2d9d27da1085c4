"""Figures of models: how fast, how much power; each says whether anybody measured it."""

from __future__ import annotations

from dataclasses import dataclass

from knaster.cluster import Catalog, Figure
from knaster.units import show


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
    """By model, metric and place. A measured figure replaces the estimate of the same thing (design: `bench`)."""
    found: dict[str, FigureRow] = {}
    for name, model in sorted(catalog.models.items()) if catalog else ():
        measured = {_same(figure) for figure in model.figures if figure.kind == "measured"}
        for figure in model.figures:
            if figure.kind == "measured" or _same(figure) not in measured:
                row = _row(name, figure)
                found[" ".join((row.model, row.what, row.on, row.kind, row.origin))] = row
    return found


def _same(figure: Figure) -> tuple[str | None, ...]:
    return figure.metric, figure.card, figure.engine


def _row(model: str, figure: Figure) -> FigureRow:
    places = [part for part in (figure.card, figure.node, figure.engine) if part]
    origin = [part for part in (figure.date, figure.source if figure.source != "estimate" else None) if part]
    value = f"{show(figure.value, 4)} {figure.unit}"
    return FigureRow(model, figure.metric.replace("_", " "), value, figure.kind, ", ".join(places), ", ".join(origin))
