"""Measurements into the catalog: new texts of ``catalog/models.yaml`` and of the history in ``catalog/benchmarks/``.

In the catalog a model has one entry for each metric, card type and voice, the newest; the history keeps every one. Both
texts are read again before they are handed out, and nothing in them changes but the entries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from knaster.bench.entries import Measurement, about, entry, wins
from knaster.cluster import MODELS_FILE, history_file
from knaster.diagnostics import Diagnostic, Place, Route, has_errors
from knaster.document import parse
from knaster.document.locating import locate
from knaster.editing.list_entries import Changes, rewrite
from knaster.editing.sheet import comments
from knaster.editing.style import scalar
from knaster.files import Files, Refused
from knaster.names import Names
from knaster.schema import Kind, check

__all__ = ["Measurement", "Recorded", "record"]

_HEAD = (
    "# yaml-language-server: $schema=../../schemas/benchmarks.schema.json\n"
    "# Written by `knaster bench`: every figure that was taken of this model. What counts stands in ../models.yaml.\n"
)


@dataclass(frozen=True, slots=True)
class Recorded:
    """What to write, or why nothing is written.

    ``texts`` holds the new text of each file that changes, by path; it is empty where ``diagnostics`` has an error.
    ``current`` are the measurements that the catalog shows from now on, ``older`` those that went into the history
    alone: an earlier day than what is there, or cut short where a whole run is there.
    """

    texts: Mapping[str, str] = field(default_factory=dict)
    current: tuple[Measurement, ...] = ()
    older: tuple[Measurement, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def record(files: Files, model: str, measurements: Sequence[Measurement]) -> Recorded:
    """`measurements` of a catalog model, recorded in `files`. Never raises, whatever the files hold."""
    catalog = _read(files, MODELS_FILE, "models")
    if isinstance(catalog, tuple):
        return Recorded(diagnostics=catalog)
    models = catalog.data["models"]
    if model not in models:
        message = f'there is no model "{model}" in {MODELS_FILE}'
        hint = Names(models, "models").suggestion(model)
        return Recorded(diagnostics=(Diagnostic("unknown-model", message, Place(MODELS_FILE), hint=hint),))
    path = history_file(model)
    if (folder := path.rpartition("/")[0]) in files:  # a folder is no entry
        message = f"{folder} is no folder, so the history cannot be written"
        return Recorded(diagnostics=(Diagnostic("file-kind", message, Place(folder)),))
    history = _read(files, path, "benchmarks") if path in files else None
    if isinstance(history, tuple):
        return Recorded(diagnostics=history)
    new = [entry(one) for one in measurements]
    if wrong := tuple(one for run in new if (one := _untrue(path, model, run))):
        return Recorded(diagnostics=wrong)
    return _recorded(catalog, history, model, list(zip(measurements, new, strict=True)))


def _untrue(path: str, model: str, run: dict[str, Any]) -> Diagnostic | None:
    """Why a figure cannot be one: it is what the schema of the history refuses."""
    wrong = check("benchmarks", path, {"model": model, "runs": [run]})
    if not wrong:
        return None
    spread = f" ± {run['spread']}" if "spread" in run else ""
    message = f"{run['metric']} {run['value']}{spread} {run['unit']} cannot be true: {wrong[0].message}"
    hint = "see what the server or the program counts: nothing is recorded"
    return Diagnostic("bench-run", message.replace("runs[0].", ""), hint=hint)


@dataclass(frozen=True, slots=True)
class _Page:
    path: str
    text: str
    data: Mapping[str, Any]


def _read(files: Files, path: str, kind: Kind) -> _Page | tuple[Diagnostic, ...]:
    """A file that is edited; else why it cannot be."""
    text = files.get(path)
    if text is None:
        return (Diagnostic("file-missing", f"{path} is missing", Place(path)),)
    if isinstance(text, Refused):
        return (Diagnostic("file-kind", f"{path} was not read: it is {text.reason}", Place(path)),)
    document, problems = parse(path, text)
    if document is None or has_errors(list(problems)):
        return tuple(problems)
    wrong = check(kind, path, document.data)
    return tuple(locate({path: text}, wrong)) if wrong else _Page(path, text, document.data)


def _recorded(
    catalog: _Page, history: _Page | None, model: str, new: list[tuple[Measurement, dict[str, Any]]]
) -> Recorded:
    known: list[dict[str, Any]] = list(catalog.data["models"][model].get("measured", ()))
    before, shown = list(known), set[int]()
    for position, (_, one) in enumerate(new):
        place = _place(known, one)
        if place is None:
            known.append(one)
            shown.add(position)
        elif wins(one, known[place]):
            shown.add(position)
            known[place] = one
    replaced = {at: known[at] for at in range(len(before)) if known[at] != before[at]}
    changes = Changes(replaced, known[len(before) :])
    at: Route = ("models", model)
    old = before if "measured" in catalog.data["models"][model] else None
    texts = {catalog.path: _edited(catalog, at, "measured", old, changes)}
    lost = [before[at] for at in replaced]
    runs = _history(history, model, [*lost, *(one for _, one in new)])
    texts[history_file(model)] = runs
    if broken := [path for path, text in texts.items() if text is None]:
        return Recorded(diagnostics=tuple(map(_layout, broken)))
    have = {catalog.path: catalog.text, **({history.path: history.text} if history else {})}
    return Recorded(
        {path: text for path, text in texts.items() if text is not None and text != have.get(path)},
        tuple(one for position, (one, _) in enumerate(new) if position in shown),
        tuple(one for position, (one, _) in enumerate(new) if position not in shown),
    )


def _place(known: Sequence[Mapping[str, Any]], one: Mapping[str, Any]) -> int | None:
    """The entry that is about the same; of several, which people may have written, the one that counts."""
    same = [at for at, other in enumerate(known) if about(other) == about(one)]
    best: int | None = None
    for at in same:
        best = at if best is None or wins(known[at], known[best]) else best
    return best


def _history(history: _Page | None, model: str, runs: Sequence[dict[str, Any]]) -> str | None:
    """The history with the runs that it lacks."""
    kept = list(history.data["runs"]) if history else []
    added: list[dict[str, Any]] = []
    for run in runs:
        if run not in kept and run not in added:
            added.append(run)
    if history is None:
        page = _Page(history_file(model), f"{_HEAD}model: {scalar(model)}\nruns: []\n", {"model": model, "runs": []})
        return _edited(page, (), "runs", [], Changes(added=added))
    return _edited(history, (), "runs", kept, Changes(added=added))


def _edited(page: _Page, at: Route, key: str, old: Sequence[Any] | None, changes: Changes) -> str | None:
    """The new text; None where it does not read back as what was meant, or a comment is gone."""
    if not changes.added and not changes.replaced:
        return page.text
    text = rewrite(page.text, at, key, old, changes)
    document, problems = parse(page.path, text)
    wanted = [changes.replaced.get(position, one) for position, one in enumerate(old or ())] + list(changes.added)
    if document is None or problems or document.data != _with(page.data, (*at, key), wanted):
        return None
    return text if sorted(comments(text)) == sorted(comments(page.text)) else None


def _with(data: Any, route: Route, value: Any) -> Any:
    """`data` with one value set."""
    if not route:
        return value
    return {**data, route[0]: _with(data.get(route[0]), route[1:], value)}


def _layout(path: str) -> Diagnostic:
    return Diagnostic(
        "bench-layout",
        f"{path} is written in a way that cannot be edited in place",
        Place(path),
        hint="write the model and its `measured` as plain blocks, then record again with --import",
    )
