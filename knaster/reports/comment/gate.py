"""The section on what OpenTofu's gate said: read back from ``tofu gate --format json``, without trust."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from knaster import foreign_json
from knaster.diagnostics import Diagnostic, Severity
from knaster.names import short_id
from knaster.reports.blocks import plural
from knaster.reports.comment import values
from knaster.reports.comment.ladder import GAP, Block, fit
from knaster.reports.comment.sections import Section
from knaster.reports.comment.templates import render

GATE_BUDGET = 4_000
"""Bytes that the section takes at most, beside those of the comment."""
_COUNTS = "\nCounts: "
_OTHER = "its result is of another plan than this comment, and is not shown; make it from the generated/ of this merge"
_UNREADABLE = "its result cannot be read; make it with knaster tofu gate PLAN.json --format json -o FILE"


def with_gate(body: str, gate: Mapping[str, Any], plan_id: str) -> str:
    """The comment with a section below its counts. ``gate`` is the object of the file, ``plan_id`` the comment's."""
    at = body.find("\n", body.find(_COUNTS) + 1) if _COUNTS in body else len(body.rstrip("\n"))
    return f"{body[:at]}{GAP}{section(gate, plan_id).rstrip()}{body[at:]}"


def section(gate: Mapping[str, Any], plan_id: str) -> str:
    """Verdict, then one line per finding and change, as many as fit into `GATE_BUDGET` bytes."""
    changes, found = gate.get("changes"), gate.get("diagnostics")
    if gate.get("command") != "tofu gate" or not isinstance(changes, list) or not isinstance(found, list):
        return render("gate", sentence=_UNREADABLE, plan_id="")
    made = foreign_json.string(gate, "plan_id")
    if not made or made != plan_id:
        return render("gate", sentence=_OTHER, plan_id=short_id(made))
    problems, done = list(_problems(found)), list(_lines(changes))
    head = render("gate", sentence=_sentence(gate, problems, done), plan_id="")
    findings = Section("Findings", "problem", problems, lambda one: values.problem(one, None, ""))
    would = Section("The apply would do this", "note", done, str)
    rows = [Block(one) for one in (findings, would) if one.items]
    return fit([[head, *rows], [head, *rows], [head]], GATE_BUDGET)


def _sentence(gate: Mapping[str, Any], problems: list[Diagnostic], done: list[str]) -> str:
    errors = sum(one.severity is Severity.ERROR for one in problems)
    allowed = gate.get("ok") is True and not errors
    told = f"the plan {'may' if allowed else 'must not'} be applied: {plural(len(done), 'change')}"
    return f"{told}, {plural(errors, 'error')}" if errors else told


def _problems(some: list[Any]) -> Iterator[Diagnostic]:
    for one in some:
        if isinstance(one, dict) and one.get("severity") in tuple(Severity):
            code, message, hint = (foreign_json.string(one, key) for key in ("code", "message", "hint"))
            yield Diagnostic(code, message, None, Severity(one["severity"]), hint or None)


def _lines(some: list[Any]) -> Iterator[str]:
    """``guest infra is changed and restarts: memory.dedicated 8192 -> 9216``."""
    for one in some:
        if isinstance(one, dict):
            noun, name, summary, cause = (foreign_json.string(one, key) for key in ("noun", "name", "summary", "cause"))
            yield " ".join(filter(None, (noun, name, summary))) + (f": {cause}" if cause else "")
