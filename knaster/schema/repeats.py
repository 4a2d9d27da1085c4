"""Equal items of a list as JSON Schema counts them: 1 is 1.0, neither is true. Linear, unlike comparing all pairs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any


def repeated(items: Iterable[Any]) -> tuple[Any, ...]:
    """The first item that equals an earlier one, alone in a tuple; empty where all differ."""
    seen: set[Hashable] = set()
    for item in items:
        key = _key(item)
        if key in seen:
            return (item,)
        seen.add(key)
    return ()


def _key(value: Any) -> Hashable:
    """Equal for equal values; data is at most 64 levels deep."""
    if isinstance(value, list):
        return "list", tuple(map(_key, value))
    if isinstance(value, dict):
        return "mapping", frozenset((name, _key(item)) for name, item in value.items())
    return isinstance(value, bool), value
