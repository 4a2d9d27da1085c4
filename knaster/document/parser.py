"""Strict YAML with positions: the only file that imports ``yaml``.

One dialect that every reader agrees on: plain scalars as in `knaster.document.scalars`; no duplicate keys, anchors,
aliases, merge keys, tags, tabs, conflict markers or second documents; a mapping at the root; bounds on size, depth
and digits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from knaster.diagnostics import Diagnostic, Place, Related, Route
from knaster.document import nodes, source, syntax, tokens
from knaster.document.nodes import Value
from knaster.document.offsets import Span, walk
from knaster.document.source import MAX_BYTES, MAX_DEPTH, MAX_PROBLEMS

__all__ = ["MAX_BYTES", "MAX_DEPTH", "Document", "Value", "locate", "parse", "spans"]


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML file that obeys the rules: its path and its data, in the order of the file."""

    path: str
    data: dict[str, Value]


def parse(path: str, text: str, *, max_bytes: int = MAX_BYTES) -> tuple[Document | None, tuple[Diagnostic, ...]]:
    """The document, or None with at least one error; diagnostics have line and column and are in the order of the file.

    Total: any text gives a result, never an exception. A syntax error is the only diagnostic of its file.
    """
    text = source.normalise(text)
    problems = source.refuse(path, text, max_bytes)
    tabs = source.tabs(path, text)
    if problems:
        return None, _sorted(problems, tabs if problems[0].code == "yaml-encoding" else ())
    scan = tokens.Scan()
    wrong = _errors()  # before the try: an import cut short by Ctrl-C must not look like an error of the file
    try:
        scan = _scan(path, text)
        if not scan.composable:
            return None, _sorted(tabs, scan.diagnostics)
        root, second = _compose(path, text)
    except wrong as error:
        # A tab breaks the syntax more often than not; an alias or a tag that means nothing is refused already.
        refused = scan.diagnostics if re.search("undefined|second occurrence", str(error)) else ()
        return None, tabs or _sorted(refused) or (syntax.diagnostic(path, text, error, _until_error(text)),)
    data, problems = nodes.to_data(path, root)
    found = _sorted(tabs, scan.diagnostics, second, () if second and not data else problems, _odd_keys(path, text))
    return (None, found) if found else (Document(path, data), ())


