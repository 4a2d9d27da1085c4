"""What lies at a folder: whether git is there, what HEAD holds of one file, what the index holds."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from knaster.adapters.files import GENERATED_BOUND
from knaster.adapters.git.runner import ask, run
from knaster.diagnostics import WorldError


def inside_git(root: Path) -> bool:
    """Whether `root` or a folder above it holds a ``.git`` (a folder, or the file of a worktree or submodule)."""
    physical = Path(os.path.realpath(root))
    return any(os.path.lexists(folder / ".git") for folder in (physical, *physical.parents))


def create(root: Path) -> None:
    """An empty repository in `root`, its first branch called main. Raises WorldError where git refuses."""
    ask(root, "init", "--quiet", "--initial-branch=main")


def head_file(root: Path, path: str) -> str | None:
    """The text of ``root/path`` in the commit HEAD, bytes that are no UTF-8 kept by ``surrogateescape``.

    None outside git, before the first commit, and where HEAD has no such file (a link there is none).

    Raises:
        WorldError: git cannot be started or will not or cannot read this repository.
    """
    if not inside_git(root):
        return None
    listed = run(root, "ls-tree", "-z", "HEAD", "--", path)
    if listed.status != 0 and unborn(root):
        return None
    mode, _, rest = listed.accepted().partition(b" ")
    if mode not in (b"100644", b"100755"):
        return None
    blob = rest.split()[1].decode("ascii")
    size = int(ask(root, "cat-file", "-s", blob))
    if size > GENERATED_BOUND:
        raise WorldError(
            f"{path} of commit HEAD has {size} bytes, over the bound of {GENERATED_BOUND}", "render it again"
        )
    return ask(root, "cat-file", "blob", blob).decode("utf-8", "surrogateescape")


def tracked(root: Path, paths: Sequence[str]) -> tuple[str, ...]:
    """Files of the index at or below `paths`; none outside git. Raises WorldError as `head_file` does."""
    if not inside_git(root):
        return ()
    listed = ask(root, "ls-files", "-z", "--", *paths)
    return tuple(name for name in listed.decode("utf-8", "surrogateescape").split("\0") if name)


def uncommitted(root: Path, paths: Sequence[str]) -> tuple[str, ...]:
    """Files at or below `paths` that differ from HEAD or are new, as git names them; none without a work tree."""
    asked = ("--no-optional-locks", "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all")
    told = run(root, *asked, "--", *paths)
    rows = told.output.decode("utf-8", "surrogateescape").split("\0") if told.status == 0 else []
    return tuple(row[3:] for row in rows if row)


def unborn(root: Path) -> bool:
    """Whether HEAD names a branch that has no commit yet; a broken reference is none of these."""
    head = run(root, "symbolic-ref", "-q", "HEAD")
    if head.status != 0:
        return False
    found = run(root, "for-each-ref", head.output.decode("utf-8", "surrogateescape").rstrip("\n"))
    return found.status == 0 and not found.output and not found.complaint  # a broken one is complained about
