"""The report of `bench llm`: each test, the figures that count, the power, and what was recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from knaster.bench.entries import Measurement
from knaster.bench.llama import Card
from knaster.bench.llama_rows import Run
from knaster.bench.power import Power
from knaster.diagnostics import Diagnostic
from knaster.reports import benching
from knaster.reports.blocks import Report, Table, plural
from knaster.units import show


@dataclass(frozen=True, slots=True)
class LlamaTold:
    """A run and what it came to. ``power`` is a text where there is none, ``power_of`` says what it was read of.

    ``recorded`` are paths that were written; ``unrecorded`` says why nothing was, which is ``bad`` where it should.
    """

    model: str
    card: Card
    run: Run
    power: Power | str
    power_of: str
    figures: Sequence[Measurement]
    interrupted: bool
    ok: bool
    recorded: tuple[str, ...] = ()
    unrecorded: str | None = None
    bad: bool = False
    older: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    texts: Mapping[str, object] | None = None


def report(told: LlamaTold) -> Report:
    """JSON: besides what all benchmarks have, ``tests``: ``{test, rate, spread, cards}``, and ``power``:
    ``{watts, spread, samples, seconds, of}`` or null."""
    run = told.run
    tests = [{"test": row.test, "rate": row.rate, "spread": row.spread, "cards": list(row.ran_on)} for row in run.rows]
    common = benching.Told(
        command="bench llm",
        ok=told.ok,
        about=_about(told),
        figures=told.figures,
        failures=(),
        partial=any(one.partial for one in told.figures),
        cut=told.interrupted,
        notes=_notes(told),
        recorded=told.recorded,
        unrecorded=told.unrecorded,
        bad=told.bad,
        diagnostics=told.diagnostics,
        texts=told.texts,
    )
    rows = tuple((row.test, _rate(row.rate, row.spread), ", ".join(row.ran_on) or "CPU") for row in run.rows)
    table = Table(("TEST", "TOKEN/S", "CARD"), rows)
    return benching.report(common, {"tests": tests, "power": _power(told)}, table, plural(len(run.rows), "test"))


def _about(told: LlamaTold) -> dict[str, str | None]:
    first = told.figures[0] if told.figures else None
    return {
        "model": told.model,
        "engine": first.engine if first else None,
        "build": first.build if first else None,
        "node": told.card.node,
        "card": told.card.type,
        "date": first.date if first else None,
    }


def _power(told: LlamaTold) -> dict[str, Any] | None:
    one = told.power
    if isinstance(one, str):
        return None
    return {
        "watts": one.watts,
        "spread": one.spread,
        "samples": one.samples,
        "seconds": one.seconds,
        "of": told.power_of,
    }


def _notes(told: LlamaTold) -> tuple[str, ...]:
    notes = []
    if isinstance(told.power, Power) and told.power.samples > 1:
        spanned = f"{plural(told.power.samples, 'reading')} over {told.power.seconds:.0f} s"
        notes.append(f"power: {told.power_of}, {spanned}")
    if told.older:
        stay = "newer or whole figures stay in the catalog; only the history has these"
        notes.append(f"{stay}: {', '.join(told.older)}")
    return tuple(notes)


def _rate(rate: float, spread: float | None) -> str:
    return show(rate, 2) + (f" ± {show(spread, 2)}" if spread is not None else "")
