"""What people do on their first day: the wrong folder, no repository, no commit, a folder they may not write to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from knaster.adapters import git as adapter
from knaster.adapters.profiles import opened
from knaster.cli import main
from knaster.diagnostics import WorldError
from tests.git_repo import Repo, plain, remote_and_clone
from tests.repo import PVE44, files, lay

Capture = pytest.CaptureFixture[str]

OF_COMMITS = [("diff",), ("diff", "HEAD", "HEAD"), ("pr", "plan"), ("verify",), ("land",), ("report", "--base", "HEAD")]


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    plain(monkeypatch)


@pytest.mark.parametrize("words", [("validate",), ("render",), *OF_COMMITS])
def test_a_folder_of_the_fleet_is_not_an_empty_fleet(words: tuple[str, ...], tmp_path: Path, capsys: Capture) -> None:
    _, work = remote_and_clone(tmp_path, files())
    assert main(["-C", str(work.path / "inventory"), *words]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == (
        f"knaster: error: there is neither inventory/ nor catalog/ in {work.path}/inventory\n"
        "hint: run knaster at the top of the fleet's repository, or name it with -C DIR\n"
    )


@pytest.mark.parametrize("words", [("pr", "plan"), ("verify",), ("diff", "HEAD", "HEAD")])
def test_commits_without_a_work_tree_are_enough(words: tuple[str, ...], tmp_path: Path) -> None:
    work = remote_and_clone(tmp_path, files())[1]
    main(["-C", str(work.path), "render", "-o", os.devnull])
    work.commit()
    bare = Repo.clone(work.path, tmp_path / "none", "--no-checkout").path
    assert not (bare / "inventory").exists()
    assert main(["-C", str(bare), *words, "-o", os.devnull]) == 0


@pytest.mark.parametrize("words", [("pr", "plan"), ("verify",)])
def test_outside_of_git_the_hint_is_no_fetch(words: tuple[str, ...], tmp_path: Path, capsys: Capture) -> None:
    assert main(["-C", str(lay(tmp_path)), *words]) == 2
    assert capsys.readouterr().err == (
        "knaster: error: this is no git repository\n"
        "hint: run knaster in a clone of the fleet's repository, or name it with -C DIR; if it is one: git fsck\n"
    )


def test_a_bare_repository_says_to_clone_it(tmp_path: Path, capsys: Capture) -> None:
    remote, _ = remote_and_clone(tmp_path, files())
    assert main(["-C", str(remote.path), "verify"]) == 2
    assert capsys.readouterr().err == (
        "knaster: error: this is a bare repository, which holds no fleet to work on\n"
        "hint: run knaster in a clone of it\n"
    )


def test_before_the_first_commit_there_is_nothing_to_plan(tmp_path: Path, capsys: Capture) -> None:
    work = Repo.new(tmp_path / "work")
    lay(work.path)
    assert main(["-C", str(work.path), "pr", "plan"]) == 2
    assert capsys.readouterr().err.startswith("knaster: error: there is no commit to plan yet\nhint: commit once")


def test_a_plan_says_what_is_not_in_it(tmp_path: Path, capsys: Capture) -> None:
    _, work = remote_and_clone(tmp_path, files())
    (work.path / "notes.txt").write_text("not of the fleet")
    assert main(["-C", str(work.path), "pr", "plan"]) == 0
    assert capsys.readouterr().err == ""
    place = work.path / "inventory/pve44.yaml"
    place.write_text(place.read_text() + "# seen\n")
    (work.path / "inventory/pve53.yaml").write_text(PVE44.replace("pve44", "pve53"))
    index = (work.path / ".git/index").read_bytes()
    assert main(["-C", str(work.path), "pr", "plan"]) == 0
    assert capsys.readouterr().err == (
        "note: inventory/pve44.yaml and 1 more not committed, so not in this plan\n"
        "hint: commit first; knaster diff shows the working tree\n"
    )
    assert (work.path / ".git/index").read_bytes() == index
    for quiet in (("-q",), ("--head", "HEAD")):
        assert main(["-C", str(work.path), "pr", "plan", *quiet]) == 0
        assert capsys.readouterr().err == ""
    work.commit()
    assert main(["-C", str(work.path), "pr", "plan"]) == 0
    assert capsys.readouterr().err == ""


def test_a_repository_that_cannot_be_written_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for who in ("AUTHOR", "COMMITTER"):  # the same objects in each run
        monkeypatch.setenv(f"GIT_{who}_DATE", "2026-01-01T00:00:00Z")
    work = Repo.new(tmp_path / "work", "-b", "main")
    work.commit({"a": "1\n", "b": "1\n"})
    work.git("checkout", "-q", "-b", "topic")
    work.commit({"a": "2\n"})
    work.git("checkout", "-q", "main")
    work.commit({"b": "2\n"})
    other = Repo.clone(work.path, tmp_path / "other")
    tree = other.git("merge-tree", "--write-tree", "origin/main", "origin/topic")
    taken = work.path / ".git/objects" / tree[:2]  # permissions do not stop root, a file in the place of a folder does
    assert not taken.exists()
    taken.touch()
    with pytest.raises(WorldError, match="git cannot write into this repository"):
        adapter.merge(work.path, "main", "topic")


def test_profiles_are_not_written_below_the_fleet(tmp_path: Path) -> None:
    with pytest.raises(WorldError, match="there is no folder") as caught, opened(tmp_path / "inventory"):
        pass
    assert str(caught.value.hint).startswith("run knaster at the top of the fleet's repository, or make it: mkdir ")


def test_a_script_for_a_shell_has_one_form(capsys: Capture) -> None:
    assert main(["completion", "bash", "--format", "json"]) == 2
    assert capsys.readouterr().err.startswith("knaster: error: completion prints a script for bash, not json\n")
