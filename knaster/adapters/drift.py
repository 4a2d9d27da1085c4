"""What is needed under ``generated/`` against what lies there: one finding per file, each with the way out. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import PurePosixPath
from shlex import quote
from typing import Any

from knaster import foreign_json
from knaster.adapters.files import FILE, FOLDER
from knaster.diagnostics import Diagnostic, Place

MANIFEST = "manifest.json"
LOCK = ".terraform.lock.hcl"
REPOSITORY = "the .git of another repository"
_RENDER = "run: knaster render"
# What OpenTofu writes beside a module: the state, its backups (with or without a time stamp), the lock of a run.
_STATE = re.compile(r"(?s).*\.tfstate(\.backup|\..*\.backup)?|\..*\.tfstate\.lock\.info")


@dataclass(frozen=True, slots=True)
class Found:
    """One entry below ``generated/``. `data` is None where it was not read: a file nobody needs, or one too large."""

    kind: str
    executable: bool = False
    data: bytes | None = None


def is_state(path: str) -> bool:
    """Whether a path has a name that OpenTofu gives to state, its backups and its lock."""
    return _STATE.fullmatch(path.rpartition("/")[2]) is not None


def blockers(found: Mapping[str, Found]) -> tuple[Diagnostic, ...]:
    """What forbids replacing the folder, by path; a path is relative to ``generated/``, ``""`` is the folder itself."""
    return tuple(finding for path in sorted(found) for finding in _blocker(path, found[path]))


def _blocker(path: str, entry: Found) -> Iterator[Diagnostic]:
    name = _name(path)
    if entry.kind not in (FILE, FOLDER) or (path == "" and entry.kind == FILE):
        wanted = "regular files" if path else "a real folder"
        remedy = "move it away, then run: knaster render"
        if entry.kind != REPOSITORY:
            remedy = f"run: rm {quote(name)} && knaster render"
        yield _finding("link", path, f"{name} is {entry.kind}; render replaces {wanted} and nothing else", remedy)
    elif entry.kind == FILE and is_state(path):
        yield _finding(
            "state",
            path,
            f"{name} is OpenTofu state; render replaces the whole folder and would destroy it",
            "move it out of generated/, to where the backend block of the module says, then run: knaster render",
        )


def compare(needed: Mapping[str, bytes], found: Mapping[str, Found]) -> tuple[Diagnostic, ...]:
    """All findings, by path; none means that ``generated/`` is exactly what is needed."""
    blocked = {path: finding for path in found for finding in _blocker(path, found[path])}
    if "" in blocked:
        return (blocked[""],)
    record = _parsed(found[MANIFEST].data if MANIFEST in found else None)
    findings: list[Diagnostic] = []
    for path in sorted(needed.keys() | found.keys()):
        if path in blocked:
            findings.append(blocked[path])
        elif path not in needed:
            findings.extend(_extra(path, found[path], needed))
        elif path not in found or found[path].kind == FOLDER:
            findings.extend(_missing(path, folder=path in found, blocked=blocked))
        else:
            findings.extend(_differences(path, needed[path], found[path], record))
    return tuple(findings)


def _extra(path: str, entry: Found, needed: Iterable[str]) -> Iterator[Diagnostic]:
    if entry.kind == FOLDER and (path == "" or any(other.startswith(f"{path}/") for other in needed)):
        return
    what = "an empty folder" if entry.kind == FOLDER else "a file"
    yield _finding("extra", path, f"{_name(path)} is {what} that nothing generates")


def _missing(path: str, *, folder: bool, blocked: Iterable[str]) -> Iterator[Diagnostic]:
    if any(str(parent) in blocked for parent in PurePosixPath(path).parents):
        return  # it is missing because a link stands where its folder should be
    yield _finding("missing", path, f"{_name(path)} is missing" + (": a folder stands in its place" if folder else ""))


def _differences(path: str, needed: bytes, entry: Found, record: Mapping[str, Any] | None) -> Iterator[Diagnostic]:
    name, data = _name(path), entry.data
    if data is None:
        yield _finding("edited", path, f"{name} was changed by hand: it is too large to be a generated file")
    elif data != needed and _unix(data) == _unix(needed):
        hint = f"{_RENDER}; so that git keeps LF, put `generated/** -text` into .gitattributes"
        yield _finding("eol", path, f"{name} has other line endings than LF", hint)
    elif data != needed and path.rpartition("/")[2] == LOCK and _same_lock(needed, data):
        pass
    elif data != needed and _foreign_lock(path, data):
        why = "it is of terraform's registry, and tofu would upgrade the provider without a word"
        yield _finding("edited", path, f"{name} was changed by hand: {why}")
    elif data != needed and _by_hand(path, needed, data, record):
        yield _finding("edited", path, f"{name} was changed by hand")
    elif data != needed:
        yield _finding("stale", path, f"{name} is out of date: it was rendered from other inputs or by another knaster")
    if entry.executable:
        yield _finding("mode", path, f"{name} is executable; a generated file has mode 0644")


def _same_lock(needed: bytes, data: bytes) -> bool:
    """Whether a lock file is the one that is needed with more hashes: `tofu init` adds that of the package it got."""
    wanted, found = _hashes(needed), _hashes(data)
    return wanted[0] == found[0] and wanted[1] <= found[1]


def _hashes(lock: bytes) -> tuple[list[bytes], set[bytes]]:
    """The lines that are no hash, and the hashes."""
    lines = _unix(lock).split(b"\n")
    hashes = {line.strip() for line in lines if line.strip().startswith((b'"h1:', b'"zh:'))}
    return [line for line in lines if line.strip() not in hashes], hashes


def _foreign_lock(path: str, data: bytes) -> bool:
    return path.rpartition("/")[2] == LOCK and b"registry.terraform.io/" in data


def _by_hand(path: str, needed: bytes, data: bytes, record: Mapping[str, Any] | None) -> bool:
    """Whether no render wrote this: the manifest records every file, and is itself as `render` lays it out."""
    if record is None:
        return True
    if path == MANIFEST:
        if _unix(data) != _laid_out(record):
            return True
        wanted = _parsed(needed) or {}
        return all(record.get(key) == wanted.get(key) for key in ("input_digest", "tool_version", "files"))
    files = record.get("files")
    recorded = files.get(path) if isinstance(files, dict) else None
    return recorded not in (_digest(data), _digest(_unix(data)))


def _parsed(manifest: bytes | None) -> Mapping[str, Any] | None:
    """A manifest's content; None for bytes that are none: the folder may hold anything at all."""
    return foreign_json.mapping(manifest or b"")


def _laid_out(record: Mapping[str, Any]) -> bytes | None:
    """The bytes that `render` writes for a manifest; None where there are none."""
    try:
        return (json.dumps(record, indent=2, ensure_ascii=False) + "\n").encode()
    except (ValueError, RecursionError):
        return None


def _digest(data: bytes) -> str:
    return f"sha256:{sha256(data).hexdigest()}"


def _unix(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _name(path: str) -> str:
    return f"generated/{path}" if path else "generated"


def _finding(code: str, path: str, message: str, hint: str = _RENDER) -> Diagnostic:
    return Diagnostic(f"generated-{code}", message, Place(_name(path)), hint=hint)
