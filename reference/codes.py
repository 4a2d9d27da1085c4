"""Every diagnostic code, as `knaster explain` tells it."""

from __future__ import annotations

from knaster.codes import CODES
from reference.markdown import page

_ABOUT = "Codes stand in brackets at the end of a diagnostic. `knaster explain CODE` prints the same at a prompt."


def codes() -> str:
    """The page of codes."""
    parts = []
    for name, found in sorted(CODES.items()):
        parts += [f"## {name}", found.summary, f"*Why:* {found.why}", f"*The way out:* {found.fix}"]
    return page("Diagnostic codes", _ABOUT, parts)
