"""`pr plan` on real repositories: the merge that will be, against the tip; the cases that other tools get wrong."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from knaster.adapters import git as adapter
from knaster.cli import main
from knaster.commands.listed import Listed
from knaster.pipeline import evaluate
from tests.git_repo import Repo, plain, remote_and_clone
from tests.repo import MODELS, PC5, PLATFORM, PVE44, ROLES, files

Capture = pytest.CaptureFixture[str]

CHAT = """  chat:
    needs: {engine: llamacpp, min_vram_gb: 16}
    kinds: [llm]
    slots: [chat]
"""
CODE = CHAT.replace("chat", "code")


def without_general() -> dict[str, str]:
    """The small fleet whose one large card is free."""
    begin, end = ROLES.index("  general:"), ROLES.index("  speech:")
    return files(roles=ROLES[:begin] + ROLES[end:])


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    plain(monkeypatch)


def branch(work: Repo, name: str, changed: Mapping[str, str | None], onto: str = "origin/main") -> str:
    """A branch with one commit; the SHA."""
    work.git("checkout", "-q", "-B", name, onto)
    return work.commit(changed, name)


def merged(work: Repo, name: str) -> str:
    """Merge a branch into main and push, as the server does."""
    work.git("fetch", "-q", "origin")
    work.git("checkout", "-q", "-B", "main", "origin/main")
    work.git("merge", "-q", "--no-ff", "-m", f"Merge {name}", name)
    work.git("push", "-q", "origin", "main")
    return work.sha()


def plan(work: Repo, head: str, capsys: Capture, *more: str) -> dict[str, Any]:
    """``plan.json`` of a head against origin/main, with the exit status under ``exit``."""
    capsys.readouterr()
    command = ["-C", str(work.path), "pr", "plan", "--base", "origin/main", "--head", head, "--format", "json", *more]
    status = main(command)
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return {**found, "exit": status}


def told(found: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Effect, kind and name of every change."""
    return [(one["effect"], one["kind"], one["name"]) for one in found["changes"]]


def test_a_plan_names_both_commits_and_writes_what_is_posted(tmp_path: Path, capsys: Capture) -> None:
    _, work = remote_and_clone(tmp_path, files())
    base = work.sha()
    head = branch(work, "topic", {"catalog/models.yaml": MODELS.replace("vram_gb: 10.5", "vram_gb: 21")})
    state = work.state()
    found = plan(work, "topic", capsys, "--to", str(tmp_path / "out"))
    assert (found["base"], found["head"], found["compared_with"], found["target"]) == (base, head, base, "main")
    assert (found["exit"], found["ok"], found["version"]) == (0, True, 1)
    assert json.loads((tmp_path / "out/plan.json").read_text()) == {k: v for k, v in found.items() if k != "exit"}
    body = (tmp_path / "out/comment.md").read_text()
    assert body.splitlines()[0] == "<!-- knaster plan v1 target=main -->"
    assert head in body
    assert base in body
    assert work.state() == state  # nothing was checked out


def test_two_pull_requests_for_one_card(tmp_path: Path, capsys: Capture) -> None:
    """Case A1: after A is merged, B no longer fits, names A's role, and never shows it as removed."""
    _, work = remote_and_clone(tmp_path, without_general())
    roles = without_general()["catalog/roles.yaml"]
    branch(work, "a", {"catalog/roles.yaml": roles.replace("roles:\n", f"roles:\n{CHAT}")})
    head = branch(work, "b", {"catalog/roles.yaml": roles + CODE})
    assert ("create", "role", "code") in told(plan(work, "b", capsys))
    tip = merged(work, "a")
    found = plan(work, "b", capsys)
    assert (found["base"], found["head"]) == (tip, head)
    assert "chat" not in [name for _, kind, name in told(found) if kind == "role"]
    unplaced = next(one for one in found["changes"] if one["kind"] == "role" and one["name"] == "code")
    assert "chat" in unplaced["cause"] or "chat" in unplaced["summary"]
    assert unplaced["after"] is None


