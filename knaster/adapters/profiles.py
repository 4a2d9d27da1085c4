"""The folder of node profiles, read and written: each file whole or not at all, never through a link.

The folder is opened once and all writing happens inside it: nobody can put a link in its place meanwhile.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from knaster.adapters import opening
from knaster.adapters.files import FILE, INPUT_BOUND, kind_of, load
from knaster.diagnostics import WorldError
from knaster.files import Refused

_MODE = 0o644


@dataclass(frozen=True, slots=True)
class Folder:
    """An open folder. ``path`` is how the user names it, ``handle`` what counts."""

    path: Path
    handle: int

    def find(self, name: str) -> str:
        """The file with this name; one that differs in case alone is the same node's."""
        wanted = name.casefold()
        with os.scandir(self.handle) as entries:
            same = sorted(entry.name for entry in entries if entry.name.casefold() == wanted)
        return name if name in same or not same else same[0]

    def read(self, file: str) -> str | Refused | None:
        """Its text, bytes that are no UTF-8 kept by ``surrogateescape``; None if there is none. Raises WorldError."""
        try:
            data = load(str(self.path / file), INPUT_BOUND)
        except OSError as error:
            raise WorldError(f"cannot read {self.path / file}: {error.strerror}") from error
        return data.decode("utf-8", "surrogateescape") if isinstance(data, bytes) else data

    def write(self, file: str, text: str) -> None:
        """Put the text there by a temporary file and a rename; an existing file keeps its mode. Raises WorldError."""
        part = f".{file}.{os.getpid()}.part"
        try:
            mode = self._mode(file)
            try:
                self._fill(part, text.encode("utf-8", "surrogateescape"), mode)
                os.rename(part, file, src_dir_fd=self.handle, dst_dir_fd=self.handle)
            except BaseException:
                self._drop(part)
                raise
        except OSError as error:
            raise WorldError(f"cannot write {self.path / file}: {error.strerror}") from error

    def _mode(self, file: str) -> int:
        try:
            mode = os.stat(file, dir_fd=self.handle, follow_symlinks=False).st_mode
        except FileNotFoundError:
            return _MODE
        if kind_of(mode) != FILE:
            raise WorldError(f"{self.path / file} is {kind_of(mode)}", "put a regular file in its place, or remove it")
        return stat.S_IMODE(mode)

    def _fill(self, part: str, data: bytes, mode: int) -> None:
        flags = opening.flags("O_WRONLY", "O_CREAT", "O_EXCL", "O_NOFOLLOW", "O_CLOEXEC")
        with os.fdopen(os.open(part, flags, 0o600, dir_fd=self.handle), "wb") as target:
            target.write(data)
            target.flush()
            os.fchmod(target.fileno(), mode)
            os.fsync(target.fileno())

    def _drop(self, part: str) -> None:
        try:
            os.unlink(part, dir_fd=self.handle)
        except FileNotFoundError:
            return


@contextmanager
def locked(folder: Folder) -> Iterator[None]:
    """Alone among the runs of knaster that ask; the lock lies on the open folder and goes with it, however a run ends.

    Where the system or the file system has no such locks, nobody is kept out.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    with suppress(OSError):
        fcntl.flock(folder.handle, fcntl.LOCK_EX)
    yield


@contextmanager
def opened(path: Path) -> Iterator[Folder]:
    """The folder, open. Raises WorldError where there is none, or `path` is a link."""
    try:
        handle = opening.folder(path, "O_NOFOLLOW")
    except FileNotFoundError as error:
        raise WorldError(
            f"there is no folder {path}", f"run knaster at the top of the fleet's repository, or make it: mkdir {path}"
        ) from error
    except OSError as error:
        try:
            kind = kind_of(path.lstat().st_mode)
        except OSError:
            kind = error.strerror or "not readable"
        raise WorldError(f"nothing is written to {path}: it is {kind}", "name a folder itself") from error
    try:
        yield Folder(path, handle)
    finally:
        os.close(handle)
