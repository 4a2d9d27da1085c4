"""`knaster diff` at a prompt: real repositories, and what people and programs read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from knaster.cli import main
from tests.git_repo import Repo, plain, remote_and_clone
from tests.repo import MODELS, PLATFORM, PVE44, files

Capture = pytest.CaptureFixture[str]
GROWN = {"catalog/models.yaml": MODELS.replace("vram_gb: 10.5", "vram_gb: 25")}
MOVED = {"catalog/platform.yaml": PLATFORM.replace("vmid: 101", "vmid: 111")}
BROKEN = {"catalog/platform.yaml": PLATFORM.replace("bridge: vmbr0", "bridge: [vmbr0")}


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    plain(monkeypatch)


@pytest.fixture
def work(tmp_path: Path) -> Repo:
    """The small fleet on main, as its remote has it."""
    return remote_and_clone(tmp_path, files())[1]


def run(work: Repo, capsys: Capture, *words: str) -> tuple[int, str]:
    """Exit status and standard output."""
    status = main(["-C", str(work.path), "diff", *words])
    return status, capsys.readouterr().out


def data(work: Repo, capsys: Capture, *words: str) -> dict[str, Any]:
    """The JSON object."""
    return dict(json.loads(run(work, capsys, *words, "--format", "json")[1]))


def edit(work: Repo, texts: dict[str, str]) -> None:
    """Write into the working tree, without a commit."""
    for path, text in texts.items():
        (work.path / path).write_text(text)


def test_nothing_differs(work: Repo, capsys: Capture) -> None:
    sha = work.sha()[:12]
    assert run(work, capsys) == (0, f"{sha} → the working tree: no change to the fleet\n")
    assert run(work, capsys, "--exit-code")[0] == 0


def test_the_working_tree_against_the_commit_where_the_branch_left_main(work: Repo, capsys: Capture) -> None:
    sha = work.sha()[:12]
    edit(work, GROWN)
    at = MODELS[: MODELS.index("vram_gb: 10.5")].count("\n") + 1
    assert run(work, capsys) == (
        0,
        f"""\
{sha} → the working tree: 1 slot dropped, 1 model no longer fits

taken away
  slot tier1 becomes unavailable; calls fall back to tier0 — qwen3-14b no longer fits

only recorded
  model qwen3-14b no longer fits general — it needs 25 GiB, 20 GiB are there

edited
  models.qwen3-14b.vram_gb: 10.5 → 25  catalog/models.yaml:{at}
