"""The workflows: what they may do, that nothing of a pull request runs in them, that their lines run at a prompt."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from knaster.arguments import parse
from tests.test_cli import git

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / ".gitea/workflows"
TEXTS = {path.name: path.read_text("utf-8") for path in sorted(FOLDER.iterdir())}
FLOWS: dict[str, Any] = {name: yaml.safe_load(text) for name, text in TEXTS.items()}
STEPS = [
    (f"{name} {job} {step['name']}", step)
    for name, flow in FLOWS.items()
    for job, body in flow["jobs"].items()
    for step in body["steps"]
]
STEP_NAMES = [name for name, _ in STEPS]
ON = True  # what YAML 1.1 makes of the key "on"

JOB_TOKEN, BOT_TOKEN = "secrets.GITEA_TOKEN", "secrets.KNASTER_BOT_TOKEN"
EXPRESSIONS = {
    JOB_TOKEN,
    BOT_TOKEN,
    "vars.KNASTER_BOT",
    "vars.KNASTER_BOT_EMAIL || 'knaster@localhost'",
    "github.event.number || inputs.number",
    "always() && github.event.pull_request.head.repo.id == github.event.pull_request.base.repo.id",
    "always() && steps.plan.outcome != 'skipped'",
}
"""Everything that is pasted anywhere. Of the event it is a number alone: no title, branch, body or user."""


def history(root: Path) -> list[str]:
    """All commits behind HEAD."""
    return subprocess.run(
        ["git", "-C", root, "rev-list", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.split()


def test_there_are_three() -> None:
    assert list(TEXTS) == ["land.yaml", "plan.yaml", "sweep.yaml"]


def test_what_starts_them() -> None:
    assert FLOWS["plan.yaml"][ON] == {
        "pull_request_target": {"types": ["opened", "reopened", "synchronize", "edited"]},
        "workflow_dispatch": {
            "inputs": {"number": {"description": "Number of the pull request", "required": True, "type": "string"}}
        },
    }
    assert FLOWS["land.yaml"][ON] == {"push": {"branches": ["main"]}, "workflow_dispatch": None}
    assert FLOWS["sweep.yaml"][ON] == {
        "push": {"branches": ["main"]},
        "schedule": [{"cron": "*/30 * * * *"}],
        "workflow_dispatch": None,
    }


def test_no_filter_on_paths_keeps_a_required_check_waiting() -> None:
    for text in TEXTS.values():
        assert not re.search(r"(?m)^\s*(paths|paths-ignore|branches-ignore)\s*:", text)


def test_what_the_jobs_token_may_do() -> None:
    assert {name: flow["permissions"] for name, flow in FLOWS.items()} == {
        "land.yaml": {"contents": "read"},
        "plan.yaml": {"contents": "write", "pull-requests": "write"},
        "sweep.yaml": {"contents": "write", "pull-requests": "write"},
    }
    assert not [job for flow in FLOWS.values() for job in flow["jobs"].values() if "permissions" in job]


def test_a_newer_run_takes_the_place_of_an_older_one_and_a_landing_is_never_cut_off() -> None:
    assert {name: flow["concurrency"] for name, flow in FLOWS.items()} == {
        "land.yaml": {"group": "land", "cancel-in-progress": False},
        "plan.yaml": {"group": "plan-${{ github.event.number || inputs.number }}", "cancel-in-progress": True},
        "sweep.yaml": {"group": "sweep", "cancel-in-progress": True},
    }


def test_names_are_unique_so_that_no_check_hides_another() -> None:
    assert {name: flow["name"] for name, flow in FLOWS.items()} == {
        f"{name}.yaml": name for name in ("land", "plan", "sweep")
    }
    jobs = [job for flow in FLOWS.values() for job in flow["jobs"]]
    assert sorted(jobs) == ["competing", "land", "plan", "sweep"]


def test_the_other_pull_requests_learn_even_of_one_that_is_invalid() -> None:
    competing = FLOWS["plan.yaml"]["jobs"]["competing"]
    assert competing["needs"] == "plan"
    assert competing["if"].startswith("${{ always() && ")


@pytest.mark.parametrize("name", TEXTS)
def test_there_are_no_anchors(name: str) -> None:
    """Gitea understands them in some places only."""
    events = list(yaml.parse(TEXTS[name], Loader=yaml.SafeLoader))
    assert len(events) > 50
    assert not [event for event in events if getattr(event, "anchor", None)]


@pytest.mark.parametrize("name", TEXTS)
def test_nothing_is_pasted_but_what_is_known(name: str) -> None:
    found = {text.strip() for text in re.findall(r"\$\{\{(.*?)\}\}", TEXTS[name])}
    assert found <= EXPRESSIONS
    assert TEXTS[name].count("${{") == len(re.findall(r"\$\{\{(.*?)\}\}", TEXTS[name]))


@pytest.mark.parametrize(("name", "step"), STEPS, ids=STEP_NAMES)
def test_a_step_is_lines_for_a_shell(name: str, step: dict[str, Any]) -> None:
    assert step.keys() <= {"name", "id", "if", "env", "run"}, name
    script = step["run"]
    assert "${{" not in script
    assert not re.search(r"\$\{?\w*TOKEN\b(?!:\?)", script), "a token is never an argument"
    assert not re.search(r"--depth|--shallow|git config|-c http|refs/pull|event\.json|eval|\$\(", script)
    assert subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode == 0


def test_who_sees_which_token() -> None:
    """A step without one hides the twin of the job's token that the runner gives to every step."""
    seen = {}
    for name, step in STEPS:
        env = step.get("env", {})
        tokens = {token for token in (JOB_TOKEN, BOT_TOKEN) if any(token in str(value) for value in env.values())}
        seen[name] = (sorted(tokens), env.get("ACTIONS_RUNTIME_TOKEN"))
    job: tuple[list[str], str | None] = ([JOB_TOKEN], None)
    nothing: tuple[list[str], str | None] = ([], "")
    assert seen == {
        "land.yaml land Check out main": job,
        "land.yaml land Set up knaster": nothing,
        "land.yaml land Render main and push what changed": ([BOT_TOKEN], ""),
        "plan.yaml plan Check out the base": job,
        "plan.yaml plan Set up knaster": nothing,
        "plan.yaml plan Fetch the pull request": job,
        "plan.yaml plan Plan the merge": nothing,
        "plan.yaml plan Comment, and set the status": job,
        "plan.yaml competing Check out the base": job,
        "plan.yaml competing Set up knaster": nothing,
        "plan.yaml competing Plan the others again": job,
        "sweep.yaml sweep Check out main": job,
        "sweep.yaml sweep Set up knaster": nothing,
        "sweep.yaml sweep Plan all open pull requests again": job,
    }


