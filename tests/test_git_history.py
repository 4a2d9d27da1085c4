"""The first-parent line, what changed on it, and where a branch left main: merges, squashes, stale mains, cuts."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from knaster.adapters import git
from knaster.diagnostics import WorldError
from knaster.files import Refused
from tests.git_repo import Repo, plain

MANIFEST = "generated/manifest.json"


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    plain(monkeypatch)


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo.new(tmp_path / "repo")


def branch(repo: Repo, name: str, start: str) -> None:
    repo.git("checkout", "-q", "-b", name, start)


def merged(repo: Repo, name: str) -> str:
    """Merge a branch into main with a merge commit; main is checked out afterwards."""
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--no-ff", "-m", "merge", name)
    return repo.sha()


# --- names


def test_names_of_commits(repo: Repo) -> None:
    first, second = repo.commit(), repo.commit()
    repo.git("tag", "-a", "-m", "t", "v1", first)
    for rev in ("main", "HEAD", "refs/heads/main", second, second[:10], "v1~0^0"):
        assert git.resolve(repo.path, rev) == (first if rev.startswith("v1") else second)
    assert git.resolve(repo.path, "v1") == first
    assert git.resolve(repo.path, "HEAD^") == first


@pytest.mark.parametrize(
    "rev",
    [
        "",
        "-x",
        "--all",
        "--output=pwned",
        "^HEAD",
        "nothing",
        "HEAD..HEAD",
        "0" * 40,
        "HEAD\n",
        "HEAD\0",
        "HEAD:a",
        "{",
    ],
)
def test_what_is_no_commit(repo: Repo, rev: str) -> None:
    repo.commit({"a": "b"})
    with pytest.raises(WorldError) as caught:
        git.resolve(repo.path, rev)
    assert caught.value.hint == "run: git fetch"
    assert sorted(path.name for path in repo.path.iterdir()) == [".git", "a"]


def test_a_missing_commit_is_named(repo: Repo) -> None:
    repo.commit()
    with pytest.raises(WorldError, match=r"^there is no commit nothing$"):
        git.resolve(repo.path, "nothing")


def test_branches_named_like_options_and_commands(repo: Repo) -> None:
    sha = repo.commit()
    for name in ("-x", "--all", "x$(touch${IFS}pwned)", "`id`", "ümlaut", "'q"):
        repo.git("update-ref", f"refs/heads/{name}", sha)
        assert git.resolve(repo.path, f"refs/heads/{name}") == sha
    repo.git("symbolic-ref", "HEAD", "refs/heads/x$(touch${IFS}pwned)")
    assert git.current_branch(repo.path) == "x$(touch${IFS}pwned)"
    assert [path.name for path in repo.path.iterdir()] == [".git"]


def test_the_current_branch(repo: Repo) -> None:
    assert git.current_branch(repo.path) == "main"
    sha = repo.commit()
    branch(repo, "topic/a", sha)
    assert git.current_branch(repo.path) == "topic/a"
    repo.git("checkout", "-q", "--detach")
    assert git.current_branch(repo.path) is None


def test_parents_and_messages(repo: Repo) -> None:
    first = repo.commit(message="one\n\nbody ü\n\nKnaster-Plan: 12")
    branch(repo, "side", first)
    side = repo.commit({"b": "b"})
    repo.git("checkout", "-q", "main")
    second = repo.commit({"a": "a"})
    top = merged(repo, "side")
    assert git.message(repo.path, first) == "one\n\nbody ü\n\nKnaster-Plan: 12\n"
    assert git.parents(repo.path, first) == ()
    assert git.parents(repo.path, top) == (second, side)
    assert git.merge_base(repo.path, "main", "side") == side
    assert git.merge_base(repo.path, second, side) == first
    repo.git("checkout", "-q", "--orphan", "other")
    repo.commit(message="another")
    assert git.merge_base(repo.path, "main", "other") is None


def test_a_planted_replacement_replaces_nothing(repo: Repo) -> None:
    old = repo.commit({"inventory/a.yaml": "true"})
    new = repo.commit({"inventory/a.yaml": "planted"})
    repo.git("replace", old, new)
    assert git.read(repo.path, old) == {"inventory/a.yaml": "true"}
    assert git.parents(repo.path, old) == ()
    assert list(git.History(repo.path).line(new)) == [new, old]


# --- the line


def test_the_line_goes_past_merges(repo: Repo) -> None:
    first = repo.commit()
    branch(repo, "side", first)
    repo.commit({"b": "b"})
    repo.git("checkout", "-q", "main")
    second = repo.commit({"a": "a"})
    third = merged(repo, "side")
    assert list(git.History(repo.path).line("main")) == [third, second, first]


@pytest.mark.parametrize("length", [1, 15, 16, 17, 48, 49])
def test_lines_of_every_length(repo: Repo, length: int) -> None:
    made = [repo.commit() for _ in range(length)]
    assert list(git.History(repo.path).line("HEAD")) == made[::-1]


def test_input_keys(repo: Repo) -> None:
    history = git.History(repo.path)
    bare = repo.commit({"README": "x"})
    first = repo.commit({"inventory/a.yaml": "a", "catalog/m.yaml": "m"})
    same = repo.commit({"generated/x": "x", "inventory2/a": "b"})
    other = repo.commit({"catalog/m.yaml": "n"})
    back = repo.commit({"catalog/m.yaml": "m"})
    for sha in history.line("HEAD"):
        assert history.inputs_key(sha) == git.History(repo.path).inputs_key(sha)
    assert (
        history.inputs_key(first) == history.inputs_key(same) == history.inputs_key(back) != history.inputs_key(other)
    )
    assert history.inputs_key(bare) == "- -"
    assert history.inputs_key(first) == f"40000:{repo.sha(f'{first}:inventory')} 40000:{repo.sha(f'{first}:catalog')}"
    assert git.History(repo.path / "inventory").inputs_key(first) == "- -"


def test_a_link_has_another_key_than_nothing(repo: Repo) -> None:
    before = repo.commit({"README": "x"})
    (repo.path / "inventory").symlink_to("README")
    after = repo.commit()
    assert git.History(repo.path).inputs_key(after) != git.History(repo.path).inputs_key(before)
    assert git.History(repo.path).inputs(after) == {"inventory": Refused("a symbolic link")}


def test_generated_files_of_a_commit(repo: Repo) -> None:
    (repo.path / "generated").mkdir()
    (repo.path / "generated/link").symlink_to("x")
    sha = repo.commit({MANIFEST: "{}", "generated/tofu/a.tf": "a", "inventory/a.yaml": "a"})
    assert git.History(repo.path).generated(sha) == {
        "link": Refused("a symbolic link"),
        "manifest.json": "{}",
        "tofu/a.tf": "a",
    }
    assert git.History(repo.path).inputs(sha) == {"inventory/a.yaml": "a"}


def test_manifests_where_they_changed(repo: Repo) -> None:
    repo.commit({"README": "x"})
    one = repo.commit({MANIFEST: "1"})
    repo.commit({"README": "y"})
    two = repo.commit({MANIFEST: "2"})
    repo.commit({MANIFEST: None})
    back = repo.commit({MANIFEST: "1"})
    found = git.History(repo.path).manifests("HEAD")
    assert list(found) == [(back, "1"), (two, "2"), (one, "1")]


def test_a_merge_that_brings_a_manifest_counts_once(repo: Repo) -> None:
    start = repo.commit({MANIFEST: "1"})
    branch(repo, "side", start)
    repo.commit({MANIFEST: "side"})
    repo.commit({MANIFEST: "2"})
    repo.git("checkout", "-q", "main")
    repo.commit({"a": "a"})
    top = merged(repo, "side")
    assert list(git.History(repo.path).manifests("main")) == [(top, "2"), (start, "1")]


def test_manifests_by_the_hundred(repo: Repo) -> None:
    made = [(repo.commit({MANIFEST: str(number)}), str(number)) for number in range(40)]
    assert list(git.History(repo.path).manifests("main")) == made[::-1]


@pytest.mark.parametrize(
    "setting", ["log.follow=true", "log.showSignature=true", "diff.renames=copies", "core.quotePath=true"]
)
def test_settings_of_a_person_change_nothing(repo: Repo, setting: str) -> None:
    one = repo.commit({"generated/other": "1" * 50})
    repo.git("config", *setting.split("="))
    (repo.path / "generated/other").rename(repo.path / MANIFEST)
    two = repo.commit()
    assert list(git.History(repo.path).manifests("main")) == [(two, "1" * 50)]
    assert git.touched(repo.path, one, two, "generated") == (MANIFEST, "generated/other")


# --- clones that are cut off


@pytest.fixture
def cut(repo: Repo, tmp_path: Path) -> tuple[Repo, list[str]]:
    """A clone with the last three commits of six, and all six."""
    made = [repo.commit({MANIFEST: str(number), "inventory/a.yaml": str(number)}) for number in range(6)]
    return Repo.clone(repo.path, tmp_path / "cut", "--depth=3"), made


def test_a_cut_line_is_told_when_its_end_is_passed(cut: tuple[Repo, list[str]]) -> None:
    repo, made = cut
    history = git.History(repo.path)
    assert git.is_shallow(repo.path)
    assert list(islice(history.line("HEAD"), 3)) == made[:2:-1]
    assert list(islice(history.manifests("HEAD"), 3)) == [(made[5], "5"), (made[4], "4"), (made[3], "3")]
    assert history.inputs(made[3]) == {"inventory/a.yaml": "3"}
    for everything in (history.line("HEAD"), history.manifests("HEAD")):
        with pytest.raises(WorldError, match=r"the history of HEAD is cut off \(a shallow clone\)") as caught:
            list(everything)
        assert caught.value.hint == "run: git fetch --unshallow; in a job: fetch-depth: 0"


def test_the_remedy_works(cut: tuple[Repo, list[str]]) -> None:
    repo, made = cut
    repo.git("fetch", "-q", "--unshallow")
    assert not git.is_shallow(repo.path)
    assert list(git.History(repo.path).line("HEAD")) == made[::-1]


def test_a_cut_clone_of_a_whole_history_is_whole(repo: Repo, tmp_path: Path) -> None:
    made = [repo.commit() for _ in range(3)]
    deep = Repo.clone(repo.path, tmp_path / "deep", "--depth=3")
    assert list(git.History(deep.path).line("HEAD")) == made[::-1]


def test_a_fork_point_beyond_the_cut(repo: Repo, tmp_path: Path) -> None:
    start = repo.commit()
    for number in range(5):
        repo.commit({"a": str(number)})
    branch(repo, "topic", start)
    repo.commit({"b": "b"})
    repo.commit({"b": "c"})
    repo.git("checkout", "-q", "main")
    clone = Repo.clone(repo.path, tmp_path / "clone", "--depth=2", "--no-single-branch", "--branch=topic")
    with pytest.raises(WorldError, match="cut off"):
        git.fork_point(clone.path)
    clone.git("fetch", "-q", "--unshallow")
    assert git.fork_point(clone.path) == start


# --- where main was left


def test_on_main_itself(repo: Repo, tmp_path: Path) -> None:
    assert git.fork_point(repo.path) is None
    repo.commit()
    clone = Repo.clone(repo.path, tmp_path / "clone")
    ahead = clone.commit()
    assert git.fork_point(clone.path) == ahead


def test_a_branch_left_main(repo: Repo) -> None:
    repo.commit()
    left = repo.commit({"a": "a"})
    for number in range(20):
        repo.commit({"b": str(number)})
    branch(repo, "topic", left)
    head = repo.commit({"c": "c"})
    assert git.fork_point(repo.path) == left
    assert git.fork_point(repo.path, head, "main") == left
    assert git.fork_point(repo.path, "main", "main") == repo.sha("main")
    repo.git("checkout", "-q", "--detach", "main")
    assert git.fork_point(repo.path) == repo.sha("main")


def test_a_branch_that_took_main_in_again(repo: Repo) -> None:
    start = repo.commit()
    branch(repo, "topic", start)
    repo.commit({"t": "t"})
    repo.git("checkout", "-q", "main")
    taken = repo.commit({"m": "m"})
    repo.commit({"m": "n"})
    repo.git("checkout", "-q", "topic")
    repo.git("merge", "-q", "-m", "take", taken)
    assert git.fork_point(repo.path) == taken


def test_a_branch_of_a_branch_that_was_merged(repo: Repo) -> None:
    """The best common ancestor lies on the side: main's own line was left before."""
    start = repo.commit()
    branch(repo, "one", start)
    side = repo.commit({"1": "1"})
    branch(repo, "two", side)
    repo.commit({"2": "2"})
    repo.git("checkout", "-q", "main")
    repo.commit({"m": "m"})
    merged(repo, "one")
    repo.git("checkout", "-q", "two")
    assert git.merge_base(repo.path, "main", "two") == side
    assert git.fork_point(repo.path) == start


