"""What only the tokens show: anchors, aliases, tags (``!`` alone too), directives, and nesting too deep to compose.

Composing is recursive, in C too: 100,000 open brackets could overflow the stack, so the depth is counted here first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from knaster.diagnostics import Diagnostic, Place
from knaster.document.source import MAX_DEPTH, MAX_PROBLEMS

# More of these than this in a text ask for a look at the tokens; fewer cannot nest deep enough to hurt.
_MANY = 1000
_OPENERS = ("[", "{", "- ", "? ")

_REFUSED = {
    "<anchor>": ("yaml-alias", "an anchor (&) is not allowed", "delete it, or quote text that begins with &"),
    "<alias>": ("yaml-alias", "an alias (*) is not allowed", "write the value out, or quote text that begins with *"),
    "<tag>": ("yaml-tag", "a tag (!) is not allowed", "delete it, or quote text that begins with !"),
    "<directive>": ("yaml-tag", "a directive (%) is not allowed", "delete this line"),
}
_OPEN = frozenset({"[", "{", "<block sequence start>", "<block mapping start>"})
_CLOSE = frozenset({"]", "}", "<block end>"})


@dataclass(frozen=True, slots=True)
class Scan:
    """Diagnostics, and whether the text may be composed."""

    diagnostics: tuple[Diagnostic, ...] = ()
    composable: bool = True


def suspicious(text: str) -> bool:
    """Whether the (normalised) text needs a `scan`: a cheap test, true for few files."""
    if "&" in text or "*" in text or "!" in text or "\t" in text:
        return True
    return text.startswith("%") or "\n%" in text or sum(map(text.count, _OPENERS)) > _MANY


def scan(path: str, tokens: Iterable[Any]) -> Scan:
    """Look through PyYAML's tokens; stops at the first one that is nested too deep."""
    found: list[Diagnostic] = []
    depth = 0
    for token in tokens:
        kind = token.id
        if kind in _OPEN:
            depth += 1
            if depth > MAX_DEPTH:
                return Scan((*found, too_deep(path, token.start_mark)), composable=False)
        elif kind in _CLOSE:
            depth -= 1
        elif kind in _REFUSED:
            code, message, hint = _REFUSED[kind]
            found.append(Diagnostic(code, message, _place(path, token.start_mark), hint=hint))
            if len(found) > MAX_PROBLEMS:
                return Scan(tuple(found), composable=False)
    return Scan(tuple(found))


def too_deep(path: str, mark: Any) -> Diagnostic:
    """The diagnostic for nesting over the bound, at a mark."""
    message = f"more than {MAX_DEPTH} levels of nesting"
    return Diagnostic("yaml-bounds", message, _place(path, mark), hint="no file needs more than ten; look for a typo")


def _place(path: str, mark: Any) -> Place:
    return Place(path, line=mark.line + 1, column=mark.column + 1)
