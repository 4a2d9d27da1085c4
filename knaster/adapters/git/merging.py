"""A merge in memory: two commits become a tree, no file is touched."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from posixpath import relpath

from knaster.adapters import scratch
from knaster.adapters.git.commits import is_shallow, prefix, resolve
from knaster.adapters.git.runner import line, run
from knaster.adapters.git.telling import UNSHALLOW, failure
from knaster.diagnostics import WorldError

_AS_A_SERVER = (
    *("-c", "merge.renames=true"),
    *("-c", "merge.directoryRenames=conflict"),
    *("-c", "merge.default=text"),
    *("-c", f"core.attributesFile={os.devnull}"),
)
"""Git's own defaults, whatever a person has set: the server merges with these."""


_NOT_WRITABLE = ("unable to create temporary file", "insufficient permission")
"""What ``write_loose_object`` of git's object-file.c says before "failure to merge"."""


@dataclass(frozen=True, slots=True)
class Merged:
    """The tree of a merge and the paths in conflict, sorted; these are relative to the root asked about (``../x``)."""

    tree: str
    conflicts: tuple[str, ...]


def merge(root: Path, base: str, head: str) -> Merged:
    """Merge two commits as ``git merge`` would, into the repository's objects alone. Files in conflict hold markers.

    Raises:
        WorldError: there is no such commit, the histories have nothing in common, or git is older than 2.38.
    """
    ours, theirs = resolve(root, base), resolve(root, head)
    store = line(root, "rev-parse", "--absolute-git-dir")
    with scratch.folder() as nothing:  # no .gitattributes of what happens to be checked out has a say
        place = (f"--git-dir={store}", f"--work-tree={nothing}", *_AS_A_SERVER)
        command = ("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs)
        answer = run(nothing, *place, *command)
    if answer.status not in (0, 1):
        raise _not_merged(root, base, head, answer.complaint, answer.status)
    tree, *paths = answer.output.decode("utf-8", "surrogateescape").split("\0")
    folder = prefix(root)
    return Merged(tree, tuple(sorted({_seen_from(folder, path) for path in paths if path})))


def _seen_from(folder: str, path: str) -> str:
    return relpath(f"/{path}", f"/{folder}") if folder else path


def _not_merged(root: Path, base: str, head: str, complaint: str, status: int) -> WorldError:
    if "unrelated histories" in complaint:
        hint = UNSHALLOW if is_shallow(root) else "make the branch from the main branch of this repository"
        return WorldError(f"{base} and {head} have no commit in common", hint)
    if status == 129 or "usage: git merge-tree" in complaint or "write-tree" in complaint:
        have = line(root, "version").removeprefix("git version ")
        return WorldError(f"git {have} cannot merge in memory, git 2.38 or newer can", "install git 2.38 or newer")
    if any(words in complaint for words in _NOT_WRITABLE):
        return WorldError(
            "the merge cannot be kept: git cannot write into this repository",
            "git keeps the merged tree among its objects: plan in a clone that you may write to",
        )
    return failure(complaint, status)
