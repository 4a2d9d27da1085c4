"""Watts out of what nvidia-smi says: exact means, gaps, errors, logs."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knaster.bench.power import Power, Sample, log, mean, reading


def samples(*watts: float | None, every: float = 1.0) -> list[Sample]:
    return [Sample(at * every, one) for at, one in enumerate(watts)]


@pytest.mark.parametrize(
    ("line", "watts"),
    [
        ("96.40", 96.4),
        ("96.40 W", 96.4),
        (" 7.2\n", 7.2),
        ("120", 120.0),
        ("[N/A]", None),
        ("[Not Supported]", None),
        ("[Unknown Error]", None),
        ("N/A", None),
        ("ERR!", None),
        ("0.00", None),
        ("-3", None),
        ("nan", None),
        ("1e3", None),
        ("9999999", None),
        ("", None),
        ("96.40\n12.00", None),
        ("\x1b[31m96", None),
    ],
)
def test_one_answer(line: str, watts: float | None) -> None:
    assert reading(line) == watts


def test_the_mean_is_energy_over_time() -> None:
    """Trapezoids by hand: 1 s from 100 to 100 is 100 J, 1 s from 100 to 50 is 75 J, 2 s from 50 to 50 is 100 J."""
    power = mean([Sample(0, 100), Sample(1, 100), Sample(2, 50), Sample(4, 50)])
    assert isinstance(power, Power)
    assert power.watts == pytest.approx(275 / 4)
    assert (power.samples, power.seconds) == (4, 4.0)


def test_the_order_of_samples_is_that_of_time() -> None:
    assert mean([Sample(2, 50), Sample(0, 100), Sample(1, 100)]) == mean(
        [Sample(0, 100), Sample(1, 100), Sample(2, 50)]
    )


def test_nothing_is_known_of_a_long_gap() -> None:
    """20 W before, 100 W behind a gap of 6 s: 4 + 4 s are covered of 14."""
    before = [Sample(at, 20) for at in range(5)]
    behind = [Sample(at, 100) for at in range(10, 15)]
    power = mean([*before, *behind])
    assert isinstance(power, Power)
    assert (power.watts, power.seconds) == (60.0, 8.0)


def test_answers_without_a_number_are_gaps() -> None:
    power = mean(samples(100, None, 100, None, None, 100))
    assert isinstance(power, Power)
    assert (power.watts, power.samples) == (100, 3)
    assert mean(samples(None, None)) == "nvidia-smi shows no power of this card"
    assert mean(samples(None, 100, None)) == "there is a single reading"
    assert mean(samples(100)) == Power(100, None, 1, 0.0)
    assert mean([]) == "nvidia-smi was not asked in that time"
    assert mean([Sample(0, 5), *(Sample(at, None) for at in range(1, 30)), Sample(30, 5), Sample(31, 5)]) == (
        "the readings cover 1 of 31 seconds"
    )


def test_a_window_counts_alone_and_needs_half_of_it_covered() -> None:
    idle_then_busy = samples(*([10.0] * 10 + [100.0] * 11))
    power = mean(idle_then_busy, 10, 20)
    assert isinstance(power, Power)
    assert (power.watts, power.seconds) == (100.0, 10.0)
    assert mean(idle_then_busy, 15, 60) == "the readings cover 5 of 45 seconds"
    assert mean(idle_then_busy, 20, 30) == "there is a single reading"
    assert mean(idle_then_busy, 90, 95) == "nvidia-smi was not asked in that time"


@given(st.lists(st.tuples(st.floats(0, 1e4), st.none() | st.floats(0.1, 1000)), max_size=30))
def test_a_mean_lies_between_its_readings(pairs: list[tuple[float, float | None]]) -> None:
    power = mean([Sample(at, watts) for at, watts in pairs])
    if isinstance(power, Power):
        known = [watts for _, watts in pairs if watts is not None]
        assert min(known) * 0.999 <= power.watts <= max(known) * 1.001
        assert power.spread is None or 0 <= power.spread <= max(known)
        assert math.isfinite(power.seconds)


LOG = """\
timestamp, power.draw [W]
2026/11/29 10:00:00.000, 20.00 W
2026/11/29 10:00:01.000, 100.00 W
2026/11/29 10:00:02.000, [N/A]
2026/11/29 10:00:03.000, 100.00 W
"""


def test_a_log_is_read_with_its_times() -> None:
    """1 s from 20 to 100 is 60 J, 2 s of 100 are 200 J: 260 J in 3 s."""
    found, timed = log(LOG)
    assert timed
    power = mean(found)
    assert isinstance(power, Power)
    assert power.watts == pytest.approx(260 / 3)


@pytest.mark.parametrize(
    ("text", "watts", "timed"),
    [
        ("96.4\n96.4\n", [96.4, 96.4], False),
        ("96.40 W\nERR!\n98 W\n", [96.4, None, 98], False),
        ("0, 96.40 W\n0, 97.40 W\n", [96.4, 97.4], False),
        ("index, power.draw [W], temperature.gpu\n0, 96.40, 71\n", [96.4], False),
        ("2026/11/29 10:00:00.000, 96.40\r\n2026/11/29 10:00:01.000, 97.40\r\n", [96.4, 97.4], True),
        ("2026/99/29 10:00:00.000, 96.40 W\n", [96.4], False),
    ],
)
def test_other_logs(text: str, watts: list[float | None], timed: bool) -> None:
    found, has_times = log(text)
    assert ([one.watts for one in found], has_times) == (watts, timed)


@pytest.mark.parametrize(
    "text",
    ["", "<html>", "timestamp, power.draw [W]\n", "timestamp, power.draw [W]\n1, [N/A]\n", "1, 2\n3, 4\n", "\x00"],
)
def test_what_is_no_log(text: str) -> None:
    with pytest.raises(ValueError, match="no line holds a power reading"):
        log(text)


TWO_CARDS = """timestamp, index, name, power.draw [W]
2026/11/29 10:00:00.001, 0, Quadro M4000, 100.00 W
2026/11/29 10:00:00.004, 1, Quadro P2000, 10.00 W
2026/11/29 10:00:01.001, 0, Quadro M4000, 100.00 W
2026/11/29 10:00:01.003, 1, Quadro P2000, 10.00 W
2026/11/29 10:00:02.002, 0, Quadro M4000, 100.00 W
2026/11/29 10:00:02.005, 1, Quadro P2000, 10.00 W
"""
"""Without ``-i``: their mean, 55 W, is the power of no card."""


@pytest.mark.parametrize("columns", [(0, 1, 2, 3), (0, 2, 3), (0, 3), (1, 3)])
def test_a_log_of_several_cards_is_of_none(columns: tuple[int, ...]) -> None:
    lines = [line.split(", ") for line in TWO_CARDS.splitlines()]
    with pytest.raises(ValueError, match="several cards"):
        log("\n".join(", ".join(line[at] for at in columns) for line in lines))


@pytest.mark.parametrize("every", [0.01, 0.1, 0.25, 0.5, 1.0, 4.0])
def test_a_log_of_one_card_is_one_however_often_it_is_asked(every: float) -> None:
    start = datetime(2026, 11, 29, 10)
    times = [start + timedelta(seconds=every * at) for at in range(40)]
    lines = [f"{time:%Y/%m/%d %H:%M:%S}.{time.microsecond // 1000:03}, 100.00 W" for time in times]
    found, timed = log("\n".join(["timestamp, power.draw [W]", *lines]))
    assert (len(found), timed) == (40, True)
