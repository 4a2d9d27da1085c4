"""A measurement as an entry of the catalog, and which of two entries counts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from knaster.cards.types import slug
from knaster.cluster import Number

_DIGITS = 5
_LONGEST = {"card": 120, "voice": 120, "node": 63, "engine": 120, "build": 120, "source": 300, "unit": 30}


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


def entry(one: Measurement) -> dict[str, Any]:
    """The measurement as the catalog has it: keys in the order of the schema, what is not known left out.

    Numbers keep five significant digits: no benchmark is better than that. Texts are cut to what the schema takes.
    """
    spread = None if one.spread is None else rounded(one.spread)
    data = {"metric": one.metric, "value": rounded(one.value), "unit": one.unit, "spread": spread, "card": one.card}
    data |= {"voice": one.voice, "node": one.node, "engine": one.engine, "build": one.build, "date": one.date}
    data |= {"partial": one.partial or None, "source": one.source}
    return {key: _cut(key, value) for key, value in data.items() if value not in (None, "")}


def rounded(number: Number) -> Number:
    """Five significant digits, nine decimals at most, whole numbers as int; NaN stays, for the schema to refuse."""
    if isinstance(number, int) or not math.isfinite(number):
        return number
    near = round(float(f"{number:.{_DIGITS}g}"), 9)
    return int(near) if near.is_integer() else near


def _cut(key: str, value: Any) -> Any:
    return value[: _LONGEST[key]] if key in _LONGEST else value


def about(data: Mapping[str, Any]) -> tuple[str, str, str]:
    """What an entry is about; a model has one entry for each: metric, card type, voice."""
    return str(data.get("metric")), slug(str(data.get("card") or "")), str(data.get("voice") or "")


def wins(new: Mapping[str, Any], old: Mapping[str, Any]) -> bool:
    """Whether a new entry takes the place of an old one: a whole run that of one that was cut, else the later day."""
    whole, before = not new.get("partial"), not old.get("partial")
    if whole != before:
        return whole
    return str(new.get("date", "")) >= str(old.get("date", ""))
