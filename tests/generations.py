"""Trees for the tests of generated/: what is needed, how it looks on disk, and runs that die at a chosen call."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from knaster.adapters import exchange, generation

CACHE = "tofu/.terraform/providers/provider"
LEFTOVERS = (".generated.new", ".generated.old")
HOUSE = Path(__file__).parent.parent

PROGRAM = """
import resource, sys, time
from pathlib import Path
from knaster.adapters.generation import write
from knaster.diagnostics import WorldError
from tests.generations import big
root, what = Path(sys.argv[1]), sys.argv[2]
if what == "full":
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    try:
        write(root, {"a": "new", "z": "x" * 5000})
    except WorldError as error:
        print(error.message)
while what == "loop":
    for letter in "ab":
        write(root, big(letter))
        print(letter, flush=True)
if what in "ab":
    for _ in range(5):
        write(root, big(what))
"""


def generated(version: str = "0.1.0", digest: str = "sha256:in", **texts: str) -> dict[str, str]:
    """Needed files with a true manifest; ``tofu__main`` as a keyword stands for ``tofu/main``."""
    files = {name.replace("__", "/"): text for name, text in texts.items()}
    hashes = {path: "sha256:" + sha256(text.encode()).hexdigest() for path, text in files.items()}
    manifest = {"version": 1, "tool_version": version, "input_digest": digest, "files": hashes}
    return files | {"manifest.json": json.dumps(manifest, indent=2) + "\n"}


NEEDED = generated(placement="p\n", tofu__main="m\n")
OLDER = generated(placement="older\n", tofu__main="m\n", digest="sha256:other")


def lay(root: Path, files: Mapping[str, str]) -> None:
    """Put files under generated/, without the code under test."""
    for path, text in files.items():
        target = root / "generated" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())


def tree(root: Path) -> dict[str, str] | None:
    """What generated/ holds, OpenTofu's cache left out; None without the folder."""
    top = root / "generated"
    if not top.exists():
        return None
    paths = [path for path in top.rglob("*") if path.is_file() and ".terraform" not in path.parts]
    return {str(path.relative_to(top)): path.read_bytes().decode() for path in paths}


def snapshot(root: Path) -> dict[str, tuple[int, int, int]]:
    """Inode, modification time and mode of everything, the root folder too."""
    paths = [root, *sorted(root.rglob("*"))]
    return {str(path): (path.lstat().st_ino, path.lstat().st_mtime_ns, path.lstat().st_mode) for path in paths}


def leftovers(root: Path) -> list[str]:
    return [name for name in LEFTOVERS if os.path.lexists(root / name)]


def big(letter: str) -> dict[str, str]:
    """A tree of 150 files, all of one letter."""
    return {f"{folder}/{name}": letter * 3000 for folder in range(10) for name in range(15)}


def program(root: Path, what: str) -> subprocess.Popen[str]:
    """A run of its own: ``full`` (writes on a full disk), ``loop`` (until killed), ``a`` or ``b`` (that tree)."""
    command = [sys.executable, "-c", PROGRAM, str(root), what]
    return subprocess.Popen(command, cwd=HOUSE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def die_at(call: int) -> None:
    """From now on the process ends at once, cleaning nothing up, before its `call`-th change or look at the disk."""
    left = call

    def counted(function: object) -> object:
        def wrapper(*arguments: object, **more: object) -> object:
            nonlocal left
            left -= 1
            if left == 0:
                os._exit(9)
            assert callable(function)
            return function(*arguments, **more)

        return wrapper

    for name in ("mkdir", "open", "write", "fsync", "rename", "unlink", "rmdir", "chmod", "scandir", "close"):
        setattr(os, name, counted(getattr(os, name)))
    vars(fcntl)["flock"] = counted(fcntl.flock)
    vars(exchange)["_renameat2"] = counted(exchange._renameat2)


def without_exchange() -> None:
    """A file system that cannot exchange."""
    vars(exchange)["_renameat2"] = lambda _one, _other: 22  # EINVAL


def dies(action: str, root: Path, files: Mapping[str, str], call: int, *, atomic: bool = True) -> bool:
    """Run write or finish in a child that dies at `call`; False if it ended before. For single-threaded callers."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            if not atomic:
                without_exchange()
            die_at(call)
            if action == "write":
                generation.write(root, files)
            else:
                generation.finish(root)
            status = 0
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, 9), f"{action} failed by itself at call {call}"
    return status == 9
