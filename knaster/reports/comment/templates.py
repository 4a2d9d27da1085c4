"""The templates of comments. Whatever one prints is inert.

A string from data becomes a sentence in which only plain words stand outside of code spans; anything else has to be
`Safe`, which only the filters here and whole templates are.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from knaster.reports import markdown
from knaster.reports.inert import inert
from knaster.reports.templating import Templates

_NAME, _TEXT = 90, 400
"""Characters of a name or value, and of a sentence, that are shown; masked first, cut then."""


class Safe(str):
    """Markdown that holds no text from data outside of code spans."""

    __slots__ = ()


def render(template: str, **values: object) -> Safe:
    """The template of that name (without ``.md.j2``), filled in. Raises jinja2's errors for a wrong template alone."""
    return Safe(_templates().render(f"{template}.md.j2", values))


@cache
def _templates() -> Templates:
    return Templates(
        "knaster.reports.comment",
        escape=False,  # HTML is not what is written: `_finalize` lets nothing through unescaped
        finalize=_finalize,
        filters={
            "code": lambda text: Safe(markdown.span(cut(text, _NAME))),
            "code_cell": lambda text: Safe(markdown.code(cut(text, _NAME))),
            "in_cell": lambda text: Safe(text.replace("|", "\\|")),
        },
    )


def _finalize(value: Any) -> str:
    """What is printed for a value: a `Safe` as it is, a number, and any other text as a sentence."""
    if isinstance(value, Safe):
        return value
    if isinstance(value, int):
        return str(value)
    return sentence(value)


def sentence(text: str, names: frozenset[str] = frozenset()) -> Safe:
    """A sentence from data, in which words that are among `names` are set apart."""
    return Safe(markdown.prose(cut(text, _TEXT), names))


def cut(text: str, length: int) -> str:
    """One inert line of at most that many characters; secrets are masked before anything is cut off."""
    line = inert(text)
    return line if len(line) <= length else f"{line[: length - 1]}…"
