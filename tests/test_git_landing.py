"""Merges, trees and commits in memory: nothing that belongs to a person is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from knaster.adapters import git
from knaster.diagnostics import WorldError
from tests.git_repo import Repo, plain


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    plain(monkeypatch)


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo.new(tmp_path / "repo")


def fork(repo: Repo, start: dict[str, str | None], ours: dict[str, str | None], theirs: dict[str, str | None]) -> None:
    """main and topic, each one commit after a common start; main is checked out."""
    base = repo.commit(start)
    repo.git("checkout", "-q", "-b", "topic", base)
    repo.commit(theirs)
    repo.git("checkout", "-q", "main")
    repo.commit(ours)


LINES = "".join(f"line {number}\n" for number in range(20))


def test_a_clean_merge_touches_nothing(repo: Repo) -> None:
    fork(
        repo,
        {"inventory/a.yaml": LINES, "catalog/x.yaml": "x"},
        {"inventory/a.yaml": LINES.replace("line 1\n", "ours\n")},
        {"inventory/a.yaml": LINES.replace("line 18\n", "theirs\n"), "catalog/x.yaml": None},
    )
    (repo.path / "inventory/a.yaml").write_text("half done")
    before = repo.state()
    merged = git.merge(repo.path, "main", "topic")
    assert merged.conflicts == ()
    assert git.read(repo.path, merged.tree) == {
        "inventory/a.yaml": LINES.replace("line 1\n", "ours\n").replace("line 18\n", "theirs\n")
    }
    assert repo.state() == before
    assert (repo.path / "inventory/a.yaml").read_text() == "half done"


def test_conflicts_are_named(repo: Repo) -> None:
    names = ("inventory/a.yaml", "generated/-x", "generated/new\nline", "generated/ümlaut")
    fork(repo, dict.fromkeys(names, "0"), dict.fromkeys(names, "1"), dict.fromkeys(names, "2"))
    merged = git.merge(repo.path, "main", "topic")
    assert merged.conflicts == ("generated/-x", "generated/new\nline", "generated/ümlaut", "inventory/a.yaml")
    assert "<<<<<<<" in str(git.read(repo.path, merged.tree)["inventory/a.yaml"])


def test_one_changes_what_the_other_deletes(repo: Repo) -> None:
    fork(repo, {"a": LINES, "b": "b"}, {"a": None}, {"a": LINES + "more\n"})
    assert git.merge(repo.path, "main", "topic").conflicts == ("a",)


def test_conflicts_are_seen_from_the_fleet(repo: Repo) -> None:
    names = ("lab/generated/a", "lab/x", "generated/a", "lab2/y")
    fork(repo, dict.fromkeys(names, "0"), dict.fromkeys(names, "1"), dict.fromkeys(names, "2"))
    assert git.merge(repo.path / "lab", "main", "topic").conflicts == (
        "../generated/a",
        "../lab2/y",
        "generated/a",
        "x",
    )


def test_a_renamed_file_keeps_the_other_sides_change(repo: Repo) -> None:
    fork(repo, {"inventory/a.yaml": LINES}, {"inventory/a.yaml": LINES + "more\n"}, {})
    repo.git("checkout", "-q", "topic")
    repo.git("mv", "inventory/a.yaml", "inventory/b.yaml")
    repo.commit()
    repo.git("config", "merge.renames", "false")
    merged = git.merge(repo.path, "main", "topic")
    assert (merged.conflicts, git.read(repo.path, merged.tree)) == ((), {"inventory/b.yaml": LINES + "more\n"})


def test_a_merge_of_what_is_in(repo: Repo) -> None:
    first = repo.commit({"a": "a"})
    second = repo.commit({"a": "b"})
    assert (
        git.merge(repo.path, second, first).tree == git.merge(repo.path, first, second).tree == repo.sha("HEAD^{tree}")
    )


def test_the_merge_is_the_one_that_git_makes(repo: Repo) -> None:
    """Criss-cross: two best common ancestors."""
    fork(repo, {"a": LINES}, {"a": LINES.replace("line 3\n", "m\n")}, {"b": "t"})
    main, topic = repo.sha("main"), repo.sha("topic")
    repo.git("merge", "-q", "-m", "x", topic)
    repo.git("checkout", "-q", "topic")
    repo.git("merge", "-q", "-m", "x", main)
    repo.commit({"a": LINES.replace("line 3\n", "m\n").replace("line 9\n", "t\n")})
    expected = git.merge(repo.path, "main", "topic")
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--no-ff", "-m", "x", "topic")
    assert expected == git.Merged(repo.sha("HEAD^{tree}"), ())


def test_histories_with_nothing_in_common(repo: Repo, tmp_path: Path) -> None:
    repo.commit({"a": "a"})
    repo.git("checkout", "-q", "--orphan", "other")
    repo.commit({"b": "b"})
    with pytest.raises(WorldError, match="main and other have no commit in common") as caught:
        git.merge(repo.path, "main", "other")
    assert caught.value.hint == "make the branch from the main branch of this repository"
    repo.git("checkout", "-q", "main")
    repo.commit({"a": "b"})
    cut = Repo.clone(repo.path, tmp_path / "cut", "--depth=1", "--no-single-branch")
    with pytest.raises(WorldError) as caught:
        git.merge(cut.path, "main", "origin/other")
    assert caught.value.hint == "run: git fetch --unshallow"


@pytest.mark.parametrize("old", ["2.37.1", "2.30.2"])
def test_a_git_that_is_too_old(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str) -> None:
    """What such a git answers, by its own source: usage and exit status 129."""
    repo.commit()
    script = tmp_path / "old-git"
    script.write_text(
        "#!/bin/sh\n"
        'case "$*" in\n'
        "*merge-tree*) echo 'usage: git merge-tree <base-tree> <branch1> <branch2>' >&2; exit 129;;\n"
        f"*version*) echo 'git version {old}';;\n"
        '*) exec git "$@";;\n'
        "esac\n"
    )
    script.chmod(0o755)
    from git.cmd import Git

    monkeypatch.setattr(Git, "GIT_PYTHON_GIT_EXECUTABLE", str(script))
    with pytest.raises(WorldError, match=rf"git {old} cannot merge in memory, git 2\.38 or newer can") as caught:
        git.merge(repo.path, "main", "main")
    assert caught.value.hint == "install git 2.38 or newer"


# --- a tree with another generated/

OLD: dict[str, str | None] = {
    "generated/gone": "x",
    "generated/tofu/a.tf": "old",
    "inventory/a.yaml": "a",
    "README": "r",
}
NEW = {"manifest.json": "{}\n", "tofu/a.tf": "new\r\n", "tofu/b/c d": "ü", "-x": ""}


def test_generated_is_exactly_these_files(repo: Repo) -> None:
    (repo.path / "generated").mkdir()
    (repo.path / "generated/run").write_text("x")
    (repo.path / "generated/run").chmod(0o755)
    (repo.path / "generated/link").symlink_to("run")
    repo.commit(OLD)
    (repo.path / "generated/gone").write_text("half done")
    before = repo.state()
    tree = git.with_generated(repo.path, "main", NEW)
    assert repo.state() == before
    assert repo.git("ls-tree", "-r", "--format=%(objectmode) %(path)", tree).split("\n") == [
        "100644 README",
        "100644 generated/-x",
        "100644 generated/manifest.json",
        "100644 generated/tofu/a.tf",
        "100644 generated/tofu/b/c d",
        "100644 inventory/a.yaml",
    ]
    assert {path: entry.data for path, entry in git.generated(repo.path, tree).items()} == {
        path: text.encode() for path, text in NEW.items()
    }
    repo.git("fsck", "--strict")
    assert git.touched(repo.path, "main", tree, ".") == git.touched(repo.path, "main", tree, "generated")


def test_the_same_files_are_the_same_tree(repo: Repo) -> None:
    repo.commit({f"generated/{path}": text for path, text in NEW.items() if "\r" not in text})
    texts = {path: text for path, text in NEW.items() if "\r" not in text}
    assert git.with_generated(repo.path, "HEAD", texts) == repo.sha("HEAD^{tree}")


def test_settings_and_attributes_convert_nothing(repo: Repo) -> None:
    repo.git("config", "core.autocrlf", "true")
    repo.commit({".gitattributes": "* text eol=crlf\n"})
    tree = git.with_generated(repo.path, "HEAD", {"a": "1\r\n2\n"})
    assert git.generated(repo.path, tree)["a"].data == b"1\r\n2\n"


@pytest.mark.parametrize("there", [{}, {"lab/generated": "a file"}, {"lab": "a file"}, {"lab/generated/x/y": "z"}])
def test_generated_of_a_fleet_below_the_top(repo: Repo, there: dict[str, str | None]) -> None:
    repo.commit({"lab/inventory/a.yaml": "a", "generated/kept": "k"})
    start = repo.sha()
    if there == {"lab": "a file"}:
        repo.git("rm", "-rqf", "lab")
    repo.commit(there)
    head = repo.sha()
    repo.git("checkout", "-q", start)
    tree = git.with_generated(repo.path / "lab", head, {"a/b": "c"})
    assert repo.git("show", f"{tree}:generated/kept") == "k"
    assert repo.git("ls-tree", "-r", "--name-only", f"{tree}:lab/generated") == "a/b"


@pytest.mark.parametrize(
    "texts", [{}, {"../x": ""}, {"/x": ""}, {"a//b": ""}, {".git/x": ""}, {"a": "", "a/b": ""}, {"a/b": "", "a": ""}]
)
def test_paths_that_are_a_bug(repo: Repo, texts: dict[str, str]) -> None:
    repo.commit({"a": "a"})
    with pytest.raises(ValueError, match=r"not a path below|a file and a folder|nothing to write"):
        git.with_generated(repo.path, "HEAD", texts)


# --- a commit


def test_a_commit_runs_no_hook_and_moves_nothing(repo: Repo, tmp_path: Path) -> None:
    first = repo.commit(OLD)
    for hook in ("pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change"):
        place = repo.path / ".git/hooks" / hook
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexit 1\n")
        place.chmod(0o755)
    repo.git("config", "commit.gpgSign", "true")
    before = repo.git("for-each-ref")
    tree = git.with_generated(repo.path, first, NEW)
    sha = git.commit(repo.path, tree, "main", "Land ü\n\nKnaster-Source: x\nKnaster-Plan: y\n")
    assert git.parents(repo.path, sha) == (first,)
    assert git.message(repo.path, sha) == "Land ü\n\nKnaster-Source: x\nKnaster-Plan: y\n"
    assert repo.sha(f"{sha}^{{tree}}") == tree
    assert repo.git("for-each-ref") == before
    assert not (tmp_path / "ran").exists()


def who(repo: Repo) -> str:
    sha = git.commit(repo.path, repo.sha("HEAD^{tree}"), "HEAD", "x")
    return repo.git("show", "-s", "--format=%an <%ae> %cn <%ce>", sha)


def test_who_commits(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit()
    nobody = "knaster <knaster@localhost>"
    assert who(repo) == f"{nobody} {nobody}"
    repo.git("config", "user.name", "Only a Name")
    assert who(repo) == f"{nobody} {nobody}"
    repo.git("config", "user.email", "bot@example.org")
    bot = "Only a Name <bot@example.org>"
    assert who(repo) == f"{bot} {bot}"
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Author")
    assert who(repo) == f"Author <bot@example.org> {bot}"


def test_a_commit_of_nothing(repo: Repo) -> None:
    repo.commit()
    with pytest.raises(WorldError):
        git.commit(repo.path, "0" * 40, "HEAD", "x")
    with pytest.raises(WorldError):
        git.commit(repo.path, "--help", "HEAD", "x")


@pytest.mark.parametrize("where", [".gitattributes", ".git/info/attributes-unused", "setting"])
def test_no_attribute_of_the_work_tree_decides_a_merge(tmp_path: Path, where: str) -> None:
    """The server refuses this merge; a `union` in what happens to be checked out must not hide that."""
    repo = Repo.new(tmp_path / "repo", "-b", "main")
    repo.commit({"catalog/models.yaml": "a: 1\n"})
    repo.git("checkout", "-q", "-b", "one")
    one = repo.commit({"catalog/models.yaml": "a: 2\n"})
    repo.git("checkout", "-q", "-b", "two", "main")
    two = repo.commit({"catalog/models.yaml": "a: 3\n"})
    if where == "setting":
        repo.git("config", "merge.default", "union")
    else:
        (repo.path / where).write_text("catalog/*.yaml merge=union\n")
    assert git.merge(repo.path, one, two).conflicts == ("catalog/models.yaml",)
