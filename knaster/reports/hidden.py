"""Which part of a file's line a snippet never shows: what follows a flag or key that asks for a secret.

Secrets of a known form are `redact`'s; here the lines around tell that a value is one, whatever it looks like.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from knaster.redact import ASKING_FLAG, HARMLESS, KEY, MASK, redact

_LINES_BACK = 100
"""How far above its value a flag or key is looked for."""

_BEFORE = r"(?:^|[\s\[{,\"'])"
_ASKING_KEY = rf"[\w-]{{0,64}}?(?:{KEY}|credentials?)[\"']?\s{{0,3}}:"
_HARMLESS = rf"[\"']?(?:-|(?!{HARMLESS}))"
"""An option, or what `HARMLESS` (itself a look-ahead that refuses it) describes."""

_FLAG_AND_VALUE = re.compile(rf"(?i)({_BEFORE}{ASKING_FLAG}[\"']?[\s,=]{{1,99}})(?!{_HARMLESS})[^\s#]")
_KEY_AND_VALUE = re.compile(rf"(?i)({_BEFORE}{_ASKING_KEY}\s{{1,99}})(?=\{{|(?!{_HARMLESS}))\S")
_FLAG_ENDS = re.compile(rf"(?i){_BEFORE}{ASKING_FLAG}[\"']?\s{{0,99}},?\s{{0,99}}(?:#.*)?$")
_KEY_ENDS = re.compile(rf"(?i){_BEFORE}{_ASKING_KEY}\s{{0,99}}[|>{{]?[+-]?[0-9]?\s{{0,99}}(?:#.*)?$")
_NAME = r"env:\s{1,9}[\"']?[A-Z_][A-Z0-9_]{0,127}[\"']?\s{0,9}"
_VARIABLE = re.compile(rf"\{{\s{{0,9}}{_NAME}\}}.*|{_NAME}\}}?\s{{0,9}}(?:#.*)?")
_START = re.compile(r"\s*(?:-\s+)*")


def masked(lines: Sequence[str], at: int, column: int | None = None) -> str:
    """Line `at` without what may be a secret; with `column` (from 1) nothing from there on is shown."""
    line = lines[at]
    if column is not None:
        return redact(line[: max(column - 1, 0)]) + MASK
    start = _start(line)
    if _asked_above(lines, at):
        return _cut(line, start)
    found = (one.end(1) for asking in (_FLAG_AND_VALUE, _KEY_AND_VALUE) for one in asking.finditer(line))
    first = min((at for at in found if not _VARIABLE.fullmatch(line, at)), default=len(line))
    return _cut(line, first)


def _cut(line: str, at: int) -> str:
    """The line up to `at`; all of it where nothing, or the name of a variable, follows."""
    return redact(line) if at == len(line) or _VARIABLE.fullmatch(line, at) else redact(line[:at]) + MASK


def _start(line: str) -> int:
    """Where the content of a line begins, after its indentation and the marks of list items."""
    found = _START.match(line)
    return found.end() if found else 0


def _asked_above(lines: Sequence[str], at: int) -> bool:
    """Whether the line before ends with a flag that asks for a secret, or a key above that holds this line does."""
    content = lines[at][_start(lines[at]) :]
    indent, nearest = _indent(lines[at]), True
    for above in range(at - 1, max(at - 1 - _LINES_BACK, -1), -1):
        line = lines[above]
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if nearest and _FLAG_ENDS.search(line):
            return re.match(_HARMLESS, content, re.IGNORECASE) is None
        if (_indent(line) < indent or (nearest and line.rstrip()[-1] in ":{")) and _KEY_ENDS.search(line):
            return True
        indent, nearest = min(indent, _indent(line)), False
    return False


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
