"""How values and places are said in one line."""

from __future__ import annotations

from collections.abc import Iterable
from json import dumps
from typing import Any

from knaster.placement.result import Assignment
from knaster.placement.standing import Spot
from knaster.units import show

_MANY = 3
NEW = "is new"
"""How the summary of a role begins that was not declared before."""


def listed(names: Iterable[str], most: int = _MANY) -> str:
    """``a``, ``a and b``, ``a, b and 3 more``."""
    all_ = list(names)
    shown = all_ if len(all_) <= most else all_[: most - 1]
    more = len(all_) - len(shown)
    last = f"{more} more" if more else shown.pop() if len(shown) > 1 else ""
    return f"{', '.join(shown)} and {last}" if last else ", ".join(shown)


def value(one: Any) -> str:
    """A value as people would write it; ``nothing`` for none, short for a mapping."""
    if one is None or one in ([], ""):
        return "nothing"
    if isinstance(one, str):
        return one
    if isinstance(one, bool):
        return "true" if one else "false"
    if isinstance(one, int | float):
        return show(one, 4)
    if isinstance(one, list | tuple):
        return ", ".join(value(item) for item in one)
    return dumps(one, ensure_ascii=False) if not isinstance(one, dict) else _mapping(one)


def _mapping(one: dict[str, Any]) -> str:
    return ", ".join(f"{key} {value(item)}" for key, item in one.items())


def changed(before: Any, after: Any) -> str:
    """``12 -> 16``; of lists what came and went (``+redis, -piper``)."""
    if isinstance(before, list) and isinstance(after, list):
        parts = [f"+{value(item)}" for item in after if item not in before]
        parts += [f"-{value(item)}" for item in before if item not in after]
        if parts:
            return ", ".join(parts)
    return f"{value(before)} → {value(after)}"


def spot_of(one: Assignment) -> Spot:
    """Where an assignment is."""
    return one.node, one.gpu_index
