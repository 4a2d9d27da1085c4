"""The report of `bench llm`: each test, the figures that count, the power, and what was recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
    """A run and what it came to; ``power`` is a text where there is none."""

    model: str
    card: Card
    run: Run
    power: Power | str
    figures: Sequence[Measurement]
    interrupted: bool
    ok: bool


def report(
    told: LlamaTold,
    recorded: tuple[str, ...],
    unrecorded: str | None,
    older: tuple[str, ...],
    diagnostics: tuple[Diagnostic, ...],
    texts: Mapping[str, object] | None,
) -> Report:
    """JSON: besides what all benchmarks have, ``tests``: ``{test, rate, spread, cards}``, and ``power``:
    ``{watts, spread, samples, seconds}`` or null."""
    first = told.figures[0] if told.figures else None
    tests = [
        {"test": row.test, "rate": row.rate, "spread": row.spread, "cards": list(row.ran_on)} for row in told.run.rows
    ]
    power = None
    if isinstance(told.power, Power):
        power = {"watts": told.power.watts, "spread": told.power.spread, "samples": told.power.samples}
        power["seconds"] = told.power.seconds
    about = {
        "model": told.model,
        "engine": first.engine if first else None,
        "build": first.build if first else None,
        "node": told.card.node,
        "card": told.card.type,
        "date": first.date if first else None,
    }
    notes = (f"newer or whole figures stay in the catalog; only the history has these: {', '.join(older)}",)
    common = benching.Told(
        "bench llm",
        told.ok,
        about,
        told.figures,
        (),
        any(one.partial for one in told.figures),
        told.interrupted,
        notes if older else (),
        recorded,
        unrecorded,
        unrecorded is not None and unrecorded != "--dry-run",
        diagnostics,
        texts,
    )
    rows = tuple((row.test, _rate(row.rate, row.spread), ", ".join(row.ran_on) or "CPU") for row in told.run.rows)
    counted = plural(len(told.run.rows), "test")
    return benching.report(common, {"tests": tests, "power": power}, Table(("TEST", "TOKEN/S", "CARD"), rows), counted)


def _rate(rate: float, spread: float | None) -> str:
    return show(rate, 2) + (f" ± {show(spread, 2)}" if spread is not None else "")
