"""Routes to lines: each file that a diagnostic speaks of is composed once more, and all its places are found."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from knaster.diagnostics import Diagnostic, Place, Related
from knaster.document import parser


def locate(
    texts: Mapping[str, str], diagnostics: Iterable[Diagnostic], known: Mapping[Place, Place] | None = None
) -> tuple[Diagnostic, ...]:
    """The diagnostics with line and column wherever their file is among `texts`; order is kept.

    `known` are places of these texts with where they were found before (`found`).
    """
    given = tuple(diagnostics)
    located = dict(known or {})
    wanted: dict[str, dict[Place, None]] = {}
    for place in _places(given):
        if not place.line and place.file in texts and place not in located:
            wanted.setdefault(place.file, {})[place] = None
    for file, places in wanted.items():
        located.update(_found(texts[file], tuple(places)))
    return tuple(_with(diagnostic, located) for diagnostic in given) if located else given


def found(diagnostics: Iterable[Diagnostic], files: Collection[str]) -> dict[Place, Place]:
    """Places in `files` as a check names them, with where `locate` found them."""
    return {
        replace(place, line=0, column=0): place
        for place in _places(diagnostics)
        if place.line and place.route and place.file in files
    }


def _places(diagnostics: Iterable[Diagnostic]) -> Iterator[Place]:
    for diagnostic in diagnostics:
        if diagnostic.place is not None:
            yield diagnostic.place
        for related in diagnostic.related:
            yield related.place


def _found(text: str, places: tuple[Place, ...]) -> Iterator[tuple[Place, Place]]:
    """Each place beside its located self."""
    bearers = tuple(Diagnostic("", "", place) for place in places)
    for place, bearer in zip(places, parser.locate(text, bearers), strict=True):
        yield place, bearer.place or place


def _with(diagnostic: Diagnostic, known: Mapping[Place, Place]) -> Diagnostic:
    place = diagnostic.place
    related = tuple(Related(known.get(item.place, item.place), item.message) for item in diagnostic.related)
    return replace(diagnostic, place=known.get(place, place) if place else None, related=related)
