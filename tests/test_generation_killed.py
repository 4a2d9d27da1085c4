"""Whenever a run dies, generated/ is the old or the new tree, whole, and the next command cleans up."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from knaster.adapters.generation import finish
from tests.generations import HOUSE, NEEDED, OLDER, big, lay, leftovers, program
from tests.generations import tree as content


@pytest.mark.parametrize("mode", ["atomic", "renames"])
def test_killed_before_any_call(tmp_path: Path, mode: str) -> None:
    command = [sys.executable, "-m", "tests.sweep", str(tmp_path), mode]
    result = subprocess.run(command, cwd=HOUSE, capture_output=True, text=True, check=False)
    assert result.stderr == ""
    deaths = [int(number) for number in result.stdout.split()]
    assert len(deaths) == 2
    assert min(deaths) > 30  # it did die, at every call


def test_killed_at_any_moment(tmp_path: Path) -> None:
    moments = Random(3)
    for _ in range(10):
        process = program(tmp_path, "loop")
        assert process.stdout is not None
        process.stdout.readline()  # at work
        time.sleep(moments.random() * 0.15)
        process.kill()
        process.communicate()
        whole = content(tmp_path)
        assert whole in (big("a"), big("b"))
        finish(tmp_path)
        assert leftovers(tmp_path) == []
        assert content(tmp_path) == whole


def test_two_at_once(tmp_path: Path) -> None:
    processes = [program(tmp_path, letter) for letter in "ab"]
    for process in processes:
        assert process.communicate()[0] == ""
    assert content(tmp_path) in (big("a"), big("b"))
    assert leftovers(tmp_path) == []


@pytest.fixture
def cut(tmp_path: Path) -> Path:
    """A repository in which both whole trees lie beside the empty place of generated/."""
    lay(tmp_path, OLDER)
    (tmp_path / "generated").rename(tmp_path / ".generated.old")
    lay(tmp_path, NEEDED)
    (tmp_path / "generated").rename(tmp_path / ".generated.new")
    return tmp_path


def test_finish_ends_a_cut_exchange(cut: Path) -> None:
    finish(cut)
    assert content(cut) == NEEDED
    assert leftovers(cut) == []


def test_finish_does_not_overrule_a_tree_that_came_back(cut: Path) -> None:
    lay(cut, {"placement": "from git"})
    finish(cut)
    assert content(cut) == {"placement": "from git"}
    assert leftovers(cut) == []


def test_finish_removes_half_a_first_tree(tmp_path: Path) -> None:
    lay(tmp_path, {"placement": "p"})
    (tmp_path / "generated").rename(tmp_path / ".generated.new")
    finish(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_leftovers_that_are_links_are_removed_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious/.terraform").mkdir(parents=True)
    lay(tmp_path, NEEDED)
    (tmp_path / ".generated.new").symlink_to("precious")
    (tmp_path / ".generated.old").write_text("x")
    finish(tmp_path)
    assert leftovers(tmp_path) == []
    assert (tmp_path / "precious/.terraform").is_dir()
    assert content(tmp_path) == NEEDED
