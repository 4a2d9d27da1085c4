"""Words for schema diagnostics: routes, types and values as people read them, masked and cut before they show."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from knaster.diagnostics import Route

_SHOWN = 60
_READ = 2000
_PLAIN = re.compile(r"[A-Za-z0-9_:+/-][A-Za-z0-9_.:+/-]*")

_TYPES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
    "null": "nothing (null)",
}


def types(allowed: str | list[str]) -> str:
    """The JSON Schema type, or types, in words: ``a number or nothing (null)``."""
    names = [allowed] if isinstance(allowed, str) else allowed
    return " or ".join(_TYPES[name] for name in names)


def echo(value: Any) -> str:
    """A key or scalar for a message: text in quotes with its control characters escaped, secrets masked, cut to 60."""
    from knaster.redact import redact

    if isinstance(value, str):
        text = redact(value[:_READ])
        return json.dumps(text if len(text) <= _SHOWN else text[:_SHOWN] + "…", ensure_ascii=False)
    if isinstance(value, int) and value.bit_length() > 4 * _SHOWN:
        return "a number of very many digits"
    return "nothing (null)" if value is None else json.dumps(value)[:_SHOWN]


def kind_of(value: Any, *, hidden: bool = False, bare: bool = False) -> str:
    """What a value is, with the value itself where it is a scalar that may be shown: ``text "8 GB"``, ``a mapping``."""
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    if isinstance(value, dict):
        return "a mapping" if value else "an empty mapping"
    if isinstance(value, str):
        return "text" if hidden else echo(value) if bare else f"text {echo(value)}"
    if isinstance(value, bool) or value is None or bare:
        return echo(value)
    return "a number" if hidden else f"the number {echo(value)}"


def where(route: Route) -> str:
    """A route as one reads it: ``gpus[0].memory_gb``; empty for the root."""
    text = ""
    for step in route:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            shown = step if _PLAIN.fullmatch(step) and len(step) <= _SHOWN else echo(step)
            text += f".{shown}" if text else shown
    return text


def joined(words: Iterable[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
