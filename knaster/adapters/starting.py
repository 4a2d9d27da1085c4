"""A new folder with files in it: all of them or none."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path

from knaster.adapters.git import create, inside_git
from knaster.diagnostics import WorldError


def occupied(folder: Path) -> tuple[str, ...]:
    """What `folder` holds besides ``.git``, sorted; nothing where it does not exist. Raises WorldError for a file."""
    try:
        return tuple(sorted(path.name for path in folder.iterdir() if path.name != ".git"))
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise WorldError(f"cannot make a repository of {folder}: {error.strerror}", "name another folder") from error


def lay(folder: Path, texts: Mapping[str, str], executable: Collection[str]) -> bool:
    """Write the texts into `folder`, which is made where need be and holds nothing but a ``.git``.

    They are written aside first, so that a failure leaves nothing. Where no repository is around, one is
    made, whose first branch is main.

    Returns:
        Whether a repository was made.

    Raises:
        WorldError: something cannot be written, or git cannot be started.
    """
    own = not inside_git(folder)
    try:
        beside = folder if folder.exists() else folder.parent
        beside.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".part", dir=beside))
    except OSError as error:
        raise WorldError(f"cannot write {folder}: {error.strerror}", "name another folder") from error
    try:
        _fill(part, texts, executable)
        if own:
            create(part)
        _place(part, folder)
    except OSError as error:
        raise WorldError(f"cannot write {folder}: {error.strerror}", "name another folder") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return own


def _fill(part: Path, texts: Mapping[str, str], executable: Collection[str]) -> None:
    for path, text in texts.items():
        target = part / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8", newline="\n")
        target.chmod(0o755 if path in executable else 0o644)
    part.chmod(0o755)  # a temporary folder is its maker's alone


def _place(part: Path, folder: Path) -> None:
    """A new folder comes in one step. One that exists keeps its place, because somebody may stand in it."""
    if not folder.exists():
        part.rename(folder)
        return
    for entry in sorted(part.iterdir()):
        entry.rename(folder / entry.name)
