"""A model on this disk: a folder as ``hf download`` leaves it, one GGUF file, or a bare ``config.json``.

Links to files are followed, because the cache of huggingface_hub is made of them; links to folders are not, and FIFOs,
sockets and devices are never opened.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from knaster.adapters.opening import flags
from knaster.diagnostics import WorldError

ENTRIES_BOUND = 50_000
_DEPTH = 4
_PART = re.compile(r"(.+)-\d{5}-of-(\d{5})\.gguf\Z", re.IGNORECASE)
_FLAGS = flags("O_RDONLY", "O_NONBLOCK", "O_CLOEXEC")


@dataclass(frozen=True, slots=True)
class LocalModel:
    """The files below `root` by their paths relative to it, with their bytes; hashes are not computed.

    ``revision`` is that of the cache's snapshot, None elsewhere.
    """

    name: str
    root: Path
    files: Mapping[str, tuple[int | None, str | None]]
    revision: str | None = None

    def read(self, path: str, start: int, length: int) -> bytes:
        """At most `length` bytes of a listed file from `start` on; fewer only where it ends. Raises WorldError."""
        if path not in self.files:
            raise WorldError(f"{self.name} has no file {path}")
        try:
            handle = os.open(self.root / path, _FLAGS)
            with os.fdopen(handle, "rb") as file:
                if not stat.S_ISREG(os.fstat(handle).st_mode):
                    raise WorldError(f"{self.root / path} is no regular file any more")
                file.seek(start)
                return file.read(length)
        except (OSError, OverflowError) as error:
            raise WorldError(f"cannot read {self.root / path}: {getattr(error, 'strerror', error)}") from None


def folder(path: Path, name: str | None = None, revision: str | None = None) -> LocalModel:
    """Every file of a folder, sub-folders too. Raises WorldError where it cannot be listed."""
    try:
        files = dict(sorted(_walk(path, "", _DEPTH)))
    except OSError as error:
        raise WorldError(f"cannot list {error.filename or path}: {error.strerror}") from None
    return LocalModel(name or str(path), path, files, revision)


def single(path: Path) -> LocalModel:
    """One file: a GGUF file, with the other parts where it is split, or a ``config.json`` alone. Raises WorldError."""
    parent = path.parent
    try:
        names = [path.name, *_parts(path)]
        found = {name: (size, None) for name in sorted(set(names)) if (size := _size(parent / name)) is not None}
    except OSError as error:
        raise WorldError(f"cannot read {path}: {error.strerror}") from None
    if path.name not in found:
        raise WorldError(f"{path} is no regular file")
    return LocalModel(str(path), parent, found)


def _parts(path: Path) -> Iterator[str]:
    match = _PART.match(path.name)
    if match is not None:
        wanted = re.compile(rf"{re.escape(match[1])}-\d{{5}}-of-{match[2]}\.gguf\Z", re.IGNORECASE)
        yield from (entry.name for entry in path.parent.iterdir() if wanted.match(entry.name))


def _walk(root: Path, below: str, depth: int, seen: list[int] | None = None) -> Iterator[tuple[str, tuple[int, None]]]:
    count = [0] if seen is None else seen
    with os.scandir(root / below) as entries:
        for entry in entries:
            count[0] += 1
            if count[0] > ENTRIES_BOUND:
                raise WorldError(f"{root} holds more than {ENTRIES_BOUND} files", "name the folder of one model")
            path = f"{below}/{entry.name}" if below else entry.name
            if entry.is_dir(follow_symlinks=False):
                if depth and not entry.name.startswith("."):
                    yield from _walk(root, path, depth - 1, count)
            elif (size := _size(root / path)) is not None:
                yield path, (size, None)


def _size(path: Path) -> int | None:
    """Bytes of a regular file; None for anything else, and for a link that leads nowhere."""
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None
