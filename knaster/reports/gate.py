"""The report of `tofu gate`: what an apply would do, worst first, and what forbids it."""

from __future__ import annotations

from knaster.gate import Told, Verdict
from knaster.reports.blocks import Block, Items, Line, Problems, Report, plural
from knaster.reports.json import diagnostic

_MARKS = {
    "destroy": "-",
    "replace": "-/+",
    "forget": "?",
    "refuse": "!",
    "restart": "~!",
    "update": "~",
    "adopt": "<",
    "create": "+",
}


def report(verdict: Verdict, plan_id: str = "") -> Report:
    """JSON: ``{command, ok, plan_id, changes: [{noun, name, effect, summary, cause, address}], diagnostics}``.

    ``plan_id`` is that of `knaster.pipeline.Evaluation`: `pr comment` shows this beside the same alone.
    """
    data = {
        "command": "tofu gate",
        "ok": verdict.ok,
        "plan_id": plan_id or None,
        "changes": [
            {
                "noun": one.noun,
                "name": one.name,
                "effect": one.effect,
                "summary": one.summary,
                "cause": one.cause,
                "address": one.address,
            }
            for one in verdict.changes
        ],
        "diagnostics": [diagnostic(item) for item in verdict.diagnostics],
    }
    blocks: tuple[Block, ...] = (
        Items("the apply would do this", tuple(map(_line, verdict.changes))),
        Problems(verdict.diagnostics),
        Line(_summary(verdict), "good" if verdict.ok else "bad"),
    )
    return Report(data, blocks)


def _line(one: Told) -> str:
    cause = f": {one.cause}" if one.cause else ""
    return f"{_MARKS[one.effect]} {one.noun} {one.name} {one.summary}{cause}"


def _summary(verdict: Verdict) -> str:
    if not verdict.changes:
        return "nothing to do: the plan may be applied" if verdict.ok else "the plan must not be applied"
    changes = plural(len(verdict.changes), "change")
    return f"{changes}: the plan may be applied" if verdict.ok else f"{changes}: the plan must not be applied"
