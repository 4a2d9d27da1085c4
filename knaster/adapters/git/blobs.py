"""Objects by the thousand: one git process reads them all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from knaster.adapters.git.runner import ask
from knaster.diagnostics import WorldError


def contents(root: Path, bounds: Mapping[str, int]) -> Iterator[tuple[str, int, bytes]]:
    """Each blob that `bounds` names: its id, its size, and its bytes where no more than the bound (else none).

    Raises:
        WorldError: the repository lacks one.
    """
    sizes = sizes_of(root, bounds)
    small = {oid: data for oid, _, data in objects(root, [oid for oid in bounds if sizes[oid] <= bounds[oid]])}
    for oid, size in sizes.items():
        yield oid, size, small.get(oid, b"")


def sizes_of(root: Path, oids: Iterable[str]) -> dict[str, int]:
    """The size of each blob in bytes. Raises WorldError where the repository lacks one."""
    asked = tuple(oids)
    rows = ask(root, "cat-file", "--batch-check", stdin=_asked(asked)).decode("utf-8", "surrogateescape").split("\n")
    return {oid: _size(oid, row) for oid, row in zip(asked, rows, strict=False)}


def _size(oid: str, row: str) -> int:
    _, kind, size = row.split(" ") if row.count(" ") == 2 else (oid, "", "")
    if kind != "blob":
        raise WorldError(f"git: object {oid} is missing, or no file", "run: git fsck")
    return int(size)


def _asked(names: Iterable[str]) -> bytes:
    return "".join(f"{name}\n" for name in names).encode()


def objects(root: Path, names: Iterable[str]) -> Iterator[tuple[str, str, bytes]]:
    """Each name (without a line end) with the kind of object that it stands for, and its bytes; ``""`` for none."""
    asked = list(names)
    if not asked:
        return
    listed = ask(root, "cat-file", "--batch", stdin=_asked(asked))
    at = 0
    for name in asked:
        end = listed.index(b"\n", at)
        header = listed[at:end].split(b" ")
        at = end + 1
        if header[-1] in (b"missing", b"ambiguous") or len(header) != 3:
            yield name, "", b""
            continue
        size = int(header[2])
        yield name, header[1].decode("ascii"), listed[at : at + size]
        at += size + 1
