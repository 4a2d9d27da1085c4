"""Whole folder trees on disk: built durably, removed completely."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from pathlib import Path

from knaster.adapters import opening
from knaster.adapters.files import FOLDER, walk

_FOLDER_MODE, _FILE_MODE = 0o755, 0o644
_UNSYNCABLE = frozenset({errno.EINVAL, errno.EBADF, errno.ENOTSUP})


def build(top: Path, files: Mapping[str, bytes]) -> None:
    """A new folder with these files (paths relative to it) on the disk itself: whatever follows finds it whole.

    Modes are 0755 and 0644 whatever the umask: other users' services read these files.
    """
    folders = {top} | {top / parent for path in files for parent in Path(path).parents}
    for folder in sorted(folders):
        folder.mkdir(_FOLDER_MODE)
        _allow(folder, _FOLDER_MODE)
    for path, data in sorted(files.items()):
        _put(top / path, data)
    for folder in sorted(folders, reverse=True):
        handle = opening.folder(folder)
        try:
            sync(handle)
        finally:
            os.close(handle)


def _put(path: Path, data: bytes) -> None:
    handle = os.open(path, opening.flags("O_WRONLY", "O_CREAT", "O_EXCL", "O_NOFOLLOW", "O_CLOEXEC"), _FILE_MODE)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(handle, rest) :]
        os.fsync(handle)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        os.close(handle)
    _allow(path, _FILE_MODE)


def _allow(path: Path, mode: int) -> None:
    current = path.lstat().st_mode
    if current & 0o777 != mode:
        path.chmod((current & 0o7000) | mode)


def sync(folder: int) -> None:
    """fsync of an open folder, where its file system knows such a thing."""
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno not in _UNSYNCABLE:
            raise


def remove(root: Path, name: str) -> None:
    """Remove ``root/name`` with all below it; a link goes, what it points to stays. Nothing there is fine."""
    entries: list[tuple[Path, str]] = []
    for path, kind in walk(str(root), name):
        if kind == FOLDER:
            _open_up(root / path)
        entries.append((root / path, kind))
    for entry, kind in reversed(entries):
        if kind == FOLDER:
            entry.rmdir()
        else:
            entry.unlink(missing_ok=True)


def _open_up(folder: Path) -> None:
    mode = folder.lstat().st_mode
    if mode & 0o700 != 0o700:
        folder.chmod(0o700)
