"""The scalar table: what a YAML scalar without quotes means, and which ones readers disagree about.

Readers looked at: PyYAML (YAML 1.1), the YAML 1.2 core schema and ruamel.yaml, OpenTofu's ``yamldecode`` (go-cty-yaml)
and go-yaml v3. Only ``true``, ``false``, ``null``, nothing at all and plain decimal numbers mean the same to all of
them; a scalar that any of them takes for something other than text must be quoted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from knaster.redact import redact

Scalar = None | bool | int | float | str

MAX_DIGITS = 15
"""Significant digits of a number: as many as a double keeps, whatever the number is."""

MAX_LENGTH = 32
"""Digits of a number altogether, leading zeros of a fraction included."""


@dataclass(frozen=True, slots=True)
class Unclear:
    """A plain scalar that is refused: code of the diagnostic, how others read it, and the way out."""

    code: str
    message: str
    hint: str


_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")

# PyYAML's base 60, for a time or a MAC address of decimal digits.
_BASE_60 = re.compile(r"[-+]?(?:[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[1-9][0-9_]*(?::[0-5]?[0-9])+)")

# PyYAML: two-digit month and day, or any with a time. Go: ``2006-1-2``, alone or with a time.
_DATE = re.compile(
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
    r"(?:(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:[.,][0-9]*)?(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?)?"
)

# Matched without its underscores, as go-yaml v3 and PyYAML drop them. Go's ``p`` is an exponent to the base 2.
_NUMBER_ELSEWHERE = re.compile(
    r"[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)"
    r"|0b[-+][01]+|0o[-+][0-7]+|\.[0-9]+[pP][-+]?[0-9]+"
)

# Nothing but underscores where the digits belong: PyYAML or ruamel.yaml take it for a number, then fail.
_NO_DIGITS = re.compile(r"[-+]?(?:0[xbo]_+|_+|\._+(?:[eE][-+][0-9]+)?)")

_OTHER_WORDS = {
    "true": "y Y yes Yes YES on On ON True TRUE",
    "false": "n N no No NO off Off OFF False FALSE",
    "null": "~ Null NULL",
}
_NOT_A_NUMBER = ".inf .Inf .INF +.inf +.Inf +.INF -.inf -.Inf -.INF .nan .NaN .NAN"


def read_block(text: str) -> Scalar | Unclear:
    """A block scalar is text, but OpenTofu's decoder takes it for plain: what it would misread is refused."""
    value = read(text)
    if value.__class__ is str:
        return text
    return Unclear(
        "yaml-quote",
        f"a block scalar that holds only {shown(text) or 'nothing'} is no text to OpenTofu",
        f'write "{shown(text)}" in quotes',
    )


def shown(text: str) -> str:
    """`text` as a message shows it: secrets masked (before the cut, which would spoil their shape), not too long."""
    safe = redact(text[:4096])
    return safe if len(safe) <= 60 else f"{safe[:57]}..."


def _quote(text: str, what: str, instead: str | None = None) -> Unclear:
    way_out = f'quote this: "{shown(text)}"'
    if instead is not None:
        way_out = f'write {instead}, or quote it if it is text: "{shown(text)}"'
    return Unclear("yaml-quote", f"{shown(text)} without quotes is {what} to some YAML readers", way_out)


def _plainly(text: str) -> str | None:
    """A number in an odd spelling as it is written here (``0x20`` is 32, ``.5`` is 0.5); None if it cannot be."""
    from decimal import Decimal, InvalidOperation  # start-up budget

    bare = text.replace("_", "").lower()
    sign, digits = ("-" if bare.startswith("-") else ""), bare.lstrip("+-")
    base = {"0x": 16, "0b": 2, "0o": 8}.get(digits[:2])
    try:
        number = Decimal(int(digits, base) if base else digits)
    except (ValueError, InvalidOperation):
        return None
    if abs(number.adjusted()) > MAX_DIGITS:
        return None
    plain = f"{sign if number else ''}{number:f}"
    plain = plain.rstrip("0").rstrip(".") if "." in plain else plain
    return plain if _NUMBER.fullmatch(plain) and len(plain) <= MAX_DIGITS else None


def _words() -> dict[str, Scalar | Unclear]:
    table: dict[str, Scalar | Unclear] = {"": None, "null": None, "true": True, "false": False}
    for instead, words in _OTHER_WORDS.items():
        what = "null" if instead == "null" else f"the boolean {instead}"
        table |= {word: _quote(word, what, instead) for word in words.split()}
    table |= {word: _quote(word, "a number") for word in _NOT_A_NUMBER.split()}
    return table | {"<<": _quote("<<", "a merge key"), "=": _quote("=", "a default value")}


_WORDS = _words()
_NUMERIC_START = frozenset("+-.0123456789")


def read(text: str) -> Scalar | Unclear:
    """What the plain scalar `text` means: null, a boolean, a number, itself, or an `Unclear` that refuses it.

    An integral number is an int, however it is written: ``8.0`` is 8.
    """
    if text[:1] in _NUMERIC_START:
        return _numeric(text)
    return _WORDS.get(text, text)


def is_text(text: str) -> bool:
    """Whether every reader takes the plain scalar `text` for text (the syntax of YAML aside)."""
    return read(text) == text


def _numeric(text: str) -> Scalar | Unclear:
    if _NUMBER.fullmatch(text):
        return _number(text)
    if text in _WORDS:
        return _WORDS[text]
    if _DATE.fullmatch(text):
        return _quote(text, "a date")
    if _BASE_60.fullmatch(text):
        return _quote(text, "a number in base 60")
    if _NUMBER_ELSEWHERE.fullmatch(text.replace("_", "")) or _NO_DIGITS.fullmatch(text):
        plain = _plainly(text)
        return _quote(text, "a number", None if plain is None else f"{plain} if it is a number")
    return text


def _number(text: str) -> int | float | Unclear:
    if len(text) > MAX_DIGITS:
        digits = text.lstrip("-").replace(".", "")
        significant = len(digits.lstrip("0"))
        if significant > MAX_DIGITS or len(digits) > MAX_LENGTH:
            bound = f"{significant} significant digits, over the bound of {MAX_DIGITS}"
            if significant <= MAX_DIGITS:
                bound = f"{len(digits)} digits, over the bound of {MAX_LENGTH}"
            return Unclear("yaml-bounds", f"a number with {bound}", "round it, or quote it if it is text")
    if "." not in text:
        return int(text)
    number = float(text)
    return int(number) if number.is_integer() else number
