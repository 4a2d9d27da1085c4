"""How values and places are said in one line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from json import dumps
from typing import Any

from knaster.changes.result import Field
from knaster.placement.result import Assignment
from knaster.placement.standing import Spot
from knaster.redact import masked
from knaster.units import MIB_PER_GIB, show

_MANY = 3
_SHORT = 120
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


def gib(mib: Any) -> str:
    """MiB as a number of GiB; what is no number as it is."""
    return show(mib / MIB_PER_GIB) if isinstance(mib, int) else value(mib)


def changed(before: Any, after: Any) -> str:
    """``12 -> 16``; of lists what came and went (``+redis, -piper``)."""
    if isinstance(before, list) and isinstance(after, list):
        parts = [f"+{value(item)}" for item in after if item not in before]
        parts += [f"-{value(item)}" for item in before if item not in after]
        if parts:
            return ", ".join(parts)
    return f"{value(before)} → {value(after)}"


def short(text: str) -> str:
    """A sentence of at most 120 characters; more of it is in the fields."""
    return text if len(text) <= _SHORT else f"{text[: _SHORT - 1].rstrip()}…"


def differing(fields: Iterable[Field], called: Mapping[str, str] | None = None) -> str:
    """Fields by their keys, in short and without secrets; `called` is how people call some keys at the top."""
    texts = (f"{_key(field, called or {})} {_said(field)}".strip() for field in fields)
    return short(listed(texts, most=5))


def _key(field: Field, called: Mapping[str, str]) -> str:
    path = [str(step) for step in field.path]
    return ".".join([called.get(path[0], path[0]), *path[1:]]) if path else ""


def _said(field: Field) -> str:
    """Of a mapping only that it is there: what is in it would fill the line."""
    before, after = masked(field.before), masked(field.after)
    if isinstance(before, dict) or isinstance(after, dict):
        return "differs" if before and after else "is new" if after else "is gone"
    return changed(before, after)


def spot_of(one: Assignment) -> Spot:
    """Where an assignment is."""
    return one.node, one.gpu_index
