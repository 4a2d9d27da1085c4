"""The reports of `render` and `render --check`."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Protocol

from knaster.diagnostics import Diagnostic, Severity
from knaster.pipeline import Evaluation
from knaster.reports.blocks import Block, Items, Line, Problems, Report, plural
from knaster.reports.json import diagnostic
from knaster.reports.validation import tally


class Written(Protocol):
    """What changed on disk; see `knaster.adapters.generation.Written`."""

    @property
    def created(self) -> tuple[str, ...]:
        """Paths below ``generated/`` that are new."""

    @property
    def changed(self) -> tuple[str, ...]:
        """Paths that have another content or mode now."""

    @property
    def removed(self) -> tuple[str, ...]:
        """Paths that are gone."""


def written(evaluation: Evaluation, files: Collection[str], done: Written, gone: Diagnostic | None = None) -> Report:
    """JSON: ``{command, ok, created, changed, removed, unchanged, diagnostics}``, paths below ``generated/``.

    `gone` warns of guests that are in no list any more.
    """
    unchanged = sorted(set(files) - {*done.created, *done.changed})
    data = {
        **_head(ok=True),
        "created": done.created,
        "changed": done.changed,
        "removed": done.removed,
        "unchanged": unchanged,
        **_tail((*evaluation.diagnostics, *_some(gone))),
    }
    marks = (("+", done.created), ("~", done.changed), ("-", done.removed))
    lines = tuple(f"{mark} {path}" for mark, paths in marks for path in paths)
    words = (("created", done.created), ("changed", done.changed), ("removed", done.removed), ("unchanged", unchanged))
    numbers = ", ".join(f"{len(paths)} {word}" for word, paths in words)
    if not lines:
        return Report(
            data, (Line(f"generated/ is up to date: {plural(len(unchanged), 'file')}{_warned(evaluation)}", "good"),)
        )
    told = Line(f"{numbers}{_warned(evaluation)}", "good")
    return Report(data, (Items("generated/", lines), *_shown(gone), told))


def checked(
    evaluation: Evaluation, number: int, findings: tuple[Diagnostic, ...], gone: Diagnostic | None = None
) -> Report:
    """JSON: ``{command, ok, up_to_date, findings, diagnostics}``; ``findings`` have the shape of diagnostics."""
    data = {
        **_head(ok=not findings),
        "up_to_date": not findings,
        "findings": [diagnostic(item) for item in findings],
        **_tail((*evaluation.diagnostics, *_some(gone))),
    }
    if not findings:
        return Report(data, (Line(f"generated/ is up to date: {plural(number, 'file')}{_warned(evaluation)}", "good"),))
    verdict = f"generated/ is not up to date: {plural(len(findings), 'finding')}; to fix: knaster render"
    return Report(data, (Problems(findings), *_shown(gone), Line(verdict, "bad")))


def refused(evaluation: Evaluation, refusals: tuple[Diagnostic, ...]) -> Report:
    """What forbids writing although the inputs are right. JSON: ``{command, ok: false, diagnostics}``."""
    data = {**_head(ok=False), **_tail((*evaluation.diagnostics, *refusals))}
    return Report(data, (Problems(refusals), Line("nothing was written", "bad")))


def _some(gone: Diagnostic | None) -> tuple[Diagnostic, ...]:
    return (gone,) if gone else ()


def _shown(gone: Diagnostic | None) -> tuple[Block, ...]:
    return (Problems(_some(gone)),) if gone else ()


def _head(*, ok: bool) -> dict[str, Any]:
    return {"command": "render", "ok": ok}


def _tail(diagnostics: tuple[Diagnostic, ...]) -> dict[str, Any]:
    return {"diagnostics": [diagnostic(item) for item in diagnostics]}


def _warned(evaluation: Evaluation) -> str:
    number = tally(evaluation.diagnostics, Severity.WARNING)
    return f"; {plural(number, 'warning')}, shown by knaster validate" if number else ""
