"""The texts that are spoken, by name. A set is never changed, for its figures could not be compared any more."""

from __future__ import annotations

from functools import cache
from pathlib import Path

NEWEST = "de-1"


@cache
def sentences(name: str = NEWEST) -> tuple[str, ...]:
    """The sentences of a set that comes with knaster, shortest first."""
    return tuple((Path(__file__).parent / f"{name}.txt").read_text("utf-8").splitlines())
