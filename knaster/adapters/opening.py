"""What files are opened with, where the system knows it: Windows reads, and has none of the flags that fence it in."""

from __future__ import annotations

import os

from knaster.diagnostics import WorldError


def flags(*names: str) -> int:
    """``O_NOFOLLOW`` … together: those that this system has, and as bytes where it tells text from bytes."""
    found = getattr(os, "O_BINARY", 0)
    for name in names:
        found |= getattr(os, name, 0)
    return found


def folder(path: str | os.PathLike[str], *more: str) -> int:
    """An open folder, to write in. Raises WorldError where the system opens no folders, else OSError."""
    if not hasattr(os, "O_DIRECTORY"):
        raise WorldError(
            f"nothing is written to {path}: on Windows knaster reads, and writes results (-o FILE) alone",
            "write on Linux or macOS, or in the Windows Subsystem for Linux",
        )
    return os.open(path, flags("O_RDONLY", "O_DIRECTORY", "O_CLOEXEC", *more))
