"""`land` and `verify` on real repositories: each race and each failure ends right."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from knaster.adapters import git as adapter
from knaster.cli import main
from knaster.pipeline import evaluate
from tests.git_repo import Repo, plain, remote_and_clone
from tests.repo import PVE44, ROLES, files

Capture = pytest.CaptureFixture[str]

BROKEN = {"catalog/roles.yaml": "roles: [\n"}
REFUSED = {"catalog/roles.yaml": ROLES.replace("min_vram_gb: 2}", "min_vram_gb: 99}\n    required: true")}


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    plain(monkeypatch)


def cloned(folder: Path, texts: Mapping[str, str | None] | None = None) -> tuple[Repo, Repo]:
    """A bare remote with the small fleet on main, and a clone of it."""
    return remote_and_clone(folder, files() if texts is None else texts)


def land(work: Repo) -> int:
    """Run `knaster land` there."""
    return main(["-C", str(work.path), "land"])


def tip(remote: Repo) -> str:
    """The SHA of main."""
    return remote.sha("refs/heads/main")


def home(remote: Repo, rev: str = "main") -> str:
    """The node that the placement of a commit gives to the role embedding."""
    text = remote.git("show", f"{rev}:generated/placement.yaml")
    return text.partition('role: "embedding"')[2].partition('node: "')[2].partition('"')[0]


def test_it_pushes_one_commit_of_generated_alone(tmp_path: Path, capsys: Capture) -> None:
    remote, work = cloned(tmp_path)
    source = tip(remote)
    assert land(work) == 0
    landed = tip(remote)
    assert remote.sha(f"{landed}^") == source
    paths = remote.git("diff", "--name-only", source, landed).splitlines()
    wanted = evaluate(files()).generated
    assert paths == sorted(f"generated/{path}" for path in wanted)
    for path, text in wanted.items():
        assert remote.git("show", f"{landed}:generated/{path}") == text.rstrip("\n")
    plan = evaluate(files()).plan_id
    trailers = remote.git("show", "-s", "--format=%(trailers:only)", landed).splitlines()
    assert trailers[:2] == [f"Knaster-Source: {source}", f"Knaster-Plan: {plan}"]
    assert capsys.readouterr().out == f"landed main {source[:12]} as {landed[:12]}: plan {plan[:12]}\n"


def test_it_leaves_the_clone_alone(tmp_path: Path) -> None:
    _, work = cloned(tmp_path)
    before = work.sha("HEAD")
    assert land(work) == 0
    assert work.sha("HEAD") == before
    assert work.git("status", "--porcelain") == ""
    assert not (work.path / "generated").exists()


def test_nothing_to_land_ends_quietly(tmp_path: Path, capsys: Capture) -> None:
    remote, work = cloned(tmp_path)
    assert land(work) == 0
    landed = tip(remote)
    capsys.readouterr()
    assert land(work) == 0
    assert tip(remote) == landed
    assert capsys.readouterr().out == f"nothing to land: generated/ of main {landed[:12]} is up to date\n"


@pytest.mark.parametrize("bad", [BROKEN, REFUSED])
def test_an_invalid_main_pushes_nothing(tmp_path: Path, capsys: Capture, bad: dict[str, str]) -> None:
    remote, work = cloned(tmp_path)
    assert land(work) == 0
    work.git("pull", "-q", "origin", "main")
    work.commit(bad)
    work.git("push", "-q", "origin", "main")
    before = tip(remote)
    capsys.readouterr()
    assert land(work) == 1
    assert tip(remote) == before
    out = capsys.readouterr().out
    assert out.splitlines()[-1] == (
        f"nothing was pushed: main {before[:12]} is invalid; the last good generation stays in force"
    )


def test_a_push_that_loses_the_race_starts_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remote, work = cloned(tmp_path)
    other = Repo.clone(remote.path, tmp_path / "other")
    real = adapter.push
    pushes: list[bool] = []

    def racing(root: Path, name: str, sha: str, branch: str) -> bool:
        if not pushes:  # somebody merges while the first generation is made
            other.commit({"inventory/pve46.yaml": PVE44.replace("pve44", "pve46")}, "another node")
            other.git("push", "-q", "origin", "main")
        pushes.append(real(root, name, sha, branch))
        return pushes[-1]

    monkeypatch.setattr(adapter, "push", racing)
    assert land(work) == 0
    assert pushes == [False, True]
    assert '"gpu-pve46"' in remote.git("show", "main:generated/proxmox.yaml")
    assert main(["-C", str(work.path), "verify", tip(remote)]) == 0


def test_two_landings_at_once_end_in_one_commit(tmp_path: Path) -> None:
    remote, work = cloned(tmp_path)
    source = tip(remote)
    other = Repo.clone(remote.path, tmp_path / "other")
    runs = [
        subprocess.Popen(
            [sys.executable, "-m", "knaster", "-C", str(root), "land"], stdout=subprocess.PIPE, cwd=Path.cwd()
        )
        for root in (work.path, other.path)
    ]
    said = [run.communicate(timeout=120)[0].decode() for run in runs]
    assert [run.returncode for run in runs] == [0, 0]
    words = {line.partition(" ")[0] for line in said}
    assert words <= {"landed", "nothing"}  # in the same second both make the very same commit
    assert remote.git("rev-list", "--count", f"{source}..main") == "1"


def test_a_main_that_never_rests_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    _, work = cloned(tmp_path)
    monkeypatch.setattr(adapter, "push", lambda *_: False)
    assert land(work) == 2
    assert "main moved 5 times" in capsys.readouterr().err


def test_a_refused_push_is_an_error_in_the_servers_words(tmp_path: Path, capsys: Capture) -> None:
    remote, work = cloned(tmp_path)
    hook = remote.path / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho 'Not allowed to push to protected branch main' >&2\nexit 1\n")
    hook.chmod(0o755)
    before = tip(remote)
    assert land(work) == 2
    assert tip(remote) == before
    assert "Not allowed to push to protected branch main" in capsys.readouterr().err


def test_a_revert_lands_the_old_placement(tmp_path: Path) -> None:
    """The role moved to pve46 when pve44's card was switched off, and moves back with the revert."""
    twin = {"inventory/pve46.yaml": PVE44.replace("pve44", "pve46")}
    remote, work = cloned(tmp_path, {**files(), **twin})
    off = PVE44.replace("iommu_group: 21}", "iommu_group: 21}\n    disabled: true\n    reason: fan")
    homes = []
    for texts in ({}, {"inventory/pve44.yaml": off}, {"inventory/pve44.yaml": PVE44}):
        work.git("pull", "-q", "--rebase", "origin", "main")
        work.commit(texts)
        work.git("push", "-q", "origin", "main")
        assert land(work) == 0
        homes.append(home(remote))
        assert main(["-C", str(work.path), "verify", tip(remote)]) == 0
    assert homes == ["pve44", "pve46", "pve44"]


