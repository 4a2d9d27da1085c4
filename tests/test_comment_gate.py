"""What OpenTofu's gate said, in the comment: bounded, inert, and only beside the plan that it is of."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knaster.cli import main
from knaster.gate import judge, read_plan
from knaster.gate.plan import Plan
from knaster.reports.comment import comment, read_marker
from knaster.reports.comment.gate import GATE_BUDGET, section, with_gate
from knaster.reports.gate import report
from knaster.reports.json import render
from tests.git_repo import remote_and_clone
from tests.gitea_plans import lay
from tests.pulls import small
from tests.repo import MODELS, files
from tests.test_comment_hostile import _PLAIN, HOSTILE, outside
from tests.test_gate import FLEET, LXC, VM, change, plan
from tests.test_gitea_comment import double, post  # noqa: F401  (a fixture)
from tests.test_pr_plan import branch
from tests.test_pr_plan import plan as pull_plan

PLAN = "ab" * 32
OTHER = (
    "**The gate of OpenTofu:** its result is of another plan than this comment, and is not shown; make it from the "
    "`generated/` of this merge"
)
DESTROYED = change(LXC, "infra", "delete", action_reason="delete_because_each_key")
MORE = change(VM, "v", "update", before={"memory": [{"dedicated": 1}]}, after={"memory": [{"dedicated": 2}]})


def result(*changes: dict[str, Any], plan_id: str = PLAN) -> dict[str, Any]:
    """What `tofu gate --format json` writes of a plan with these changes."""
    found = read_plan(json.dumps(plan(*changes)))
    assert isinstance(found, Plan)
    data: dict[str, Any] = json.loads(render(report(judge(found, FLEET), plan_id)))
    return data


def test_the_verdict_and_a_line_for_each_finding_and_change() -> None:
    assert section(result(DESTROYED, MORE), PLAN).splitlines() == [
        "**The gate of OpenTofu:** the plan must not be applied: 2 changes, 1 error",
        "",
        "**Findings**",
        "",
        "- error: guest infra is destroyed: it is no longer among the guests — to allow it, name infra under retire in "
        "`catalog/platform.yaml`; else undo what the cause names (`gate-destroys`)",
        "",
        "**The apply would do this**",
        "",
        "- guest infra is destroyed: it is no longer among the guests",
        "- guest v is changed and restarts: `memory.dedicated` 1 `->` 2",
    ]
    assert section(result(MORE), PLAN).splitlines()[0] == (
        "**The gate of OpenTofu:** the plan may be applied: 1 change"
    )


def test_it_stands_below_the_counts_and_the_rest_stays() -> None:
    body = comment(small())
    found = with_gate(body, result(DESTROYED), PLAN)
    assert read_marker(found) == read_marker(body)
    begin = found.index("**The gate of OpenTofu:**")
    assert found[:begin].rstrip().splitlines()[-1].startswith("Counts: ")
    assert found.replace(f"\n\n{section(result(DESTROYED), PLAN).rstrip()}", "", 1) == body


@pytest.mark.parametrize("made", ["cd" * 32, "", None, 3])
def test_of_another_plan_it_says_so_and_shows_nothing(made: Any) -> None:
    found = section({**result(DESTROYED), "plan_id": made}, PLAN)
    short = f" (`{made[:12]}`)" if isinstance(made, str) and made else ""
    assert found.rstrip() == OTHER + short
    assert section({**result(DESTROYED), "plan_id": made}, "").rstrip() == OTHER + short  # a merge that cannot land


@pytest.mark.parametrize("gate", [{}, {"command": "diff"}, {"command": "tofu gate", "changes": 1, "diagnostics": []}])
def test_another_file_is_said_to_be_one(gate: dict[str, Any]) -> None:
    assert "its result cannot be read" in section(gate, PLAN)


def test_it_is_bounded_and_the_counts_stay() -> None:
    many = [change(LXC, f"guest-{number}-{'x' * 60}", "delete") for number in range(500)]
    text = section(result(*many), PLAN)
    assert 3_000 < len(text.encode()) <= GATE_BUDGET
    assert "the plan must not be applied: 500 changes, 500 errors" in text
    assert re.search(r"showing \d+ of 500", text)


def test_an_ok_beside_an_error_is_not_believed() -> None:
    assert "must not be applied" in section({**result(DESTROYED), "ok": True}, PLAN)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_shown_in_code_alone(text: str) -> None:
    problem = {"code": text, "severity": "error", "message": text, "hint": text}
    done = {"noun": text, "name": text, "effect": text, "summary": text, "cause": text}
    gate = {"command": "tofu gate", "ok": True, "plan_id": PLAN, "changes": [done], "diagnostics": [problem]}
    for found in (section(gate, PLAN), section({**gate, "plan_id": text}, PLAN)):
        assert len(found.encode()) <= GATE_BUDGET
        for line in outside(f"-\n{found}"):
            assert _PLAIN.fullmatch(line), line
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u200b\u202e\u2066\udcff]", found)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(["command", "ok", "plan_id", "changes", "diagnostics"])
ENTRIES = st.dictionaries(st.sampled_from(["noun", "name", "cause", "code", "severity", "message", "hint"]), JSON)


@given(st.dictionaries(KEYS, JSON | st.lists(ENTRIES)))
def test_no_file_makes_it_fall_over(some: dict[str, Any]) -> None:
    text = section({**result(DESTROYED), **some}, PLAN)
    assert text.startswith("**The gate of OpenTofu:** ")
    assert len(text.encode()) <= GATE_BUDGET


def test_it_is_posted_with_the_comment(double: Any, tmp_path: Path) -> None:  # noqa: F811
    gate = tmp_path / "gate.json"
    gate.write_text(json.dumps(result(DESTROYED, plan_id="abc123")), "utf-8")
    assert post(lay(tmp_path / "plan"), gate=str(gate)) == 0  # the merge is fine; the gate has a status of its own
    (body,) = double.bodies(7)
    assert "**The gate of OpenTofu:** the plan must not be applied: 1 change, 1 error" in body
    assert post(lay(tmp_path / "plan"), gate=str(gate)) == 0
    assert double.writes() == ["POST /issues/7/comments"]


@pytest.mark.parametrize("content", ["", "[]", "{", "\udcff", None])
def test_a_file_that_is_none_ends_with_2(double: Any, tmp_path: Path, content: str | None) -> None:  # noqa: F811
    gate = tmp_path / "gate.json"
    if content is not None:
        gate.write_bytes(content.encode("utf-8", "surrogateescape"))
    lay(tmp_path / "plan")
    more = ["--number", "7", "--gate", str(gate)]
    assert main(["pr", "comment", "--plan", str(tmp_path / "plan"), *more]) == 2
    assert double.bodies(7) == []


def test_the_gate_and_the_plan_of_a_pull_request_name_the_same_plan(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The gate is run where the merge is checked out and rendered; before the merge lands."""
    _, work = remote_and_clone(tmp_path, files())
    branch(work, "topic", {"catalog/models.yaml": MODELS.replace("vram_gb: 1.2", "vram_gb: 1.3")})
    planned = pull_plan(work, "topic", capsys)
    work.git("checkout", "-q", "--detach", "origin/main")
    work.git("merge", "-q", "--no-ff", "-m", "try", "topic")
    assert main(["-C", str(work.path), "render", "-q"]) == 0
    file, text = tmp_path / "gate.json", tmp_path / "plan.json"
    text.write_text("{}", "utf-8")
    assert main(["-C", str(work.path), "tofu", "gate", str(text), "--format", "json", "-o", str(file)]) == 1
    assert json.loads(file.read_text("utf-8"))["plan_id"] == planned["plan_id"] != ""