def locate(text: str, diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The diagnostics of one file with line and column filled in from their routes, related places of that file too.

    A route that leads nowhere gives the position of the last parent that exists. Places that have a line keep it. Text
    that does not parse leaves everything as it was.
    """
    given = tuple(diagnostics)
    root = _tree(source.normalise(text))
    if root is None:
        return given
    position = nodes.finder(root)

    def located(place: Place, file: str) -> Place:
        if place.line or place.file != file:
            return place
        line, column = position(place)
        return replace(place, line=line, column=column)

    def one(diagnostic: Diagnostic) -> Diagnostic:
        place = diagnostic.place
        if place is None:
            return diagnostic
        related = tuple(Related(located(item.place, place.file), item.message) for item in diagnostic.related)
        return replace(diagnostic, place=located(place, place.file), related=related)

    return tuple(map(one, given))


def spans(text: str) -> Mapping[Route, Span]:
    """Where each value of the document stands in `text` as it is, by route; ``()`` is the root.

    Only for text that `parse` accepts: nothing for any other, so that an edit never works on a guess.
    """
    if parse("", text)[0] is None:
        return {}
    return dict(walk(_compose("", source.normalise(text))[0], text))


def _sorted(*parts: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """In the order of the file, and not more than anybody reads."""

    def position(diagnostic: Diagnostic) -> tuple[int, int]:
        place = diagnostic.place or Place("")
        return place.line, place.column

    found = sorted((diagnostic for part in parts for diagnostic in part), key=position)
    if len(found) > MAX_PROBLEMS:
        last = found[MAX_PROBLEMS - 1]
        more = f"{last.message} (and at least {len(found) - MAX_PROBLEMS} more problems in this file)"
        found[MAX_PROBLEMS - 1 :] = [replace(last, message=more)]
    return tuple(found)


def _tree(text: str) -> Any:
    """The root node, or None where the text cannot be parsed (or is empty)."""
    if source.refuse("", text, len(text) * 4):
        return None
    wrong = _errors()
    try:
        return _compose("", text)[0] if _scan("", text).composable else None
    except wrong:
        return None


def _scan(path: str, text: str) -> tokens.Scan:
    if not tokens.suspicious(text):
        return tokens.Scan()
    return tokens.scan(path, _tokens(text))


def _tokens(text: str) -> Iterator[Any]:
    parser = _parser()(text)
    while parser.check_token():
        yield parser.get_token()


def _until_error(text: str) -> Iterator[Any]:
    """The tokens up to the one that cannot be read."""
    with suppress(*_errors()):
        yield from _tokens(text)


def _odd_keys(path: str, text: str) -> tuple[Diagnostic, ...]:
    """Lines that are indented by something else than spaces: to YAML that is the first letter of a key or text."""
    odd = source.odd_indentation(text)
    words = (token.start_mark.index for token in _tokens(text) if token.id == "<scalar>" and token.plain) if odd else ()
    found = [index for index in words if index in odd]
    return (source.odd_space(path, text, found[0], len(found)),) if found else ()


def _compose(path: str, text: str) -> tuple[Any, tuple[Diagnostic, ...]]:
    """The root node of the first document (None if there is none), and a diagnostic if another document follows."""
    parser = _parser()(text)
    root = parser.get_node() if parser.check_node() else None
    if root is None or not parser.check_node():
        return root, ()
    return root, (_second(path, text),)


def _second(path: str, text: str) -> Diagnostic:
    """The diagnostic for a second document, placed at the marker that begins it."""
    place = Place(path, line=1, column=1)
    begun = False
    for token in _tokens(text):
        if begun and token.id == "<document start>":
            place = Place(path, line=token.start_mark.line + 1, column=token.start_mark.column + 1)
            break
        begun = begun or token.id not in {"<stream start>", "<directive>"}
    return Diagnostic("yaml-documents", "a second document begins here", place, hint="one document to a file")


@cache
def _errors() -> tuple[type[Exception], ...]:
    """What parsing raises on bad text: PyYAML's own errors, and those of its Python parser on deep or absurd input."""
    import yaml  # start-up budget

    return yaml.YAMLError, RecursionError, ValueError, OverflowError


def _parser() -> Any:
    """The parser class: libyaml's, else PyYAML's own."""
    import yaml  # start-up budget

    return _fast() if yaml.__with_libyaml__ else _slow()


class _NoTags:
    """Neither tags nor path resolvers: they are a third of the time that composing takes."""

    def resolve(self, _kind: object, _value: object, _implicit: object) -> None:
        return None

    def descend_resolver(self, _parent: object, _index: object) -> None:
        return None

    def ascend_resolver(self) -> None:
        return None


@cache
def _fast() -> Any:
    from yaml.cyaml import CParser  # type: ignore[attr-defined]  # there where libyaml is

    class Fast(_NoTags, CParser):
        pass

    return Fast


@cache
def _slow() -> Any:
    from yaml.composer import Composer
    from yaml.error import MarkedYAMLError
    from yaml.parser import Parser
    from yaml.reader import Reader
    from yaml.scanner import Scanner

    class Slow(_NoTags, Reader, Scanner, Parser, Composer):
        def __init__(self, text: str) -> None:
            Reader.__init__(self, text)
            Scanner.__init__(self)
            Parser.__init__(self)
            Composer.__init__(self)

        def scan_flow_scalar(self, style: str) -> Any:
            """libyaml refuses "\\ud800" and codes that are too large; PyYAML's scanner lets them pass or fails."""
            mark = self.get_mark()
            try:
                token = super().scan_flow_scalar(style)
                token.value.encode()
            except (ValueError, OverflowError):
                raise MarkedYAMLError(problem="invalid Unicode character escape", problem_mark=mark) from None
            return token

    return Slow
