"""Packaging: one version, and lock files that hold everything with hashes and name no index."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import knaster
from tests.wheel import wheel

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def plain(name: str) -> str:
    """A requirement's normalised name."""
    return re.sub(r"[-_.]+", "-", re.split(r"[<>=!~\[; ]", name)[0]).lower()


def locked(file: str) -> dict[str, str]:
    """Name to the whole entry of each package in a lock file."""
    entries = re.findall(r"(?m)^([A-Za-z0-9_.-]+)==(.*(?:\n    .*)*)", (ROOT / file).read_text("utf-8"))
    return {plain(name): entry for name, entry in entries}


@pytest.mark.parametrize("file", ["requirements.lock", "requirements-dev.lock"])
def test_a_lock_has_a_hash_for_everything_and_no_address(file: str) -> None:
    packages = locked(file)
    assert packages
    assert all("--hash=sha256:" in entry for entry in packages.values())
    assert "://" not in (ROOT / file).read_text("utf-8")


def test_the_locks_hold_what_the_project_asks_for() -> None:
    runtime = {plain(name) for name in PROJECT["project"]["dependencies"] + PROJECT["dependency-groups"]["build"]}
    extras = {plain(name) for name in PROJECT["project"]["optional-dependencies"]["dev"]}
    assert runtime - locked("requirements.lock").keys() == set()
    assert (runtime | extras) - locked("requirements-dev.lock").keys() == set()


def test_what_an_extra_brings_is_tested() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    assert {name for extra in extras.values() for name in extra} <= set(extras["dev"])


def test_both_locks_agree() -> None:
    runtime, development = (
        {name: entry.split()[0] for name, entry in locked(file).items()}
        for file in ("requirements.lock", "requirements-dev.lock")
    )
    assert runtime.items() <= development.items()


def test_the_version_has_one_source() -> None:
    assert "version" not in PROJECT["project"]
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "knaster/version.py"
    assert re.fullmatch(r"\d+\.\d+\.\d+", knaster.__version__)


def test_the_package_says_that_it_is_typed() -> None:
    assert (ROOT / "knaster/py.typed").exists()


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the wheel would put into site-packages."""
    return wheel(tmp_path_factory.mktemp("wheel"))


def below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.json")}


def test_the_wheel_holds_the_data_that_collect_reads(unpacked: Path) -> None:
    own = ["py.typed", "cards/gpus.csv", "inventory/scripts/linux.sh", "inventory/scripts/windows.ps1"]
    own += [f"reports/comment/{path.name}" for path in (ROOT / "knaster/reports/comment").glob("*.j2")]
    page = ROOT / "knaster/reports/page"
    own += [f"reports/page/{path.name}" for pattern in ("*.j2", "*.css", "*.js") for path in page.glob(pattern)]
    assert len(own) > 10
    for path in own:
        assert (unpacked / "knaster" / path).read_bytes() == (ROOT / "knaster" / path).read_bytes()
    assert below(unpacked / "knaster/schemas") == below(ROOT / "schemas")
    for path in ("setup.sh", "workflows/plan.yaml", "workflows/land.yaml", "workflows/sweep.yaml"):
        assert (unpacked / "knaster/.gitea" / path).read_bytes() == (ROOT / ".gitea" / path).read_bytes()


def test_the_wheel_collects_without_the_repository(unpacked: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "knaster", "inventory", "collect", "--name", "box1"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(unpacked)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "\nname: box1\n" in done.stdout


def test_make_says_which_python_it_needs(tmp_path: Path) -> None:
    old = tmp_path / "python-of-old"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    done = subprocess.run(
        ["make", "-C", str(ROOT), f"VENV={tmp_path}/venv", f"PYTHON={old}", f"{tmp_path}/venv/.made"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "knaster needs Python 3.11 or newer" in done.stderr
