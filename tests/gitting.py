"""Real repositories for tests: a bare remote, a clone of it, and commits with the files of `tests.repo`."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.repo import files, lay

SETTINGS = (
    "-c",
    "user.name=Ada",
    "-c",
    "user.email=ada@example.org",
    "-c",
    "commit.gpgsign=false",
    "-c",
    "init.defaultBranch=main",
)


def git(root: Path, *arguments: str) -> str:
    """Run git in `root` as Ada; its output without the last line break."""
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    command = ["git", "-C", str(root), *SETTINGS, *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout.rstrip("\n")


def commit(root: Path, texts: dict[str, str], message: str = "change", gone: tuple[str, ...] = ()) -> str:
    """Write these files, remove those that are `gone`, commit everything; the SHA."""
    lay(root, texts)
    for path in gone:
        (root / path).unlink()
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", message)
    return git(root, "rev-parse", "HEAD")


def cloned(folder: Path, texts: dict[str, str] | None = None) -> tuple[Path, Path]:
    """A bare remote whose main has one commit with `texts` (default: the small fleet), and a clone of it."""
    remote, work = folder / "remote.git", folder / "work"
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "--bare", "-b", "main", str(remote))
    git(folder, "clone", "-q", str(remote), str(work))
    git(work, "checkout", "-q", "-B", "main")
    commit(work, files() if texts is None else texts, "the fleet")
    git(work, "push", "-q", "origin", "main")
    git(work, "remote", "set-head", "origin", "main")
    return remote, work