""",
    )
    assert run(work, capsys, "--exit-code")[0] == 1


def test_a_stale_branch_shows_its_own_edit_alone(work: Repo, capsys: Capture) -> None:
    """gitops C 26: main went on by ten commits, the branch has one edit."""
    work.git("checkout", "-q", "-b", "topic")
    work.commit(GROWN)
    work.git("checkout", "-q", "main")
    for number in range(10):
        work.commit({"catalog/platform.yaml": PLATFORM.replace("cores: 4", f"cores: {number + 5}")})
    work.git("checkout", "-q", "topic")
    assert [one["name"] for one in data(work, capsys)["changes"]] == ["tier1", "qwen3-14b"]
    behind = data(work, capsys, "main", "topic")
    assert "infra" in {one["name"] for one in behind["changes"]}


def endpoint(vmid: int) -> dict[str, Any]:
    """Where speech answers."""
    return {
        "backend": "lxc",
        "node": "pve44",
        "guest": "infra",
        "host": "192.168.100.221",
        "port": 5000,
        "gpu_indices": [],
        "labels": {"pve_node": "pve44", "vmid": vmid},
    }


def test_two_commits_and_the_shape_of_the_data(work: Repo, capsys: Capture) -> None:
    sha = work.commit(MOVED)
    found = data(work, capsys, "HEAD~1", sha)
    assert list(found) == [
        "format_version",
        "command",
        "ok",
        "before",
        "after",
        "complete",
        "counts",
        "changes",
        "inputs",
        "new",
        "fixed",
    ]
    assert found["after"] == {"name": sha[:12], "ok": True}
    assert found["counts"] == {"replace": 1}
    assert found["changes"] == [
        {
            "kind": "guest",
            "name": "infra",
            "effect": "replace",
            "summary": "is destroyed and created anew: VM id 101 → 111; its data on local-lvm is lost",
            "before": None,
            "after": None,
            "cause": "no plan does that to a container, so OpenTofu's gate will refuse: it takes two merges, out of "
            "the fleet and under `retire` first, then in again",
            "fields": [
                {"path": ["ansible/hosts.yaml", "hosts", "infra", "vmid"], "before": 101, "after": 111},
                {
                    "path": ["prometheus/guests.json", "groups", "infra", "labels", "vmid"],
                    "before": "101",
                    "after": "111",
                },
                {"path": ["proxmox.yaml", "guests", "infra", "vmid"], "before": 101, "after": 111},
                {
                    "path": ["registry.yaml", "slots", "tts-de", "endpoints"],
                    "before": [endpoint(101)],
                    "after": [endpoint(111)],
                },
                {
                    "path": ["tofu/knaster.auto.tfvars.json", "containers", "infra", "vmid"],
                    "before": 101,
                    "after": 111,
                },
            ],
            "covers": [
                {"file": "ansible/hosts.yaml", "collection": "hosts", "name": "infra"},
                {"file": "prometheus/guests.json", "collection": "groups", "name": "infra"},
                {"file": "proxmox.yaml", "collection": "guests", "name": "infra"},
                {"file": "registry.yaml", "collection": "slots", "name": "tts-de"},
                {"file": "tofu/knaster.auto.tfvars.json", "collection": "containers", "name": "infra"},
            ],
        }
    ]
    line = PLATFORM[: PLATFORM.index("vmid: 101")].count("\n") + 1
    assert found["inputs"] == [
        {
            "what": "guests.infra.vmid",
            "before": 101,
            "after": 111,
            "removed": False,
            "file": "catalog/platform.yaml",
            "line": line,
            "column": 11,
        }
    ]


def test_the_placement_in_force_keeps_what_is_still_as_good(work: Repo, capsys: Capture) -> None:
    """A second node like the first, whose name comes first: nothing moves to it, because what landed holds."""
    assert main(["-C", str(work.path), "render"]) == 0
    capsys.readouterr()
    work.commit({}, "landed")
    (work.path / "inventory/pve40.yaml").write_text(PVE44.replace("pve44", "pve40"))
    edit(work, {"catalog/platform.yaml": PLATFORM.replace("100.180", "100.182")})
    kinds = {(one["kind"], one["effect"]) for one in data(work, capsys)["changes"]}
    assert ("role", "move") not in kinds
    assert ("guest", "create") in kinds


@pytest.mark.parametrize("words", [(), ("HEAD~1", "HEAD"), ("HEAD", "HEAD~1")])
def test_an_invalid_side_is_named_and_shows_its_errors(words: tuple[str, ...], work: Repo, capsys: Capture) -> None:
    if words:
        work.commit(BROKEN)
    else:
        edit(work, BROKEN)
    status, shown = run(work, capsys, *words)
    assert status == 1
    name = "the working tree" if not words else f"HEAD ({work.sha()[:12]})"
    assert f"{name} is invalid: 1 error" in shown
    assert "catalog/platform.yaml:5:11: error: " in shown
    assert shown.count("[yaml-syntax]") == 1 or words == ("HEAD", "HEAD~1")
    assert data(work, capsys, *words)["complete"] is False


def test_markdown_keeps_data_inert(work: Repo, capsys: Capture) -> None:
    hostile = PVE44.replace('"no benchmark yet"', '"@all `x` </details> | closes #1"')
    edit(work, {"inventory/pve44.yaml": hostile})
    _, shown = run(work, capsys, "--format", "markdown")
    for row in [row for row in shown.splitlines() if "@all" in row]:
        assert row.lstrip("- ").startswith("``")
        assert row.endswith("``")


def test_questions_that_cannot_be_answered(work: Repo, tmp_path: Path, capsys: Capture) -> None:
    for words in (["nope"], ["main", "nope"], ["--", "--upload-pack=x"]):
        assert main(["-C", str(work.path), "diff", *words]) == 2
        assert "there is no commit" in capsys.readouterr().err
    outside = tmp_path / "outside"
    for path, text in files().items():
        (outside / path).parent.mkdir(parents=True, exist_ok=True)
        (outside / path).write_text(text)
    assert main(["-C", str(outside), "diff"]) == 2
    assert "no git repository" in capsys.readouterr().err
    Repo(outside).git("init", "-q", "-b", "main")
    assert main(["-C", str(outside), "diff"]) == 2
    assert "no commit to compare with" in capsys.readouterr().err


def test_the_result_never_lands_among_the_inputs(work: Repo, capsys: Capture) -> None:
    assert main(["-C", str(work.path), "diff", "-o", str(work.path / "inventory" / "x.yaml")]) == 2
    assert "cannot write" in capsys.readouterr().err


def test_what_cannot_be_applied_comes_before_what_restarts(work: Repo, capsys: Capture) -> None:
    edit(
        work, {"catalog/platform.yaml": PLATFORM.replace("disk_gb: 60", "disk_gb: 50").replace("cores: 6", "cores: 8")}
    )
    titles = [line for line in run(work, capsys)[1].splitlines() if line and not line.startswith(" ")]
    assert titles[0].endswith(": 1 guest refused, 1 guest restarted")
    assert titles[1:] == ["cannot be applied", "restarted", "edited"]
