"""Fetching and pushing one branch: races, refusals, and no secret in any message."""

from __future__ import annotations

from pathlib import Path

import pytest

from knaster.adapters import git
from knaster.adapters.git import commits, network
from knaster.adapters.git.network import fetch_references
from knaster.adapters.git.telling import harmless
from knaster.diagnostics import WorldError
from tests.git_repo import Repo, plain


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    plain(monkeypatch)


@pytest.fixture
def server(tmp_path: Path) -> Repo:
    seed = Repo.new(tmp_path / "seed")
    seed.commit({"inventory/a.yaml": "a"})
    seed.git("clone", "-q", "--bare", str(seed.path), str(tmp_path / "server.git"))
    return Repo(tmp_path / "server.git")


@pytest.fixture
def clone(server: Repo, tmp_path: Path) -> Repo:
    return Repo.clone(server.path, tmp_path / "clone")


def landing(repo: Repo, parent: str = "main") -> str:
    tree = git.with_generated(repo.path, parent, {"manifest.json": "{}"})
    return git.commit(repo.path, tree, parent, "land")


def hook(server: Repo, name: str, script: str) -> None:
    place = server.path / "hooks" / name
    place.parent.mkdir(exist_ok=True)
    place.write_text(f"#!/bin/sh\n{script}\n")
    place.chmod(0o755)


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_there_and_back(server: Repo, clone: Repo, scheme: str) -> None:
    sha = landing(clone)
    assert git.push(clone.path, f"{scheme}{server.path}", sha, "main")
    assert server.sha("main") == sha
    assert git.push(clone.path, "origin", sha, "main")  # nothing to do is no race
    assert git.fetch(clone.path, f"{scheme}{server.path}", "main") == sha


def test_fetch_brings_what_others_did(server: Repo, clone: Repo, tmp_path: Path) -> None:
    other = Repo.clone(server.path, tmp_path / "other")
    new = other.commit({"inventory/b.yaml": "b"})
    other.git("tag", "v1")
    other.git("push", "-q", "origin", "main", "v1")
    here = clone.sha("main")
    assert git.fetch(clone.path, "origin", "main") == new
    assert git.read(clone.path, new) == {"inventory/a.yaml": "a", "inventory/b.yaml": "b"}
    assert (clone.sha("main"), clone.git("tag")) == (here, "")


def test_a_lost_race(server: Repo, clone: Repo, tmp_path: Path) -> None:
    other = Repo.clone(server.path, tmp_path / "other")
    theirs = other.commit({"inventory/b.yaml": "b"})
    other.git("push", "-q", "origin", "main")
    assert git.push(clone.path, "origin", landing(clone), "main") is False  # unknown here: fetch first
    assert git.fetch(clone.path, "origin", "main") == theirs
    assert git.push(clone.path, "origin", landing(clone), "main") is False  # known here: non-fast-forward
    assert server.sha("main") == theirs
    again = landing(clone, theirs)
    assert git.push(clone.path, "origin", again, "main")
    assert server.sha("main") == again


def test_a_race_within_the_server(server: Repo, clone: Repo) -> None:
    """Another push holds the reference when ours arrives."""
    hook(server, "pre-receive", "touch refs/heads/main.lock")
    assert git.push(clone.path, "origin", landing(clone), "main") is False


def test_a_race_that_moves_the_branch_meanwhile(server: Repo, clone: Repo) -> None:
    theirs = landing(server_copy(server))
    hook(server, "pre-receive", f"unset GIT_QUARANTINE_PATH; git update-ref refs/heads/main {theirs}")
    assert git.push(clone.path, "origin", landing(clone), "main") is False
    assert server.sha("main") == theirs


def server_copy(server: Repo) -> Repo:
    """A working tree that writes into the server's own objects."""
    copy = Repo.clone(server.path, server.path.parent / "copy")
    (copy.path / ".git/objects/info/alternates").write_text("")
    copy.commit({"x": "x"})
    copy.git("push", "-q", "origin", "main:refs/heads/other")
    copy.git("reset", "-q", "--hard", "HEAD^")
    sha = git.commit(copy.path, git.with_generated(copy.path, "main", {"manifest.json": "{}"}), "main", "theirs")
    copy.git("push", "-q", "origin", f"{sha}:refs/heads/theirs")
    return Repo(copy.path)


@pytest.mark.parametrize(
    "said",
    [
        "Gitea: Not allowed to push to protected branch main",
        "Gitea: branch main is protected from changing file README.md",
        "error: GH006: Protected branch update failed for refs/heads/main.",
    ],
)
def test_a_protected_branch_says_so(server: Repo, clone: Repo, said: str) -> None:
    hook(server, "pre-receive", f"echo >&2; echo '{said}' >&2; exit 1")
    with pytest.raises(WorldError) as caught:
        git.push(clone.path, "origin", landing(clone), "main")
    assert caught.value.message == f"main could not be pushed: the branch is protected: {said.removeprefix('error: ')}"
    assert "generated/**" in str(caught.value.hint)


def test_a_hook_that_declines(server: Repo, clone: Repo) -> None:
    hook(server, "update", "echo 'fetch first your coffee' >&2; exit 1")
    with pytest.raises(WorldError, match="main could not be pushed: fetch first your coffee"):
        git.push(clone.path, "origin", landing(clone), "main")


def test_hooks_here_do_not_run(clone: Repo, tmp_path: Path) -> None:
    place = clone.path / ".git/hooks/pre-push"
    place.parent.mkdir(exist_ok=True)
    place.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexit 1\n")
    place.chmod(0o755)
    assert git.push(clone.path, "origin", landing(clone), "main")
    assert not (tmp_path / "ran").exists()


