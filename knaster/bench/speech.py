"""What a run of `bench tts` came to. Pure.

One repetition speaks every sentence of the set once. Its real-time factor is all its seconds of work over all its
seconds of speech, so that long sentences count for what they are; the figure is the median of the repetitions, and its
spread tells how much they differ. A repetition that lacks a sentence is another text, and does not count while a whole
one is there.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from knaster.bench.stats import Value, value

AT_ONCE = 0.95
"""Where the first of an answer comes this late in it, as a share of its time, it was not streamed."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """One sentence (its index) of one repetition, in seconds: until all of it was there, what it lasts, until the
    first of its sound was there (None where the answer was not streamed)."""

    repetition: int
    sentence: int
    wall: float
    audio: float
    first: float | None
    format: str

    @property
    def factor(self) -> float:
        """Seconds of work for a second of speech."""
        return self.wall / self.audio


@dataclass(frozen=True, slots=True)
class Failure:
    """A request that gave nothing to measure: what was asked, why, the way out."""

    what: str
    message: str
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class SpeechRun:
    """What was asked for (`sentences` of a set, `repetitions`), and what came of it. ``cut``: it was interrupted."""

    sentences: int
    repetitions: int
    spoken: tuple[Spoken, ...] = ()
    failures: tuple[Failure, ...] = ()
    cut: bool = False

    @property
    def partial(self) -> bool:
        """Whether something of it is missing."""
        return len(self.spoken) < self.sentences * self.repetitions

    @property
    def whole(self) -> tuple[tuple[Spoken, ...], ...]:
        """The repetitions that have every sentence."""
        by_repetition: dict[int, list[Spoken]] = {}
        for one in self.spoken:
            by_repetition.setdefault(one.repetition, []).append(one)
        return tuple(tuple(one) for one in by_repetition.values() if len(one) == self.sentences)

    @property
    def counted(self) -> tuple[tuple[Spoken, ...], ...]:
        """The repetitions that count: the whole ones; where there is none, all that was spoken, as one."""
        return self.whole or ((self.spoken,) if self.spoken else ())

    @property
    def factor(self) -> Value | None:
        """Seconds of work for a second of speech; None where nothing was measured."""
        return value([sum(one.wall for one in some) / sum(one.audio for one in some) for some in self.counted])

    @property
    def first_audio(self) -> Value | None:
        """Seconds until the first sound: the median of each repetition's median; None where nothing was streamed."""
        times = [[one.first for one in some if one.first is not None] for some in self.counted]
        return value([statistics.median(some) for some in times if some])

    def of_sentence(self, index: int) -> Sequence[Spoken]:
        """All that was spoken of one sentence."""
        return [one for one in self.spoken if one.sentence == index]
