"""`knaster report`: the whole fleet on one self-contained page of HTML. Pure: the same sides give the same bytes."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from hashlib import sha256
from typing import Any

from knaster.changes.result import Comparison
from knaster.reports.diff import Side, verdict
from knaster.reports.inert import inert
from knaster.reports.page.changes import change_groups
from knaster.reports.page.matrix import same_fit
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
    def pairs(part: Callable[[View], Mapping[str, Any]]) -> tuple[Pair[Any], ...]:
        return paired(part(old) if old else None, part(new))

    columns = {pair.name: pair for pair in pairs(lambda side: side.matrix.columns)}
    own_order = dict.fromkeys((*new.matrix.columns, *(old.matrix.columns if old else ())))
    return {
        "nodes": pairs(lambda side: side.nodes),
        "slots": pairs(lambda side: side.slots),
        "unplaced": pairs(lambda side: side.unplaced),
        "disabled": pairs(lambda side: side.disabled),
        "columns": tuple(columns[name] for name in own_order),
        "models": tuple(map(same_fit, pairs(lambda side: side.matrix.rows))),
        "figures": pairs(lambda side: side.figures),
        "failures": pairs(lambda side: side.failures),
    }


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
    return _inert(str(value)) if isinstance(value, str | int) else ""


_inert = lru_cache(maxsize=1 << 16)(inert)
"""A large fleet says the same of thousands of cards."""
