"""Names for people: where something is, lists, the name that was meant, the way out of one that nobody knows."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from itertools import islice

_LONGEST = 200
"""Characters of a name that are compared: the work grows with their square."""
_MANY = 400
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


def suggestion(name: str, known: Collection[str], noun: str, apart: Collection[str] = ()) -> str:
    """The way out of an unknown name: a near miss, else what there is, never one of `apart`.

    A name that differs in its digits alone is another machine or model, not a slip.
    """
    if apart and not set(known) - set(apart):
        return f"there are no other {noun}"
    known = [one for one in known if one not in apart] if apart else known
    letters = _letters(name) if any(map(str.isdecimal, name)) else None
    names = (one for one in known if one.lower() == name.lower() or _letters(one) != letters)
    if len(known) > _MANY:  # comparing with every name of a large fleet for every mistake would be quadratic
        names = (one for one in names if one[:1].lower() == name[:1].lower())
    near = nearest(name, islice(sorted(names), _MANY), _NEAR)  # `known` may be a set: its order must not decide
    if near:
        return f'did you mean "{near}"?'
    return f"known {noun}: {listed(known)}" if known else f"there are no {noun} yet"


def _letters(name: str) -> str:
    return re.sub("[0-9]+", "", name).lower()
