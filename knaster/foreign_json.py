"""JSON that others made, read without trust: what is none, or is of another shape, is nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def value(text: str | bytes) -> Any:
    """What the text says; None where it is no JSON, however deep or odd."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def mapping(text: str | bytes) -> dict[str, Any] | None:
    """The object that the text is; None for anything else."""
    found = value(text)
    return found if isinstance(found, dict) else None


def inner(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The object under a key, else an empty one."""
    found = data.get(key)
    return found if isinstance(found, dict) else {}


def string(data: Mapping[str, Any], key: str) -> str:
    """The text under a key, else an empty one."""
    found = data.get(key)
    return found if isinstance(found, str) else ""
