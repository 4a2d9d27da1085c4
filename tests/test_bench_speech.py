"""Runs of speech as figures: which repetitions count, and what must always hold of a factor."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knaster.bench.speech import SpeechRun, Spoken
from knaster.bench.stats import reached, value


def spoken(repetition: int, sentence: int, wall: float, audio: float, first: float | None = None) -> Spoken:
    return Spoken(repetition, sentence, wall, audio, first, "WAV")


def test_whole_repetitions_count() -> None:
    """(1 + 2) / (2 + 10) = 0.25 and (2 + 4) / 12 = 0.5; the third, which would be 9 / 2, lacks a sentence."""
    run = SpeechRun(
        2,
        3,
        (
            spoken(0, 0, 1, 2, 0.5),
            spoken(0, 1, 2, 10, 1.5),
            spoken(1, 0, 2, 2, 0.25),
            spoken(1, 1, 4, 10, 0.75),
            spoken(2, 0, 9, 2, 8),
        ),
    )
    factor, first = run.factor, run.first_audio
    assert factor is not None
    assert first is not None
    assert (factor.median, first.median) == (0.375, 0.75)  # medians of 1 and 0.5
    assert factor.spread == pytest.approx(0.1767767)  # 0.25 / sqrt(2)
    assert (run.partial, len(run.whole)) == (True, 2)


def test_without_a_whole_repetition_everything_counts_as_one() -> None:
    run = SpeechRun(3, 2, (spoken(0, 0, 1, 2), spoken(1, 0, 2, 4), spoken(1, 1, 3, 6)))
    assert run.factor is not None
    assert (run.factor.median, run.factor.spread) == (0.5, None)
    assert (run.partial, run.whole, run.first_audio) == (True, (), None)


def test_nothing() -> None:
    run = SpeechRun(3, 2)
    assert (run.factor, run.first_audio, run.partial, run.whole, run.counted) == (None, None, True, (), ())


EIGHTHS = st.integers(1, 800).map(lambda number: number / 8)


@given(st.lists(st.lists(st.tuples(EIGHTHS, EIGHTHS), min_size=3, max_size=3), min_size=1, max_size=5), st.randoms())
def test_a_factor_lies_between_its_sentences_and_their_order_is_none(
    repetitions: list[list[tuple[float, float]]], chance: object
) -> None:
    all_of_it = [
        spoken(number, sentence, wall, audio)
        for number, some in enumerate(repetitions)
        for sentence, (wall, audio) in enumerate(some)
    ]
    run = SpeechRun(3, len(repetitions), tuple(all_of_it))
    chance.shuffle(all_of_it)  # type: ignore[attr-defined]
    assert run.factor is not None
    assert not run.partial
    assert SpeechRun(3, len(repetitions), tuple(all_of_it)).factor == run.factor
    exact = sorted(
        sum(Fraction(wall) for wall, _ in some) / sum(Fraction(audio) for _, audio in some) for some in repetitions
    )
    middle = (exact[(len(exact) - 1) // 2] + exact[len(exact) // 2]) / 2
    assert run.factor.median == pytest.approx(float(middle))
    assert min(one.factor for one in all_of_it) <= run.factor.median * (1 + 1e-12)
    assert run.factor.median <= max(one.factor for one in all_of_it) * (1 + 1e-12)


def test_median_and_spread() -> None:
    """Of 2, 4, 4, 4, 5, 5, 7, 9 the mean is 5 and the squares around it sum to 32: sqrt(32 / 7) = 2.1380899."""
    found = value([2, 4, 4, 4, 5, 5, 7, 9])
    assert found is not None
    assert found.median == 4.5
    assert found.spread == pytest.approx(2.1380899)
    assert value([]) is None


def test_when_a_byte_was_there() -> None:
    arrivals = [(44, 1.0), (100, 2.0), (200, 3.0)]
    assert [reached(arrivals, at) for at in (0, 43, 44, 99, 100, 199, 200)] == [1.0, 1.0, 2.0, 2.0, 3.0, 3.0, None]
