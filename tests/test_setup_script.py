"""`.gitea/setup.sh`: each version of the tool is installed once, whole or not at all. No network: see `tool_cache`."""

from __future__ import annotations

import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import knaster
from tests.test_cli import git
from tests.tool_cache import ROOT, lay_tool, set_up, stub


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with the tool of this checkout."""
    root = tmp_path / "checkout"
    root.mkdir()
    lay_tool(root)
    git(root, "init", "-q", "-b", "main")
    for name, value in (("name", "t"), ("email", "t@example.org")):
        git(root, "config", f"user.{name}", value)
    commit(root)
    return root


@pytest.fixture
def python(tmp_path: Path) -> Path:
    return stub(tmp_path / "stub")


def commit(root: Path) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "x")


def installed(cache: Path) -> list[str]:
    return sorted(path.name for path in (cache / "knaster").iterdir())


def log(python: Path) -> list[str]:
    return (python.parent / "pip.log").read_text("utf-8").splitlines()


def test_it_is_executable() -> None:
    assert os.access(ROOT / ".gitea/setup.sh", os.X_OK)


def test_it_prints_the_folder_for_the_path_and_installs_only_once(root: Path, python: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    first, second = set_up(root, cache, python), set_up(root, cache, python)
    (version,) = installed(cache)
    assert (first.returncode, first.stdout) == (0, f"{cache}/knaster/{version}/bin\n"), first.stderr
    assert (second.returncode, second.stdout, second.stderr) == (0, first.stdout, "")
    assert log(python) == ["--disable-pip-version-check -q install --require-hashes -r"]
    assert sorted(path.name for path in (cache / "knaster" / version / "bin").iterdir()) == ["knaster"]


def test_what_it_installed_is_the_commits_tool_wherever_it_runs(root: Path, python: Path, tmp_path: Path) -> None:
    """Neither files of the working folder nor PYTHONPATH come before it, and uncommitted changes are not in it."""
    (root / "knaster/version.py").write_text('__version__ = "0.0.0.dirty"\n', "utf-8")
    folder = set_up(root, tmp_path / "cache", python).stdout.strip()
    evil = tmp_path / "evil"
    (evil / "knaster").mkdir(parents=True)
    (evil / "knaster/__init__.py").write_text("raise SystemExit('evil')\n", "utf-8")
    (evil / "argparse.py").write_text("raise SystemExit('evil')\n", "utf-8")
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": str(evil)}
    for command, start in (
        (["--version"], f"knaster {knaster.__version__}\n"),
        (["-C", str(ROOT), "validate", "-q"], ""),
    ):
        done = subprocess.run(
            ["knaster", *command], cwd=evil, env=environment, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, start, "")


def test_a_version_is_its_content_not_its_commit(root: Path, python: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    set_up(root, cache, python)
    (root / "README.md").write_text("about the fleet\n", "utf-8")
    commit(root)
    set_up(root, cache, python)
    assert len(installed(cache)) == 1
    for number, path in enumerate(("knaster/version.py", "schemas/node.schema.json", "requirements.lock"), 2):
        with (root / path).open("a", encoding="utf-8") as file:
            file.write("\n")
        commit(root)
        assert set_up(root, cache, python).returncode == 0
        assert len(installed(cache)) == number, path


def test_an_installation_that_fails_leaves_nothing(root: Path, python: Path, tmp_path: Path) -> None:
    cache, fails = tmp_path / "cache", python.parent / "pip.log.fails"
    fails.touch()
    done = set_up(root, cache, python)
    assert (done.returncode != 0, done.stdout, installed(cache)) == (True, "", [])
    fails.unlink()
    assert set_up(root, cache, python).returncode == 0
    assert len(installed(cache)) == 1


def test_of_several_at_once_one_wins_and_all_succeed(root: Path, python: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    with ThreadPoolExecutor(3) as pool:
        done = list(pool.map(lambda _: set_up(root, cache, python), range(3)))
    (version,) = installed(cache)
    assert {(one.returncode, one.stdout) for one in done} == {(0, f"{cache}/knaster/{version}/bin\n")}


def test_what_nobody_used_for_a_month_goes_with_the_next_installation(root: Path, python: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    for name, days in (("old", 32), ("new.half", 40), ("recent", 20)):
        (cache / "knaster" / name / "bin").mkdir(parents=True)
        when = time.time() - days * 86400
        os.utime(cache / "knaster" / name, (when, when))
    done = set_up(root, cache, python)
    version = Path(done.stdout.strip()).parent.name
    assert installed(cache) == sorted(["recent", version])
    when = time.time() - 60 * 86400
    os.utime(cache / "knaster" / version, (when, when))
    set_up(root, cache, python)
    assert (cache / "knaster" / version).stat().st_mtime > time.time() - 60, "to be used is to be kept"


def test_it_says_which_python_it_needs(root: Path, tmp_path: Path) -> None:
    old = tmp_path / "python-of-old"
    old.write_text("#!/bin/sh\nexit 1\n", "utf-8")
    old.chmod(0o755)
    done = set_up(root, tmp_path / "cache", old)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"knaster needs Python 3.11 or newer; '{old}' is not. Name one: PYTHON=python3.12\n"
