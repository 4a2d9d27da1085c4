"""Reports as JSON: one object per command, stable keys, ASCII (so that no byte of data reaches a terminal as it is)."""

from __future__ import annotations

import json
from typing import Any

from knaster.diagnostics import Diagnostic, Place, Severity
from knaster.redact import masked
from knaster.reports.blocks import Report, Style

FORMAT_VERSION = "1.0"
"""Of all results: schemas/output/results.schema.json says when it is raised."""
_PLAIN = Style()


def render(report: Report, style: Style = _PLAIN) -> str:
    """The report's data and ``format_version``, secrets masked; of its ``diagnostics`` only errors when quiet."""
    data = {"format_version": FORMAT_VERSION, **report.data}
    if style.quiet and "diagnostics" in data:
        data["diagnostics"] = [item for item in data["diagnostics"] if item["severity"] == Severity.ERROR]
    return json.dumps(masked(data), indent=2, ensure_ascii=True) + "\n"


def diagnostic(item: Diagnostic) -> dict[str, Any]:
    """``{code, severity, message, file, line, column, hint, related}``; what is not known is null."""
    return {
        "code": item.code,
        "severity": item.severity.value,
        "message": item.message,
        **_place(item.place),
        "hint": item.hint,
        "related": [{**_place(related.place), "message": related.message} for related in item.related],
    }


def _place(place: Place | None) -> dict[str, Any]:
    if place is None:
        return {"file": None, "line": None, "column": None}
    return {"file": place.file, "line": place.line or None, "column": place.column or None}
