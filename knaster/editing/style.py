"""Data as people write it: words plain, other text in double quotes, small mappings in braces, cards as blocks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from knaster.document import Value
from knaster.document.emitter import dump
from knaster.document.scalars import is_text

_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./+-]*")
_SINGLE = re.compile(r"[ -~]*")
_ALWAYS_QUOTED = frozenset({"driver", "args"})
_BLOCKS = frozenset({"gpus"})


def scalar(value: Value, key: str = "", like: str = "") -> str:
    """One value; `like` is how the one before it was written, whose quotes are kept. Never fails on a text."""
    if not isinstance(value, str):
        return dump([value], "")[2:-1]
    text = value.encode("utf-8", "backslashreplace").decode("utf-8")
    if like.startswith("'") and _SINGLE.fullmatch(text):
        return "'" + text.replace("'", "''") + "'"
    plain = _WORD.fullmatch(text) and is_text(text) and key not in _ALWAYS_QUOTED and not like.startswith('"')
    return text if plain else dump([text], "")[2:-1]


def flow(value: Value, key: str = "") -> str:
    """A value on one line: ``{name: sda, size_gb: 2000}``."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {flow(item, name)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow(item, key) for item in value) + "]"
    return scalar(value, key)


def entry(key: str, value: Value, pad: str, newline: str) -> str:
    """``key: value`` in block style without a final line end; `pad` goes before every line but the first."""
    if isinstance(value, list) and value:
        return f"{key}:{newline}" + items(key, value, f"{pad}  ", newline)
    return f"{key}: {flow(value, key)}"


def items(key: str, values: Sequence[Value], pad: str, newline: str) -> str:
    """The items of a block list under `key`, every line with `pad`, without a final line end."""
    return newline.join(pad + item(value, pad, newline, block=key in _BLOCKS) for value in values)


def item(value: Value, pad: str, newline: str, *, block: bool) -> str:
    """``- value`` without a final line end: a mapping as a block or in braces; `pad` as for `entry`."""
    if not (block and isinstance(value, dict) and value):
        return f"- {flow(value)}"
    deeper = f"{pad}  "
    return "- " + f"{newline}{deeper}".join(entry(key, part, deeper, newline) for key, part in value.items())


def whole(data: Mapping[str, Value], head: str) -> str:
    """A whole file: `head` as a comment, then block style with LF line ends."""
    return f"# {head}\n" + "".join(entry(key, value, "", "\n") + "\n" for key, value in data.items())
