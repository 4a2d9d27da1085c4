"""A report as data. Builders fill it from an evaluation; `text`, `markdown` and `json` make strings of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from knaster.diagnostics import Diagnostic


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a head; ``title`` may be empty. Left out when quiet, unless it is ``bad``."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""
    bad: bool = False


@dataclass(frozen=True, slots=True)
class Items:
    """A titled list; left out when empty, and when quiet unless it is ``bad``."""

    title: str
    lines: tuple[str, ...]
    bad: bool = False


@dataclass(frozen=True, slots=True)
class Problems:
    """Diagnostics, with the texts that their snippets are cut from (path to text)."""

    diagnostics: tuple[Diagnostic, ...]
    texts: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Line:
    """One sentence; left out when quiet, unless it is ``bad``."""

    text: str
    tone: Literal["plain", "good", "bad"] = "plain"


@dataclass(frozen=True, slots=True)
class Code:
    """Lines to copy as they stand, under a title; left out when quiet."""

    title: str
    lines: tuple[str, ...]
    language: str = ""


Block = Table | Items | Problems | Line | Code


@dataclass(frozen=True, slots=True)
class Report:
    """One command's result: ``data`` is the JSON object, ``blocks`` what people read."""

    data: Mapping[str, Any]
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Style:
    """How much and how colourful."""

    color: bool = False
    quiet: bool = False
    verbose: bool = False


def plural(number: int, noun: str) -> str:
    """``1 node``, ``2 nodes``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
