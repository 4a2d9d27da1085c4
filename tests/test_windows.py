"""A system without what only POSIX has: knaster reads there, and says what it does not do. No Windows was at hand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.repo import lay

ROOT = Path(__file__).parent.parent
WITHOUT = """
import os, shutil, subprocess, sys, tempfile
for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_DIRECTORY", "fork", "getuid", "geteuid", "fchmod", "killpg",
             "setsid", "mkfifo", "statvfs", "sysconf", "uname"):
    delattr(os, name)
for name in ("fcntl", "pwd", "grp", "termios", "resource"):
    sys.modules[name] = None
from knaster.cli import main
sys.exit(main(sys.argv[1:]))
"""


def run(*argv: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT, *argv]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "command",
    ["validate", "placement plan", "placement plan --explain general", "explain yaml-tab", "report", "help"],
)
def test_it_reads(command: str, tmp_path: Path) -> None:
    lay(tmp_path)
    done = run("-C", str(tmp_path), *command.split()) if command != "help" else run("help")
    assert (done.returncode, done.stderr) == (0, "")


def test_it_reads_a_repository() -> None:
    for command in ("diff", "render --check"):
        done = run(*command.split())
        assert (done.returncode in (0, 1), done.stderr) == (True, ""), command


def test_it_writes_a_result(tmp_path: Path) -> None:
    lay(tmp_path)
    done = run("-C", str(tmp_path), "validate", "-o", str(tmp_path / "report.txt"))
    assert (done.returncode, done.stderr) == (0, "")
    assert "0 errors" in (tmp_path / "report.txt").read_text("utf-8")


def test_it_says_that_it_writes_nothing_else(tmp_path: Path) -> None:
    lay(tmp_path)
    done = run("-C", str(tmp_path), "render")
    assert done.returncode == 2
    assert "on Windows knaster reads" in done.stderr
    assert "Windows Subsystem for Linux" in done.stderr
    assert not (tmp_path / "generated").exists()
