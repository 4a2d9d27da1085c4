"""Pieces of Markdown."""

from __future__ import annotations

from collections.abc import Iterable


def page(title: str, about: str, parts: Iterable[str]) -> str:
    """A page with its title, what it is about, and its parts."""
    return "\n\n".join((f"# {title}", about, "<!-- made by `make docs` -->", *parts)) + "\n"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table."""
    lines = (head, tuple("---" for _ in head), *rows)
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def code(text: object) -> str:
    """Something in code marks."""
    return f"`{text}`"
