"""What HEAD holds, in every kind of repository that git itself reads; outside one, git is never touched."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import knaster
from knaster.adapters.git import head_file, inside_git
from knaster.diagnostics import WorldError

PLACEMENT = "generated/placement.yaml"


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings of whoever runs the tests do not matter."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def git(folder: Path, *arguments: str) -> str:
    command = [
        "git",
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@example.org",
        "-c",
        "init.defaultBranch=main",
        *arguments,
    ]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def commit(folder: Path, files: dict[str, bytes]) -> None:
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    git(folder, "add", "-A", "-f")
    git(folder, "commit", "-q", "-m", "x")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q")
    commit(folder, {PLACEMENT: b"assignments: []\n\n"})
    return folder


def test_the_text_in_head_not_the_one_on_disk(repo: Path) -> None:
    (repo / PLACEMENT).write_text("edited")
    git(repo, "add", "-A")
    assert head_file(repo, PLACEMENT) == "assignments: []\n\n"
    assert inside_git(repo)


def test_bytes_are_kept(repo: Path) -> None:
    commit(repo, {PLACEMENT: b"a: \xff\r\n\x00"})
    assert head_file(repo, PLACEMENT) == "a: \udcff\r\n\x00"


def test_a_file_that_head_does_not_have(repo: Path) -> None:
    assert head_file(repo, "generated/manifest.json") is None
    assert head_file(repo, "generated") is None  # a folder
    assert head_file(repo, "gen*/placement.yaml") is None  # a name, not a pattern
    (repo / "generated/link.yaml").symlink_to("placement.yaml")
    commit(repo, {})
    assert head_file(repo, "generated/link.yaml") is None


def test_a_subfolder_of_a_repository(repo: Path) -> None:
    commit(repo, {f"fleet/lab/{PLACEMENT}": b"lab\n"})
    assert head_file(repo / "fleet/lab", PLACEMENT) == "lab\n"
    assert head_file(repo / "fleet", PLACEMENT) is None
    (repo / "untracked").mkdir()
    assert head_file(repo / "untracked", PLACEMENT) is None
    assert inside_git(repo / "fleet/lab")


def test_a_link_to_the_folder(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "link").symlink_to(repo / "generated")
    assert head_file(tmp_path / "link", "placement.yaml") == "assignments: []\n\n"
    monkeypatch.chdir(repo)
    assert head_file(Path(), PLACEMENT) == "assignments: []\n\n"


def test_before_the_first_commit(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    assert head_file(tmp_path, PLACEMENT) is None
    assert inside_git(tmp_path)


def test_a_detached_head(repo: Path) -> None:
    first = git(repo, "rev-parse", "HEAD")
    commit(repo, {PLACEMENT: b"second\n"})
    git(repo, "checkout", "-q", first)
    assert head_file(repo, PLACEMENT) == "assignments: []\n\n"


def test_packed_objects_and_references(repo: Path) -> None:
    git(repo, "gc", "-q")
    assert head_file(repo, PLACEMENT) == "assignments: []\n\n"


@pytest.mark.parametrize("bare", [False, True])
def test_worktrees(repo: Path, tmp_path: Path, bare: bool) -> None:
    main = repo
    if bare:
        main = tmp_path / "bare.git"
        git(tmp_path, "clone", "-q", "--bare", str(repo), str(main))
    git(main, "worktree", "add", "-q", "-b", "other", str(tmp_path / "tree"))
    commit(tmp_path / "tree", {PLACEMENT: b"other\n"})
    assert (tmp_path / "tree/.git").is_file()
    assert head_file(tmp_path / "tree", PLACEMENT) == "other\n"
    assert head_file(repo, PLACEMENT) == "assignments: []\n\n"


def test_a_bare_repository_has_no_working_tree(repo: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(repo), "bare.git")
    assert head_file(tmp_path / "bare.git", PLACEMENT) is None
    assert not inside_git(tmp_path / "bare.git")


def test_variables_of_a_hook_do_not_confuse(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    commit(other, {PLACEMENT: b"the wrong one\n"})
    hook = {
        "GIT_DIR": str(other / ".git"),
        "GIT_WORK_TREE": str(other),
        "GIT_INDEX_FILE": str(other / ".git/index"),
        "GIT_COMMON_DIR": str(other / ".git"),
        "GIT_OBJECT_DIRECTORY": str(other / ".git/objects"),
        "GIT_PREFIX": "generated/",
        "GIT_CEILING_DIRECTORIES": str(tmp_path),
    }
    for name, value in hook.items():
        monkeypatch.setenv(name, value)
    assert head_file(repo, PLACEMENT) == "assignments: []\n\n"
    assert head_file(repo / "generated", "placement.yaml") == "assignments: []\n\n"
    assert {name: os.environ[name] for name in hook} == hook


def run(code: str, **environment: str) -> str:
    """What `code` prints in a fresh interpreter that finds no git executable."""
    found = {"PATH": "/nonexistent", "PYTHONPATH": str(Path(knaster.__file__).parent.parent), **environment}
    result = subprocess.run([sys.executable, "-c", code], env=found, capture_output=True, text=True, check=False)
    assert result.stderr == ""
    return result.stdout


def test_outside_git_nothing_of_git_is_needed(tmp_path: Path) -> None:
    code = f"""
