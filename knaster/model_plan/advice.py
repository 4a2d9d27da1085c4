"""What would make a model fit: a shorter context, fewer sequences, a heavier quantisation, cards that are taken, more.

Every piece of advice was tried with the same arithmetic as the plan itself; nothing is told that was not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from knaster.fit.memory.serving import EngineName
from knaster.model_plan.attempts import Ask, Fit, Try, on_cards
from knaster.model_plan.candidates import Model, Row, best_first, plan
from knaster.model_plan.engines import Planning, order, refused_on
from knaster.model_plan.pools import Hardware, rank
from knaster.model_plan.shapes import Shape

STEP = 256
"""Contexts are offered in these steps: llama.cpp rounds a cache up to as many cells."""
_HEAVIER = ("q6_k", "q5_k_m", "q4_k_m", "iq4_xs", "q3_k_m", "q2_k")
_MOST_CARDS = 16


@dataclass(frozen=True, slots=True)
class Change:
    """What would help: ``context``, ``parallel``, ``precision``, ``held`` or ``cards``; and the row that it would give.

    ``options`` is what to add to the command; for ``cards`` there is nothing to add, for they have to be bought.
    """

    kind: str
    row: Row
    options: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked and found to fit nowhere."""

    model: Model
    fleet: Hardware
    engines: Mapping[EngineName, Planning]
    precisions: tuple[str, ...]
    ask: Ask

    def rows(self, *, few: bool = False, **other: object) -> tuple[Row, ...]:
        """The rows of the same question with another fleet, other precisions or another context."""
        asked = replace(self, **other)  # type: ignore[arg-type]
        return plan(asked.model, asked.fleet, asked.engines, asked.precisions, asked.ask, few=few).rows


def changes(asked: Question, everything: Hardware | None = None) -> tuple[Change, ...]:
    """What would help, in the order of its price. `everything` is the fleet without ``--free``."""
    found = [_context(asked), _parallel(asked), _precision(asked), _held(asked, everything) if everything else None]
    found.append(_cards(asked, everything or asked.fleet))
    return tuple(one for one in found if one is not None)


def _context(asked: Question) -> Change | None:
    """The longest context that fits somewhere, in steps of `STEP`."""
    found = _most(asked, (asked.ask.context - 1) // STEP, lambda steps: replace(asked.ask, context=steps * STEP))
    return found and Change("context", found[1], f"--context {found[0] * STEP}")


def _parallel(asked: Question) -> Change | None:
    """The most sequences at once that fit somewhere at the context asked for."""
    found = _most(asked, asked.ask.parallel - 1, lambda number: replace(asked.ask, parallel=number))
    return found and Change("parallel", found[1], f"--parallel {found[0]}")


def _most(asked: Question, high: int, ask: Callable[[int], Ask]) -> tuple[int, Row] | None:
    """The largest number up to `high` with a row, and that row; what fits with more fits with less."""
    low = 0
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if asked.rows(few=True, ask=ask(middle)) else (low, middle - 1)
    rows = asked.rows(ask=ask(low)) if low else ()
    return (low, rows[0]) if rows else None


def _precision(asked: Question) -> Change | None:
    """The highest of the heavier quantisations that fits at the context asked for."""
    lowest = max(map(order, asked.precisions), default=(0, ""))
    for precision in _HEAVIER:
        if order(precision) > lowest and (rows := asked.rows(precisions=(precision,))):
            return Change("precision", rows[0], f"--precision {precision}")
    return None


def _held(asked: Question, everything: Hardware) -> Change | None:
    rows = asked.rows(fleet=everything)
    return Change("held", rows[0], "without --free") if rows else None


def _cards(asked: Question, fleet: Hardware) -> Change | None:
    """The fewest like cards in one node that would do, of the classes that the fleet has."""
    rows = sorted(_imagined(asked, fleet), key=lambda row: best_first(row, asked.model.architecture))
    return Change("cards", rows[0]) if rows else None


def _imagined(asked: Question, fleet: Hardware) -> Iterator[Row]:
    classes = sorted({card.kind for card in fleet.cards}, key=rank)
    for tried in _tries(asked):
        for kind in classes:
            if refused_on(tried.planning, tried.precision, kind, asked.ask.kv_precision):
                continue
            fits = (on_cards(tried, Shape((kind,) * count)) for count in range(2, _MOST_CARDS + 1))
            if (first := next((one for one in fits if isinstance(one, Fit)), None)) is not None:
                yield Row(first)


def _tries(asked: Question) -> Iterator[Try]:
    model = asked.model
    for precision in asked.precisions:
        for kind, planning in asked.engines.items():
            if not model.refused(kind, precision):
                yield model.tried(planning, precision, asked.ask)
