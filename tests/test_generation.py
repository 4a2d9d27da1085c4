"""generated/ is written as a whole or not at all."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from knaster.adapters import exchange, generation, tree
from knaster.adapters.generation import Written, check, finish, write
from knaster.diagnostics import WorldError
from tests.generations import CACHE, NEEDED, OLDER, generated, lay, leftovers, program, snapshot
from tests.generations import tree as content

as_root = os.geteuid() == 0

# Writing


def test_the_first_time(tmp_path: Path) -> None:
    assert write(tmp_path, NEEDED) == Written(created=("manifest.json", "placement", "tofu/main"))
    assert content(tmp_path) == NEEDED
    assert [path.name for path in tmp_path.iterdir()] == ["generated"]
    assert check(tmp_path, NEEDED) == ()


def test_again_touches_nothing(tmp_path: Path) -> None:
    write(tmp_path, NEEDED)
    before = snapshot(tmp_path)
    assert write(tmp_path, NEEDED) == Written()
    assert snapshot(tmp_path) == before


def test_says_what_it_did(tmp_path: Path) -> None:
    lay(tmp_path, generated(placement="older\n", tofu__main="m\n", gone__a="x", b="x"))
    (tmp_path / "generated/empty/er").mkdir(parents=True)
    (tmp_path / "generated/tofu/main").chmod(0o755)
    wanted = NEEDED | {"ansible/hosts": "h"}
    assert write(tmp_path, wanted) == Written(
        created=("ansible/hosts",),
        changed=("manifest.json", "placement", "tofu/main"),
        removed=("b", "empty/er/", "gone/a"),
    )
    assert check(tmp_path, wanted) == ()
    assert sorted(path.name for path in (tmp_path / "generated").iterdir()) == sorted(
        ["ansible", "manifest.json", "placement", "tofu"]
    )


def test_modes_do_not_depend_on_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        write(tmp_path, NEEDED)
    finally:
        os.umask(before)
    modes = {path.name: oct(path.stat().st_mode & 0o777) for path in (tmp_path / "generated").rglob("*")}
    assert modes == {"manifest.json": "0o644", "placement": "0o644", "tofu": "0o755", "main": "0o644"}
    assert (tmp_path / "generated").stat().st_mode & 0o777 == 0o755


def test_bytes_go_out_as_they_are(tmp_path: Path) -> None:
    files = {"a": "ä\r\n\ufeff\0", "b": ""}
    write(tmp_path, files)
    assert (tmp_path / "generated/a").read_bytes() == b"\xc3\xa4\r\n\xef\xbb\xbf\0"
    assert (tmp_path / "generated/b").read_bytes() == b""


def test_all_is_on_the_disk_before_the_exchange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay(tmp_path, OLDER)
    synced: set[int] = set()
    at_exchange: list[set[int]] = []
    real_sync, real_exchange = os.fsync, exchange.exchange

    def sync(handle: int) -> None:
        synced.add(os.fstat(handle).st_ino)
        real_sync(handle)

    def noting(current: Path, fresh: Path, aside: Path) -> None:
        at_exchange.append(set(synced))
        real_exchange(current, fresh, aside)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(generation, "exchange", noting)
    write(tmp_path, NEEDED)
    everything = [tmp_path, tmp_path / "generated", *(tmp_path / "generated").rglob("*")]
    assert at_exchange == [{path.stat().st_ino for path in everything}]


def test_the_cache_of_opentofu_survives(tmp_path: Path) -> None:
    lay(tmp_path, OLDER | {CACHE: "binary", ".terraform/x": "binary", "gone/deep/.terraform/x": "binary"})
    cache = (tmp_path / "generated" / CACHE).stat().st_ino
    assert write(tmp_path, NEEDED).removed == ()
    assert (tmp_path / "generated" / CACHE).stat().st_ino == cache
    assert (tmp_path / "generated/gone/deep/.terraform/x").read_text() == "binary"
    assert check(tmp_path, NEEDED) == ()
    assert leftovers(tmp_path) == []


def test_a_cache_whose_folder_became_a_file_goes(tmp_path: Path) -> None:
    lay(tmp_path, {"a/b/.terraform/x": "binary", "c/.terraform/x": "binary"})
    write(tmp_path, {"a": "file", "c": "file"})
    assert content(tmp_path) == {"a": "file", "c": "file"}
    assert leftovers(tmp_path) == []


def test_folders_and_files_change_roles(tmp_path: Path) -> None:
    lay(tmp_path, {"a": "file", "b/c": "file"})
    assert write(tmp_path, {"a/x": "1", "b": "2"}) == Written(created=("a/x", "b"), removed=("a", "b/c"))
    assert content(tmp_path) == {"a/x": "1", "b": "2"}


def test_unwritable_old_folders_are_no_hindrance(tmp_path: Path) -> None:
    lay(tmp_path, {"old/x": "x"})
    (tmp_path / "generated/old").chmod(0o555)
    write(tmp_path, NEEDED)
    assert content(tmp_path) == NEEDED
    assert leftovers(tmp_path) == []


BUGS = ["", "/a", "a//b", "a/", "../a", "a/../b", "./a", "a/.", "a\0", ".terraform/x", "t/.git/x", "tofu/x.tfstate"]


@pytest.mark.parametrize("path", BUGS)
def test_a_path_that_is_none_is_a_bug(tmp_path: Path, path: str) -> None:
    for action in (write, check):
        with pytest.raises(ValueError, match="not a path below generated/"):
            action(tmp_path, {path: "x"})
    assert list(tmp_path.iterdir()) == []


def test_other_bugs(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not a path below generated/: 'a/b'"):
        write(tmp_path, {"a": "x", "a/b": "x"})
    with pytest.raises(ValueError, match="empty fleet"):
        write(tmp_path, {})
    with pytest.raises(UnicodeEncodeError):
        write(tmp_path, {"a": "\udcff"})
    assert list(tmp_path.iterdir()) == []


# A world that fails


def test_another_run_holds_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generation, "WAIT", 0.05)
    (tmp_path / ".generated.new").mkdir()
    handle = os.open(tmp_path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        for action in (lambda: write(tmp_path, NEEDED), lambda: finish(tmp_path)):
            with pytest.raises(WorldError, match="another knaster has been writing"):
                action()
    finally:
        os.close(handle)
    assert [path.name for path in tmp_path.iterdir()] == [".generated.new"]
    write(tmp_path, NEEDED)
    assert [path.name for path in tmp_path.iterdir()] == ["generated"]


def test_a_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_handle: int, _how: int) -> None:
        raise OSError(9, "Bad file descriptor")

    monkeypatch.setattr(fcntl, "flock", refuse)
    write(tmp_path, NEEDED)
    assert content(tmp_path) == NEEDED


def test_a_full_disk_leaves_the_old_tree(tmp_path: Path) -> None:
    lay(tmp_path, OLDER)
    before = snapshot(tmp_path / "generated")
    output, _ = program(tmp_path, "full").communicate()
    assert output == f"cannot read or write {tmp_path}/.generated.new/z: File too large\n"
    assert snapshot(tmp_path / "generated") == before
    assert leftovers(tmp_path) == []


CALLS = [(os, "mkdir"), (os, "open"), (os, "write"), (os, "fsync"), (exchange, "exchange"), (generation, "build")]


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize(("module", "name"), CALLS)
def test_any_failure_before_the_exchange(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: object, name: str, failure: BaseException
) -> None:
    lay(tmp_path, OLDER | {CACHE: "binary"})
    before = snapshot(tmp_path / "generated")
    real = getattr(module, name)
    watched = {"exchange": generation}.get(name, module)

    def failing(*arguments: object, **more: object) -> object:
        if name == "open" and ".generated.new" not in str(arguments[0]):
            return real(*arguments, **more)
        raise failure

    with monkeypatch.context() as patch:
        patch.setattr(watched, name, failing)
        expected = WorldError if isinstance(failure, OSError) else KeyboardInterrupt
        with pytest.raises(expected) as caught:
            write(tmp_path, NEEDED)
    if isinstance(caught.value, WorldError):
        assert "No space left on device" in caught.value.message
        assert caught.value.hint == "free some space; generated/ was left as it was"
    assert snapshot(tmp_path / "generated") == before
    assert leftovers(tmp_path) == []


def test_the_old_tree_cannot_be_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay(tmp_path, OLDER)
    real = tree.remove

    def failing(root: Path, name: str) -> None:
        if (root / name).exists():
            raise PermissionError(13, "Permission denied", str(root / name / "placement"))
        real(root, name)

    with monkeypatch.context() as patch:
        patch.setattr(generation, "remove", failing)
        with pytest.raises(WorldError, match=r"generated/ is written, but the old one cannot be removed: .*/placement"):
            write(tmp_path, NEEDED)
        assert content(tmp_path) == NEEDED
        finish(tmp_path)  # litter beside a whole tree stops no reader
        (tmp_path / "generated").rename(tmp_path / "away")
        with pytest.raises(WorldError, match="Permission denied"):
            finish(tmp_path)
        (tmp_path / "away").rename(tmp_path / "generated")
    finish(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["generated"]


def test_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(WorldError, match="nowhere: No such file or directory"):
        write(tmp_path / "nowhere", NEEDED)
    finish(tmp_path / "nowhere")


@pytest.mark.skipif(as_root, reason="root may write everywhere")
def test_no_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(WorldError, match=r"/\.generated\.new: Permission denied"):
            write(tmp_path, NEEDED)
    finally:
        tmp_path.chmod(0o755)
    assert list(tmp_path.iterdir()) == []
