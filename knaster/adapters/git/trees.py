"""A commit, or any tree, as `Files`: exactly what reading a checkout of it would give, without one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from knaster.adapters.drift import Found
from knaster.adapters.files import (
    FILE,
    GENERATED_BOUND,
    INPUT_BOUND,
    INPUTS_BOUND,
    RENDERED_BOUND,
    Budget,
    too_large,
)
from knaster.adapters.git.blobs import contents, sizes_of
from knaster.adapters.git.runner import ask
from knaster.adapters.git.telling import refuse_option
from knaster.files import Entry, Refused
from knaster.units import MIB

GENERATED = "generated"
_LISTING_BOUND = 16 * MIB
"""Bytes of names: some 150,000 files. A few small trees that hold one another can list more than fits anywhere."""
_KINDS = {"100644": FILE, "100755": FILE, "120000": "a symbolic link", "160000": "a submodule"}
_NO_NAME = "an entry whose name no checkout can have"
_TWICE = "an entry that its folder holds twice"


@dataclass(frozen=True, slots=True)
class Listed:
    """One entry of a tree that is no folder: `path` relative to the root asked about."""

    path: str
    kind: str
    executable: bool
    oid: str


def read(root: Path, treeish: str, *, generated: bool = False) -> dict[str, Entry]:
    """What `adapters.files.read` gives for a checkout of `treeish`, as git stores it: without the line endings and
    filters that a checkout may apply. A submodule is refused.

    Raises:
        WorldError: there is no such tree, or git cannot read it.
    """
    return read_many(root, (treeish,), generated=generated)[0]


def read_many(root: Path, treeishes: Iterable[str], *, generated: bool = False) -> list[dict[str, Entry]]:
    """The same for several trees. What is stored once is read once, and is one object in all of them."""
    return read_below(root, treeishes, ("inventory", "catalog", *((GENERATED,) if generated else ())))


def read_below(root: Path, treeishes: Iterable[str], tops: Sequence[str]) -> list[dict[str, Entry]]:
    """The same for these folders alone."""
    found = [sorted(listed(root, tree, tops).items()) for tree in treeishes]
    sizes = sizes_of(root, {entry.oid for one in found for _, entry in one if _known(entry) is None})
    judged = [_judged(one, sizes) for one in found]
    texts = _texts(root, {entry for one in judged for entry in one.values() if isinstance(entry, Listed)}, sizes)
    return [{path: texts[it.oid] if isinstance(it, Listed) else it for path, it in one.items()} for one in judged]


def _judged(entries: Sequence[tuple[str, Listed]], sizes: Mapping[str, int]) -> dict[str, Entry | Listed]:
    """Of each path its entry, or what has to be read for it. The bytes of a text count for every path that has it."""
    inputs, rendered = Budget(INPUTS_BOUND), Budget(RENDERED_BOUND)
    judged: dict[str, Entry | Listed] = {}
    for path, entry in entries:
        known = _known(entry)
        if known is None and sizes[entry.oid] > _bound(entry):
            known = too_large(sizes[entry.oid], _bound(entry))
        if known is None:
            known = (rendered if _rendered(entry) else inputs).refusal(sizes[entry.oid])
        judged[path] = entry if known is None else known
    return judged


def _texts(root: Path, entries: Iterable[Listed], sizes: Mapping[str, int]) -> dict[str, str]:
    read = contents(root, {entry.oid: sizes[entry.oid] for entry in entries})
    return {oid: data.decode("utf-8", "surrogateescape") for oid, _, data in read}


def generated(root: Path, treeish: str) -> dict[str, Found]:
    """Everything below ``generated/`` of a tree, for `adapters.drift`: paths relative to it, ``""`` for itself.

    The bytes of a file over the bound of one, or of all together, are not read. Raises WorldError as `read` does.
    """
    found = listed(root, treeish, (GENERATED,))
    files = {path: entry for path, entry in sorted(found.items()) if entry.kind == FILE}
    sizes = sizes_of(root, {entry.oid for entry in files.values()})
    budget = Budget(RENDERED_BOUND)
    wanted = {
        path: sizes[entry.oid]
        for path, entry in files.items()
        if sizes[entry.oid] <= GENERATED_BOUND and budget.refusal(sizes[entry.oid]) is None
    }
    data = {oid: data for oid, _, data in contents(root, {files[path].oid: size for path, size in wanted.items()})}
    return {
        path.removeprefix(GENERATED).removeprefix("/"): Found(
            entry.kind, entry.executable, data[entry.oid] if path in wanted else None
        )
        for path, entry in sorted(found.items())
    }


def touched(root: Path, old: str, new: str, folder: str) -> tuple[str, ...]:
    """The paths at or below `folder` in which two trees differ (content, kind or mode), sorted.

    `folder` and the paths are relative to `root`. Raises WorldError where a tree cannot be read.
    """
    flags = ("-r", "--no-renames", "--ignore-submodules=none", "--relative", "-z", "--name-only")
    trees = (refuse_option(old), refuse_option(new))
    output = ask(root, "diff-tree", *flags, *trees, "--", folder, bound=_LISTING_BOUND)
    return tuple(sorted(name for name in output.decode("utf-8", "surrogateescape").split("\0") if name))


def listed(root: Path, treeish: str, tops: Iterable[str]) -> dict[str, Listed]:
    """The entries at and below these names, by path; what `adapters.files.read` leaves out is left out."""
    output = ask(root, "ls-tree", "-r", "-z", refuse_option(treeish), "--", *tops, bound=_LISTING_BOUND)
    found: dict[str, Listed] = {}
    for entry in _entries(output):
        found[entry.path] = replace(entry, kind=_TWICE) if entry.path in found else entry
    return found


def _entries(output: bytes) -> Iterator[Listed]:
    for row in output.split(b"\0")[:-1]:
        meta, _, name = row.partition(b"\t")
        mode, _, oid = meta.decode("ascii").split()
        path = name.decode("utf-8", "surrogateescape")
        if _left_alone(path):
            continue
        kind = _KINDS.get(mode, _NO_NAME) if _possible(path) else _NO_NAME
        yield Listed(path, kind, mode == "100755", oid)


def _possible(path: str) -> bool:
    return not any(part in ("", ".", "..") or part.lower() == ".git" for part in path.split("/"))


def _left_alone(path: str) -> bool:
    return path.startswith(f"{GENERATED}/") and "/.terraform/" in path


def _known(entry: Listed) -> Entry | None:
    """The entry for `Files`, or None where the text must be read."""
    if entry.kind != FILE:
        return Refused(entry.kind)
    if "/" not in entry.path:
        return Refused("a file, not a folder")
    return None if _rendered(entry) or entry.path.endswith(".yaml") else ""


def _rendered(entry: Listed) -> bool:
    return entry.path.startswith(f"{GENERATED}/")


def _bound(entry: Listed) -> int:
    return GENERATED_BOUND if _rendered(entry) else INPUT_BOUND
