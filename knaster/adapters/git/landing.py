"""New trees and commits, written to the repository's objects alone: work tree, index and branches stay as they are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from knaster.adapters import scratch
from knaster.adapters.git.commits import resolve
from knaster.adapters.git.runner import ask, line, run
from knaster.adapters.git.telling import refuse_option
from knaster.adapters.git.trees import GENERATED

_FALLBACK = {"NAME": "knaster", "EMAIL": "knaster@localhost"}
_Node = dict[str, "str | _Node"]


def with_generated(root: Path, treeish: str, texts: Mapping[str, str]) -> str:
    """The tree (its SHA) that is `treeish` with ``generated/`` holding exactly `texts`: paths relative to it, to text.

    Raises:
        WorldError: there is no such tree, or the repository cannot be written.
        ValueError: a path that is unsafe: a bug of the caller.
    """
    if not texts:
        raise ValueError("nothing to write: an empty generated/ would mean an empty fleet")
    oids = _written(root, list(texts.values()))
    node: _Node = {}
    for path, oid in zip(texts, oids, strict=True):
        _place(node, path, oid)
    top = line(root, "rev-parse", "--verify", f"{refuse_option(treeish)}^{{tree}}")
    prefix = line(root, "rev-parse", "--show-prefix")
    return _spliced(root, top, [*prefix.split("/")[:-1], GENERATED], _tree(root, node))


def commit(root: Path, tree: str, parent: str, message: str) -> str:
    """A new commit (its SHA) of `tree` on top of `parent`, which no branch holds yet. No hook runs.

    Author and committer are those that git is set up with, else ``knaster <knaster@localhost>``.
    """
    who = {key: value for role in ("AUTHOR", "COMMITTER") for key, value in _identity(root, role).items()}
    answer = run(
        root,
        *("-c", "i18n.commitEncoding=UTF-8"),
        *("commit-tree", "--no-gpg-sign", "-p", resolve(root, parent), "-F", "-", refuse_option(tree)),
        stdin=message.encode("utf-8", "surrogateescape"),
        settings=who,
    )
    return answer.accepted().decode("ascii").strip()


def _identity(root: Path, role: str) -> dict[str, str]:
    if run(root, "-c", "user.useConfigOnly=true", "var", f"GIT_{role}_IDENT").status == 0:
        return {}
    return {f"GIT_{role}_{part}": value for part, value in _FALLBACK.items()}


def _written(root: Path, texts: list[str]) -> list[str]:
    """The texts as blobs, by one process: their ids in the same order."""
    names = [str(number) for number in range(len(texts))]
    with scratch.folder({name: text.encode() for name, text in zip(names, texts, strict=True)}) as folder:
        listed = "".join(f"{folder / name}\n" for name in names)
        return ask(root, "hash-object", "-w", "--no-filters", "--stdin-paths", stdin=listed.encode()).decode().split()


def _place(node: _Node, path: str, oid: str) -> None:
    *folders, name = path.split("/")
    if any(part in ("", ".", "..", ".git") or "\0" in part for part in (*folders, name)):
        raise ValueError(f"not a path below generated/: {path!r}")
    for folder in folders:
        below = node.setdefault(folder, {})
        if isinstance(below, str):
            raise ValueError(f"a file and a folder: {path!r}")
        node = below
    if name in node:
        raise ValueError(f"a file and a folder: {path!r}")
    node[name] = oid


def _tree(root: Path, node: _Node) -> str:
    rows = [
        f"100644 blob {entry}\t{name}" if isinstance(entry, str) else f"040000 tree {_tree(root, entry)}\t{name}"
        for name, entry in node.items()
    ]
    return _made(root, [row.encode() for row in rows])


def _spliced(root: Path, tree: str | None, way: list[str], new: str) -> str:
    """`tree` (None: an empty one) with the folder at the end of `way` replaced by the tree `new`."""
    if not way:
        return new
    rows = ask(root, "ls-tree", "-z", "--full-tree", tree).split(b"\0")[:-1] if tree else []
    name = way[0].encode("utf-8", "surrogateescape")
    there = next((row for row in rows if row.partition(b"\t")[2] == name), b"")
    below = there.split()[2].partition(b"\t")[0].decode("ascii") if there.startswith(b"040000 ") else None
    kept = [row for row in rows if row.partition(b"\t")[2] != name]
    return _made(root, [*kept, b"040000 tree %s\t%s" % (_spliced(root, below, way[1:], new).encode(), name)])


def _made(root: Path, rows: list[bytes]) -> str:
    return ask(root, "mktree", "-z", "--missing", stdin=b"".join(row + b"\0" for row in rows)).decode("ascii").strip()
