"""``model plan --write``: the entry into ``catalog/models.yaml``, if the fleet is as valid with it as before."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from knaster.adapters import profiles
from knaster.cluster import MODELS_FILE
from knaster.cluster.architecture import Architecture
from knaster.commands.common import Survey
from knaster.diagnostics import WorldError
from knaster.fit.records import record_file, record_text
from knaster.model_plan.catalog_edit import added
from knaster.model_plan.entry import Entry
from knaster.pipeline import evaluate
from knaster.reports import validation
from knaster.reports.blocks import Report


@dataclass(frozen=True, slots=True)
class Written:
    """The files that were written; or, where the catalog would have an error with the entry, the report of that."""

    paths: tuple[str, ...] = ()
    problems: Report | None = None


def write(found: Survey, entry: Entry, model: Architecture) -> Written:
    """Add the entry, and the record of its architecture; nothing where `knaster validate` would find an error then.

    Raises WorldError: a model of that name is there and says something else, the layout cannot be added to, or a file
    cannot be written.
    """
    new = {record_file(entry.name): record_text(model)}
    if not _there(found, entry):
        new = {MODELS_FILE: _with(found, entry), **new}
    changed = {path: text for path, text in new.items() if found.files.get(path) != text}
    files = {**found.files, **changed}
    after = evaluate(files, found.evaluation.planned.current if found.evaluation.planned else None)
    if not after.ok:
        return Written(problems=validation.refused("model plan", after, files, "nothing was written"))
    for path, text in changed.items():
        _put(found.root / path, text)
    return Written(tuple(changed))


def _with(found: Survey, entry: Entry) -> str:
    text = found.files.get(MODELS_FILE)
    new = added(text, entry) if isinstance(text, str) else None
    if new is None:
        raise WorldError(
            f"{MODELS_FILE} cannot be added to in place", "write models as a plain block, or paste the entry yourself"
        )
    return new


def _put(path: Path, text: str) -> None:
    """Write one file; its folder is made if need be, and never reached through a link."""
    try:
        path.parent.mkdir(exist_ok=True)
    except OSError as error:
        raise WorldError(f"cannot make the folder {path.parent}: {error.strerror}") from error
    with profiles.opened(path.parent) as folder:
        folder.write(path.name, text)


def _there(found: Survey, entry: Entry) -> bool:
    """Whether the very entry is in the catalog. Raises WorldError where another one has its name."""
    part = found.evaluation.parts.get(MODELS_FILE)
    models = part.data.get("models") if part and part.data else None
    same = models.get(entry.name) if isinstance(models, dict) else None
    if same is None:
        return False
    if same == entry.data:
        return True
    raise WorldError(
        f"{MODELS_FILE} has a model {entry.name} already, and it says something else",
        "give the new one another name with --name, or take the old one out first",
    )
