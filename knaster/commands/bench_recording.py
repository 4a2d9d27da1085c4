"""Measured figures into the catalog, after the run; and before it, whether that will be possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from knaster.adapters import files as adapter
from knaster.adapters import profiles
from knaster.bench.chat import ChatRun, Completion
from knaster.bench.measured import Taken, chat
from knaster.bench.record import Measurement, Recorded, record
from knaster.cluster import MODELS_FILE
from knaster.diagnostics import Diagnostic, WorldError
from knaster.files import Files

_PROBE = ChatRun(1, 1, (Completion(0.0, 1.0, 1.0, 1.0, 1),))


@dataclass(frozen=True, slots=True)
class Kept:
    """``paths`` were written. Else ``reason`` says why nothing was, and ``diagnostics`` what is wrong with the files.

    ``failed``: it should have been written, and was not. ``older``: metrics that went into the history alone.
    """

    paths: tuple[str, ...] = ()
    reason: str | None = None
    hint: str | None = None
    failed: bool = False
    older: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    files: Files | None = None


def keep(directory: str, model: str, measurements: Sequence[Measurement]) -> Kept:
    """Record them in the repository's files as they are now: while it was measured, people may have edited them."""
    root = Path(directory)
    try:
        with profiles.opened(root / PurePosixPath(MODELS_FILE).parent) as catalog, profiles.locked(catalog):
            files = adapter.read(root)
            found = record(files, model, measurements)
            if found.diagnostics:
                return Kept(reason=_reason(found), failed=True, diagnostics=found.diagnostics, files=files)
            _write(root, found)
    except WorldError as problem:  # what was measured is shown all the same
        return Kept(reason=problem.message, hint=problem.hint, failed=True)
    return Kept(tuple(sorted(found.texts)), older=tuple(one.metric for one in found.older))


def _reason(found: Recorded) -> str:
    """`record` finds figures that no benchmark gives before it looks at how files can be edited."""
    untrue = any(one.code == "bench-run" for one in found.diagnostics)
    return "the figures cannot be true" if untrue else "the catalog cannot be edited"


def _write(root: Path, found: Recorded) -> None:
    """The history first: what the catalog shows is always in it too."""
    for path, text in sorted(found.texts.items()):
        folder = root / PurePosixPath(path).parent
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise WorldError(f"cannot make the folder {folder}: {error.strerror}") from error
        with profiles.opened(folder) as place:
            place.write(PurePosixPath(path).name, text)


def refuse_uneditable(files: Files, model: str) -> None:
    """Raises WorldError where figures of a model could not be recorded: to learn that after an hour would be late."""
    (probe,) = chat(_PROBE, Taken("2000-01-01", "probe"))
    for problem in record(files, model, [probe]).diagnostics:
        where = f"{problem.place.file}: " if problem.place else ""
        raise WorldError(
            f"figures cannot be recorded: {where}{problem.message}", problem.hint or "--dry-run records none"
        )
