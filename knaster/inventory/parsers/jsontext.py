"""JSON as command line tools print it: strict, bounded, and with the noise that some print around it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import NoReturn

from knaster.inventory.parsers.values import token
from knaster.inventory.reading import Problem

_START = re.compile(r"^[ \t]*(\{|\[[ \t]*($|[\[{\]]))", re.MULTILINE)
_SCALAR = re.compile(r'\s*(null|true|false|-?[0-9.eE+-]+|".*")\s*', re.DOTALL)
_MISSING = re.compile(r"command not found|not recognized|: not found|No such file or directory", re.IGNORECASE)
_LONGEST_NUMBER = 40
_LINE_LENGTH, _MOST_LINES = 200, 20


@dataclass(frozen=True, slots=True)
class Decoded:
    """A JSON value, and the lines around it. ``value`` means nothing when there is a ``problem``."""

    value: object = None
    noise: tuple[str, ...] = ()
    problem: Problem | None = None


def decode(text: str, *, noisy: bool = False) -> Decoded:
    """The one JSON document of a text that `knaster.inventory.reading.normalise` has seen.

    ``noisy``: lines before and after the document are kept as ``noise`` (20 of each), else they are malformed.
    Causes: ``empty``, ``tool-missing``, ``malformed`` (invalid JSON, NaN, Infinity, a number of more than 40 digits,
    nested too deep, text beside the JSON).
    """
    if not text.strip():
        return Decoded(problem=Problem("empty", "there is no output"))
    start = _START.search(text)
    if start is None and not _SCALAR.fullmatch(text):
        return Decoded(problem=_no_json(text))
    begin = start.start() if start else 0
    before, body = text[:begin], text[begin:].lstrip()
    shift = text[: len(text) - len(body)].count("\n")
    try:
        value, end = _DECODER.raw_decode(body)
    except json.JSONDecodeError as error:
        return Decoded(problem=_malformed(error.lineno + shift, f"invalid JSON: {error.msg}"))
    except (ValueError, RecursionError) as error:
        reason = "nested too deep" if isinstance(error, RecursionError) else str(error)
        return Decoded(problem=_malformed(shift + 1, f"invalid JSON: {reason}"))
    noise = _lines(before) + _lines(body[end:])
    if noise and (not noisy or _START.search(body[end:])):
        line = shift + 1 + body[:end].count("\n") if body[end:].strip() else 1
        return Decoded(problem=_malformed(line, f"text beside the JSON: {noise[-1 if line > 1 else 0]}"))
    return Decoded(value, noise)


def lowered(item: dict[str, object]) -> dict[str, object]:
    """The object with its keys in lower case, for tools that changed the case of theirs; of twins the first stays."""
    found: dict[str, object] = {}
    for key, value in item.items():
        found.setdefault(key.strip().casefold(), value)
    return found


def objects(value: object, what: str) -> tuple[dict[str, object], ...] | Problem:
    """The objects of a list, keys in lower case; ``what`` names the list in the problem."""
    if not isinstance(value, list):
        return Problem("malformed", f"{what} is {token(value)}, not a list")
    for number, item in enumerate(value):
        if not isinstance(item, dict):
            return Problem("malformed", f"{what}[{number}] is {token(item)}, not an object")
    return tuple(lowered(item) for item in value)


def _malformed(line: int, reason: str) -> Problem:
    return Problem("malformed", f"line {line}: {reason}", line)


def _no_json(text: str) -> Problem:
    first = _lines(text)[0]
    return Problem("tool-missing" if _MISSING.search(text) else "malformed", f"line 1: no JSON: {first}", 1)


def _lines(text: str) -> tuple[str, ...]:
    return tuple(token(line, _LINE_LENGTH) for line in text.split("\n") if line.strip())[:_MOST_LINES]


def _integer(digits: str) -> int:
    if len(digits) > _LONGEST_NUMBER:
        raise ValueError(f"a number of {len(digits)} digits")
    return int(digits)


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(parse_int=_integer, parse_constant=_constant)