def test_only_the_effect_of_the_branch_is_shown(tmp_path: Path, capsys: Capture) -> None:
    """Case 26: a branch ten commits behind."""
    _, work = remote_and_clone(tmp_path, files())
    branch(work, "topic", {"catalog/models.yaml": MODELS.replace("vram_gb: 1.2", "vram_gb: 1.3")})
    for number in range(10):
        branch(work, "other", {f"inventory/pve{50 + number}.yaml": PVE44.replace("pve44", f"pve{50 + number}")})
        merged(work, "other")
    found = plan(work, "topic", capsys)
    assert [one["what"] for one in found["inputs"]] == ["models.bge-m3.vram_gb"]
    assert told(found) == [("record", "model", "bge-m3")]
    assert found["verdict"] == "changes"


def test_a_pull_request_that_changes_no_input(tmp_path: Path, capsys: Capture) -> None:
    """Case A17: README alone still gets a final answer."""
    _, work = remote_and_clone(tmp_path, files())
    branch(work, "docs", {"README.md": "hello\n"})
    found = plan(work, "docs", capsys)
    assert (found["exit"], found["verdict"], found["changes"]) == (0, "unchanged", [])
    assert found["plan_id"] == evaluate(files()).plan_id


def test_a_conflict_is_a_clear_failure(tmp_path: Path, capsys: Capture) -> None:
    _, work = remote_and_clone(tmp_path, files())
    branch(work, "a", {"catalog/models.yaml": MODELS.replace("vram_gb: 10.5", "vram_gb: 11")})
    branch(work, "b", {"catalog/models.yaml": MODELS.replace("vram_gb: 10.5", "vram_gb: 12")})
    merged(work, "a")
    found = plan(work, "b", capsys)
    assert (found["exit"], found["verdict"], found["plan_id"]) == (1, "conflict", "")
    assert [(item["code"], item["file"]) for item in found["problems"]] == [("merge-conflict", "catalog/models.yaml")]


def container(name: str, address: str) -> str:
    """A container with VM id 150."""
    return f"""\
  {name}:
    node: pve44
    vmid: 150
    address: "{address}"
    memory_gb: 1
    cores: 1
    disk_gb: 8
    storage: local-lvm
    template: "local:vztmpl/debian-12-standard_12.7-1_amd64.tar.zst"
    services: []
"""


def test_what_two_branches_merge_to_may_be_wrong_though_git_merges_it(tmp_path: Path, capsys: Capture) -> None:
    """Case A2: both are right alone; the merge has one VM id twice."""
    _, work = remote_and_clone(tmp_path, files())
    one, two = container("aaa", "192.168.100.230"), container("zzz", "192.168.100.231")
    at_the_start, at_the_end = ("guests:\n", f"guests:\n{one}"), ("storage:\n  local", f"{two}storage:\n  local")
    branch(work, "a", {"catalog/platform.yaml": PLATFORM.replace(*at_the_start)})
    branch(work, "b", {"catalog/platform.yaml": PLATFORM.replace(*at_the_end)})
    assert plan(work, "b", capsys)["exit"] == 0
    merged(work, "a")
    found = plan(work, "b", capsys)
    assert (found["exit"], found["verdict"]) == (1, "invalid")
    assert [item["code"] for item in found["problems"]] == ["duplicate-vmid"]


def landed(work: Repo) -> str:
    """Land main and fetch it; the new tip."""
    assert main(["-C", str(work.path), "land"]) == 0
    work.git("fetch", "-q", "origin")
    return work.sha("origin/main")


def rendered(inputs: Mapping[str, str]) -> dict[str, str]:
    """``generated/`` for inputs, as files of a commit."""
    return {f"generated/{path}": text for path, text in evaluate(inputs).generated.items()}


def test_generated_may_be_exactly_right(tmp_path: Path, capsys: Capture) -> None:
    _, work = remote_and_clone(tmp_path, files())
    landed(work)
    changed = {"catalog/models.yaml": MODELS.replace("vram_gb: 10.5", "vram_gb: 11")}
    branch(work, "topic", {**changed, **rendered({**files(), **changed})})
    found = plan(work, "topic", capsys)
    assert (found["exit"], found["problems"], found["repair"]) == (0, [], None)


