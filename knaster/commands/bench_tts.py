"""`knaster bench tts`: the real-time factor of a speech endpoint."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from knaster.adapters import audio
from knaster.adapters.audio import UndecodableError
from knaster.adapters.http import Exchange, Session
from knaster.bench import answers, measured
from knaster.bench.audio import NoAudioError, Part, Sound, sound
from knaster.bench.sentences import NEWEST, sentences
from knaster.bench.speech import AT_ONCE, Failure, SpeechRun, Spoken
from knaster.bench.stats import reached
from knaster.commands.bench_asking import Server, UnmeasuredError
from knaster.commands.benching import GIVE_UP, Bench, Outcome, failure, finish, prepare, told
from knaster.commands.output import show
from knaster.commands.progress import progress
from knaster.commands.stopping import stoppable
from knaster.reports import benching as reports

PATH = "/audio/speech"


def run(args: argparse.Namespace) -> int:
    """1: nothing measured, not all of it, or not recorded. 2: no server was reached. 130: interrupted."""
    audio.ready()
    bench = prepare(args, "tts")
    with stoppable() as ending:
        found = _measured(args, bench)
        ending()
        return _told(args, bench, found)


def _told(args: argparse.Namespace, bench: Bench, found: SpeechRun) -> int:
    streamed = ", streamed" if args.stream else ""
    whole = f"knaster bench tts, {NEWEST}, {args.repetitions} repetitions, {_formats(found) or args.audio}{streamed}"
    taken = bench.taken(whole, args.voice)
    figures = measured.speech(found, taken)
    outcome = Outcome(figures, found.failures, found.partial, found.cut, tuple(_notes(args, found)))
    end, status = finish(args, "bench tts", bench, outcome, taken)
    show(args, reports.speech(found, end, sentences()))
    return status


def _measured(args: argparse.Namespace, bench: Bench) -> SpeechRun:
    """The run. Where already the warm-up fails, the rest is not tried."""
    spoken: list[Spoken] = []
    failures: list[Failure] = []
    cut = False
    try:
        with bench.server.session() as session, progress(args) as tell:
            failures += _warmed_up(args, bench, session, tell)
            if not failures:
                for one in _all(args, bench, session, tell):
                    if isinstance(one, Spoken):
                        spoken.append(one)
                    else:
                        failures.append(one)
    except KeyboardInterrupt:
        cut = True
    return SpeechRun(len(sentences()), args.repetitions, tuple(spoken), tuple(failures), cut)


def _warmed_up(
    args: argparse.Namespace, bench: Bench, session: Session, tell: Callable[[str], None]
) -> Iterator[Failure]:
    """Requests that do not count: models are loaded, and kernels are compiled, when they are first used."""
    texts = sentences()
    for number in range(args.warm_up):
        tell(f"warm-up {number + 1} of {args.warm_up}")
        try:
            _speak(args, bench, session, 0, len(texts) // 2)
        except UnmeasuredError as problem:
            yield failure("warm-up", problem)
            return


def _all(
    args: argparse.Namespace, bench: Bench, session: Session, tell: Callable[[str], None]
) -> Iterator[Spoken | Failure]:
    row, reached_it = 0, args.warm_up > 0
    for repetition in range(args.repetitions):
        for number in range(len(sentences())):
            tell(f"repetition {repetition + 1} of {args.repetitions}, sentence {number + 1} of {len(sentences())}")
            try:
                yield _speak(args, bench, session, repetition, number)
                row, reached_it = 0, True
            except UnmeasuredError as problem:
                what = f"repetition {repetition + 1}, sentence {number + 1}"
                yield told(what, problem) if reached_it else failure(what, problem)
                row += 1
                if row == GIVE_UP:
                    return


def _speak(args: argparse.Namespace, bench: Bench, session: Session, repetition: int, number: int) -> Spoken:
    text = sentences()[number]
    data: dict[str, Any] = {"model": bench.api_model, "input": text, "response_format": args.audio}
    if args.voice:
        data["voice"] = args.voice
    if args.stream:
        data |= {"stream": True, "stream_format": "audio"}
    answer = bench.server.ask(session, "POST", PATH, data)
    found, seconds = _heard(bench.server, answer)
    first = reached(answer.arrivals, found.start) if args.stream else None
    return Spoken(
        repetition,
        number,
        answer.ended - answer.started,
        float(seconds),
        None if first is None else first - answer.started,
        found.format,
    )


def _heard(server: Server, answer: Exchange) -> tuple[Sound, Fraction]:
    """What came, and how many seconds it lasts. Raises UnmeasuredError where it is no speech."""
    kind = answer.headers.get("content-type", "")
    wrong = answers.other(kind, "speech", answer.body)
    if wrong is not None:
        raise server.failed(wrong)
    try:
        found = sound(answer.body, kind)
        return found, sum((_seconds(part) for part in found.parts), Fraction(0))
    except (NoAudioError, UndecodableError) as problem:
        raise server.failed(f"the answer is no speech: {problem}") from None


def _seconds(part: Part) -> Fraction:
    length = audio.length(part.data)
    if not length.frames:
        raise UndecodableError("there is no sound in it")
    if length.silent:
        raise UndecodableError("it is silent from beginning to end")
    if part.trusted and part.frames is not None:
        return Fraction(part.frames, length.rate)
    promised = length.promised if part.frames is None else part.frames
    if promised != length.frames:
        raise UndecodableError(f"its head says {promised} samples, {length.frames} are in it")
    return Fraction(length.frames, length.rate)


def _formats(found: SpeechRun) -> str:
    return " and ".join(sorted({one.format for one in found.spoken}))


def _notes(args: argparse.Namespace, found: SpeechRun) -> Iterator[str]:
    came = _formats(found)
    if came and came.lower() != args.audio:
        yield f"{args.audio} was asked for, {came} came"
    if args.stream and found.spoken and all(one.first and one.first >= AT_ONCE * one.wall for one in found.spoken):
        yield "the first sound comes with the last: the server does not stream"
    if found.spoken and not found.whole:
        yield "not every sentence is in the figures: they compare with nothing but themselves"
