"""What a parser gives back, and the first step of each: bytes of any tool on any system to plain text.

A parser is a pure function of text (and of the exit status where that matters). It never raises: a fact that it cannot
tell is ``None`` with a warning that names field, device and token; a text that it cannot trust is a `Problem`.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a source gives no facts. ``cause`` is kebab case and stable; ``line`` counts from 1, 0 is "the text"."""

    cause: str
    message: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class Reading(Generic[T]):
    """The facts of one source. ``value`` is ``None`` exactly when there is a ``problem``."""

    value: T | None = None
    warnings: tuple[str, ...] = ()
    problem: Problem | None = None


def normalise(raw: bytes | str) -> str:
    """Text with ``\\n`` line ends, without byte order marks, NULs and lone surrogates, whatever wrote it.

    UTF-8 and UTF-16 (either byte order, with a mark or without) are recognised; bytes that fit neither show as
    ``\\xNN``, so nothing is lost in silence and nothing raises.
    """
    text = _decode(raw) if isinstance(raw, bytes) else raw.encode("utf-8", "backslashreplace").decode("utf-8")
    return text.replace("\ufeff", "").replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")


def _decode(raw: bytes) -> str:
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if raw.startswith(mark):
            return raw.decode(encoding, "backslashreplace")
    return raw.decode(_guess(raw), "backslashreplace")


def _guess(raw: bytes) -> str:
    """UTF-16 of mostly western text has a NUL in every other byte; UTF-8 has none."""
    low, high = raw[1:4096:2].count(0), raw[0:4096:2].count(0)
    half = len(raw[:4096]) // 2
    if half and low > half // 2 and low > 2 * high:
        return "utf-16-le"
    if half and high > half // 2 and high > 2 * low:
        return "utf-16-be"
    return "utf-8"
