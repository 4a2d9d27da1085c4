"""Run as a program: kill `write` before each of its calls to the system, then look. Prints how many deaths it saw.

The first argument is a folder, the second says whether the exchange is atomic. A program of its own, because a fork
needs a process without threads.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from knaster.adapters import generation
from tests.generations import CACHE, dies, generated, lay, leftovers, tree, without_exchange

OLD = generated(placement="old", gone="old", deep__er__gone="old", tofu__main="main")
NEW = generated(placement="new", tofu__main="main", ansible__hosts="new")


def fresh(root: Path, *, first: bool) -> None:
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    if not first:
        lay(root, OLD | {CACHE: "binary", "deep/.terraform/x": "binary"})


def look(root: Path, *, atomic: bool, first: bool) -> None:
    """Right after a death: the old or the new tree, whole; without an atomic exchange perhaps none at its place."""
    allowed = [None, NEW] if first else [OLD, NEW] if atomic else [OLD, NEW, None]
    assert tree(root) in allowed, tree(root)


def settled(root: Path, *, first: bool) -> None:
    """After the next command: whole, nothing beside it, OpenTofu's cache where it was."""
    assert tree(root) in ([None, NEW] if first else [OLD, NEW]), tree(root)
    assert leftovers(root) == []
    if not first:
        assert (root / "generated" / CACHE).read_text() == "binary"
        assert (root / "generated/deep/.terraform/x").read_text() == "binary"


def sweep(root: Path, *, atomic: bool, first: bool) -> int:
    call = 1
    while True:
        fresh(root, first=first)
        died = dies("write", root, NEW, call, atomic=atomic)
        look(root, atomic=atomic, first=first)
        for second in range(1 + call % 5, 60, 5):  # the command that cleans up is killed too, again and again
            if not dies("finish", root, {}, second, atomic=atomic):
                break
            look(root, atomic=atomic, first=first)
        generation.finish(root)
        settled(root, first=first)
        generation.write(root, NEW)
        assert tree(root) == NEW
        settled(root, first=first)
        if not died:
            return call - 1
        call += 1


def main() -> None:
    root, atomic = Path(sys.argv[1]) / "root", sys.argv[2] == "atomic"
    if not atomic:
        without_exchange()
    print(sweep(root, atomic=atomic, first=False), sweep(root, atomic=atomic, first=True))


if __name__ == "__main__":
    main()
