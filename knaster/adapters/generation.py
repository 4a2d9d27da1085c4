"""``generated/`` as a whole: written completely or not at all, and compared with what is needed.

The new tree is built beside the old one, then both change places (`exchange`). ``.generated.new`` is the tree under
construction, and after the exchange the old tree on its way out; ``.generated.old`` exists only where the exchange
takes two renames. `finish` knows which is which, whenever a run was killed.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from knaster.adapters import drift, opening
from knaster.adapters.exchange import exchange, settle
from knaster.adapters.files import FILE, FOLDER, GENERATED_BOUND, is_terraform, load, walk
from knaster.adapters.tree import build, remove, sync
from knaster.diagnostics import Diagnostic, WorldError

TARGET, FRESH, ASIDE = "generated", ".generated.new", ".generated.old"
WAIT = 60.0
"""Seconds to wait for another run that holds the folder."""

_HINTS = {
    errno.ENOSPC: "free some space; generated/ was left as it was",
    errno.EDQUOT: "free some space; generated/ was left as it was",
    errno.EXDEV: "generated/ lies in a layer of a container image: mount the repository into the container instead",
    errno.EBUSY: "generated/ is a mount point: mount the whole repository instead, render replaces the folder",
}
_NO_LOCKS = frozenset({errno.EBADF, errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL})


LEFTOVERS = (FRESH, ASIDE)
"""What a killed run may leave beside ``generated/``."""


@dataclass(frozen=True, slots=True)
class Written:
    """What `write` did, as sorted paths relative to ``generated/``; a removed empty folder ends in ``/``."""

    created: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def blockers(root: Path) -> tuple[Diagnostic, ...]:
    """Why ``generated/`` must not be replaced: links and special files (``generated-link``), OpenTofu state
    (``generated-state``). Empty means that `write` may go ahead.
    """
    with _world(root):
        return drift.blockers(_found(root, {}))


def check(root: Path, files: Mapping[str, str]) -> tuple[Diagnostic, ...]:
    """Every way in which ``generated/`` differs from `files` (paths relative to it); writes nothing."""
    with _world(root):
        needed = _encoded(files)
        return drift.compare(needed, _found(root, needed))


def write(root: Path, files: Mapping[str, str]) -> Written:
    """Make ``generated/`` exactly `files` (paths relative to it, to text), all or nothing.

    ``.terraform`` folders stay; every other file that is not in `files` goes. If all is as needed, nothing is touched.

    Raises:
        WorldError: it cannot be written, another run holds the folder, or there are `blockers`. The old tree is whole.
        ValueError: a path that is unsafe, or text that is not Unicode: a bug of the caller.
    """
    needed = _encoded(files)
    with _world(root), _held(root) as folder:
        _finish(root)
        found = _found(root, needed)
        if blocked := drift.blockers(found):
            raise WorldError(blocked[0].message, blocked[0].hint)
        if drift.compare(needed, found):
            _replace(root, needed, folder)
            return _summary(needed, found)
        return Written()


def finish(root: Path) -> None:
    """Complete or undo what a killed run left; afterwards ``generated/`` is the old or the new tree, whole.

    Raises:
        WorldError: that is not possible, or another run holds the folder. Litter beside a whole tree is no reason.
    """
    if not any(os.path.lexists(root / name) for name in (FRESH, ASIDE)):
        return
    with _world(root), _held(root):
        try:
            _finish(root)
        except OSError:
            if not os.path.lexists(root / TARGET):
                raise


def _replace(root: Path, needed: Mapping[str, bytes], folder: int) -> None:
    try:
        build(root / FRESH, needed)
        sync(folder)
        exchange(root / TARGET, root / FRESH, root / ASIDE)
        sync(folder)
    except BaseException:
        with suppress(OSError):
            _finish(root)
        raise
    try:
        _finish(root)
    except OSError as error:
        message = f"generated/ is written, but the old one cannot be removed: {error.filename}: {error.strerror}"
        raise WorldError(message, f"run: rm -r {root / FRESH}") from error


def _finish(root: Path) -> None:
    """Right at every moment: a tree under construction has no ``.terraform``, so whatever has one is the old tree."""
    settle(root / TARGET, root / FRESH, root / ASIDE)
    for leftover in (ASIDE, FRESH):
        _rescue(root, leftover)
        remove(root, leftover)


def _rescue(root: Path, leftover: str) -> None:
    """Move the ``.terraform`` folders of the old tree to the same place in the new one."""
    if not (root / TARGET).is_dir() or (root / TARGET).is_symlink():
        return
    caches = [path for path, kind in walk(str(root), leftover, leave=is_terraform) if kind == FOLDER]
    for path in filter(is_terraform, caches):
        inside = path.removeprefix(f"{leftover}/")
        if _through_a_link(root / TARGET, inside):
            continue
        place = root / TARGET / inside
        with suppress(FileExistsError, NotADirectoryError):  # a new file where its folder was: the cache goes
            place.parent.mkdir(parents=True, exist_ok=True)
            if not os.path.lexists(place):
                (root / path).rename(place)


def _through_a_link(folder: Path, inside: str) -> bool:
    """Whether a folder on the way is a link: what is moved there would land outside."""
    parts = inside.split("/")[:-1]
    return any((folder / "/".join(parts[:end])).is_symlink() for end in range(1, len(parts) + 1))


def _found(root: Path, needed: Mapping[str, bytes]) -> dict[str, drift.Found]:
    """Files, empty folders and whatever else lies below ``generated/``; only what is needed is read."""
    found: dict[str, drift.Found] = {}
    for full, kind in walk(str(root), TARGET, leave=_foreign):
        path = full.removeprefix(TARGET).removeprefix("/")
        parent = path.rpartition("/")[0]
        if path and parent in found and found[parent].kind == FOLDER:
            del found[parent]  # not empty
        if _foreign(path) and not is_terraform(path):
            found[path] = drift.Found(drift.REPOSITORY)
        elif kind == FILE:
            found[path] = _found_file(root / full, read=path in needed)
        elif not (kind == FOLDER and is_terraform(path)):
            found[path] = drift.Found(kind)
    return found


def _foreign(path: str) -> bool:
    return is_terraform(path) or path.rpartition("/")[2] == ".git"


def _found_file(path: Path, *, read: bool) -> drift.Found:
    data = load(str(path), GENERATED_BOUND) if read else None
    executable = bool(path.lstat().st_mode & 0o111)
    return drift.Found(FILE, executable, data if isinstance(data, bytes) else None)


def _summary(needed: Mapping[str, bytes], found: Mapping[str, drift.Found]) -> Written:
    files = {path: entry for path, entry in found.items() if entry.kind == FILE}
    folders = {f"{path}/" for path, entry in found.items() if path and entry.kind == FOLDER}
    changed = [path for path in files.keys() & needed if files[path].executable or files[path].data != needed[path]]
    kept = {folder for folder in folders if any(path.startswith(folder) for path in needed)}
    return Written(
        created=tuple(sorted(needed.keys() - files.keys())),
        changed=tuple(sorted(changed)),
        removed=tuple(sorted((files.keys() - needed.keys()) | (folders - kept))),
    )


def _encoded(files: Mapping[str, str]) -> dict[str, bytes]:
    for path in files:
        parts = path.split("/")
        unsafe = any(part in ("", ".", "..", ".git", ".terraform") or "\0" in part for part in parts)
        inside_file = any("/".join(parts[:end]) in files for end in range(1, len(parts)))
        if unsafe or inside_file or drift.is_state(path):
            raise ValueError(f"not a path below generated/: {path!r}")
    if not files:
        raise ValueError("nothing to write: an empty generated/ would mean an empty fleet")
    return {path: text.encode() for path, text in files.items()}


@contextmanager
def _held(root: Path) -> Iterator[int]:
    """The folder `root`, open and locked; the lock ends with the process, whatever happens to it."""
    folder = opening.folder(root)
    try:
        _lock(folder, root)
        yield folder
    finally:
        os.close(folder)


def _lock(folder: int, root: Path) -> None:
    import fcntl  # Windows has none; it gets no further than `opening.folder`

    end = time.monotonic() + WAIT
    while True:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end:
                waited = f"another knaster has been writing {root / TARGET} for {WAIT:.0f} seconds"
                raise WorldError(waited, "wait until it ends, or stop it; then run the command again") from None
            time.sleep(0.02)
        except OSError as error:
            if error.errno in _NO_LOCKS:  # NFS, for one: better without a lock than never
                return
            raise
        else:
            return


@contextmanager
def _world(root: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = f"{error.filename or root}: {error.strerror}"
        raise WorldError(f"cannot read or write {reason}", _HINTS.get(error.errno or 0)) from error
