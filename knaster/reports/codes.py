"""The report of `explain`: one code in full, or the list of all."""

from __future__ import annotations

from knaster.codes import CODES
from knaster.names import nearest
from knaster.reports.blocks import Items, Line, Report, Table


def one(code: str) -> Report | None:
    """JSON: ``{command, code, summary, why, fix}``; None for a code that does not exist."""
    if code not in CODES:
        return None
    found = CODES[code]
    data = {"command": "explain", "code": code, "summary": found.summary, "why": found.why, "fix": found.fix}
    return Report(
        data, (Line(f"{code}: {found.summary}"), Items("why", (found.why,)), Items("the way out", (found.fix,)))
    )


def unknown(code: str) -> Report:
    """JSON: ``{command, code, ok: false, near}``."""
    near = nearest(code, CODES)
    way_out = f"did you mean {near}?" if near else "`knaster explain` lists all codes"
    data = {"command": "explain", "code": code, "ok": False, "near": near}
    return Report(data, (Line(f'there is no diagnostic code "{code}"; {way_out}', "bad"),))


def everything() -> Report:
    """JSON: ``{command, codes: [{code, summary}]}``, sorted by code."""
    rows = tuple((code, CODES[code].summary) for code in sorted(CODES))
    data = {"command": "explain", "codes": [{"code": code, "summary": summary} for code, summary in rows]}
    return Report(data, (Table(("CODE", "SUMMARY"), rows),))