def test_the_set_up_names_what_they_use() -> None:
    document = (ROOT / "docs/gitea.md").read_text("utf-8")
    used = {name for text in TEXTS.values() for name in re.findall(r"(?:secrets|vars)\.(KNASTER_\w+)", text)}
    assert used == {"KNASTER_BOT_TOKEN", "KNASTER_BOT", "KNASTER_BOT_EMAIL"}
    for name in used:
        assert f"/{name}" in document, "as a call"
        assert f"`{name}`" in document, "in words"
    assert all(f"`{flow}`" in document for flow in ("plan", "sweep", "land"))


def test_no_token_is_given_to_a_whole_job() -> None:
    for flow in FLOWS.values():
        assert flow["env"] == {"GIT_TERMINAL_PROMPT": "0"}
        assert not [job for job in flow["jobs"].values() if "env" in job]


def test_every_command_of_knaster_in_them_exists() -> None:
    lines = [line.strip() for _, step in STEPS for line in step["run"].splitlines()]
    commands = [line for line in lines if line.startswith("knaster ")]
    for command in commands:
        parse(shlex.split(command.replace("$NUMBER", "7"))[1:])
    assert [command.partition(" --")[0] for command in commands] == [
        "knaster land",
        "knaster pr fetch",
        "knaster pr plan",
        "knaster pr comment",
        "knaster pr sweep",
        "knaster pr sweep",
    ]


@pytest.mark.parametrize(
    ("name", "script"), [(name, step["run"]) for name, step in STEPS if "Check out" in name], ids=str
)
def test_the_checkout_runs_at_a_prompt_with_the_whole_history_and_keeps_no_token(
    name: str, script: str, tmp_path: Path
) -> None:
    if "main" in name:
        assert "refs/heads/main" in script, "the tool that lands and sweeps is main's, whatever started the job"
    branch = "main" if "main" in name else "x$(touch${IFS}pwned)"
    there = tmp_path / "server/fleet/repo"
    there.mkdir(parents=True)
    git(there, "init", "-q", "-b", branch)
    for number in range(3):
        git(there, "commit", "-q", "--allow-empty", "-m", f"{number}")
    here = tmp_path / "work"
    here.mkdir()
    environment = {
        **os.environ,
        "GITHUB_SERVER_URL": f"file://{tmp_path}/server/",
        "GITHUB_REPOSITORY": "fleet/repo",
        "GITHUB_REF": f"refs/heads/{branch}",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "http.extraHeader",
        "GIT_CONFIG_VALUE_0": "Authorization: token s3cret",
    }
    done = subprocess.run(
        ["bash", "-e", "-c", script], cwd=here, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert history(here) == history(there)
    assert len(history(here)) == 3
    assert "s3cret" not in (here / ".git/config").read_text("utf-8")
    assert [path.name for path in here.iterdir()] == [".git"]
