"""What stands side by side: a thing before and after, and a word for what became of it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

T = TypeVar("T")
Mark = Literal["", "same", "new", "gone", "changed"]
"""``""``: there is nothing to compare with."""


@dataclass(frozen=True, slots=True)
class Pair(Generic[T]):
    """One thing by its name. ``before`` or ``after`` is None where that side has none; one of them is there."""

    name: str
    before: T | None
    after: T | None
    mark: Mark

    @property
    def there(self) -> T:
        """The newer one, or what was there."""
        found = self.before if self.after is None else self.after
        assert found is not None
        return found

    @property
    def apart(self) -> bool:
        """Whether the two are shown side by side."""
        return self.mark in ("new", "gone", "changed")


def paired(before: Mapping[str, T] | None, after: Mapping[str, T]) -> tuple[Pair[T], ...]:
    """Every name of either side, sorted. `before` is None where there is nothing to compare with."""
    names = sorted({*(before or {}), *after}, key=natural)
    return tuple(_pair(name, before, after) for name in names)


def _pair(name: str, before: Mapping[str, T] | None, after: Mapping[str, T]) -> Pair[T]:
    old, new = None if before is None else before.get(name), after.get(name)
    return Pair(name, old, new, "" if before is None else marked(old, new))


def marked(old: object, new: object) -> Mark:
    """What became of a thing."""
    if old is None or new is None:
        return "new" if old is None else "gone"
    return "same" if old == new else "changed"


def natural(name: str) -> tuple[Hashable, ...]:
    """Sort key: ``pve9`` before ``pve10``; of names that differ in nothing else the one by code point."""
    parts: list[Any] = []
    for digit, run in _runs(name):
        parts.append((1, int(run), "") if digit else (0, 0, run))
    return (tuple(parts), name)


def _runs(name: str) -> list[tuple[bool, str]]:
    runs: list[tuple[bool, str]] = []
    for character in name:
        digit = character.isascii() and character.isdigit()
        if runs and runs[-1][0] == digit and len(runs[-1][1]) < _DIGITS:
            runs[-1] = (digit, runs[-1][1] + character)
        else:
            runs.append((digit, character))
    return runs


_DIGITS = 64
"""Characters of a run that are compared as one number: names have an end, and so has this."""
