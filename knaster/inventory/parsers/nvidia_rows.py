"""Lines of nvidia-smi that hold one card each: read all of them, or none.

A line that cannot be trusted makes the whole text a problem, so that no card is lost, renumbered or halved in silence.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol, TypeVar

from knaster.inventory.parsers.nvidia_failures import WARNING, failure, no_devices, quoted
from knaster.inventory.parsers.values import token
from knaster.inventory.reading import Problem, Reading

_MOST_INDEX = 255
_LONGEST_LINE = 1000
_LONGEST_NAME = 120
_INDEX = re.compile(r"[0-9]{1,3}")


class MalformedError(ValueError):
    """A line that cannot be trusted. Raised by row functions, caught by `read`: it never leaves the parsers."""


class Indexed(Protocol):
    """A row that knows the driver's number of its card."""

    @property
    def index(self) -> int:
        """The driver's number of the card."""
        ...


Row = TypeVar("Row", bound=Indexed)
Make = Callable[[str, list[str]], "Row | None"]
"""One line to a row, or None for a line without one (a header); warnings go to the list."""


def read(text: str, status: int, is_row: Callable[[str], bool], make: Make[Row]) -> Reading[tuple[Row, ...]]:
    """The rows by index. Lines for which `is_row` holds are never taken for one of nvidia-smi's sentences."""
    if no_devices(text, status):
        return Reading(())
    if problem := failure(text, status, is_row):
        return Reading(problem=problem)
    return collect(text, make, status)


def collect(text: str, make: Make[Row], status: int = 0) -> Reading[tuple[Row, ...]]:
    """The rows by index, of a text whose sentences and status have been looked at. Empty lines mean nothing."""
    found: dict[int, Row] = {}
    said = ["nvidia-smi: status 14, a corrupt infoROM"] if status == 14 and WARNING not in text else []
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith(WARNING):
            said.append(f"nvidia-smi: {quoted(line)}")
        elif line.strip():
            try:
                if len(line) > _LONGEST_LINE:
                    raise MalformedError(f"{len(line)} characters")
                row = make(line, said)
                if row is not None and found.setdefault(row.index, row) is not row:
                    raise MalformedError(f"index {row.index} comes twice")
            except MalformedError as reason:
                return Reading(problem=Problem("malformed", f"nvidia-smi: {reason} on line {number}", number))
    if not found:
        return Reading(problem=Problem("malformed", "nvidia-smi printed no card, and no reason"))
    return Reading(tuple(found[index] for index in sorted(found)), (*said, *_gaps(found)))


def index(value: str) -> int:
    """The driver's number of a card, 0 to 255. Raises `MalformedError`."""
    if not _INDEX.fullmatch(value) or int(value) > _MOST_INDEX:
        raise MalformedError(f"{token(value)} is no index")
    return int(value)


def cell(value: str, form: re.Pattern[str], field: str, said: list[str]) -> str | None:
    """A value of the right form; None and a warning for ``[any token]`` and ``N/A``; `MalformedError` for others."""
    if value.startswith("[") or value == "N/A":
        said.append(f"{field}: nvidia-smi printed {token(value)}")
        return None
    if not form.fullmatch(value):
        raise MalformedError(f"{token(value)} is no {field}")
    return value


def name(value: str, field: str, said: list[str]) -> str | None:
    """A name as printed; None and a warning for a token, for nothing, and for what no card is called."""
    value = value.strip()
    if not value or value.startswith("[") or value == "N/A" or len(value) > _LONGEST_NAME or not value.isprintable():
        said.append(f"{field}: nvidia-smi printed {token(value)}")
        return None
    return value


def _gaps(found: dict[int, Row]) -> list[str]:
    if len(found) == 1:  # one card was asked for with -i
        return []
    missing = (number for number in range(max(found)) if number not in found)
    return [f"gpus[{number}]: nvidia-smi leaves this card out (no permission, or not found)" for number in missing]
