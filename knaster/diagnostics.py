"""Diagnostics: what is wrong with the data, as values that are collected and never raised.

A check names a *route* into a document (``("gpus", 0, "memory_gb")``); the pipeline turns routes into
lines and columns once, at its end (`knaster.document.locate`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

Route = tuple[str | int, ...]
"""Keys and list positions from the root of one document down to a value."""


class Severity(StrEnum):
    """How bad: an error forbids rendering, a warning wants a person's eye, a note explains."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Place:
    """A spot in a file. Line and column count from 1; 0 means "the file as a whole, or not located yet"."""

    file: str
    route: Route = ()
    on: Literal["key", "value"] = "value"
    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that belongs to a diagnostic, such as the first of two duplicates."""

    place: Place
    message: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem: a stable code, what is wrong (need against have), where, and the way out."""

    code: str
    message: str
    place: Place | None = None
    severity: Severity = Severity.ERROR
    hint: str | None = None
    related: tuple[Related, ...] = ()


def order(diagnostic: Diagnostic) -> tuple[str, int, int, str, str]:
    """Sort key for reports: file, line, column, code, message."""
    place = diagnostic.place or Place("")
    return (place.file, place.line, place.column, diagnostic.code, diagnostic.message)


def has_errors(diagnostics: tuple[Diagnostic, ...] | list[Diagnostic]) -> bool:
    """Whether any diagnostic forbids rendering."""
    return any(d.severity is Severity.ERROR for d in diagnostics)


class WorldError(Exception):
    """The world failed (no git, no permission, no network): exit status 2, caught once in `knaster.cli`."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