def test_a_new_equal_card_moves_nothing_though_main_never_rendered_it(tmp_path: Path) -> None:
    """Two merges before the first landing: the second is planned on top of the first."""
    only = {
        "inventory/pve46.yaml": PVE44.replace("pve44", "pve46"),
        "catalog/platform.yaml": files()["catalog/platform.yaml"].replace("node: pve44", "node: pve46"),
    }
    first = {path: text for path, text in files().items() if path != "inventory/pve44.yaml"} | only
    remote, work = cloned(tmp_path, first)
    assert land(work) == 0
    work.git("pull", "-q", "--rebase", "origin", "main")
    work.commit({"catalog/roles.yaml": ROLES.replace("priority: 10", "priority: 11")})
    work.commit({"inventory/pve44.yaml": PVE44})
    work.git("push", "-q", "origin", "main")
    assert land(work) == 0
    assert home(remote) == "pve46"


def test_verify_tells_what_was_changed_by_hand(tmp_path: Path, capsys: Capture) -> None:
    remote, work = cloned(tmp_path)
    assert land(work) == 0
    work.git("pull", "-q", "origin", "main")
    registry = work.path / "generated/registry.yaml"
    registry.write_text(registry.read_text().replace("8080", "8081"))
    (work.path / "generated/notes.txt").write_text("mine")
    sha = work.commit({})
    capsys.readouterr()
    assert main(["-C", str(work.path), "verify", "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["ok"], found["commit"]) == (False, sha)
    assert [(item["code"], item["file"]) for item in found["findings"]] == [
        ("generated-extra", "generated/notes.txt"),
        ("generated-edited", "generated/registry.yaml"),
    ]
    assert main(["-C", str(work.path), "verify", tip(remote)]) == 0


def test_verify_finds_a_placement_moved_by_hand_to_another_tie(tmp_path: Path) -> None:
    """check, land and verify agree: none of them takes the edit for the placement in force."""
    remote, work = cloned(tmp_path, {**files(), "inventory/pve46.yaml": PVE44.replace("pve44", "pve46")})
    assert land(work) == 0
    work.git("pull", "-q", "origin", "main")
    from knaster.in_force.landed import recorded_placement

    text = work.git("show", "main:generated/placement.yaml") + "\n"
    tie = text.replace("gpu-pve44", "gpu-pve46").replace(
        'node: "pve44"\n    gpu_index: 1', 'node: "pve46"\n    gpu_index: 1'
    )
    plan, problems = recorded_placement(tie)
    assert problems == ()
    moved = evaluate({**files(), "inventory/pve46.yaml": PVE44.replace("pve44", "pve46")}, plan)
    assert moved.generated["placement.yaml"] != text
    sha = work.commit({f"generated/{path}": content for path, content in moved.generated.items()})
    work.git("push", "-q", "origin", "main")
    assert main(["-C", str(work.path), "verify", sha]) == 1
    assert main(["-C", str(work.path), "render", "--check"]) == 1
    assert land(work) == 0
    assert home(remote) == "pve44"


def test_verify_of_a_commit_with_errors(tmp_path: Path, capsys: Capture) -> None:
    _, work = cloned(tmp_path)
    sha = work.commit(BROKEN)
    assert main(["-C", str(work.path), "verify", sha]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == f"{sha[:12]} is not verified: its inputs have 1 error"


@pytest.mark.parametrize("rev", ["nope", "--help-me", "-n"])
def test_verify_of_no_commit(tmp_path: Path, capsys: Capture, rev: str) -> None:
    _, work = cloned(tmp_path)
    assert main(["-C", str(work.path), "verify", "--", rev]) == 2
    assert "there is no commit" in capsys.readouterr().err


def test_a_shallow_clone_names_the_fetch(tmp_path: Path, capsys: Capture) -> None:
    remote, work = cloned(tmp_path)
    work.commit({"inventory/pve46.yaml": PVE44.replace("pve44", "pve46")})
    work.git("push", "-q", "origin", "main")
    shallow = Repo.clone(remote.path, tmp_path / "shallow", "--depth", "1").path
    for command in ("verify", "land", "validate"):
        assert main(["-C", str(shallow), command]) == 2
        assert "git fetch --unshallow" in capsys.readouterr().err
