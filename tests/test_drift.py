"""Every difference under generated/ has exactly one finding with one way out."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knaster.adapters.generation import check, write
from tests.generations import NEEDED, OLDER, generated, lay, snapshot


def findings(root: Path, files: dict[str, str] | None = None) -> list[tuple[str, str]]:
    """(code without ``generated-``, path) of each finding."""
    found = check(root, files or NEEDED)
    assert all(finding.place is not None and finding.hint for finding in found)
    return [(finding.code.removeprefix("generated-"), finding.place.file if finding.place else "") for finding in found]


def test_nothing_there(tmp_path: Path) -> None:
    expected = [("missing", f"generated/{path}") for path in ("manifest.json", "placement", "tofu/main")]
    assert findings(tmp_path) == expected
    (tmp_path / "generated").mkdir()
    assert findings(tmp_path) == expected
    assert [path.name for path in tmp_path.rglob("*")] == ["generated"]


def delete(root: Path) -> None:
    (root / "generated/placement").unlink()


def add(root: Path) -> None:
    (root / "generated/stray").write_text("x")


def add_executable(root: Path) -> None:
    add(root)
    (root / "generated/stray").chmod(0o755)


def add_folder(root: Path) -> None:
    (root / "generated/empty").mkdir()


def add_folders(root: Path) -> None:
    (root / "generated/outer/inner").mkdir(parents=True)


def edit(root: Path) -> None:
    (root / "generated/placement").write_text("q\n")


def make_executable(root: Path) -> None:
    (root / "generated/placement").chmod(0o744)


def edit_and_make_executable(root: Path) -> None:
    edit(root)
    make_executable(root)


def crlf(root: Path) -> None:
    (root / "generated/placement").write_bytes(b"p\r\n")


def cr(root: Path) -> None:
    (root / "generated/placement").write_bytes(b"p\r")


def replace_by_folder(root: Path) -> None:
    delete(root)
    (root / "generated/placement").mkdir()


def replace_by_full_folder(root: Path) -> None:
    replace_by_folder(root)
    (root / "generated/placement/x").touch()


def replace_folder_by_file(root: Path) -> None:
    (root / "generated/tofu/main").unlink()
    (root / "generated/tofu").rmdir()
    (root / "generated/tofu").touch()


def empty_a_needed_folder(root: Path) -> None:
    (root / "generated/tofu/main").unlink()


def grow(root: Path) -> None:
    os.truncate(root / "generated/placement", 65 * 1024 * 1024)


def edit_manifest(root: Path) -> None:
    manifest = root / "generated/manifest.json"
    manifest.write_text(manifest.read_text().replace('"version": 1', '"version": 2'))


def reformat_manifest(root: Path) -> None:
    manifest = root / "generated/manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"input_digest": "sha256:other"}, indent=4))


def edit_and_record(root: Path) -> None:
    """By hand, with the hash in the manifest put right."""
    lay(root, generated(placement="q\n", tofu__main="m\n"))


def newline_at_end(root: Path) -> None:
    (root / "generated/placement").write_text("p\n\n")


def odd_name(root: Path) -> None:
    (root / "generated/\udcff").touch()


SINGLE: list[tuple[Callable[[Path], None], list[tuple[str, str]]]] = [
    (delete, [("missing", "generated/placement")]),
    (add, [("extra", "generated/stray")]),
    (add_executable, [("extra", "generated/stray")]),
    (add_folder, [("extra", "generated/empty")]),
    (add_folders, [("extra", "generated/outer/inner")]),
    (odd_name, [("extra", "generated/\udcff")]),
    (edit, [("edited", "generated/placement")]),
    (newline_at_end, [("edited", "generated/placement")]),
    (grow, [("edited", "generated/placement")]),
    (make_executable, [("mode", "generated/placement")]),
    (edit_and_make_executable, [("edited", "generated/placement"), ("mode", "generated/placement")]),
    (crlf, [("eol", "generated/placement")]),
    (cr, [("eol", "generated/placement")]),
    (replace_by_folder, [("missing", "generated/placement")]),
    (replace_by_full_folder, [("missing", "generated/placement"), ("extra", "generated/placement/x")]),
    (replace_folder_by_file, [("extra", "generated/tofu"), ("missing", "generated/tofu/main")]),
    (empty_a_needed_folder, [("missing", "generated/tofu/main")]),
    (edit_manifest, [("edited", "generated/manifest.json")]),
    (reformat_manifest, [("edited", "generated/manifest.json")]),
    (edit_and_record, [("stale", "generated/manifest.json"), ("stale", "generated/placement")]),
]


@pytest.mark.parametrize(("change", "expected"), SINGLE)
def test_one_finding_per_file(tmp_path: Path, change: Callable[[Path], None], expected: list[tuple[str, str]]) -> None:
    lay(tmp_path, NEEDED)
    change(tmp_path)
    before = snapshot(tmp_path)
    assert findings(tmp_path) == expected
    assert snapshot(tmp_path) == before
    write(tmp_path, NEEDED)
    assert findings(tmp_path) == []


def test_the_hint_is_one_command(tmp_path: Path) -> None:
    lay(tmp_path, OLDER)
    for change in (delete, add, make_executable):
        change_root = tmp_path
        if change is make_executable:
            lay(change_root, {"placement": "p\n"})
        change(change_root)
    assert {finding.hint for finding in check(tmp_path, NEEDED)} == {"run: knaster render"}


def test_out_of_date_is_not_edited(tmp_path: Path) -> None:
    lay(tmp_path, OLDER)
    assert findings(tmp_path) == [("stale", "generated/manifest.json"), ("stale", "generated/placement")]
    lay(tmp_path, generated(placement="older\n", tofu__main="m\n", version="0.0.9"))
    assert findings(tmp_path) == [("stale", "generated/manifest.json"), ("stale", "generated/placement")]
    (tmp_path / "generated/placement").write_text("neither\n")
    assert findings(tmp_path) == [("stale", "generated/manifest.json"), ("edited", "generated/placement")]


def test_out_of_date_from_a_crlf_checkout(tmp_path: Path) -> None:
    lay(tmp_path, {path: text.replace("\n", "\r\n") for path, text in NEEDED.items()})
    assert {code for code, _ in findings(tmp_path)} == {"eol"}
    lay(tmp_path, {path: text.replace("\n", "\r\n") for path, text in OLDER.items()})
    assert findings(tmp_path) == [
        ("stale", "generated/manifest.json"),
        ("stale", "generated/placement"),
        ("eol", "generated/tofu/main"),
    ]


HOSTILE = [b"", b"\xff\xfe\0", b"[]", b"null", b"{", b"[" * 100_000, b'{"a":' * 100_000, b"9" * 5000, b'{"files": []}']


@pytest.mark.parametrize("manifest", [*HOSTILE, b'{"files": {"placement": ["x"]}, "input_digest": {"a": [1]}}'])
def test_a_manifest_of_any_bytes(tmp_path: Path, manifest: bytes) -> None:
    lay(tmp_path, OLDER)
    (tmp_path / "generated/manifest.json").write_bytes(manifest)
    codes = dict((path, code) for code, path in findings(tmp_path))
    assert codes["generated/placement"] == "edited"
    assert codes["generated/manifest.json"] == "edited"


def test_an_edited_placement_does_not_make_the_manifest_edited(tmp_path: Path) -> None:
    """The plan follows the placement in force, so other files are needed; the manifest is still as render wrote it."""
    lay(tmp_path, NEEDED)
    (tmp_path / "generated/placement").write_text("by hand\n")
    needed = generated(placement="planned from it\n", tofu__main="m\n")
    assert findings(tmp_path, needed) == [("stale", "generated/manifest.json"), ("edited", "generated/placement")]
    edited = check(tmp_path, needed)[1]
    assert edited.message == "generated/placement was changed by hand"


@settings(deadline=None, max_examples=50)
@given(manifest=st.binary(max_size=60), placement=st.binary(max_size=60))
def test_any_bytes_have_one_content_finding_at_most(
    tmp_path_factory: pytest.TempPathFactory, manifest: bytes, placement: bytes
) -> None:
    root = tmp_path_factory.mktemp("any")
    lay(root, NEEDED)
    (root / "generated/manifest.json").write_bytes(manifest)
    (root / "generated/placement").write_bytes(placement)
    paths = [path for _, path in findings(root)]
    expected = ["generated/manifest.json"] if manifest != NEEDED["manifest.json"].encode() else []
    assert paths == expected + (["generated/placement"] if placement != b"p\n" else [])


LOCK = "tofu/.terraform.lock.hcl"
LOCKED = """\
provider "registry.opentofu.org/bpg/proxmox" {
  version     = "0.111.1"
  constraints = "0.111.1"
  hashes = [
    "h1:ML2D3UUZTM99yrll/EBXj7wBYMb8xmQgomqFNybEoxY=",
    "zh:6ed47bc00d0913a1d0880618fa1376115e9edab6b4a658c081061a7f0e4ca360",
  ]
}
"""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('    "zh:', '    "h1:other=",\n    "zh:', []),
        ('    "h1:ML2D3UUZTM99yrll/EBXj7wBYMb8xmQgomqFNybEoxY=",\n', "", [("edited", f"generated/{LOCK}")]),
        ("0.111.1", "0.112.0", [("edited", f"generated/{LOCK}")]),
        ("registry.opentofu.org", "registry.terraform.io", [("edited", f"generated/{LOCK}")]),
        ("\n}\n", '\n}\nprovider "registry.terraform.io/bpg/proxmox" {}\n', [("edited", f"generated/{LOCK}")]),
    ],
)
def test_tofus_lock_may_learn_hashes_and_nothing_else(
    old: str, new: str, expected: list[tuple[str, str]], tmp_path: Path
) -> None:
    needed = {**NEEDED, LOCK: LOCKED}
    write(tmp_path, needed)
    (tmp_path / "generated" / LOCK).write_text(LOCKED.replace(old, new), encoding="utf-8")
    assert findings(tmp_path, needed) == expected
    found = check(tmp_path, needed)
    assert all("terraform's registry" in one.message for one in found) == ("terraform.io" in new or not found)
