"""Answers kept by the identity of what was asked: of two fleets that are compared nearly all objects are the same."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

_BOUND = 1 << 16
P = ParamSpec("P")
R = TypeVar("R")


def remembered(function: Callable[P, R]) -> Callable[P, R]:
    """`function`, asked once for the same objects; for pure ones whose answers nobody changes.

    `functools.lru_cache` compares by value, and hashing a whole node costs more than most answers.
    """
    kept: dict[tuple[object, ...], tuple[object, R]] = {}

    @wraps(function)
    def asked(*given: P.args, **named: P.kwargs) -> R:
        key = (*map(id, given), *((name, id(value)) for name, value in named.items()))
        found = kept.get(key)
        if found is not None:
            return found[1]
        answer = function(*given, **named)
        if len(kept) >= _BOUND:
            kept.clear()
        kept[key] = (given, named), answer  # as long as they are kept, nobody else has their ids
        return answer

    return asked
