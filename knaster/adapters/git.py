"""The git door: what the commit HEAD holds. GitPython runs git itself, so every kind of repository git reads will do.

Outside a repository nothing of git is needed: neither the package nor the executable.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from knaster.diagnostics import WorldError

# A hook runs with these set to the repository it was called for, and each would win over the folder we ask about.
# GIT_CONFIG_* stay: they are how a job says which folders are safe.
_OF_HOOKS = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_CEILING_DIRECTORIES",
)
_SETTINGS = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
}
"""The last two: a repository may name a remote for missing objects, and a program to reach it. Nothing is fetched."""
_SAFE = ("-c", "safe.bareRepository=explicit")
"""A pull request may hold files that make a folder of the tree look like a repository, with settings of its own."""
_BOUND = 64 * 1024 * 1024


def inside_git(root: Path) -> bool:
    """Whether `root` or a folder above it holds a ``.git`` (a folder, or the file of a worktree or submodule)."""
    physical = Path(os.path.realpath(root))
    return any(os.path.lexists(folder / ".git") for folder in (physical, *physical.parents))


def head_file(root: Path, path: str) -> str | None:
    """The text of ``root/path`` in the commit HEAD, bytes that are no UTF-8 kept by ``surrogateescape``.

    None outside git, before the first commit, and where HEAD has no such file (a link there is none).

    Raises:
        WorldError: git cannot be started or will not or cannot read this repository.
    """
    if not inside_git(root):
        return None
    with _own_environment():
        status, listed, complaint = _git(root, "ls-tree", "-z", "HEAD", "--", path)
        if status != 0 and _unborn(root):
            return None
        mode, _, rest = _accepted(status, listed, complaint).partition(b" ")
        if mode not in (b"100644", b"100755"):
            return None
        blob = rest.split()[1].decode("ascii")
        size = int(_accepted(*_git(root, "cat-file", "-s", blob)))
        if size > _BOUND:
            raise WorldError(f"{path} of commit HEAD has {size} bytes, over the bound of {_BOUND}", "render it again")
        return _accepted(*_git(root, "cat-file", "blob", blob)).decode("utf-8", "surrogateescape")


def tracked(root: Path, paths: Sequence[str]) -> tuple[str, ...]:
    """Files of the index at or below `paths`; none outside git. Raises WorldError as `head_file` does."""
    if not inside_git(root):
        return ()
    with _own_environment():
        listed = _accepted(*_git(root, "ls-files", "-z", "--", *paths))
    return tuple(name for name in listed.decode("utf-8", "surrogateescape").split("\0") if name)


def _unborn(root: Path) -> bool:
    status, branch, _ = _git(root, "symbolic-ref", "-q", "HEAD")
    if status != 0:
        return False
    status, found, complaint = _git(root, "for-each-ref", branch.decode("utf-8", "surrogateescape").rstrip("\n"))
    return status == 0 and not found and not complaint  # a broken reference is complained about, not found


def _accepted(status: int, output: bytes, complaint: str) -> bytes:
    if status == 0:
        return output
    lines = [line.strip() for line in complaint.splitlines() if line.strip()] or [f"exit status {status}"]
    advice = next((line for line in lines if line.startswith("git config ")), None)
    raise WorldError(f"git: {lines[0].removeprefix('fatal: ')}", f"run: {advice or 'git fsck'}")


def _git(root: Path, *arguments: str) -> tuple[int, bytes, str]:
    """Exit status, standard output and standard error of one git command run in `root`."""
    try:
        from git.cmd import Git
        from git.exc import GitCommandNotFound
    except ImportError as error:
        raise _no_git() from error
    try:
        status, output, complaint = Git(root).execute(
            [Git.GIT_PYTHON_GIT_EXECUTABLE or "git", *_SAFE, *arguments],
            with_extended_output=True,
            with_exceptions=False,
            stdout_as_string=False,
            strip_newline_in_stdout=False,
            env=_SETTINGS,
        )
    except GitCommandNotFound as error:
        raise _no_git() from error
    return status, output if isinstance(output, bytes) else (output or "").encode(), complaint


def _no_git() -> WorldError:
    return WorldError(
        "this folder is in a git repository, but git cannot be started",
        "install git (and the Python package gitpython); outside a repository knaster needs neither",
    )


@contextmanager
def _own_environment() -> Iterator[None]:
    kept = {name: os.environ.pop(name) for name in _OF_HOOKS if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(kept)
