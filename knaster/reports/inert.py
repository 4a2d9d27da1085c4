"""Text from data made harmless before anybody sees it: secrets masked, control and bidi characters spelled out."""

from __future__ import annotations

import unicodedata

from knaster.redact import redact

_SPELLED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def inert(text: str) -> str:
    """One line that a terminal prints as it stands and that holds no secret."""
    return spelled(redact(text))


def spelled(text: str) -> str:
    """Every character that could move the cursor, hide or reorder text, as ``\\x1b`` or ``\\u202e``."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_spell(character) for character in text)


def _spell(character: str) -> str:
    if unicodedata.category(character) not in _SPELLED:
        return character
    code = ord(character)
    if character in _SHORT:
        return _SHORT[character]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def width(text: str) -> int:
    """Columns that spelled text takes in a terminal: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