def test_a_branch_that_was_merged(repo: Repo) -> None:
    start = repo.commit()
    branch(repo, "one", start)
    repo.commit({"1": "1"})
    top = merged(repo, "one")
    repo.git("checkout", "-q", "one")
    assert git.fork_point(repo.path) == start
    assert git.fork_point(repo.path, "main", "main") == top


def test_a_branch_that_was_squashed(repo: Repo) -> None:
    start = repo.commit()
    branch(repo, "one", start)
    repo.commit({"1": "1"})
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--squash", "one")
    repo.commit(message="squashed")
    repo.git("checkout", "-q", "one")
    assert git.fork_point(repo.path) == start


@pytest.mark.parametrize("newer", ["local", "remote"])
def test_the_newer_main_counts(repo: Repo, tmp_path: Path, newer: str) -> None:
    old = repo.commit()
    clone = Repo.clone(repo.path, tmp_path / "clone")
    new = clone.commit({"a": "a"}) if newer == "local" else repo.commit({"a": "a"})
    clone.git("fetch", "-q", "origin")
    branch(clone, "topic", new)
    clone.commit({"b": "b"})
    assert {clone.sha("main"), clone.sha("origin/main")} == {old, new}
    assert git.fork_point(clone.path) == new


@pytest.mark.parametrize("name", ["trunk", "master"])
def test_main_by_another_name(tmp_path: Path, name: str) -> None:
    origin = Repo.new(tmp_path / "origin", "-b", name)
    left = origin.commit()
    clone = Repo.clone(origin.path, tmp_path / "clone")
    branch(clone, "topic", left)
    clone.commit({"a": "a"})
    assert git.fork_point(clone.path) == left
    clone.git("checkout", "-q", name)
    ahead = clone.commit({"b": "b"})
    assert git.fork_point(clone.path) == ahead


