"""The report of `pr comment`."""

from __future__ import annotations

from typing import Protocol

from knaster.reports.blocks import Line, Report


class Posted(Protocol):
    """What became of a comment, see `knaster.commands.upsert.Posted`."""

    @property
    def outcome(self) -> str:
        """``created``, ``updated``, ``unchanged`` or ``yielded``."""

    @property
    def url(self) -> str:
        """Of the comment, "" where it is not known."""

    @property
    def why(self) -> str:
        """Why it was left to another run."""


def report(number: int, *, ok: bool, posted: Posted | None, status: str) -> Report:
    """JSON: ``{command, ok, number, comment, url, why, status}``.

    ``comment`` is ``created``, ``updated``, ``unchanged``, ``yielded`` or ``not posted``; ``status`` is ``posted``,
    ``unchanged``, ``not posted``, or null where none was asked for.
    """
    outcome, url, why = (posted.outcome, posted.url, posted.why) if posted else ("not posted", "", "")
    data = {
        "command": "pr comment",
        "ok": ok,
        "number": number,
        "comment": outcome,
        "url": url or None,
        "why": why or None,
        "status": status or None,
    }
    said = f"pull request {number}: comment {outcome}"
    said += f": {why}; nothing was written" if why else f" {url}" if url else ""
    return Report(data, (Line(f"{said}; status {status}" if status else said),))
