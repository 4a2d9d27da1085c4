"""One fact, several sources: the first that can be read wins, and the reasons of the others are kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from knaster.inventory.capture import MISSING, TIMED_OUT, Capture, Section
from knaster.inventory.reading import Problem, Reading

T = TypeVar("T")
Source = tuple[str, Callable[[Section], Reading[T]]]
"""Name of a section, and what reads it."""


def ask(capture: Capture, source: Source[T]) -> Reading[T]:
    """What one source says; a command that was not there or did not end is a problem whatever it printed."""
    name, read = source
    section = capture.get(name)
    if section is None:
        return Reading(problem=Problem("not-captured", f"{name}: not captured"))
    if section.status == MISSING and not section.text.strip():
        return Reading(problem=Problem("tool-missing", f"{name}: there is no such program"))
    if section.status in (TIMED_OUT, 137):
        return Reading(problem=Problem("killed", f"{name}: no answer in time"))
    reading = read(section)
    if reading.problem is not None:
        said = reading.problem.message
        message = said if said.startswith(name) else f"{name}: {said}"
        return Reading(problem=Problem(reading.problem.cause, message, reading.problem.line))
    return reading


def first(capture: Capture, sources: Sequence[Source[T]]) -> Reading[T]:
    """The first reading without a problem; else one problem ``no-source`` that names what each captured source said."""
    problems: list[Problem] = []
    for source in sources:
        reading = ask(capture, source)
        if reading.problem is None:
            return reading
        problems.append(reading.problem)
    return Reading(problem=Problem("no-source", reasons(problems)))


def reasons(problems: Sequence[Problem]) -> str:
    """Why nothing could be read, without the sources that nobody asked for."""
    said = [problem.message for problem in problems if problem.cause != "not-captured"]
    return "; ".join(dict.fromkeys(said)) or "no source for it was captured"
