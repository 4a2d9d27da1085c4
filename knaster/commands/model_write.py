"""``model plan --write``: the entry into ``catalog/models.yaml``, if the fleet is as valid with it as before."""

from __future__ import annotations

from dataclasses import dataclass

from knaster.adapters import profiles
from knaster.cluster import MODELS_FILE
from knaster.commands.common import Survey
from knaster.diagnostics import WorldError
from knaster.fit.catalog_edit import added
from knaster.fit.entry import Entry
from knaster.pipeline import evaluate
from knaster.reports import validation
from knaster.reports.blocks import Report


@dataclass(frozen=True, slots=True)
class Written:
    """The files that were written; or, where the catalog would have an error with the entry, the report of that."""

    paths: tuple[str, ...] = ()
    problems: Report | None = None


def write(found: Survey, entry: Entry) -> Written:
    """Add the entry; nothing is written where `knaster validate` would find an error afterwards.

    Raises WorldError: a model of that name is there and says something else, the layout cannot be added to, or the
    file cannot be written.
    """
    text = found.files.get(MODELS_FILE)
    if not isinstance(text, str):
        raise WorldError(f"there is no {MODELS_FILE} to add to")
    if _there(found, entry):
        return Written()
    new = added(text, entry)
    if new is None:
        raise WorldError(
            f"{MODELS_FILE} cannot be added to in place", "write models as a plain block, or paste the entry yourself"
        )
    files = {**found.files, MODELS_FILE: new}
    after = evaluate(files, found.evaluation.planned.current if found.evaluation.planned else None)
    if not after.ok:
        return Written(problems=validation.refused("model plan", after, files, "nothing was written"))
    with profiles.opened(found.root / "catalog") as folder:
        folder.write("models.yaml", new)
    return Written((MODELS_FILE,))


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
