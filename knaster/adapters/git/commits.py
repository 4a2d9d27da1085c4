"""Commits by name and by ancestry: one answer of git each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from knaster.adapters.git.runner import ask, line, run
from knaster.adapters.git.telling import failure
from knaster.diagnostics import WorldError

_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True, slots=True)
class Raw:
    """A commit as it is stored: its true parents, also where a shallow clone ends."""

    parents: tuple[str, ...]
    message: str


def resolve(root: Path, rev: str) -> str:
    """The full SHA of the commit that `rev` names: a branch, a tag, a SHA or an expression of git's.

    Raises:
        WorldError: there is none, or git cannot read the repository. A `rev` is never taken for an option.
    """
    found = find(root, rev)
    if found is None:
        raise WorldError(f"there is no commit {rev or repr(rev)}", "run: git fetch")
    return found


def find(root: Path, rev: str) -> str | None:
    """The same, or None where there is no such commit."""
    if not rev or rev[0] in "-^" or "\0" in rev or "\n" in rev:
        return None
    answer = run(root, "rev-parse", "--verify", "--quiet", f"{rev}^{{commit}}")
    sha = answer.output.decode("utf-8", "surrogateescape").strip()
    if answer.status == 0 and _SHA.fullmatch(sha):
        return sha
    if answer.status > 1:
        raise failure(answer.complaint, answer.status, "run: git fetch")
    return None


def prefix(root: Path) -> str:
    """Where `root` is below the top of its repository (``lab/``); "" at the top."""
    return line(root, "rev-parse", "--show-prefix")


def is_shallow(root: Path) -> bool:
    """Whether history ends somewhere because the clone was made so."""
    return line(root, "rev-parse", "--is-shallow-repository") == "true"


def current_branch(root: Path) -> str | None:
    """The branch that is checked out (``main``), with or without a commit; None for a detached HEAD."""
    head = run(root, "symbolic-ref", "-q", "HEAD")
    name = head.output.decode("utf-8", "surrogateescape").removesuffix("\n")
    if head.status > 1:
        raise failure(head.complaint, head.status)
    return name.removeprefix("refs/heads/") if head.status == 0 and name.startswith("refs/heads/") else None


def merge_base(root: Path, a: str, b: str) -> str | None:
    """The best common ancestor of two commits (one of them, should there be several); None for unrelated histories."""
    answer = run(root, "merge-base", resolve(root, a), resolve(root, b))
    return None if answer.status == 1 and not answer.complaint else _first(answer.accepted())


def is_ancestor(root: Path, old: str, new: str) -> bool:
    """Whether commit `new` (a SHA) is or follows `old` (a SHA)."""
    answer = run(root, "merge-base", "--is-ancestor", old, new)
    if answer.status > 1:
        raise failure(answer.complaint, answer.status)
    return answer.status == 0


def parents(root: Path, sha: str) -> tuple[str, ...]:
    """The SHAs of a commit's parents as recorded, whether or not this clone has them."""
    return raw(root, sha).parents


def message(root: Path, sha: str) -> str:
    """A commit's message, whole; bytes that are no UTF-8 are kept by ``surrogateescape``."""
    return raw(root, sha).message


def raw(root: Path, sha: str) -> Raw:
    """A commit as it is stored."""
    text = ask(root, "cat-file", "commit", resolve(root, sha)).decode("utf-8", "surrogateescape")
    head, _, said = text.partition("\n\n")
    found = tuple(row.removeprefix("parent ") for row in head.split("\n") if row.startswith("parent "))
    return Raw(found, said)


def _first(output: bytes) -> str:
    return output.decode("ascii").split("\n", 1)[0]
