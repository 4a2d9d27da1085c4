"""Names for people: where something is, lists, the name that was meant, the way out of one that nobody knows."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import cached_property
from itertools import islice

from knaster.diagnostics import Diagnostic, Place

_LONGEST = 200
"""Characters of a name that are compared: the work grows with their square."""
_MANY = 400
_LOOKED_AT = 2000
_SEARCHES = 100
_SHOWN = 8
_NEAR = 0.7


def spot(node: str, index: int | None) -> str:
    """``pve44/1`` for a card, ``pve44`` for a node's CPU."""
    return node if index is None else f"{node}/{index}"


def short_id(id: str) -> str:
    """The first 12 digits of a SHA or plan id: what people read of it."""
    return id[:12]


def nearest(name: str, known: Iterable[str], least: float = 0.65) -> str | None:
    """The one of `known` that is most like `name`, whatever its case and separators (``minVramGb``); of equal ones the
    first. None where none is at least that much like it (`difflib`'s ratio, 0 to 1).
    """
    from difflib import get_close_matches

    bare = {_bare(one): one for one in reversed(tuple(known))}
    found = get_close_matches(_bare(name[:_LONGEST]), list(bare), n=1, cutoff=least)
    return bare[found[0]] if found else None


def _bare(name: str) -> str:
    return re.sub(r"[-_. ]", "", name).lower()


def listed(names: Iterable[str]) -> str:
    """Names for people, at most eight: ``a, b and 3 more``."""
    ordered = sorted(names)
    more = len(ordered) - _SHOWN
    return ", ".join(ordered) if more <= 0 else f"{', '.join(ordered[:_SHOWN])} and {more} more"


class Names:
    """Names that exist, for what refers to them: whether one is among them, and what is said where it is not.

    `noun` is the plural of what they name. Comparing a mistake with all names costs milliseconds, so it is done for the
    first hundred mistakes, and with part of the names where there are many.
    """

    def __init__(self, known: Collection[str], noun: str) -> None:
        self._known, self._noun, self._searches = known, noun, 0

    def __contains__(self, name: str) -> bool:
        return name in self._known

    def unknown(self, code: str, message: str, name: str, place: Place, apart: Collection[str] = ()) -> Diagnostic:
        """An unknown name at `place`; `apart` is what it cannot be."""
        return Diagnostic(code, message, place, hint=self.suggestion(name, apart))

    def suggestion(self, name: str, apart: Collection[str] = ()) -> str:
        """The way out of an unknown name: a near miss, else what there is, never one of `apart`.

        A name that differs in its digits alone is another machine or model, not a slip.
        """
        self._searches += 1
        if self._searches > _SEARCHES:
            return self._all
        apart = frozenset(apart)
        if apart and apart.issuperset(self._known):
            return f"there are no other {self._noun}"
        letters = _letters(name) if any(map(str.isdecimal, name)) else None
        near_names = (
            one
            for one in islice(self._like(name), _LOOKED_AT)
            if one not in apart and (one.lower() == name.lower() or _letters(one) != letters)
        )
        if near := nearest(name, islice(near_names, _MANY), _NEAR):
            return f'did you mean "{near}"?'
        return f"known {self._noun}: {listed(set(self._known) - apart)}" if apart else self._all

    def _like(self, name: str) -> list[str]:
        """All names, sorted; of many those with the same first letter."""
        if len(self._known) <= _MANY:
            return self._by_first.get("", [])
        return self._by_first.get(name[:1].lower(), [])

    @cached_property
    def _by_first(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for one in sorted(self._known):  # it may be a set: its order must not decide
            found.setdefault(one[:1].lower() if len(self._known) > _MANY else "", []).append(one)
        return found

    @cached_property
    def _all(self) -> str:
        return f"known {self._noun}: {listed(self._known)}" if self._known else f"there are no {self._noun} yet"


def suggestion(name: str, known: Collection[str], noun: str) -> str:
    """The way out of one unknown name (see `Names`)."""
    return Names(known, noun).suggestion(name)


def _letters(name: str) -> str:
    return re.sub("[0-9]+", "", name).lower()
