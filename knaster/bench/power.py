"""Power readings of nvidia-smi: one number from many samples, or why there is none.

A sample tells the power at its moment. Between two samples it is taken to run in a straight line, so that energy is the
sum of trapezoids, and the mean is energy over time: https://en.wikipedia.org/wiki/Trapezoidal_rule. Where samples are
further apart than `LONGEST_GAP` nothing is known of the time between.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

LONGEST_GAP = 5.0
"""Seconds; nvidia-smi is asked once a second."""

LEAST_COVERED = 0.5
"""Share of a run for which there must be readings."""

_NUMBER = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,6})?)(?: ?W)?")
_TIME = re.compile(r"[0-9]{4}/[0-9]{2}/[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?")
_MOST_WATTS = 100_000
_TELLING = frozenset(
    {"index", "name", "gpu_name", "uuid", "gpu_uuid", "serial", "gpu_serial", "pci.bus_id", "gpu_bus_id"}
)
_BURST = 0.02
"""Seconds: the cards of a machine are read within a few milliseconds, and nobody asks for one of them as often."""
_MOST_CARDS = 32
_SINGLE = "there is a single reading"


@dataclass(frozen=True, slots=True)
class Sample:
    """Watts at a moment, in seconds of any clock; ``watts`` None: the card or the tool was asked and did not say."""

    at: float
    watts: float | None


@dataclass(frozen=True, slots=True)
class Power:
    """Mean watts and their standard deviation over time, of ``samples`` readings that cover ``seconds``."""

    watts: float
    spread: float | None
    samples: int
    seconds: float


def reading(line: str) -> float | None:
    """One answer of ``--query-gpu=power.draw --format=csv,noheader[,nounits]``: watts.

    None for ``[N/A]``, ``[Not Supported]``, ``[Unknown Error]``, ``ERR!`` and whatever else is no number above 0.
    """
    found = _NUMBER.fullmatch(line.strip())
    watts = float(found[1]) if found else 0.0
    return watts if 0 < watts <= _MOST_WATTS else None


def log(text: str) -> tuple[list[Sample], bool]:
    """Samples of a log of nvidia-smi (``--query-gpu=timestamp,power.draw --format=csv -l 1``; any further columns), and
    whether their times are known. Without a column of times each line is taken for one second.

    A line that is no reading is a sample without watts. Raises ValueError where no line is a reading, or where several
    cards are read: without ``-i`` nvidia-smi tells all of the machine, and their mean is the power of none.
    """
    rows = [[cell.strip() for cell in line.split(",")] for line in text.splitlines() if line.strip()]
    column = _column(rows)
    if column is None:
        raise ValueError("no line holds a power reading such as 96.40 W")
    start = 1 if rows and any("power" in cell.lower() for cell in rows[0]) else 0
    times = [_time(row) for row in rows[start:]]
    timed = all(time is not None for time in times)
    if _several(rows) or (timed and _bursts([time for time in times if time is not None])):
        raise ValueError("it holds the power of several cards: ask nvidia-smi for one, with -i N")
    return [
        Sample(time if timed and time is not None else float(at), reading(row[column]) if column < len(row) else None)
        for at, (row, time) in enumerate(zip(rows[start:], times, strict=True))
    ], timed


def _several(rows: Sequence[Sequence[str]]) -> bool:
    """Whether a column that tells cards apart, by what the head calls it, tells several."""
    columns = [at for at, cell in enumerate(rows[0]) if cell.lower() in _TELLING]
    return any(len({row[at] for row in rows[1:] if at < len(row)}) > 1 for at in columns)


def _bursts(times: Sequence[float]) -> bool:
    """Whether lines come in bursts, one for each card at almost the same moment, with pauses between."""
    gaps = [abs(right - left) for left, right in pairwise(times)]
    together = sum(gap < _BURST for gap in gaps)
    pauses = sum(gap >= 5 * _BURST for gap in gaps)
    return pauses > 0 and 3 * together >= len(gaps) and together <= _MOST_CARDS * pauses


def _column(rows: Sequence[Sequence[str]]) -> int | None:
    """The column that the head calls power.draw, else the one of numbers in W, else the only one of numbers."""
    if not rows:
        return None
    for at, cell in enumerate(rows[0]):
        if "power.draw" in cell.lower():
            return at if any(at < len(row) and reading(row[at]) is not None for row in rows[1:]) else None
    for unit in (True, False):
        found = {at for row in rows for at, cell in enumerate(row) if reading(cell) and cell.endswith("W") is unit}
        if len(found) == 1:
            return found.pop()
    return None


def _time(row: Sequence[str]) -> float | None:
    """Seconds since any moment; the zone is not told, and does not matter for differences."""
    for cell in row:
        if _TIME.fullmatch(cell):
            form = "%Y/%m/%d %H:%M:%S.%f" if "." in cell else "%Y/%m/%d %H:%M:%S"
            try:
                return (datetime.strptime(cell, form) - datetime(1970, 1, 1)).total_seconds()
            except ValueError:
                return None
    return None


def mean(samples: Iterable[Sample], start: float = -math.inf, end: float = math.inf) -> Power | str:
    """The time-weighted mean between two moments (default: of all samples), or why there is none.

    A window is filled from the samples inside it; one that is just outside is not stretched into it.
    """
    inside = sorted((one for one in samples if start <= one.at <= end), key=lambda one: one.at)
    good = [(one.at, one.watts) for one in inside if one.watts is not None]
    if not inside:
        return "nvidia-smi was not asked in that time"
    if not good:
        return "nvidia-smi shows no power of this card"
    if len(good) == 1:
        return Power(good[0][1], None, 1, 0.0) if len(inside) == 1 and math.isinf(end - start) else _SINGLE
    first, last = inside[0].at if math.isinf(start) else start, inside[-1].at if math.isinf(end) else end
    return _integral(good, last - first)


def _integral(good: Sequence[tuple[float, float]], wanted: float) -> Power | str:
    pairs = [pair for pair in pairwise(good) if 0 < pair[1][0] - pair[0][0] <= LONGEST_GAP]
    seconds = math.fsum(right[0] - left[0] for left, right in pairs)
    if not pairs or seconds < LEAST_COVERED * wanted:
        return f"the readings cover {seconds:.0f} of {wanted:.0f} seconds"
    energy = math.fsum((right[0] - left[0]) * (left[1] + right[1]) / 2 for left, right in pairs)
    watts = energy / seconds
    square = math.fsum((right[0] - left[0]) * ((left[1] + right[1]) / 2 - watts) ** 2 for left, right in pairs)
    return Power(watts, math.sqrt(square / seconds), len(good), seconds)
