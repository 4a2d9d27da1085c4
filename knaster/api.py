"""What `import knaster` offers beside `plan` and `evaluate`: reading a folder, and two short ways to an answer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from knaster.adapters import files as adapter
from knaster.diagnostics import Diagnostic
from knaster.files import Files
from knaster.pipeline import Evaluation
from knaster.pipeline import evaluate as _evaluate


def read(path: str | Path) -> Files:
    """All files below ``inventory/`` and ``catalog/`` of the repository at `path`, as text or as a refusal.

    Raises `knaster.diagnostics.WorldError` when the folder cannot be read.
    """
    return adapter.read(Path(path))


def validate(files: Files) -> tuple[Diagnostic, ...]:
    """Everything wrong with `files`, sorted by file, line and column. Plans and renders in memory to find it."""
    return _evaluate(files).diagnostics


def render(evaluation: Evaluation) -> Mapping[str, str]:
    """Path below ``generated/`` to text. Raises ValueError when the evaluation has errors: nothing may be written."""
    if not evaluation.ok:
        raise ValueError("the evaluation has errors, so there is nothing to render; see its diagnostics")
    return evaluation.generated
