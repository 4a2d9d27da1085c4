"""The working tree as Files: what is listed, what is read, what is refused without being opened."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from knaster.adapters import files
from knaster.adapters.tree import remove
from knaster.diagnostics import WorldError
from knaster.files import Refused

MIB = 1024 * 1024
as_root = os.geteuid() == 0


def put(root: Path, path: str, text: str | bytes = "") -> Path:
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(text.encode() if isinstance(text, str) else text)
    return target


def test_reads_yaml_of_both_folders_sorted_by_code_point(tmp_path: Path) -> None:
    for path in (
        "inventory/b.yaml",
        "inventory/a-b.yaml",
        "inventory/a/b.yaml",
        "inventory/Z.yaml",
        "catalog/roles.yaml",
    ):
        put(tmp_path, path, f"# {path}\n")
    put(tmp_path, "README.md", "not ours")
    expected = [
        "catalog/roles.yaml",
        "inventory/Z.yaml",
        "inventory/a-b.yaml",
        "inventory/a/b.yaml",
        "inventory/b.yaml",
    ]
    found = files.read(tmp_path)
    assert list(found) == expected
    assert found == {path: f"# {path}\n" for path in expected}


def test_keeps_every_byte(tmp_path: Path) -> None:
    put(tmp_path, "inventory/a.yaml", b"\xef\xbb\xbfname: \xff\r\nb: \xed\xa0\x80\r")
    text = files.read(tmp_path)["inventory/a.yaml"]
    assert text == "\ufeffname: \udcff\r\nb: \udced\udca0\udc80\r"


def test_other_names_are_listed_but_not_read(tmp_path: Path) -> None:
    for name in ("a.yml", "b.YAML", ".gitkeep", "notes.txt", "c.yaml~"):
        put(tmp_path, f"inventory/{name}", "content")
    assert set(files.read(tmp_path).values()) == {""}
    assert len(files.read(tmp_path)) == 5


def test_records_beside_the_catalog_are_read(tmp_path: Path) -> None:
    put(tmp_path, "catalog/architectures/x.yaml", "a: 1")
    put(tmp_path, "catalog/benchmarks/y.yaml", "b: 1")
    put(tmp_path, "catalog/other/z.yaml", "a: 1")
    put(tmp_path, "inventory/architectures/n.yaml", "a: 1")
    assert list(files.read(tmp_path)) == [
        "catalog/architectures/x.yaml",
        "catalog/benchmarks/y.yaml",
        "catalog/other/z.yaml",
        "inventory/architectures/n.yaml",
    ]


def test_generated_on_request_only_and_without_the_cache_of_opentofu(tmp_path: Path) -> None:
    put(tmp_path, "generated/placement.yaml", "p")
    put(tmp_path, "generated/tofu/main.tf", "m")
    put(tmp_path, "generated/tofu/.terraform/providers/x", "binary")
    put(tmp_path, "generated/tofu/.terraform.lock.hcl", "lock")
    assert files.read(tmp_path) == {}
    assert files.read(tmp_path, generated=True) == {
        "generated/placement.yaml": "p",
        "generated/tofu/.terraform.lock.hcl": "lock",
        "generated/tofu/main.tf": "m",
    }


def test_links_are_refused_never_followed(tmp_path: Path) -> None:
    secret = put(tmp_path, "secret", "token")
    (tmp_path / "elsewhere").mkdir()
    put(tmp_path, "elsewhere/x.yaml", "x")
    put(tmp_path, "inventory/real.yaml", "r")
    (tmp_path / "inventory/file.yaml").symlink_to(secret)
    (tmp_path / "inventory/dangling.yaml").symlink_to("nowhere")
    (tmp_path / "inventory/folder").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "inventory/loop").symlink_to(tmp_path / "inventory")
    (tmp_path / "inventory/note.txt").symlink_to(secret)
    link = Refused("a symbolic link")
    names = ("dangling.yaml", "file.yaml", "folder", "loop", "note.txt")
    expected: dict[str, object] = {f"inventory/{name}": link for name in names}
    assert files.read(tmp_path) == expected | {"inventory/real.yaml": "r"}


def test_a_linked_data_folder_is_refused_as_a_whole(tmp_path: Path) -> None:
    put(tmp_path, "elsewhere/x.yaml", "x")
    for name in ("inventory", "catalog", "generated"):
        (tmp_path / name).symlink_to("elsewhere")
    link = Refused("a symbolic link")
    assert files.read(tmp_path, generated=True) == {"catalog": link, "generated": link, "inventory": link}


def test_a_file_in_place_of_a_data_folder(tmp_path: Path) -> None:
    put(tmp_path, "inventory", "name: a")
    assert files.read(tmp_path) == {"inventory": Refused("a file, not a folder")}


def test_fifo_socket_and_device_are_refused_without_opening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "inventory").mkdir()
    os.mkfifo(tmp_path / "inventory/fifo.yaml")
    monkeypatch.chdir(tmp_path)  # a socket's path is short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("inventory/socket.yaml")
        expected = {"inventory/fifo.yaml": Refused("a FIFO"), "inventory/socket.yaml": Refused("a socket")}
        if as_root:
            os.mknod("inventory/null.yaml", 0o20666, os.makedev(1, 3))
            expected["inventory/null.yaml"] = Refused("a device")
        monkeypatch.setattr(os, "open", lambda *_args, **_more: pytest.fail("opened"))
        assert files.read(tmp_path) == expected


def test_load_itself_looks_before_it_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("fifo")
    monkeypatch.setattr(os, "open", lambda *_args, **_more: pytest.fail("opened"))
    assert files.load(str(tmp_path / "fifo"), 10) == Refused("a FIFO")
    assert files.load(str(tmp_path / "link"), 10) == Refused("a symbolic link")
    assert files.load(str(tmp_path), 10) == Refused("a folder")
    assert files.load(str(tmp_path / "nothing"), 10) is None


def test_what_becomes_a_fifo_between_the_look_and_the_opening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, "x.yaml", "x")
    really_open = os.open

    def swapped(name: str, flags: int) -> int:
        path.unlink()
        os.mkfifo(path)
        return really_open(name, flags)

    monkeypatch.setattr(os, "open", swapped)
    assert files.load(str(path), 10) == Refused("a FIFO")


@pytest.mark.parametrize(
    ("size", "reason"),
    [
        (3 * MIB, "3 MiB, over the bound of 2 MiB"),
        (2 * MIB + 1, "2.1 MiB, over the bound of 2 MiB"),
        (5 * MIB // 2, "2.5 MiB, over the bound of 2 MiB"),
    ],
)
def test_too_large(tmp_path: Path, size: int, reason: str) -> None:
    put(tmp_path, "inventory/big.yaml", b"#" * size)
    assert files.read(tmp_path) == {"inventory/big.yaml": Refused(reason)}


def test_the_bound_itself_is_fine_and_generated_has_its_own(tmp_path: Path) -> None:
    put(tmp_path, "inventory/big.yaml", b"#" * 2 * MIB)
    put(tmp_path, "generated/big.yaml", b"#" * 3 * MIB)
    (tmp_path / "generated/huge.yaml").touch()
    os.truncate(tmp_path / "generated/huge.yaml", 65 * MIB)
    found = files.read(tmp_path, generated=True)
    assert found["generated/huge.yaml"] == Refused("65 MiB, over the bound of 64 MiB")
    assert found["inventory/big.yaml"] == "#" * 2 * MIB
    assert found["generated/big.yaml"] == "#" * 3 * MIB


def test_a_file_that_grows_while_it_is_read_stays_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, "log.yaml", b"12345678")
    really_read = os.read

    def growing(handle: int, size: int) -> bytes:
        with path.open("ab") as more:
            more.write(b"12345678")
        return really_read(handle, size)

    monkeypatch.setattr(os, "read", growing)
    assert files.load(str(path), 100) == Refused("0.1 MiB, over the bound of 0.1 MiB")


def test_names_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "inventory").mkdir()
    put(tmp_path, "inventory/\udcff\n.yaml", "name: a")
    assert os.listdir(os.fsencode(tmp_path / "inventory")) == [b"\xff\n.yaml"]  # noqa: PTH208  # as bytes
    assert files.read(tmp_path) == {"inventory/\udcff\n.yaml": "name: a"}


def test_a_folder_deeper_than_python_recurses(tmp_path: Path) -> None:
    folders = [f"{tmp_path}/inventory{'/d' * depth}" for depth in range(1500)]
    for folder in folders:
        os.mkdir(folder)  # noqa: PTH102  # pathlib would recurse
    put(tmp_path, f"inventory{'/d' * 1499}/x.yaml", "x")
    assert files.read(tmp_path) == {f"inventory/{'d/' * 1499}x.yaml": "x"}
    remove(tmp_path, "inventory")
    assert list(tmp_path.iterdir()) == []


def test_missing_folders(tmp_path: Path) -> None:
    assert files.read(tmp_path, generated=True) == {}
    with pytest.raises(WorldError, match=r"there is no folder .*/nowhere") as caught:
        files.read(tmp_path / "nowhere")
    assert "-C DIR" in (caught.value.hint or "")
    with pytest.raises(WorldError, match="file is not a folder"):
        files.read(put(tmp_path, "file"))


@pytest.mark.skipif(as_root, reason="root may read everything")
def test_no_permission_names_the_path(tmp_path: Path) -> None:
    path = put(tmp_path, "inventory/a.yaml", "a")
    path.chmod(0)
    with pytest.raises(WorldError, match=r"cannot read .*/inventory/a.yaml: Permission denied"):
        files.read(tmp_path)
    path.parent.chmod(0)
    try:
        with pytest.raises(WorldError, match=r"cannot read .*/inventory: Permission denied"):
            files.read(tmp_path)
    finally:
        path.parent.chmod(0o755)


def test_a_failing_disk_names_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "inventory/a.yaml", "a")

    def failing(name: str, _flags: int) -> int:
        raise OSError(5, "Input/output error", name)

    monkeypatch.setattr(os, "open", failing)
    with pytest.raises(WorldError, match=r"cannot read .*/inventory/a.yaml: Input/output error"):
        files.read(tmp_path)
