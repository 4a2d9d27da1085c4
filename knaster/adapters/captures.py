"""Captures on disk, one file at a time, and the scripts that make them.

A folder of captures comes from machines that nobody vouches for: links, FIFOs and devices are refused before they are
opened, sizes are bounded, and the name of a file becomes the name of a node only if it is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from knaster.adapters.files import FILE, FOLDER, kind_of, load
from knaster.diagnostics import WorldError
from knaster.files import Refused
from knaster.units import MIB

System = Literal["linux", "proxmox", "windows"]
CAPTURE_BOUND = 16 * MIB
SUFFIX = ".capture"

_SCRIPTS = Path(__file__).parent.parent / "inventory" / "scripts"
_NODE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
"""A DNS label, as `knaster validate` asks of a node: no dot, no slash, so never a path."""


@dataclass(frozen=True, slots=True)
class Captured:
    """One entry of a folder. ``name``: the node that the file's name speaks of. ``other``: the entry is no capture
    by its name, and worth a word to the user, but no failure."""

    file: str
    name: str
    content: bytes | Refused
    other: bool = False


def script(system: System) -> str:
    """The text of the capture script for this system; one script serves Linux and Proxmox."""
    name = "windows.ps1" if system == "windows" else "linux.sh"
    return (_SCRIPTS / name).read_text(encoding="utf-8")


def read(path: Path) -> Iterator[Captured]:
    """The captures of a folder, sorted by name, or the one capture that `path` is. Each is read when it is asked for.

    Sub-folders are not entered. Hidden files are left out, unless they pretend to be captures (``..x.capture``).

    Raises:
        WorldError: `path` cannot be read, or is neither a folder nor a file.
    """
    try:
        kind = kind_of(path.lstat().st_mode)
        if kind == FOLDER:
            yield from (_entry(entry) for entry in sorted(path.iterdir()) if not _hidden(entry.name))
        elif kind == FILE:
            yield _entry(path, named=False)
        else:
            raise WorldError(f"{path} is {kind}", "name a folder of captures, or one capture file")
    except OSError as error:
        hint = "name a folder of captures, or one capture file"
        raise WorldError(f"cannot read {error.filename or path}: {error.strerror}", hint) from error


def _hidden(name: str) -> bool:
    return name.startswith(".") and not name.endswith(SUFFIX)


def _entry(path: Path, *, named: bool = True) -> Captured:
    """A file that the user named himself may have any name; then the machine says what it is called."""
    file = path.name.encode("utf-8", "backslashreplace").decode("utf-8")
    name = file.removesuffix(SUFFIX)
    if not named:
        return Captured(file, name if file.endswith(SUFFIX) and _NODE.fullmatch(name) else "", _content(path))
    if not file.endswith(SUFFIX):
        return Captured(file, "", Refused(f"not named NAME{SUFFIX}"), other=True)
    if not _NODE.fullmatch(name):
        return Captured(file, "", Refused("named after no node: letters, digits and - inside, at most 63"))
    return Captured(file, name, _content(path))


def _content(path: Path) -> bytes | Refused:
    data = load(str(path), CAPTURE_BOUND)
    return Refused("gone while it was read") if data is None else data
