"""Links, special files and OpenTofu's state under generated/ forbid writing, and --check says so too."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from knaster.adapters.generation import blockers, check, write
from knaster.diagnostics import WorldError
from tests.generations import NEEDED, OLDER, lay, snapshot


def findings(root: Path) -> list[tuple[str, str]]:
    return [(found.code.removeprefix("generated-"), found.place.file) for found in check(root, NEEDED) if found.place]


def linked_folder(root: Path) -> None:
    (root / "elsewhere").mkdir()
    (root / "generated").symlink_to("elsewhere")


def linked_file(root: Path) -> None:
    lay(root, NEEDED)
    (root / "precious").write_text("precious")
    (root / "generated/placement").unlink()
    (root / "generated/placement").symlink_to(root / "precious")


def linked_subfolder(root: Path) -> None:
    lay(root, NEEDED)
    (root / "generated/tofu").rename(root / "elsewhere")
    (root / "generated/tofu").symlink_to(root / "elsewhere")


def extra_link(root: Path) -> None:
    lay(root, NEEDED | {"deep/x": ""})
    (root / "generated/deep/it's").symlink_to("nowhere")


def fifo(root: Path) -> None:
    lay(root, NEEDED)
    os.mkfifo(root / "generated/fifo")


def plain_file(root: Path) -> None:
    (root / "generated").write_text("x")


def linked_cache(root: Path) -> None:
    lay(root, NEEDED)
    (root / "generated/tofu/.terraform").symlink_to(root)


def repository(root: Path) -> None:
    lay(root, NEEDED | {".git/config": "x"})


LINKS: list[tuple[Callable[[Path], None], str, str]] = [
    (linked_folder, "generated", "a symbolic link"),
    (linked_file, "generated/placement", "a symbolic link"),
    (linked_subfolder, "generated/tofu", "a symbolic link"),
    (extra_link, "generated/deep/it's", "a symbolic link"),
    (fifo, "generated/fifo", "a FIFO"),
    (plain_file, "generated", "a file"),
    (linked_cache, "generated/tofu/.terraform", "a symbolic link"),
    (repository, "generated/.git", "the .git of another repository"),
]


@pytest.mark.parametrize(("lay_out", "path", "kind"), LINKS)
def test_links_and_special_files(tmp_path: Path, lay_out: Callable[[Path], None], path: str, kind: str) -> None:
    lay_out(tmp_path)
    before = snapshot(tmp_path)
    (blocker,) = blockers(tmp_path)
    assert (blocker.code, blocker.place and blocker.place.file) == ("generated-link", path)
    assert f"{path} is {kind}; " in blocker.message
    with pytest.raises(WorldError, match="render replaces"):
        write(tmp_path, NEEDED)
    assert [finding for finding in findings(tmp_path) if finding[0] != "extra"] == [("link", path)]
    assert snapshot(tmp_path) == before


def test_the_hint_for_a_link_is_a_command(tmp_path: Path) -> None:
    extra_link(tmp_path)
    (blocker,) = blockers(tmp_path)
    assert blocker.hint == """run: rm 'generated/deep/it'"'"'s' && knaster render"""


STATE = [
    "terraform.tfstate",
    "terraform.tfstate.backup",
    "terraform.tfstate.1761917000.backup",
    "prod.tfstate",
    "errored.tfstate",
    ".terraform.tfstate.lock.info",
    "terraform.tfstate.d/prod/terraform.tfstate",
]


@pytest.mark.parametrize("name", STATE)
def test_state_is_never_destroyed(tmp_path: Path, name: str) -> None:
    lay(tmp_path, OLDER | {f"tofu/{name}": "{}"})
    before = snapshot(tmp_path)
    (blocker,) = blockers(tmp_path)
    assert (blocker.code, blocker.place and blocker.place.file) == ("generated-state", f"generated/tofu/{name}")
    with pytest.raises(WorldError, match="is OpenTofu state"):
        write(tmp_path, NEEDED)
    assert ("state", f"generated/tofu/{name}") in findings(tmp_path)
    assert len(findings(tmp_path)) == 3
    assert snapshot(tmp_path) == before


def test_what_only_looks_like_state(tmp_path: Path) -> None:
    lay(tmp_path, {"tofu/main.tfstates": "", "tofu/.terraform.lock.hcl": "", "tofu/.terraform/terraform.tfstate": "{}"})
    assert blockers(tmp_path) == ()
    assert blockers(tmp_path / "nowhere") == ()
