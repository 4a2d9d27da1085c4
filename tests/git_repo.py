"""Real repositories for tests, independent of the settings of whoever runs them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

WHO = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main", "-c", "gc.auto=0")


def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings but git's own defaults, for the tests and for what they test."""
    for name in [name for name in os.environ if name.startswith(("GIT_", "EMAIL"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@dataclass(frozen=True)
class Repo:
    """A repository with a working tree at `path`."""

    path: Path

    @classmethod
    def new(cls, path: Path, *flags: str) -> Repo:
        """An empty one."""
        path.mkdir(parents=True)
        repo = cls(path)
        repo.git("init", "-q", *flags)
        return repo

    @classmethod
    def clone(cls, source: Path, path: Path, *flags: str) -> Repo:
        """A clone through git's own protocol, so that depths and filters count."""
        subprocess.run(["git", "clone", "-q", *flags, f"file://{source}", str(path)], check=True)
        return cls(path)

    def git(self, *arguments: str, data: bytes = b"") -> str:
        """What git prints, without the last line end."""
        done = subprocess.run(["git", *WHO, *arguments], cwd=self.path, check=True, capture_output=True, input=data)
        return done.stdout.decode("utf-8", "surrogateescape").rstrip("\n")

    def commit(self, files: Mapping[str, str | None] | None = None, message: str = "x") -> str:
        """Write these files (None removes one) and commit everything; the SHA."""
        for path, text in (files or {}).items():
            place = self.path / path
            if text is None:
                place.unlink()
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        self.git("add", "-Af")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.sha()

    def sha(self, rev: str = "HEAD") -> str:
        """The SHA of a commit or tree."""
        return self.git("rev-parse", rev)

    def state(self) -> tuple[str, str, str]:
        """Everything that only a person may change: references, index, working tree."""
        head = self.git("symbolic-ref", "-q", "HEAD")
        return self.git("for-each-ref"), self.git("ls-files", "-s"), head + self.git("status", "--porcelain")


def remote_and_clone(folder: Path, files: Mapping[str, str | None]) -> tuple[Repo, Repo]:
    """A bare remote whose main has one commit with `files`, and a clone of it."""
    remote = Repo.new(folder / "remote.git", "--bare", "-b", "main")
    work = Repo.new(folder / "work", "-b", "main")
    work.git("remote", "add", "origin", f"file://{remote.path}")
    work.commit(files, "the fleet")
    work.git("push", "-q", "-u", "origin", "main")
    return remote, work