@pytest.mark.parametrize("there", [True, False])
def test_generated_that_is_wrong_fails_with_the_command_that_repairs_it(
    tmp_path: Path, capsys: Capture, *, there: bool
) -> None:
    remote, work = remote_and_clone(tmp_path, files())
    if there:
        landed(work)
    changed = {"catalog/models.yaml": MODELS.replace("vram_gb: 10.5", "vram_gb: 11")}
    edited = rendered({**files(), **changed})
    edited["generated/registry.yaml"] = edited["generated/registry.yaml"].replace("8080", "9090")
    edited["generated/notes.txt"] = "mine\n"
    branch(work, "topic", {**changed, **edited})
    found = plan(work, "topic", capsys)
    assert (found["exit"], found["verdict"]) == (1, "invalid")
    assert sorted((item["code"], item["file"]) for item in found["problems"]) == [
        ("generated-edited", "generated/registry.yaml"),
        ("generated-extra", "generated/notes.txt"),
    ]
    work.git("push", "-q", "-u", "origin", "topic")
    work.git("config", "user.name", "Ada")
    work.git("config", "user.email", "ada@example.org")
    subprocess.run(found["repair"], shell=True, check=True, cwd=work.path, capture_output=True)
    again = plan(work, "topic", capsys)
    assert (again["exit"], again["problems"]) == (0, [])
    assert remote.sha("topic") == work.sha("topic")


def test_a_conflict_in_generated_alone_is_solved_by_rendering(tmp_path: Path, capsys: Capture) -> None:
    """The plan is made all the same; the branch is told how to leave generated/ alone, so that the server can merge."""
    _, work = remote_and_clone(tmp_path, files())
    landed(work)
    mine = {"catalog/models.yaml": MODELS.replace("vram_gb: 10.5", "vram_gb: 11")}
    branch(work, "mine", {**mine, **rendered({**files(), **mine})})
    theirs = {"inventory/GODE-PC-05.yaml": PC5.replace("memory_gb: 64", "memory_gb: 63")}
    branch(work, "theirs", {**theirs, **rendered({**files(), **theirs})})
    merged(work, "theirs")
    found = plan(work, "mine", capsys)
    assert (found["exit"], found["verdict"]) == (1, "invalid")
    assert {item["file"] for item in found["problems"]} == {"generated/manifest.json"}
    assert [one["what"] for one in found["inputs"]] == ["models.qwen3-14b.vram_gb"]
    assert shlex.split(found["repair"])[:2] == ["git", "restore"]


def test_an_invalid_base_is_compared_with_its_last_valid_commit(tmp_path: Path, capsys: Capture) -> None:
    _, work = remote_and_clone(tmp_path, files())
    valid = work.sha()
    work.commit({"catalog/roles.yaml": "roles: [\n"}, "broken")
    work.git("push", "-q", "origin", "main")
    broken = work.sha()
    branch(work, "mend", {"catalog/roles.yaml": ROLES.replace("priority: 10", "priority: 20")})
    found = plan(work, "mend", capsys)
    assert (found["exit"], found["base"], found["compared_with"]) == (0, broken, valid)
    assert found["notes"] == [f"main is invalid at {broken[:12]}: compared with {valid[:12]}, its last valid commit"]


def test_the_last_guest_may_not_go(tmp_path: Path, capsys: Capture) -> None:
    """To OpenTofu an empty list means "destroy everything"."""
    _, work = remote_and_clone(tmp_path, files())
    landed(work)
    workstation = PVE44.replace("platform: proxmox", "platform: bare")
    begin, end = PLATFORM.index("guests:\n"), PLATFORM.index("storage:\n  local-lvm")
    platform = PLATFORM[:begin] + PLATFORM[end:]
    roles = ROLES.replace("    guest: infra\n", "")
    changed = {
        "inventory/pve44.yaml": workstation,
        "catalog/platform.yaml": platform,
        "catalog/roles.yaml": roles,
    }
    branch(work, "topic", changed)
    found = plan(work, "topic", capsys)
    assert (found["exit"], found["verdict"]) == (1, "invalid")
    assert "no-guests" in [item["code"] for item in found["problems"]]


