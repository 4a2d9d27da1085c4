"""Runs as figures of the catalog. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from knaster.bench.chat import ChatRun
from knaster.bench.entries import Measurement
from knaster.bench.speech import SpeechRun
from knaster.bench.stats import Value


@dataclass(frozen=True, slots=True)
class Taken:
    """Where, when and how figures were taken; fields as those of `Measurement`."""

    date: str
    source: str
    card: str | None = None
    node: str | None = None
    engine: str | None = None
    build: str | None = None
    voice: str | None = None


def speech(run: SpeechRun, taken: Taken) -> tuple[Measurement, ...]:
    """``real_time_factor``, and where it was streamed ``time_to_first_audio``; nothing where nothing was measured."""
    figures = (("real_time_factor", "s/s", run.factor), ("time_to_first_audio", "s", run.first_audio))
    return tuple(_measurements(figures, taken, partial=run.partial))


def chat(run: ChatRun, taken: Taken) -> tuple[Measurement, ...]:
    """``generation_rate``, ``time_to_first_token``, ``prompt_rate``, as far as they were measured."""
    figures = (
        ("generation_rate", "token/s", run.rate),
        ("time_to_first_token", "s", run.first_token),
        ("prompt_rate", "token/s", run.prompt_rate),
    )
    return tuple(_measurements(figures, taken, partial=run.partial))


def _measurements(
    figures: tuple[tuple[str, str, Value | None], ...], taken: Taken, *, partial: bool
) -> Iterator[Measurement]:
    for metric, unit, found in figures:
        if found is not None:
            yield Measurement(
                metric=metric,
                value=found.median,
                unit=unit,
                spread=found.spread,
                card=taken.card,
                node=taken.node,
                engine=taken.engine,
                build=taken.build,
                date=taken.date,
                voice=taken.voice,
                partial=partial,
                source=taken.source,
            )
