"""The report of `validate`: all diagnostics and one line of counts."""

from __future__ import annotations

from typing import Any

from knaster.diagnostics import Diagnostic, Severity
from knaster.files import Files
from knaster.pipeline import Evaluation
from knaster.reports.blocks import Block, Line, Problems, Report, plural
from knaster.reports.json import diagnostic


def report(evaluation: Evaluation, files: Files) -> Report:
    """JSON: ``{command, ok, counts: {nodes, gpus, roles, errors, warnings, notes}, input_digest, diagnostics}``."""
    data = {
        "command": "validate",
        "ok": evaluation.ok,
        "counts": counts(evaluation),
        "input_digest": evaluation.digest,
        "diagnostics": [diagnostic(item) for item in evaluation.diagnostics],
    }
    blocks: tuple[Block, ...] = (
        Problems(evaluation.diagnostics, files),
        Line(summary(evaluation), "good" if evaluation.ok else "bad"),
    )
    return Report(data, blocks)


def counts(evaluation: Evaluation) -> dict[str, Any]:
    """How much there is, and how much of it is wrong; ``roles`` is null when their file did not load."""
    cluster = evaluation.cluster
    return {
        "nodes": len(cluster.nodes),
        "gpus": sum(len(node.gpus) for node in cluster.nodes),
        "roles": None if cluster.roles is None else len(cluster.roles),
        "errors": tally(evaluation.diagnostics, Severity.ERROR),
        "warnings": tally(evaluation.diagnostics, Severity.WARNING),
        "notes": tally(evaluation.diagnostics, Severity.NOTE),
    }


def summary(evaluation: Evaluation) -> str:
    """``7 nodes, 9 GPUs, 9 roles: 5 warnings, 0 errors``."""
    number = counts(evaluation)
    roles = "roles not loaded" if number["roles"] is None else plural(number["roles"], "role")
    fleet = f"{plural(number['nodes'], 'node')}, {plural(number['gpus'], 'GPU')}, {roles}"
    return f"{fleet}: {plural(number['warnings'], 'warning')}, {plural(number['errors'], 'error')}"


def tally(diagnostics: tuple[Diagnostic, ...], severity: Severity) -> int:
    """How many diagnostics have this severity."""
    return sum(1 for item in diagnostics if item.severity is severity)


def refused(command: str, evaluation: Evaluation, files: Files, text: str) -> Report:
    """The report of a command that cannot go on because of errors: those, and `text`.

    JSON: ``{command, ok: false, diagnostics}``.
    """
    errors = tuple(item for item in evaluation.diagnostics if item.severity is Severity.ERROR)
    data = {"command": command, "ok": False, "diagnostics": [diagnostic(item) for item in evaluation.diagnostics]}
    return Report(data, (Problems(errors, files), Line(text, "bad")))
