"""A pull request can put files into the tree that git, or knaster, would take for its own: none of them is trusted."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from knaster.adapters import git
from knaster.cli import main
from knaster.diagnostics import WorldError
from tests.repo import files, lay

PLANTED = """\
[core]
 repositoryformatversion = 1
 bare = true
 sshCommand = "sh -c 'touch {mark}' #"
[extensions]
 partialClone = origin
[remote "origin"]
 url = ssh://x@localhost/y
 promisor = true
 partialclonefilter = blob:none
"""


def commit(root: Path) -> None:
    """Everything below `root` in one commit."""
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for arguments in (("init", "-q", "-b", "main"), ("add", "-Af"), ("commit", "-qm", "x")):
        subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True)


def test_a_repository_planted_in_the_tree_runs_nothing(tmp_path: Path) -> None:
    fleet, mark = tmp_path / "repo" / "fleet", tmp_path / "ran"
    lay(fleet, files())
    for path, text in {
        "HEAD": "ref: refs/heads/main\n",
        "refs/heads/main": f"{'0123456789' * 4}\n",
        "objects/aa/keep": "x",
        "config": PLANTED.format(mark=mark),
    }.items():
        (fleet / path).parent.mkdir(parents=True, exist_ok=True)
        (fleet / path).write_text(text)
    commit(tmp_path / "repo")
    with pytest.raises(WorldError, match="bare repository"):
        git.head_file(fleet, "generated/placement.yaml")
    assert not mark.exists()


def test_committed_leftovers_are_no_leftovers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lay(tmp_path, files())
    assert main(["-C", str(tmp_path), "render"]) == 0
    (tmp_path / "generated").rename(tmp_path / ".generated.new")
    (tmp_path / ".generated.old").mkdir()
    (tmp_path / ".generated.old" / "x").write_text("x")
    commit(tmp_path)
    capsys.readouterr()
    assert main(["-C", str(tmp_path), "render", "--check"]) == 1
    assert "generated/manifest.json is missing" in capsys.readouterr().out
    assert main(["-C", str(tmp_path), "render"]) == 2
    assert ".generated.new/ansible/hosts.yaml is committed" in capsys.readouterr().err
    assert (tmp_path / ".generated.old" / "x").exists()


def test_nothing_is_moved_through_a_link(tmp_path: Path) -> None:
    lay(tmp_path, files())
    assert main(["-C", str(tmp_path), "render"]) == 0
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "generated" / "link").symlink_to(outside)
    cache = tmp_path / ".generated.old" / "link" / "sub" / ".terraform"
    cache.mkdir(parents=True)
    (cache / "evil").write_text("x")
    assert main(["-C", str(tmp_path), "render"]) == 1
    assert list(outside.iterdir()) == []
