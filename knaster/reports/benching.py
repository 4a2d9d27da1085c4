"""The reports of `bench tts` and `bench server`: what was measured, how, on what, what failed, what was recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from knaster.bench.chat import ChatRun
from knaster.bench.entries import Measurement
from knaster.bench.speech import Failure, SpeechRun, Spoken
from knaster.bench.stats import value
from knaster.diagnostics import Diagnostic
from knaster.reports.blocks import Block, Items, Line, Problems, Report, Table, plural
from knaster.reports.json import diagnostic
from knaster.units import show


@dataclass(frozen=True, slots=True)
class Told:
    """What both reports have in common. ``about`` are facts of the run, name to value; unknown ones are None.

    ``recorded`` are paths that were written; ``unrecorded`` says why nothing was, which is ``bad`` where it should.
    """

    command: str
    ok: bool
    about: Mapping[str, str | None]
    figures: Sequence[Measurement]
    failures: Sequence[Failure]
    partial: bool
    cut: bool
    notes: tuple[str, ...] = ()
    recorded: tuple[str, ...] = ()
    unrecorded: str | None = None
    bad: bool = False
    diagnostics: tuple[Diagnostic, ...] = ()
    texts: Mapping[str, object] | None = None


def speech(run: SpeechRun, told: Told, texts: Sequence[str]) -> Report:
    """JSON: besides what is common, ``results``: ``{repetition, sentence, wall_s, audio_s, factor, first_audio_s,
    format}``, and ``sentences`` with the texts."""
    results = [
        {
            "repetition": one.repetition + 1,
            "sentence": one.sentence + 1,
            "wall_s": one.wall,
            "audio_s": one.audio,
            "factor": one.factor,
            "first_audio_s": one.first,
            "format": one.format,
        }
        for one in run.spoken
    ]
    asked = {"repetitions": run.repetitions, "sentences": list(texts)}
    rows = [_sentence(number, text, run.of_sentence(number)) for number, text in enumerate(texts)]
    head = ("SENTENCE", "CHARACTERS", "TIMES", "SPEECH s", "WORK s", "FACTOR", "FIRST SOUND s")
    counted = f"{len(run.spoken)} of {plural(run.sentences * run.repetitions, 'request')}"
    return report(told, {**asked, "results": results}, Table(head, tuple(row for row in rows if row)), counted)


def _sentence(number: int, text: str, spoken: Sequence[Spoken]) -> tuple[str, ...]:
    if not spoken:
        return ()
    first = _median([one.first for one in spoken if one.first is not None])
    audio, wall = _median([one.audio for one in spoken]), _median([one.wall for one in spoken])
    factor = _median([one.factor for one in spoken])
    return (str(number + 1), str(len(text)), str(len(spoken)), audio, wall, factor, first)


def _median(numbers: Sequence[float]) -> str:
    found = value(numbers)
    return "-" if found is None else _shown(found.median)


def _shown(number: float) -> str:
    """Three decimals; of what is small, five."""
    return show(number, 3 if number >= 0.1 else 5)


def chat(run: ChatRun, told: Told) -> Report:
    """JSON: besides what is common, ``requests``, ``concurrency``, ``total_rate`` (token/s of all requests together),
    ``counted`` (``tokens`` by the server, or ``pieces`` of text), and ``results``: ``{prompt_tokens, tokens, pieces,
    first_token_s, wall_s, rate}``."""
    results = [
        {
            "prompt_tokens": one.prompt_tokens,
            "tokens": one.tokens,
            "pieces": one.pieces,
            "first_token_s": one.to_first,
            "wall_s": one.ended - one.started,
            "rate": one.rate,
        }
        for one in run.completions
    ]
    total = run.total_rate
    data = {
        "requests": run.requests,
        "concurrency": run.concurrency,
        "total_rate": total,
        "counted": "tokens" if run.counted_by_server else "pieces",
        "results": results,
    }
    row = (str(run.concurrency), str(len(run.completions)), "-" if total is None else f"{show(total, 3)} token/s")
    table = Table(("CONCURRENCY", "REQUESTS", "ALL TOGETHER"), (row,) if run.completions else ())
    return report(told, data, table, f"{len(run.completions)} of {plural(run.requests, 'request')}")


def report(told: Told, more: Mapping[str, Any], table: Table, counted: str) -> Report:
    """JSON: ``{command, ok, measured, partial, interrupted, figures, failures, notes, recorded, not_recorded,
    diagnostics}``, the facts of ``about``, and `more`; `counted` says how much was measured."""
    data = {
        "command": told.command,
        "ok": told.ok,
        "measured": bool(told.figures),
        "partial": told.partial,
        "interrupted": told.cut,
        **told.about,
        "figures": [_figure(one) for one in told.figures],
        **more,
        "failures": [{"what": one.what, "message": one.message, "hint": one.hint} for one in told.failures],
        "notes": list(told.notes),
        "recorded": list(told.recorded),
        "not_recorded": told.unrecorded,
        "diagnostics": [diagnostic(one) for one in told.diagnostics],
    }
    about = tuple(f"{name.replace('_', ' ')}: {text}" for name, text in told.about.items() if text)
    blocks: list[Block] = [
        table,
        Table(("METRIC", "MEASURED", "SPREAD"), tuple(map(_row, told.figures)), bad=True),
        Items("of", about),
        Items("notes", told.notes),
        Items("failures", tuple(_failures(told.failures)), bad=True),
        Problems(told.diagnostics, told.texts or {}),
        *_record(told),
        Line(_summary(told, counted), "good" if told.ok else "bad"),
    ]
    return Report(data, tuple(blocks))


def _figure(one: Measurement) -> dict[str, Any]:
    return {"metric": one.metric, "kind": "measured", "value": one.value, "unit": one.unit, "spread": one.spread}


def _row(one: Measurement) -> tuple[str, str, str]:
    spread = "-" if one.spread is None else f"± {_shown(one.spread)}"
    return one.metric, f"{_shown(float(one.value))} {one.unit}", spread


def _failures(failures: Sequence[Failure]) -> list[str]:
    """Each failure, and below them every way out once."""
    said = [f"{one.what}: {one.message}" for one in failures]
    return [*said, *dict.fromkeys(f"hint: {one.hint}" for one in failures if one.hint)]


def _record(told: Told) -> list[Line]:
    if told.recorded:
        return [Line(f"recorded in {' and '.join(told.recorded)}")]
    return [Line(f"not recorded: {told.unrecorded}", "bad" if told.bad else "plain")] if told.unrecorded else []


def _summary(told: Told, counted: str) -> str:
    if not told.figures:
        return "nothing measured" + (", interrupted" if told.cut else "")
    if not told.partial:
        return f"measured: {counted}"
    return f"measured in part{' (interrupted)' if told.cut else ''}: {counted}"