import sys
from pathlib import Path
from knaster.adapters.git import head_file, inside_git
root = Path({str(tmp_path)!r})
print(head_file(root, "x"), inside_git(root), "git" in sys.modules, "subprocess" in sys.modules)
"""
    assert run(code) == "None False False False\n"


@pytest.mark.parametrize("refresh", ["raise", "quiet"])
def test_no_git_executable(repo: Path, refresh: str) -> None:
    code = f"""
from pathlib import Path
from knaster.adapters.git import head_file
from knaster.diagnostics import WorldError
try:
    head_file(Path({str(repo)!r}), "x")
except WorldError as error:
    print(error.message, error.hint, sep="\\n")
"""
    assert run(code, GIT_PYTHON_REFRESH=refresh) == (
        "this folder is in a git repository, but git cannot be started\n"
        "install git (and the Python package gitpython); outside a repository knaster needs neither\n"
    )


def test_a_repository_of_somebody_else(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(WorldError, match="git: detected dubious ownership in repository at") as caught:
        head_file(repo, PLACEMENT)
    assert caught.value.hint == f"run: git config --global --add safe.directory {repo}"
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "safe.directory")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(repo))
    assert head_file(repo, PLACEMENT) == "assignments: []\n\n"


def break_head(repo: Path) -> None:
    (repo / ".git/HEAD").write_text("nonsense\n")


def break_branch(repo: Path) -> None:
    (repo / ".git/refs/heads/main").write_text("nonsense\n")


def lose_commit(repo: Path) -> None:
    (repo / ".git/refs/heads/main").write_text("1" * 40 + "\n")


def lose_objects(repo: Path) -> None:
    for path in [path for path in (repo / ".git/objects").rglob("*") if path.is_file()]:
        path.unlink()


def lose_blob(repo: Path) -> None:
    blob = git(repo, "rev-parse", f"HEAD:{PLACEMENT}")
    (repo / ".git/objects" / blob[:2] / blob[2:]).unlink()


def break_link(repo: Path) -> None:
    (repo / ".git").rename(repo.parent / "moved")
    (repo / ".git").write_text("gitdir: /nowhere\n")


@pytest.mark.parametrize("damage", [break_head, break_branch, lose_commit, lose_objects, lose_blob, break_link])
def test_a_broken_repository(repo: Path, damage: object) -> None:
    assert callable(damage)
    damage(repo)
    with pytest.raises(WorldError, match=r"git: \w+|this is no git repository") as caught:
        head_file(repo, PLACEMENT)
    assert str(caught.value.hint).endswith("git fsck")
