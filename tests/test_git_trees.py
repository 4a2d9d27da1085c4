"""Reading a commit is reading a checkout of it, without one; whatever a tree holds."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knaster.adapters import files as working
from knaster.adapters import git
from knaster.adapters.drift import Found
from knaster.diagnostics import WorldError
from knaster.files import Refused
from tests.git_repo import Repo, plain


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    plain(monkeypatch)


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo.new(tmp_path / "repo")


def tree(repo: Repo, *rows: tuple[str, str]) -> str:
    """A tree of any names at all: (mode, name) with the blob ``x``, or (a tree's SHA, name)."""
    blob = repo.git("hash-object", "-w", "--stdin", data=b"x")
    lines = [f"{one} blob {blob}\t{name}" if len(one) == 6 else f"040000 tree {one}\t{name}" for one, name in rows]
    return repo.git(
        "mktree", "-z", "--missing", data="".join(f"{row}\0" for row in lines).encode("utf-8", "surrogateescape")
    )


NAMES = st.sampled_from(
    ["a", "b.yaml", "inventory", "x.yml", "-n.yaml", "sp ace.yaml", "new\nline.yaml", "\udcff.yaml"]
)
FOLDERS = st.sampled_from(
    [
        "inventory",
        "catalog",
        "catalog/architectures",
        "catalog/benchmarks/x",
        "generated",
        "generated/tofu",
        "generated/tofu/.terraform/y",
        "elsewhere",
        "inventory2",
        "inventory/deep/er",
    ]
)
ENTRIES = st.tuples(FOLDERS, NAMES, st.sampled_from(["file", "file", "link", "program"]), st.binary(max_size=6))


def lay(root: Path, entries: list[tuple[str, str, str, bytes]]) -> None:
    for folder, name, kind, data in entries:
        place = root / folder / name
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            if os.path.lexists(place):
                continue
        except (NotADirectoryError, FileExistsError):
            continue
        if kind == "link":
            place.symlink_to("nowhere")
        else:
            place.write_bytes(data)
            place.chmod(0o755 if kind == "program" else 0o644)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(entries=st.lists(ENTRIES, max_size=8), top=st.sampled_from(["", "", "catalog", "inventory", "generated"]))
def test_reading_a_commit_is_reading_its_checkout(
    tmp_path_factory: pytest.TempPathFactory, entries: list[tuple[str, str, str, bytes]], top: str
) -> None:
    repo = Repo.new(tmp_path_factory.mktemp("r") / "repo")
    if top:
        (repo.path / top).write_bytes(b"not a folder")
    lay(repo.path, entries)
    sha = repo.commit()
    for generated in (False, True):
        assert git.read(repo.path, sha, generated=generated) == working.read(repo.path, generated=generated)


def test_every_kind_of_entry(repo: Repo) -> None:
    (repo.path / "inventory").mkdir()
    (repo.path / "inventory/link.yaml").symlink_to("/etc/passwd")
    (repo.path / "inventory/folder").symlink_to("/etc")
    (repo.path / "inventory/bytes.yaml").write_bytes(b"a: \xff\r\n\0")
    repo.commit({"inventory/a.yaml": "a\n", "inventory/notes.txt": "x", "README": "r"})
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{repo.sha()},inventory/sub.yaml")
    repo.git("commit", "-qm", "x")
    assert git.read(repo.path, "HEAD") == {
        "inventory/a.yaml": "a\n",
        "inventory/bytes.yaml": "a: \udcff\r\n\0",
        "inventory/folder": Refused("a symbolic link"),
        "inventory/link.yaml": Refused("a symbolic link"),
        "inventory/notes.txt": "",
        "inventory/sub.yaml": Refused("a submodule"),
    }


def test_the_commit_counts_not_the_disk(repo: Repo) -> None:
    first = repo.commit({"inventory/a.yaml": "one"})
    repo.commit({"inventory/a.yaml": "two"})
    (repo.path / "inventory/a.yaml").write_text("three")
    assert git.read(repo.path, first) == {"inventory/a.yaml": "one"}
    assert git.read(repo.path, repo.sha("HEAD^{tree}")) == {"inventory/a.yaml": "two"}


def test_a_fleet_below_the_top(repo: Repo) -> None:
    repo.commit({"inventory/a.yaml": "top", "fleets/lab/inventory/a.yaml": "lab", "fleets/lab/generated/x": "y"})
    assert git.read(repo.path / "fleets/lab", "HEAD", generated=True) == {"generated/x": "y", "inventory/a.yaml": "lab"}
    assert git.read(repo.path / "fleets", "HEAD") == {}
    assert git.generated(repo.path / "fleets/lab", "HEAD") == {"x": Found("a file", data=b"y")}


def test_files_over_the_bound_are_not_read(repo: Repo) -> None:
    mib = 1024 * 1024
    repo.commit(
        {"inventory/a.yaml": "x" * (2 * mib + 1), "inventory/b.yaml": "x" * 2 * mib, "generated/c": "x" * 3 * mib}
    )
    read = git.read(repo.path, "HEAD", generated=True)
    assert read["inventory/a.yaml"] == Refused("2.1 MiB, over the bound of 2 MiB")
    assert read["inventory/b.yaml"] == "x" * 2 * mib
    assert read["generated/c"] == "x" * 3 * mib


def test_equal_texts_are_one_object(repo: Repo) -> None:
    first = repo.commit({"inventory/a.yaml": "same" * 99, "inventory/b.yaml": "old"})
    second = repo.commit({"inventory/b.yaml": "new", "catalog/copy.yaml": "same" * 99})
    before, after = git.read_many(repo.path, (first, second))
    assert before["inventory/a.yaml"] is after["inventory/a.yaml"] is after["catalog/copy.yaml"]
    assert (before["inventory/b.yaml"], after["inventory/b.yaml"]) == ("old", "new")
    assert git.read_many(repo.path, ()) == []


@pytest.mark.parametrize("name", ["..", ".", ".git", ".GIT"])
def test_names_that_no_checkout_can_have(repo: Repo, name: str) -> None:
    inside = tree(repo, ("100644", "a.yaml"), ("100644", name))
    deeper = tree(repo, (tree(repo, (tree(repo, ("100644", "b.yaml")), name)), "inventory"), (inside, "catalog"))
    refused = Refused("an entry whose name no checkout can have")
    assert git.read(repo.path, deeper) == {
        "catalog/a.yaml": "x",
        f"catalog/{name}": refused,
        f"inventory/{name}/b.yaml": refused,
    }


def test_an_entry_that_stands_twice(repo: Repo) -> None:
    twice = tree(repo, (tree(repo, ("100644", "a.yaml"), ("120000", "a.yaml")), "inventory"))
    assert git.read(repo.path, twice) == {"inventory/a.yaml": Refused("an entry that its folder holds twice")}


def test_a_tree_that_lists_more_than_the_world_holds(repo: Repo) -> None:
    bomb = tree(repo, ("100644", "a.yaml"))
    for _ in range(12):
        bomb = tree(repo, *((bomb, str(number)) for number in range(10)))
    with pytest.raises(WorldError, match="no fleet"):
        git.read(repo.path, tree(repo, (bomb, "inventory")))


@pytest.mark.parametrize("name", ["--output=pwned", "-r", "", "nothing", "HEAD\0", "HEAD:README"])
def test_no_tree(repo: Repo, name: str) -> None:
    repo.commit({"README": "x"})
    with pytest.raises(WorldError):
        git.read(repo.path, name)
    with pytest.raises(WorldError):
        git.touched(repo.path, name, "HEAD", "inventory")
    assert sorted(path.name for path in repo.path.iterdir()) == [".git", "README"]


def test_generated_as_it_is_compared(repo: Repo) -> None:
    (repo.path / "generated/tofu/.terraform/x").mkdir(parents=True)
    (repo.path / "generated/tofu/.terraform/x/y").write_text("cache")
    (repo.path / "generated/run").write_bytes(b"\xff")
    (repo.path / "generated/run").chmod(0o755)
    (repo.path / "generated/link").symlink_to("run")
    repo.commit({"generated/a/b.json": "{}", "inventory/a.yaml": "a"})
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{repo.sha()},generated/sub")
    repo.git("commit", "-qm", "x")
    link, run = git.generated(repo.path, "HEAD")["link"], git.generated(repo.path, "HEAD")["run"]
    assert (link.kind, run) == ("a symbolic link", Found("a file", executable=True, data=b"\xff"))
    assert {path: entry.kind for path, entry in git.generated(repo.path, "HEAD").items()} == {
        "a/b.json": "a file",
        "link": "a symbolic link",
        "run": "a file",
        "sub": "a submodule",
    }


def test_generated_that_is_no_folder(repo: Repo) -> None:
    (repo.path / "generated").symlink_to("elsewhere")
    repo.commit({"README": "x"})
    assert {path: entry.kind for path, entry in git.generated(repo.path, "HEAD").items()} == {"": "a symbolic link"}
    assert git.generated(repo.path, tree(repo, ("100644", "a"))) == {}


def test_what_differs_below_a_folder(repo: Repo) -> None:
    names = ("generated/-rf", "generated/new\nline", "generated/gone", "generated/kept")
    old = repo.commit({**dict.fromkeys(names, "x"), "inventory/a.yaml": "a", "generated2/b": "b"})
    (repo.path / "generated/kept").chmod(0o755)
    (repo.path / "generated/gone").rename(repo.path / "generated/moved")
    new = repo.commit({"generated/-rf": "y", "generated/new\nline": "y", "inventory/a.yaml": "b", "generated2/b": "c"})
    assert git.touched(repo.path, old, new, "generated") == (
        "generated/-rf",
        "generated/gone",
        "generated/kept",
        "generated/moved",
        "generated/new\nline",
    )
    assert git.touched(repo.path, old, old, "generated") == ()
    assert git.touched(repo.path, old, new, "gen*") == ()


def test_what_differs_is_seen_from_the_fleet(repo: Repo) -> None:
    old = repo.commit({"lab/generated/a": "1", "generated/a": "1"})
    new = repo.commit({"lab/generated/a": "2", "generated/a": "2"})
    assert git.touched(repo.path / "lab", old, new, "generated") == ("generated/a",)


def test_long_identifiers(tmp_path: Path) -> None:
    try:
        repo = Repo.new(tmp_path / "repo", "--object-format=sha256")
    except subprocess.CalledProcessError:
        pytest.skip("this git has no SHA-256 repositories")
    first = repo.commit({"inventory/a.yaml": "a"})
    second = repo.commit({"README": "x"})
    history = git.History(repo.path)
    assert git.resolve(repo.path, "HEAD") == second
    assert len(second) == 64
    assert git.read(repo.path, second) == {"inventory/a.yaml": "a"}
    assert list(history.line("HEAD")) == [second, first]
    assert history.inputs_key(first) == history.inputs_key(second) == f"40000:{repo.sha('HEAD:inventory')} -"


def test_a_clone_without_contents_says_so(repo: Repo, tmp_path: Path) -> None:
    repo.commit({"inventory/a.yaml": "a"})
    repo.git("config", "uploadpack.allowFilter", "true")
    partial = Repo.clone(repo.path, tmp_path / "partial", "--filter=blob:none", "--no-checkout")
    with pytest.raises(WorldError, match=r"could not fetch .* from promisor remote") as caught:
        git.read(partial.path, "HEAD")
    assert caught.value.hint == "run: git fetch --refetch --no-filter"
    partial.git("fetch", "-q", "--refetch", "--no-filter")
    assert git.read(partial.path, "HEAD") == {"inventory/a.yaml": "a"}


def test_a_text_that_is_lost(repo: Repo) -> None:
    repo.commit({"inventory/a.yaml": "a", "catalog/b.yaml": "b"})
    blob = repo.sha("HEAD:inventory/a.yaml")
    (repo.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(WorldError, match=f"object {blob} is missing") as caught:
        git.read(repo.path, "HEAD")
    assert caught.value.hint == "run: git fsck"


def test_a_folder_that_is_gone(repo: Repo) -> None:
    repo.commit({"inventory/a.yaml": "a"})
    with pytest.raises(WorldError, match="there is no folder"):
        git.read(repo.path / "gone", "HEAD")
