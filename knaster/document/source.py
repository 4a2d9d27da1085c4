"""Checks on the text of a YAML file, before any parser sees it: size, encoding, tabs, conflict markers.

All of them are cheap enough for every file. Positions count from 1, columns in code points.
"""

from __future__ import annotations

import re
import unicodedata

from knaster.diagnostics import Diagnostic, Place
from knaster.units import MIB

MAX_BYTES = 2 * MIB
"""Size of one file in UTF-8."""

MAX_DEPTH = 64
"""Mappings and lists inside each other, the root included."""

MAX_PROBLEMS = 200
"""Diagnostics for one file; the last one says how many more there are."""

# What YAML forbids, what only some readers take for a line break, and surrogates: ``surrogateescape`` keeps the bytes
# of invalid UTF-8 as U+DC80 to U+DCFF. A tab has its own check.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")

# Spaces to the eye, letters to YAML.
_ODD_SPACE = re.compile("^ *([\u00a0\u1680\u2000-\u200a\u200b\u202f\u205f\u3000])", re.MULTILINE)

_MARKERS = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")
_MARKER_LINE = re.compile(r"^(?:<{7}(?: .*)?|={7}|>{7}(?: .*)?|\|{7}(?: .*)?)$", re.MULTILINE)

_NAMES = {
    "\x00": "NUL",
    "\x85": "next line (NEL)",
    "\u2028": "line separator",
    "\u2029": "paragraph separator",
    "\ufeff": "byte order mark inside the file",
}


def normalise(text: str) -> str:
    """`text` without a byte order mark at its start and with LF line ends: lines and columns stay what they were."""
    if text.startswith("\ufeff"):
        text = text[1:]
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text


def position(text: str, index: int) -> tuple[int, int]:
    """Line and column of ``text[index]`` in normalised text."""
    return text.count("\n", 0, index) + 1, index - text.rfind("\n", 0, index)


def refuse(path: str, text: str, max_bytes: int = MAX_BYTES) -> tuple[Diagnostic, ...]:
    """What makes it pointless to parse the (normalised) text: too large, conflict markers, forbidden characters."""
    problem = _size(path, text, max_bytes) or _conflict(path, text) or _encoding(path, text)
    return (problem,) if problem else ()


def tabs(path: str, text: str) -> tuple[Diagnostic, ...]:
    """The first tab of the file, with the number of further ones."""
    index = text.find("\t")
    if index < 0:
        return ()
    indentation = not text[text.rfind("\n", 0, index) + 1 : index].strip(" ")
    message = f"a tab{' in the indentation' if indentation else ''} is not allowed" + _more(text.count("\t"))
    hint = "indent with spaces" if indentation else 'write a space; inside double quotes a tab is written "\\t"'
    return (Diagnostic("yaml-tab", message, _place(path, text, index), hint=hint),)


def odd_indentation(text: str) -> dict[int, str]:
    """Characters that look like a space and are none to YAML, where lines begin with them: offset to character."""
    if text.isascii():
        return {}
    return {match.start(1): match[1] for match in _ODD_SPACE.finditer(text)}


def odd_space(path: str, text: str, index: int, count: int = 1) -> Diagnostic:
    """The diagnostic for one of them, with the number of all that count."""
    character = text[index]
    message = f"{unicodedata.name(character).lower()}: U+{ord(character):04X} is no indentation" + _more(count)
    return Diagnostic("yaml-encoding", message, _place(path, text, index), hint="replace it by plain spaces")


def _place(path: str, text: str, index: int) -> Place:
    line, column = position(text, index)
    return Place(path, line=line, column=column)


def _more(count: int) -> str:
    return f" (and {count - 1} more in this file)" if count > 1 else ""


def _size(path: str, text: str, max_bytes: int) -> Diagnostic | None:
    if len(text) * 4 <= max_bytes:
        return None
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    if size <= max_bytes:
        return None
    message = f"the file has {size} bytes, over the bound of {max_bytes}"
    hint = "split it, or remove what is not needed"
    return Diagnostic("yaml-bounds", message, Place(path, line=1, column=1), hint=hint)


def _conflict(path: str, text: str) -> Diagnostic | None:
    if not any(marker in text for marker in _MARKERS):
        return None
    match = _MARKER_LINE.search(text)
    if match is None:
        return None
    place = _place(path, text, match.start())
    message = f"merge conflict marker at line {place.line}"
    return Diagnostic("yaml-conflict-marker", message, place, hint="resolve the conflict and delete its marker lines")


def _encoding(path: str, text: str) -> Diagnostic | None:
    match = _FORBIDDEN.search(text)
    if match is None:
        return None
    character = match[0]
    count = 1 + sum(1 for _ in _FORBIDDEN.finditer(text, match.end()))
    message = _described(character) + _more(count)
    return Diagnostic("yaml-encoding", message, _place(path, text, match.start()), hint=_cure(character))


def _described(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        return f"invalid UTF-8 byte 0x{code - 0xDC00:02X}"
    if 0xD800 <= code <= 0xDFFF:
        return f"lone surrogate U+{code:04X}"
    name = _NAMES.get(character, "not a character" if code >= 0xFFFE else "control character")
    return f"{name}: U+{code:04X} is not allowed here"


def _cure(character: str) -> str:
    return "save the file as UTF-8" if "\ud800" <= character <= "\udfff" else "delete this invisible character"
