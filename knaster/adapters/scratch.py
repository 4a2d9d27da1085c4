"""Temporary files and folders. Where there is no room for one, that is the world's failure, not a bug."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import BinaryIO

from knaster.diagnostics import WorldError


@contextmanager
def file(data: bytes) -> Iterator[BinaryIO]:
    """A nameless file that holds `data`, open at its start. Raises WorldError where it cannot be written."""
    with _world():
        target = TemporaryFile()  # noqa: SIM115  # closed below; what its user does is no failure of writing it
        try:
            target.write(data)
            target.seek(0)
        except BaseException:
            _drop(target)
            raise
    with target:
        yield target


@contextmanager
def folder(files: Mapping[str, bytes] | None = None) -> Iterator[Path]:
    """A folder with these files by name, gone afterwards. Raises WorldError where it cannot be written."""
    with _world():
        target = TemporaryDirectory(prefix="knaster-", ignore_cleanup_errors=True)
    with target:
        path = Path(target.name)
        with _world():
            for name, data in (files or {}).items():
                (path / name).write_bytes(data)
        yield path


def _drop(target: BinaryIO) -> None:
    """Close a file whose buffer cannot be written out: closing tries that again, and fails again."""
    try:
        target.close()
    except OSError:
        return


@contextmanager
def _world() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = f"cannot write a temporary file: {error.strerror or error}"
        raise WorldError(message, "free some space, or name another folder with TMPDIR") from error