def test_branches_named_like_commands(server: Repo, clone: Repo, tmp_path: Path) -> None:
    sha = landing(clone)
    for name in ("-x", "--mirror", "x$(touch${IFS}pwned)", "a;b&c", "+main"):
        assert git.push(clone.path, "origin", sha, name)
        assert server.sha(f"refs/heads/{name}") == sha
        assert git.fetch(clone.path, "origin", name) == sha
    assert server.sha("main") != sha
    assert not list(tmp_path.rglob("pwned"))


@pytest.mark.parametrize("name", ["", "a b", "a..b", "main:refs/heads/x", "*", "a\nb", "a\0b", "x.lock", "@{1}"])
def test_what_is_no_branch(clone: Repo, name: str) -> None:
    with pytest.raises(WorldError, match="is no name of a branch"):
        git.push(clone.path, "origin", "main", name)
    with pytest.raises(WorldError, match="is no name of a branch"):
        git.fetch(clone.path, "origin", name)


@pytest.mark.parametrize("remote", ["", "--upload-pack=touch pwned", "-x"])
def test_what_is_no_remote(clone: Repo, remote: str) -> None:
    with pytest.raises(WorldError, match="is no remote"):
        git.fetch(clone.path, remote, "main")
    with pytest.raises(WorldError, match="is no remote"):
        git.push(clone.path, remote, "main", "main")


def test_a_branch_that_is_not_there(clone: Repo) -> None:
    with pytest.raises(WorldError, match="nothing could not be fetched: couldn't find remote ref refs/heads/nothing"):
        git.fetch(clone.path, "origin", "nothing")


@pytest.mark.parametrize("remote", ["ext::sh -c 'touch ran'", "git://localhost/x", "fd::7"])
def test_other_ways_to_a_remote_are_closed(clone: Repo, remote: str) -> None:
    with pytest.raises(WorldError, match="not allowed"):
        git.fetch(clone.path, remote, "main")
    assert not (clone.path / "ran").exists()


def test_no_secret_in_a_message(clone: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "s3cr3t" + "0" * 34
    monkeypatch.setenv("GIT_CURL_VERBOSE", "1")
    monkeypatch.setenv("GIT_TRACE_CURL", "1")
    clone.git("remote", "add", "web", f"http://bot:{secret}@127.0.0.1:1/x.git")
    clone.git("config", "http.extraHeader", f"Authorization: token {secret}")
    for remote in ("web", f"http://{secret}@127.0.0.1:1/x.git"):
        with pytest.raises(WorldError, match=r"main could not be fetched: ") as fetched:
            git.fetch(clone.path, remote, "main")
        with pytest.raises(WorldError, match=r"main could not be pushed: ") as pushed:
            git.push(clone.path, remote, "main", "main")
        for error in (fetched.value, pushed.value):
            assert secret not in error.message + str(error.hint)
            assert "127.0.0.1" in error.message


def test_a_password_is_no_argument(clone: Repo) -> None:
    with pytest.raises(WorldError, match="list of processes") as caught:
        git.fetch(clone.path, "https://bot:hunter2@git.example.org/x.git", "main")
    assert "hunter2" not in caught.value.message + str(caught.value.hint)


def test_what_is_masked() -> None:
    assert harmless("fatal: 'https://a:b@h/x' and ssh://git@h/y") == (
        "fatal: 'https://[redacted]@h/x' and ssh://[redacted]@h/y"
    )
    assert harmless("see a@example.org, http://h/x@y") == "see a@example.org, http://h/x@y"


def test_a_cut_clone_lands_too(server: Repo, tmp_path: Path) -> None:
    seed = Repo.clone(server.path, tmp_path / "more")
    for number in range(4):
        seed.commit({"a": str(number)})
    seed.git("push", "-q", "origin", "main")
    cut = Repo.clone(server.path, tmp_path / "cut", "--depth=1")
    sha = landing(cut)
    assert git.push(cut.path, "origin", sha, "main")
    assert server.sha("main") == sha


def test_heads_of_pull_requests(server: Repo, clone: Repo) -> None:
    sha = landing(clone)
    clone.git("push", "-q", "origin", f"{sha}:refs/pull/7/head", f"{sha}:refs/pull/9/head")
    main = server.sha("main")
    assert git.fetch_reference(clone.path, "origin", "refs/pull/7/head") == sha
    assert git.fetch_pulls(clone.path, "origin", "main", (7, 8, 9)) == (main, {7: sha, 9: sha})
    assert git.fetch_pulls(clone.path, "origin", "main", ()) == (main, {})
    assert clone.sha("main") == main
    with pytest.raises(WorldError):
        fetch_references(clone.path, "origin", "refs/heads/a b")
    assert clone.git("for-each-ref", "refs/knaster") == ""  # nothing of its own is left


def test_somebody_else_fetching_here_changes_no_answer(
    server: Repo, clone: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An editor's auto-fetch between ours and the question what came: FETCH_HEAD is theirs by then."""
    sha = landing(clone)
    clone.git("push", "-q", "origin", f"{sha}:refs/heads/lab")
    real = commits.resolve

    def resolve(root: Path, name: str) -> str:
        clone.git("fetch", "-q", "origin", "lab")
        return real(root, name)

    monkeypatch.setattr(network, "resolve", resolve)
    assert git.fetch(clone.path, "origin", "main") == server.sha("main") != sha