def test_the_name_of_main(repo: Repo, tmp_path: Path) -> None:
    assert git.main_branch(repo.path) is None
    first = repo.commit()
    assert git.main_branch(repo.path) == "refs/heads/main"
    clone = Repo.clone(repo.path, tmp_path / "clone")
    clone.git("update-ref", "refs/heads/master", first)
    clone.commit({"a": "a"})
    assert git.main_branch(clone.path) == "refs/remotes/origin/main"


def test_no_main_at_all(repo: Repo) -> None:
    repo.git("symbolic-ref", "HEAD", "refs/heads/work")
    assert git.fork_point(repo.path) is None
    head = repo.commit()
    assert git.fork_point(repo.path) == head


def test_planted_names_are_not_main(repo: Repo) -> None:
    start = repo.commit()
    branch(repo, "topic", start)
    planted = repo.commit({"a": "a"})
    for reference in ("refs/tags/main", "refs/heads/refs/heads/main", "refs/main", "refs/remotes/main"):
        repo.git("update-ref", reference, planted)
    assert git.fork_point(repo.path) == start


def test_histories_with_nothing_in_common(repo: Repo) -> None:
    repo.commit()
    repo.git("checkout", "-q", "--orphan", "other")
    repo.commit(message="another")
    assert git.fork_point(repo.path) is None
