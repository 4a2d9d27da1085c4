"""Median and spread. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Value:
    """The median of values, and their spread: the sample standard deviation, None for a single one."""

    median: float
    spread: float | None


def value(numbers: Sequence[float]) -> Value | None:
    """None for no numbers."""
    if not numbers:
        return None
    return Value(statistics.median(numbers), statistics.stdev(numbers) if len(numbers) > 1 else None)


def reached(arrivals: Sequence[tuple[int, float]], offset: int) -> float | None:
    """When the byte at `offset` was there; `arrivals` are rising numbers of bytes and their times."""
    return next((at for there, at in arrivals if there > offset), None)
