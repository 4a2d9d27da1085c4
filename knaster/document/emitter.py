"""Data -> YAML and JSON for a closed shape: what every reader reads alike, the same bytes everywhere.

Text is always in double quotes; keys are plain only where every reader sees text. Characters that nobody sees
(controls, bidi marks, odd spaces, private use) are escaped, so that a diff shows what is there.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

from knaster.document.nodes import MAX_KEY
from knaster.document.scalars import is_text

_PLAIN_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")

# Categories Cc, Cf, Cs, Co, Zl, Zp and Zs, the space aside, and noncharacters. A fixed list, not `str.isprintable`: the
# bytes must not depend on the version of Unicode that Python brings.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\xa0\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u1680\u180e\u2000-\u200f\u2028-\u202f"
    "\u205f-\u206f\u3000\ud800-\uf8ff\ufdd0-\ufdef\ufeff\ufff0-\ufffb\ufffe\uffff\U000110bd\U000110cd"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    + "".join(f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0x10000, 0xE0000, 0x10000))
    + "\U000e0000-\U0010ffff]"
)

_in_quotes = json.JSONEncoder(ensure_ascii=False).encode


def dump(value: Mapping[str, Any] | Sequence[Any], head: str) -> str:
    """`value` as block YAML under a comment: LF, final newline, keys in the given order, `head` with ``# `` per line.

    Takes mappings with text keys, lists, tuples, text, numbers, booleans and None. An integral float is written as an
    integer, no float has an exponent. ValueError: NaN, infinity, a lone surrogate, a key that is ``<<`` or over 1,000
    characters. TypeError: any other type.
    """
    out = [f"# {_HIDDEN.sub(_escape_yaml, line)}".rstrip() + "\n" for line in head.splitlines()]
    if isinstance(value, Mapping) and value:
        _mapping(value, "", "", out)
    elif isinstance(value, list | tuple) and value:
        _sequence(value, "", "", out)
    else:
        out.append(f"{_scalar(value)}\n")
    return "".join(out)


def dump_json(value: Any) -> str:
    """`value` as JSON: two spaces of indentation, LF, final newline, keys in the given order, readable umlauts.

    ValueError: NaN, infinity, a lone surrogate.
    """
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    return _shown(text, _escape_json) + "\n"


def _mapping(data: Mapping[str, Any], lead: str, pad: str, out: list[str]) -> None:
    """The lines of a mapping that is not empty; `lead` stands before the first of them, `pad` before the others."""
    for key, value in data.items():
        if value.__class__ is str:
            out.append(f"{lead}{_key(key)}: {_quoted(value)}\n")
        elif isinstance(value, Mapping) and value:
            out.append(f"{lead}{_key(key)}:\n")
            _mapping(value, f"{pad}  ", f"{pad}  ", out)
        elif isinstance(value, list | tuple) and value:
            out.append(f"{lead}{_key(key)}:\n")
            _sequence(value, f"{pad}  ", f"{pad}  ", out)
        else:
            out.append(f"{lead}{_key(key)}: {_scalar(value)}\n")
        lead = pad


def _sequence(items: Sequence[Any], lead: str, pad: str, out: list[str]) -> None:
    for item in items:
        if item.__class__ is str:
            out.append(f"{lead}- {_quoted(item)}\n")
        elif isinstance(item, Mapping) and item:
            _mapping(item, f"{lead}- ", f"{pad}  ", out)
        elif isinstance(item, list | tuple) and item:
            _sequence(item, f"{lead}- ", f"{pad}  ", out)
        else:
            out.append(f"{lead}- {_scalar(item)}\n")
        lead = pad


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, str):
        return _quoted(str(value))
    if isinstance(value, Mapping):
        return "{}"
    if isinstance(value, list | tuple):
        return "[]"
    raise TypeError(f"cannot write a {type(value).__name__} to YAML")


def _float(value: float) -> str:
    if not math.isfinite(value):
        raise ValueError(f"{value} is not a number that can be written")
    return str(int(value)) if value.is_integer() else format(Decimal(repr(value)), "f")


@lru_cache(maxsize=4096)
def _key(key: str) -> str:
    if key == "<<" or len(key) > MAX_KEY:
        raise ValueError("a key of YAML is at most 1,000 characters and never a merge key (<<)")
    return key if _PLAIN_KEY.fullmatch(key) and is_text(key) else _quoted(key)


def _quoted(text: str) -> str:
    return _shown(_in_quotes(text), _escape_yaml)


def _shown(text: str, escape: Any) -> str:
    """`text` with what cannot be seen escaped; line feeds are the layout, those of values are escaped already."""
    if text.isascii() and "\x7f" not in text:
        return text
    return _HIDDEN.sub(escape, text)


def _escape_yaml(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xD800 <= code <= 0xDFFF:
        raise ValueError(f"lone surrogate U+{code:04X}")
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _escape_json(match: re.Match[str]) -> str:
    character = match[0]
    if character == "\n":
        return character
    if "\ud800" <= character <= "\udfff":
        raise ValueError(f"lone surrogate U+{ord(character):04X}")
    return json.dumps(character)[1:-1]
