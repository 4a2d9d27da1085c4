"""What the catalog already knows of a row: figures of the same weights on the same class of cards."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from knaster.cluster import Figure, Model
from knaster.figures import shown
from knaster.model_plan.candidates import OnRecord, Outcome, Row
from knaster.model_plan.entry import Source, weights_file
from knaster.model_plan.pools import CardClass, type_name

_CALCULATED = frozenset({"vram", "memory"})
"""Metrics that an entry of `model plan` estimates: the row itself says them."""
_SIZE = re.compile(r"\b([0-9]+) ?GB\b", re.IGNORECASE)


def recorded(row: Row, source: Source, models: Iterable[Model]) -> tuple[OnRecord, ...]:
    """The figures of models with the row's source (or file), precision and number of cards, by model.

    They are those of the row's engine and class of cards (none, without a card); a measured one replaces estimates.
    """
    tried = row.fit.tried
    names = {source.published.name, weights_file(source, tried.precision).path}
    return tuple(
        OnRecord(model.name, figure)
        for model in sorted(models, key=lambda one: one.name)
        if model.source in names and model.precision == tried.precision and _as_many(model, row)
        for figure in shown(_of_row(row, model.figures))
    )


def _as_many(model: Model, row: Row) -> bool:
    return row.fit.cards in (0, model.tensor_parallel * model.nodes)


def _of_row(row: Row, figures: Iterable[Figure]) -> Iterator[Figure]:
    shape, engine = row.fit.shape, row.fit.tried.planning.engine.name
    for figure in figures:
        if figure.engine not in (None, engine) or (figure.kind == "estimated" and figure.metric in _CALCULATED):
            continue
        like = shape.each[0] if shape and shape.like else None
        if figure.card == (row.where if shape else None) or (like and figure.card and is_class(like, figure.card)):
            yield figure


def is_class(kind: CardClass, card: str) -> bool:
    """Whether a figure's card is of a class: by the name of the class, or of the type, with the memory if it has it."""
    type, _, size = kind.name.rpartition("-")
    sizes = [f"{number}g" for number in _SIZE.findall(card)]
    return card == kind.name or (type_name(card) == type and (not sizes or size in sizes))


def with_figures(outcome: Outcome, source: Source, models: Iterable[Model]) -> Outcome:
    """The rows with what is on record of each."""
    known = tuple(models)
    rows = tuple(replace(row, figures=recorded(row, source, known)) for row in outcome.rows)
    return replace(outcome, rows=rows)
