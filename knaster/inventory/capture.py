"""A capture: what one machine printed when it was asked, as one text that survives any transport.

    #knaster-capture 1
    #source meminfo status=0
    |MemTotal:       32781234 kB
    #end

Every line of content has a ``|`` before it, so that no content can be taken for a frame; whatever stands before the
first line (a banner, the message of the day) is no part of it. The scripts in ``knaster/inventory/scripts`` write it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from knaster.inventory.reading import Problem, Reading, normalise

HEAD = "#knaster-capture"
VERSION = 1
TIMED_OUT = 124
MISSING = 127
"""Exit status of a shell for a program that is not there."""

_NONE = f"this is no capture: there is no line '{HEAD} {VERSION}'"
_MARKS = tuple(HEAD.encode(encoding) for encoding in ("utf-8", "utf-16-le", "utf-16-be"))
_MOST_LINES = 250_000
"""Twice what a machine with 4096 logical processors prints; each line costs many times its length until it is read."""

_SOURCE = re.compile(r"#source ([a-z0-9-]{1,60}) status=(-?[0-9]{1,10})")
_HEAD = re.compile(rf"{HEAD}(?: +(.*))?")


@dataclass(frozen=True, slots=True)
class Section:
    """The output of one command and its exit status; 127: there is no such program."""

    text: str = ""
    status: int = 0


Capture = Mapping[str, Section]
"""Name of a source (``nvidia-smi``, ``meminfo`` …) to what it printed, in the order of the text."""


def parse(text: str | bytes) -> Reading[Capture]:
    """The sections of a capture.

    Problems: ``no-capture``, ``unsupported-version``, ``malformed`` (a line that is no part of the format, a source
    that comes twice), ``truncated`` (no ``#end``), ``too-long``.
    """
    if isinstance(text, bytes) and not any(mark in text for mark in _MARKS):
        return _problem("no-capture", _NONE)
    text = normalise(text)
    if text.count("\n") > _MOST_LINES:
        return _problem("too-long", f"this is no capture: it has more than {_MOST_LINES} lines")
    lines = text.split("\n")
    start = next((number for number, line in enumerate(lines) if _HEAD.fullmatch(line.strip())), None)
    if start is None:
        return _problem("no-capture", _NONE)
    if lines[start].split()[1:] != [str(VERSION)]:
        message = f"this knaster reads captures of version {VERSION}, not '{lines[start].strip()[:80]}'"
        return _problem("unsupported-version", f"line {start + 1}: {message}", start + 1)
    return _sections(lines, start + 1)


def _sections(lines: list[str], start: int) -> Reading[Capture]:
    statuses: dict[str, int] = {}
    contents: dict[str, list[str]] = {}
    content: list[str] | None = None
    for number, line in enumerate(lines[start:], start + 1):
        if line.startswith("|") and content is not None:
            content.append(line[1:])
        elif source := _SOURCE.fullmatch(line.rstrip()):
            name = source[1]
            if name in statuses:
                return _problem("malformed", f"line {number}: the source {name} comes a second time", number)
            statuses[name], content = int(source[2]), contents.setdefault(name, [])
        elif line.rstrip() == "#end":
            return _after(lines, number, {name: _section(contents[name], statuses[name]) for name in statuses})
        elif line.strip():
            return _problem("malformed", f"line {number} is no line of a capture: '{line.strip()[:80]}'", number)
    return _problem("truncated", "the capture is cut off: its last line should be '#end'", len(lines))


def _after(lines: list[str], end: int, capture: Capture) -> Reading[Capture]:
    """What follows the end is the noise of a log-out, but never a second machine."""
    for number, line in enumerate(lines[end:], end + 1):
        if _HEAD.fullmatch(line.strip()):
            return _problem("malformed", f"line {number}: a second capture begins; keep one machine per file", number)
    return Reading(capture)


def _section(content: list[str], status: int) -> Section:
    return Section("".join(f"{line}\n" for line in content), status)


def _problem(cause: str, message: str, line: int = 0) -> Reading[Capture]:
    return Reading(problem=Problem(cause, message, line))


def render(capture: Capture) -> str:
    """The text of a capture; `parse` gives the sections back, their line ends as ``\\n``."""
    return "\n".join((f"{HEAD} {VERSION}", *_lines(capture), "#end", ""))


def _lines(capture: Capture) -> Iterator[str]:
    for name, section in capture.items():
        yield f"#source {name} status={section.status}"
        text = normalise(section.text).removesuffix("\n")
        if text:
            yield from (f"|{line}" for line in text.split("\n"))
