"""A working tree as `Files`: what lies under ``inventory/``, ``catalog/`` and ``generated/``, never through a link.

Whatever is no regular file is refused before it is opened: a FIFO would block the run, a link could show a secret.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from knaster.adapters.opening import flags
from knaster.diagnostics import WorldError
from knaster.files import Entry, Refused
from knaster.units import MIB

INPUT_BOUND = 2 * MIB
GENERATED_BOUND = 64 * MIB
INPUTS_BOUND = 64 * MIB
"""Of all inputs together: some 40,000 nodes with four cards each."""
RENDERED_BOUND = 256 * MIB
"""Of all generated files together."""

FILE = "a file"
FOLDER = "a folder"

_FLAGS = flags("O_RDONLY", "O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC")
_KINDS: tuple[tuple[Callable[[int], bool], str], ...] = (
    (stat.S_ISREG, FILE),
    (stat.S_ISDIR, FOLDER),
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def read(root: Path, *, generated: bool = False) -> dict[str, Entry]:
    """All entries below ``inventory/`` and ``catalog/`` (and ``generated/``), sorted by path in code points.

    Files that do not end in ``.yaml`` are listed with the text ``""``, except under ``generated/``. What
    OpenTofu keeps in ``.terraform`` below ``generated/`` is left out.

    Raises:
        WorldError: `root` is no folder, or something in it cannot be read.
    """
    try:
        _require_folder(root)
        found = dict(_entries(str(root), ("catalog", "inventory"), Budget(INPUTS_BOUND)))
        if generated:
            found.update(_entries(str(root), ("generated",), Budget(RENDERED_BOUND)))
    except OSError as error:
        raise WorldError(f"cannot read {error.filename or root}: {error.strerror}") from error
    return dict(sorted(found.items()))


class Budget:
    """How many bytes of a tree may still be read. Files come in the order of their paths, so that all readers agree."""

    def __init__(self, most: int) -> None:
        self._most = self._left = most

    def refusal(self, size: int) -> Refused | None:
        """Why a file of this size is beyond what all files together may have; else None, and it is counted."""
        if size > self._left:
            return Refused(f"beyond the {_mib(self._most)} MiB that all files together may have")
        self._left -= size
        return None


def _require_folder(root: Path) -> None:
    if not root.is_dir():
        raise WorldError(
            f"{root} is not a folder" if root.exists() else f"there is no folder {root}",
            "name the folder of the repository with -C DIR",
        )


def _nothing(_path: str) -> bool:
    return False


def _entries(root: str, tops: Sequence[str], budget: Budget) -> Iterator[tuple[str, Entry]]:
    rendered = tops == ("generated",)
    leave = is_terraform if rendered else _nothing
    for path, kind in sorted(entry for top in tops for entry in walk(root, top, leave=leave)):
        if kind == FILE and path in tops:
            yield path, Refused("a file, not a folder")
        elif kind == FILE and not (rendered or path.endswith(".yaml")):
            yield path, ""
        elif kind == FILE:
            yield from _text(path, load(f"{root}/{path}", GENERATED_BOUND if rendered else INPUT_BOUND), budget)
        elif kind != FOLDER:
            yield path, Refused(kind)


def _text(path: str, data: bytes | Refused | None, budget: Budget) -> Iterator[tuple[str, Entry]]:
    if isinstance(data, bytes):
        yield path, budget.refusal(len(data)) or data.decode("utf-8", "surrogateescape")
    elif data is not None:
        yield path, data


def is_terraform(path: str) -> bool:
    """Whether a path names a ``.terraform`` folder: OpenTofu's cache, which is never ours."""
    return path.rpartition("/")[2] == ".terraform"


def walk(root: str, top: str, leave: Callable[[str], bool] = _nothing) -> Iterator[tuple[str, str]]:
    """``root/top`` and everything below it, as (path relative to `root`, kind), a folder before its content.

    Links are entries and never followed; a folder for which `leave` holds is yielded, but not entered. What vanishes
    meanwhile is not there. Iterative, because a repository may nest deeper than Python recurses.
    """
    try:
        kind = kind_of(os.lstat(f"{root}/{top}").st_mode)
    except FileNotFoundError:
        return
    yield top, kind
    waiting = [top] if kind == FOLDER else []
    while waiting:
        folder = waiting.pop()
        for name, kind in _listed(f"{root}/{folder}"):
            path = f"{folder}/{name}"
            yield path, kind
            if kind == FOLDER and not leave(path):
                waiting.append(path)


def _listed(folder: str) -> list[tuple[str, str]]:
    try:
        with os.scandir(folder) as entries:
            return [(entry.name, _kind(entry)) for entry in entries]
    except FileNotFoundError:
        return []


def _kind(entry: os.DirEntry[str]) -> str:
    if entry.is_file(follow_symlinks=False):
        return FILE
    return FOLDER if entry.is_dir(follow_symlinks=False) else kind_of(entry.stat(follow_symlinks=False).st_mode)


def kind_of(mode: int) -> str:
    """What a file mode stands for, in words: ``a file``, ``a folder``, ``a symbolic link``, ``a FIFO`` …"""
    return next((words for test, words in _KINDS if test(mode)), "a special file")


def load(path: str, bound: int) -> bytes | Refused | None:
    """The bytes of a regular file of at most `bound` bytes, else why not; None if it has vanished.

    Asks before opening and again after it: between the two a file can become a link.
    """
    try:
        kind = kind_of(os.lstat(path).st_mode)
        if kind != FILE:
            return Refused(kind)
        handle = os.open(path, _FLAGS)
    except FileNotFoundError:
        return None
    try:
        return _drain(handle, bound)
    finally:
        os.close(handle)


def _drain(handle: int, bound: int) -> bytes | Refused:
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        return Refused(kind_of(status.st_mode))
    size, parts = status.st_size, [b""]
    length = 0
    while size <= bound and (part := os.read(handle, max(size - length, 0) + 1)):
        parts.append(part)
        length += len(part)
        size = max(size, length)  # a file that grows while it is read
    return too_large(size, bound) if size > bound else b"".join(parts)


def too_large(size: int, bound: int) -> Refused:
    """The refusal of a file of `size` bytes where at most `bound` are read."""
    return Refused(f"{_mib(size)} MiB, over the bound of {_mib(bound)} MiB")


def _mib(size: int) -> str:
    tenths = -(-size * 10 // MIB)  # rounded up: a size over the bound never looks like the bound
    return f"{tenths // 10}.{tenths % 10}" if tenths % 10 else f"{tenths // 10}"
