"""Two folders change places, in one step or in two that can be finished."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from knaster.adapters import exchange


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path, Path]:
    current, fresh = tmp_path / "current", tmp_path / "fresh"
    current.mkdir()
    fresh.mkdir()
    (current / "old").touch()
    (fresh / "new").touch()
    return current, fresh, tmp_path / "aside"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


linux = pytest.mark.skipif(sys.platform != "linux", reason="renameat2 is a call of Linux")


@linux
def test_in_one_step(folders: tuple[Path, Path, Path]) -> None:
    exchange.exchange(*folders)
    current, fresh, aside = folders
    assert (names(current), names(fresh), aside.exists()) == (["new"], ["old"], False)


@linux
def test_by_number_where_the_c_library_lacks_the_call(
    folders: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = ctypes.CDLL(None, use_errno=True)
    monkeypatch.setattr(ctypes, "CDLL", lambda *_args, **_more: SimpleNamespace(syscall=real.syscall))
    current, fresh, _ = folders
    assert exchange.swap(current, fresh) is True
    assert (names(current), names(fresh)) == (["new"], ["old"])
    with pytest.raises(FileNotFoundError):
        exchange.swap(current, fresh / "nowhere")


@linux
def test_an_unknown_machine_takes_two_renames(
    folders: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda *_args, **_more: SimpleNamespace())
    monkeypatch.setattr(os, "uname", lambda: SimpleNamespace(machine="abacus"))
    exchange.exchange(*folders)
    current, fresh, aside = folders
    assert (names(current), names(aside), fresh.exists()) == (["new"], ["old"], False)


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM])
def test_two_renames_where_the_file_system_cannot(
    folders: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(exchange, "_renameat2", lambda _one, _other: number)
    exchange.exchange(*folders)
    current, fresh, aside = folders
    assert (names(current), names(aside), fresh.exists()) == (["new"], ["old"], False)


def test_two_renames_on_other_systems(folders: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    current, fresh, _ = folders
    assert exchange.swap(current, fresh) is False
    assert (names(current), names(fresh)) == (["old"], ["new"])


def test_other_failures_are_errors_and_move_nothing(
    folders: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(exchange, "_renameat2", lambda _one, _other: errno.EROFS)
    with pytest.raises(OSError, match="Read-only file system"):
        exchange.exchange(*folders)
    current, fresh, aside = folders
    assert (names(current), names(fresh), aside.exists()) == (["old"], ["new"], False)


def test_nothing_there_yet(folders: tuple[Path, Path, Path]) -> None:
    current, fresh, aside = folders
    exchange.exchange(current.with_name("first"), fresh, aside)
    assert names(current.with_name("first")) == ["new"]
    assert not fresh.exists()


def test_the_second_rename_fails(folders: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    current, fresh, aside = folders
    monkeypatch.setattr(exchange, "swap", lambda _one, _other: False)
    really_rename = Path.rename

    def failing(path: Path, target: Path) -> Path:
        if path == fresh:
            raise OSError(errno.EIO, "Input/output error")
        return really_rename(path, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OSError, match="Input/output error"):
        exchange.exchange(current, fresh, aside)
    assert (names(current), names(fresh), aside.exists()) == (["old"], ["new"], False)


def test_settle_finishes_a_cut_exchange_and_only_that(folders: tuple[Path, Path, Path]) -> None:
    current, fresh, aside = folders
    exchange.settle(current, fresh, aside)
    assert (names(current), names(fresh)) == (["old"], ["new"])  # cut before the exchange: fresh may be half a tree
    current.rename(aside)
    exchange.settle(current, fresh, aside)
    assert (names(current), names(aside), fresh.exists()) == (["new"], ["old"], False)
    exchange.settle(current, fresh, aside)
    assert (names(current), names(aside)) == (["new"], ["old"])
