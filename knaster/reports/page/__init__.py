"""`knaster report`: the whole fleet on one self-contained page of HTML. Pure: the same sides give the same bytes."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from typing import Any

from knaster.changes.result import Comparison
from knaster.reports.diff import Side, verdict
from knaster.reports.inert import inert
from knaster.reports.page.changes import change_groups
from knaster.reports.page.pairs import Pair, marked, paired
from knaster.reports.page.view import View, view
from knaster.reports.templating import Templates
from knaster.version import __version__

__all__ = ["page"]


def page(after: Side, before: Side | None = None, comparison: Comparison | None = None) -> str:
    """The page of `after`; with `before` and what differs (`comparison`) both side by side.

    ASCII (other characters as references), so that no encoding of a terminal or a server can spoil it. Raises
    ValueError for a side whose files did not load: of such a fleet nothing can be shown.
    """
    new, old = view(after), view(before) if before else None
    if new is None or (before and old is None):
        raise ValueError("a side did not load")
    style, script = _templates().source("page.css"), _templates().source("page.js")
    values = {
        "policy": _policy(style, script),
        "style": style,
        "script": script,
        "version": __version__,
        "new": new,
        "old": old,
        "verdict": verdict(comparison) if comparison else "",
        "groups": change_groups(comparison) if comparison else (),
        "marked": marked,
        **_pairs(old, new),
    }
    return _templates().render("page.html.j2", values).encode("ascii", "xmlcharrefreplace").decode()


def _pairs(old: View | None, new: View) -> dict[str, tuple[Pair[Any], ...]]:
    return {
        "nodes": paired(old and old.nodes, new.nodes),
        "slots": paired(old and old.slots, new.slots),
        "unplaced": paired(old and old.unplaced, new.unplaced),
        "disabled": paired(old and old.disabled, new.disabled),
        "columns": _by_size(old, new),
        "models": paired(old and old.matrix.rows, new.matrix.rows),
        "figures": paired(old and old.figures, new.figures),
        "failures": paired(old and old.failures, new.failures),
    }


def _by_size(old: View | None, new: View) -> tuple[Pair[Any], ...]:
    """Columns in their own order: those of the newer side, then those that only the older one has."""
    found = {pair.name: pair for pair in paired(old and old.matrix.columns, new.matrix.columns)}
    names = dict.fromkeys((*new.matrix.columns, *(old.matrix.columns if old else ())))
    return tuple(found[name] for name in names)


def _policy(style: str, script: str) -> str:
    """The content security policy: nothing is loaded, and of code and style only these two texts, by their hashes."""
    return "; ".join(
        (
            "default-src 'none'",
            f"style-src 'sha256-{_digest(style)}'",
            f"script-src 'sha256-{_digest(script)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _digest(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()


@cache
def _templates() -> Templates:
    return Templates("knaster.reports.page", escape=True, finalize=_finalize)


def _finalize(value: Any) -> Any:
    """What a template prints: text from data inert (escaping comes after this), what macros made as it is."""
    if hasattr(value, "__html__"):
        return value
    return inert(str(value)) if isinstance(value, str | int) else ""