def test_a_plan_id_is_the_same_before_and_after_the_merge(tmp_path: Path, capsys: Capture) -> None:
    _, work = remote_and_clone(tmp_path, files())
    landed(work)
    branch(work, "topic", {"catalog/models.yaml": MODELS.replace("vram_gb: 10.5", "vram_gb: 11")})
    shown = plan(work, "topic", capsys)["plan_id"]
    merged(work, "topic")
    tip = landed(work)
    assert f"Knaster-Plan: {shown}" in adapter.message(work.path, tip)
    capsys.readouterr()
    assert main(["-C", str(work.path), "verify", tip, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["plan_id"] == shown


def test_two_roles_changed_in_two_branches_land_without_anyone_rendering(tmp_path: Path, capsys: Capture) -> None:
    remote, work = remote_and_clone(tmp_path, files())
    landed(work)
    branch(work, "a", {"catalog/roles.yaml": ROLES.replace("priority: 10", "priority: 20")})
    branch(work, "b", {"catalog/roles.yaml": ROLES.replace("fallback: [tier0]", "fallback: []")})
    merged(work, "a")
    landed(work)
    assert plan(work, "b", capsys)["exit"] == 0
    merged(work, "b")
    assert main(["-C", str(work.path), "verify", landed(work)]) == 0
    assert remote.git("show", "main:generated/registry.yaml").count("fallback: []") >= 1


def test_what_another_open_pull_request_wants_too_is_named(tmp_path: Path, capsys: Capture) -> None:
    _, work = remote_and_clone(tmp_path, without_general())
    roles = without_general()["catalog/roles.yaml"]
    one = branch(work, "a", {"catalog/roles.yaml": roles + CHAT})
    two = branch(work, "b", {"catalog/roles.yaml": roles + CODE})
    idle = branch(work, "c", {"README.md": "hello\n"})
    out = tmp_path / "out"
    out.mkdir()
    listed = Listed("main", work.sha("origin/main"), 7, one, "https://git.example.org/fleet/fleet", {8: two, 9: idle})
    (out / "pulls.json").write_text(listed.text())
    capsys.readouterr()
    assert main(["-C", str(work.path), "pr", "plan", "--to", str(out), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["notes"] == ["pull request #8 wants card GODE-PC-05/0 too, for code"]
    body = (out / "comment.md").read_text()
    assert "`#8`" in body  # in a code span: no reference is made
    assert f"(https://git.example.org/fleet/fleet/src/commit/{one}/catalog/roles.yaml#L" in body


def test_another_one_that_cannot_be_planned_stops_nobody(tmp_path: Path) -> None:
    _, work = remote_and_clone(tmp_path, without_general())
    one = branch(work, "a", {"catalog/roles.yaml": without_general()["catalog/roles.yaml"] + CHAT})
    work.git("checkout", "-q", "--orphan", "alien")
    alien = work.commit({"README.md": "hello\n"})
    out = tmp_path / "out"
    out.mkdir()
    (out / "pulls.json").write_text(Listed("main", work.sha("origin/main"), 7, one, "", {8: alien}).text())
    assert main(["-C", str(work.path), "pr", "plan", "--to", str(out)]) == 0
    assert json.loads((out / "plan.json").read_text())["notes"] == []


def test_a_flag_wins_over_what_was_fetched(tmp_path: Path, capsys: Capture) -> None:
    _, work = remote_and_clone(tmp_path, files())
    one, two = (branch(work, name, {"README.md": name}) for name in "ab")
    out = tmp_path / "out"
    out.mkdir()
    (out / "pulls.json").write_text(Listed("main", work.sha("origin/main"), 7, one, "", {}).text())
    assert plan(work, "b", capsys, "--to", str(out))["head"] == two


@pytest.mark.parametrize("name", ["catalog", "generated/x", "README.md", "README.md/x"])
def test_a_folder_that_may_not_hold_results(tmp_path: Path, capsys: Capture, name: str) -> None:
    _, work = remote_and_clone(tmp_path, {**files(), "README.md": "hello\n"})
    assert main(["-C", str(work.path), "pr", "plan", "--to", str(work.path / name)]) == 2
    assert capsys.readouterr().err.startswith("knaster: error: cannot ")
    assert work.git("status", "--porcelain") == ""


def test_a_fleet_below_the_top_has_a_name_of_its_own(tmp_path: Path, capsys: Capture) -> None:
    _, work = remote_and_clone(tmp_path, {f"lab/{path}": text for path, text in files().items()})
    branch(work, "topic", {"lab/catalog/models.yaml": MODELS.replace("vram_gb: 10.5", "vram_gb: 11")})
    capsys.readouterr()
    command = ["-C", str(work.path / "lab"), "pr", "plan", "--base", "origin/main", "--format", "json"]
    assert main(command) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["target"], [one["what"] for one in found["inputs"]]) == ("main:lab", ["models.qwen3-14b.vram_gb"])
    out = tmp_path / "out"
    out.mkdir()
    listed = Listed("main", found["base"], 7, found["head"], "https://git.example.org/a/b", {})
    (out / "pulls.json").write_text(listed.text())
    assert main(["-C", str(work.path / "lab"), "-q", "pr", "plan", "--to", str(out)]) == 0
    assert f"/a/b/src/commit/{found['head']}/lab/catalog/models.yaml#L" in (out / "comment.md").read_text()


def test_what_is_not_committed_is_not_planned(tmp_path: Path, capsys: Capture) -> None:
    _, work = remote_and_clone(tmp_path, files())
    branch(work, "topic", {"README.md": "hello\n"})
    (work.path / "catalog/models.yaml").write_text("models: [\n")
    found = plan(work, "HEAD", capsys)
    assert found["verdict"] == "unchanged"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 2}', '{"version": 1, "others": []}'])
def test_a_list_that_fetch_did_not_write_is_refused(tmp_path: Path, capsys: Capture, text: str) -> None:
    _, work = remote_and_clone(tmp_path, files())
    out = tmp_path / "out"
    out.mkdir()
    (out / "pulls.json").write_text(text)
    assert main(["-C", str(work.path), "pr", "plan", "--to", str(out)]) == 2
    assert "pulls.json" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        'args: ["--api-key", "Xq7hunter2hunter2zz"]',
        'args: ["-x", "it is\\nghp_Xq7hunter2hunter2zzABCDEFGH456789"]',
        "description: |\n      To fetch the model use\n      hf_Xq7hunter2hunter2zzABCD12345678",
    ],
)
@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_no_secret_is_shown(tmp_path: Path, capsys: Capture, text: str, form: str) -> None:
    """Neither a diagnostic nor the list of edits shows the value, of a whole new model or of one line."""
    _, work = remote_and_clone(tmp_path, files())
    other = f"  other:\n    kind: llm\n    vram_gb: 1\n    engines: [llamacpp]\n    {text}\n"
    branch(work, "topic", {"catalog/models.yaml": MODELS.replace("  qwen3-14b: {", f"{other}  qwen3-14b: {{")})
    out = tmp_path / "out"
    main(["-C", str(work.path), "--format", form, "pr", "plan", "--base", "origin/main", "--to", str(out)])
    main(["-C", str(work.path), "--format", form, "diff", "origin/main", "HEAD"])
    shown = capsys.readouterr().out + "".join(path.read_text() for path in out.iterdir())
    assert "models.other" in shown
    assert "hunter2" not in shown


def test_a_branch_named_like_a_command_is_only_a_name(tmp_path: Path, capsys: Capture) -> None:
    """Case A15."""
    _, work = remote_and_clone(tmp_path, files())
    name = "x$(touch${IFS}pwned)"
    branch(work, name, {"inventory/$(touch pwned).yaml": "name: a\n"})
    found = plan(work, name, capsys)
    assert found["verdict"] == "invalid"
    assert not list(tmp_path.rglob("pwned"))
