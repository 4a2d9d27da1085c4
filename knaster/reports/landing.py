"""The reports of `verify` and `land`, and the message of a landing commit."""

from __future__ import annotations

import re
from typing import Any

from knaster.diagnostics import Diagnostic
from knaster.files import Files
from knaster.names import short_id
from knaster.pipeline import Evaluation
from knaster.reports.blocks import Line, Problems, Report, plural
from knaster.reports.json import diagnostic

_LANDING = re.compile(r"(?s)(?:.*\n)?\nKnaster-Source: [0-9a-f]{40,64}\nKnaster-Plan: [0-9a-f]{64}\s*")


def message(source: str, plan_id: str) -> str:
    """The message of the commit that lands the generation of `source`, with its two trailers."""
    return f"Render generated/ for {short_id(source)}\n\nKnaster-Source: {source}\nKnaster-Plan: {plan_id}\n"


def is_landing(text: str) -> bool:
    """Whether a commit's message ends with the two trailers of a landing; anybody may write such a message."""
    return _LANDING.fullmatch(text) is not None


def verified(sha: str, evaluation: Evaluation, findings: tuple[Diagnostic, ...]) -> Report:
    """JSON: ``{command, ok, commit, plan_id, findings}``; ``findings`` have the shape of diagnostics."""
    data = {
        **_head("verify", sha, ok=not findings),
        "plan_id": evaluation.plan_id,
        "findings": [diagnostic(item) for item in findings],
    }
    if not findings:
        number = plural(len(evaluation.generated), "file")
        plan = short_id(evaluation.plan_id)
        text = f"{short_id(sha)} is verified: {number} in generated/ are what its inputs need; plan {plan}"
        return Report(data, (Line(text, "good"),))
    verdict = (
        f"{short_id(sha)} is not verified: {plural(len(findings), 'finding')} in generated/; "
        "knaster land repairs main, and a branch may leave generated/ alone"
    )
    return Report(data, (Problems(findings), Line(verdict, "bad")))


def unverifiable(sha: str, evaluation: Evaluation, files: Files) -> Report:
    """A commit whose inputs are wrong. JSON: ``{command, ok: false, commit, plan_id, findings: [], diagnostics}``."""
    data = {
        **_head("verify", sha, ok=False),
        "plan_id": "",
        "findings": [],
        "diagnostics": [diagnostic(item) for item in evaluation.errors],
    }
    verdict = f"{short_id(sha)} is not verified: its inputs have {plural(len(evaluation.errors), 'error')}"
    return Report(data, (Problems(evaluation.errors, files), Line(verdict, "bad")))


def pushed(branch: str, source: str, commit: str, evaluation: Evaluation) -> Report:
    """JSON: ``{command, ok, commit, landed, plan_id}``; ``commit`` was rendered, ``landed`` is the new commit."""
    data = {**_head("land", source, ok=True), "landed": commit, "plan_id": evaluation.plan_id}
    text = f"landed {branch} {short_id(source)} as {short_id(commit)}: plan {short_id(evaluation.plan_id)}"
    return Report(data, (Line(text, "good"),))


def nothing(branch: str, source: str, evaluation: Evaluation) -> Report:
    """JSON: ``{command, ok, commit, landed: null, plan_id}``."""
    data = {**_head("land", source, ok=True), "landed": None, "plan_id": evaluation.plan_id}
    return Report(data, (Line(f"nothing to land: generated/ of {branch} {short_id(source)} is up to date", "good"),))


def refused(branch: str, source: str, refusals: tuple[Diagnostic, ...], files: Files) -> Report:
    """JSON: ``{command, ok: false, commit, landed: null, plan_id: "", diagnostics}``."""
    data = {
        **_head("land", source, ok=False),
        "landed": None,
        "plan_id": "",
        "diagnostics": [diagnostic(item) for item in refusals],
    }
    text = f"nothing was pushed: {branch} {short_id(source)} is invalid; the last good generation stays in force"
    return Report(data, (Problems(refusals, files), Line(text, "bad")))


def _head(command: str, sha: str, *, ok: bool) -> dict[str, Any]:
    return {"command": command, "ok": ok, "commit": sha}
