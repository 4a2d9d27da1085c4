"""A folder of captures from machines that nobody vouches for."""

from __future__ import annotations

import os
import socket
import tracemalloc
from pathlib import Path

import pytest

from knaster.adapters.captures import Captured, read
from knaster.diagnostics import WorldError
from knaster.files import Refused

MIB = 1024 * 1024


def refusals(folder: Path) -> dict[str, str]:
    return {entry.file: entry.content.reason for entry in read(folder) if isinstance(entry.content, Refused)}


def test_captures_sorted_by_name(tmp_path: Path) -> None:
    for name in ("pve46", "GODE-PC-05", "pve44"):
        (tmp_path / f"{name}.capture").write_bytes(name.encode())
    (tmp_path / ".gitkeep").touch()
    assert list(read(tmp_path)) == [
        Captured("GODE-PC-05.capture", "GODE-PC-05", b"GODE-PC-05"),
        Captured("pve44.capture", "pve44", b"pve44"),
        Captured("pve46.capture", "pve46", b"pve46"),
    ]


def test_one_file_of_any_name(tmp_path: Path) -> None:
    (tmp_path / "pve44.capture").write_bytes(b"a")
    (tmp_path / "out.txt").write_bytes(b"b")
    assert list(read(tmp_path / "pve44.capture")) == [Captured("pve44.capture", "pve44", b"a")]
    assert list(read(tmp_path / "out.txt")) == [Captured("out.txt", "", b"b")]


def test_what_is_no_file_is_never_opened(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("token")
    folder = tmp_path / "captures"
    folder.mkdir()
    os.mkfifo(folder / "fifo.capture")
    (folder / "link.capture").symlink_to(secret)
    (folder / "gone.capture").symlink_to(tmp_path / "nowhere")
    (folder / "folder.capture").mkdir()
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(folder / "socket.capture"))
    assert refusals(folder) == {
        "fifo.capture": "a FIFO",
        "folder.capture": "a folder",
        "gone.capture": "a symbolic link",
        "link.capture": "a symbolic link",
        "socket.capture": "a socket",
    }


def test_a_link_or_a_fifo_as_the_folder(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    os.mkfifo(tmp_path / "fifo")
    for name in ("link", "fifo"):
        with pytest.raises(WorldError, match="is a"):
            list(read(tmp_path / name))
    with pytest.raises(WorldError, match="cannot read"):
        list(read(tmp_path / "nowhere"))


def test_a_gigabyte_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "big.capture").open("wb") as file:
        file.truncate(1024 * MIB)
    with (tmp_path / "most.capture").open("wb") as file:
        file.truncate(16 * MIB)
    tracemalloc.start()
    entries = {entry.name: entry.content for entry in read(tmp_path)}
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert entries["big"] == Refused("1024 MiB, over the bound of 16 MiB")
    assert entries["most"] == b"\0" * 16 * MIB
    assert peak < 64 * MIB


@pytest.mark.parametrize(
    "name",
    [
        "..capture",
        "...capture",
        "a b.capture",
        "pve.44.capture",
        "-x.capture",
        "ü.capture",
        "a\nb.capture",
        "x" * 64 + ".capture",
    ],
)
def test_names_that_are_no_nodes(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("x")
    entries = list(read(tmp_path))
    (entry,) = entries
    assert entry.name == ""
    assert isinstance(entry.content, Refused)
    assert not entry.other


def test_other_files_get_a_word(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("x")
    (tmp_path / "pve44.capture~").write_text("x")
    assert [(entry.file, entry.other) for entry in read(tmp_path)] == [("README.md", True), ("pve44.capture~", True)]


def test_names_that_are_no_text(tmp_path: Path) -> None:
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe.capture")).write_text("x")
    except OSError:
        pytest.skip("this file system has no such names")
    (entry,) = read(tmp_path)
    assert entry.file.isprintable()
    entry.file.encode()


def test_one_file_at_a_time(tmp_path: Path) -> None:
    for number in range(100):
        (tmp_path / f"n{number}.capture").write_bytes(b"x" * MIB)
    tracemalloc.start()
    sizes = [len(entry.content) for entry in read(tmp_path) if isinstance(entry.content, bytes)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sizes == [MIB] * 100
    assert peak < 8 * MIB
