"""The first-parent line of a branch, and where another history left it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from knaster.adapters.git.commits import current_branch, find, is_ancestor, raw, resolve
from knaster.adapters.git.runner import ask, run
from knaster.adapters.git.telling import cut_off
from knaster.adapters.git.worktree import unborn

_CHUNK = 16
_REMOTE = "refs/remotes/origin/"


def chunks(root: Path, rev: str, *paths: str) -> Iterator[list[str]]:
    """The first-parent line that ends at `rev`, newest first, in growing parts; with `paths`, where those changed.

    Raises:
        WorldError: it is cut off (a shallow clone) and what follows is asked for.
    """
    last, skip, size = resolve(root, rev), 0, _CHUNK
    limits = ("--", *paths) if paths else ("--",)
    while True:
        listed = ask(root, "rev-list", "--first-parent", f"--max-count={size}", f"--skip={skip}", last, *limits)
        part = listed.decode("ascii").split()
        if part:
            yield part
            last, skip = part[-1], 1
        if len(part) < size:
            break
        size *= 2
    end = ask(root, "rev-list", "--first-parent", last).split()[-1].decode("ascii") if paths else last
    if raw(root, end).parents:  # stored with a parent, listed without
        raise cut_off(rev)


def fork_point(root: Path, head: str = "HEAD", main: str | None = None) -> str | None:
    """The newest commit of main's first-parent line that `head` is or follows; None before the first commit.

    `main` is a commit by any name; without it, where ``origin/HEAD`` points to, ``origin/main``, ``main`` and the same
    of ``master``, of which the one that was left last counts. On main itself, and where there is no main, it is `head`.
    None too where the histories have nothing in common.

    Raises:
        WorldError: there is no such commit, or the answer lies beyond the end of a shallow clone.
    """
    if head == "HEAD" and find(root, head) is None and unborn(root):
        return None
    tip = resolve(root, head)
    if main is not None:
        return _left(root, tip, main)
    default = _default(root)
    if head == "HEAD" and current_branch(root) in ((default,) if default else ("main", "master")):
        return tip
    found = _candidates(root, default)
    return _newest(root, [_left(root, tip, name) for name in found]) if found else tip


def main_branch(root: Path) -> str | None:
    """The full name of the reference that `fork_point` takes for main, the remote's before the local one."""
    return next(iter(_candidates(root, _default(root))), None)


def _default(root: Path) -> str | None:
    """The branch that the remote calls its own, as it was when the clone was made."""
    head = run(root, "symbolic-ref", "-q", f"{_REMOTE}HEAD")
    name = head.output.decode("utf-8", "surrogateescape").removesuffix("\n")
    return name.removeprefix(_REMOTE) if head.status == 0 and name.startswith(_REMOTE) else None


def _candidates(root: Path, default: str | None) -> list[str]:
    branches = dict.fromkeys((*((default,) if default else ()), "main", "master"))
    names = [f"{folder}{branch}" for branch in branches for folder in (_REMOTE, "refs/heads/")]
    found: dict[str, str] = {}
    for name in names:
        if sha := find(root, name):
            found.setdefault(sha, name)
    return list(found.values())


def _left(root: Path, tip: str, main: str) -> str | None:
    """Along a line, "`tip` follows it" is false down to one commit and true from there: look for that one."""
    for part in chunks(root, main):
        if is_ancestor(root, part[-1], tip):
            return part[bisect_left(part, x=True, key=partial(_followed, root, tip))]
    return None


def _followed(root: Path, tip: str, sha: str) -> bool:
    return is_ancestor(root, sha, tip)


def _newest(root: Path, found: list[str | None]) -> str | None:
    best: str | None = None
    for sha in found:
        if sha is not None and (best is None or (sha != best and is_ancestor(root, best, sha))):
            best = sha
    return best
