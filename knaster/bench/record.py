"""Measurements into the catalog: new texts of ``catalog/models.yaml`` and of the history in ``catalog/benchmarks/``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from knaster.cluster import Number
from knaster.diagnostics import Diagnostic
from knaster.files import Files


@dataclass(frozen=True, slots=True)
class Measurement:
    """One figure that a benchmark gave.

    ``metric`` is the catalog's word (``generation_rate``, ``real_time_factor``), ``unit`` as in ``token/s``, ``s/s``,
    ``W``; ``spread`` is in that unit too (standard deviation).
    ``card`` is the card type (``Quadro M4000``; None: the CPU), ``node`` the machine, ``engine`` the catalog's engine,
    ``build`` its version as it calls itself, ``date`` the day of the run (``2026-11-29``), ``source`` the program and
    its settings (``llama-bench tg128``). ``partial``: the run was cut before its end.
    """

    metric: str
    value: Number
    unit: str
    spread: Number | None
    card: str | None
    node: str | None
    engine: str | None
    build: str | None
    date: str
    voice: str | None
    partial: bool
    source: str


@dataclass(frozen=True, slots=True)
class Recorded:
    """What to write, or why nothing is written.

    ``texts`` holds the new text of each file that changes, by path; it is empty where ``diagnostics`` has an error.
    ``current`` are the measurements that the catalog shows from now on, ``older`` those that went into the history
    alone: an earlier day than what is there, or cut short where a whole run is there.
    """

    texts: Mapping[str, str] = field(default_factory=dict)
    current: tuple[Measurement, ...] = ()
    older: tuple[Measurement, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def record(files: Files, model: str, measurements: Sequence[Measurement]) -> Recorded:
    """`measurements` of a catalog model, recorded in `files`. Never raises, whatever the files hold."""
    raise NotImplementedError
