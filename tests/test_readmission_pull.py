"""A pull request that brings an M4000 of this repository's fleet back: with a record it passes, without it fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from knaster.cli import main
from tests.git_repo import Repo, plain, remote_and_clone
from tests.llama_runs import output

ROOT = Path(__file__).parent.parent
NODE, ROLES = "inventory/pve44.yaml", "catalog/roles.yaml"
MODEL = "mistral-7b-instruct-v0.3-q4_k_m"
OFF = (
    "    disabled: true\n"
    '    reason: "Back only after a llama-bench run with a power reading, and then for llama.cpp alone."\n'
)
Capture = pytest.CaptureFixture[str]


def fleet() -> dict[str, str]:
    paths = [path for folder in ("inventory", "catalog") for path in sorted((ROOT / folder).rglob("*.yaml"))]
    return {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in paths}


def enabled() -> dict[str, str]:
    """The M4000 of pve44 is on, and the verifier wants a 7B, for which a P2000 is too small."""
    before = fleet()
    small = "    priority: 50\n    needs: {engine: llamacpp, min_vram_gb: 4}\n"
    assert OFF in before[NODE]
    assert small in before[ROLES]
    return {NODE: before[NODE].replace(OFF, ""), ROLES: before[ROLES].replace(small, small.replace("4}", "6}"))}


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A clone of a remote whose main is this repository's data, on a branch that enables the card."""
    plain(monkeypatch)
    _, work = remote_and_clone(tmp_path, fleet())
    work.git("checkout", "-q", "-b", "back")
    work.commit(enabled(), "The M4000 of pve44 comes back")
    return work


def record(work: Repo, *power: str) -> None:
    """A run of llama-bench of that day, imported and committed."""
    run = work.path.parent / "run.json"
    run.write_text(output("2026"), encoding="utf-8")
    words = ["bench", "llm", MODEL, "--card", "pve44/0", "--import", str(run), *power]
    assert main(["-C", str(work.path), *words]) == 0
    work.git("add", "catalog")
    work.git("commit", "-q", "-m", "Measured")


def plan(work: Repo, capsys: Capture, form: str) -> tuple[int, str]:
    """The exit status, and what is printed, without the ticks of Markdown."""
    capsys.readouterr()
    command = ["-C", str(work.path), "pr", "plan", "--base", "origin/main", "--head", "back", "--format", form]
    status = main(command)
    return status, capsys.readouterr().out.replace("`", "")


def test_without_a_record_it_fails_and_says_which_step_is_missing(work: Repo, capsys: Capture) -> None:
    status, comment = plan(work, capsys, "markdown")
    assert status == 1
    assert (
        "- inventory/pve44.yaml:14 error: card pve44/0 (Quadro M4000) is enabled, but a Quadro M4000 needs a benchmark "
        "with a power reading first: no llama-bench run is on record — set disabled: true; on the machine run: "
        f"knaster bench llm {MODEL} --card pve44/0 --file {MODEL}.gguf; "
    ) in comment
    assert "(benchmark-missing)" in comment


def test_a_record_without_power_is_not_enough(work: Repo, capsys: Capture) -> None:
    record(work)
    status, comment = plan(work, capsys, "markdown")
    assert status == 1
    assert "the llama-bench record has no power reading" in comment


def test_with_a_record_it_passes_and_tells_who_moves_while_the_vm_stays(work: Repo, capsys: Capture) -> None:
    record(work, "--power-watts", "80")
    status, told = plan(work, capsys, "json")
    assert status == 0
    changes: list[dict[str, Any]] = json.loads(told)["changes"]
    roles = [(one["name"], one["before"], one["after"]) for one in changes if one["kind"] == "role"]
    assert roles == [("verifier", "pve48/1", "pve44/0")]
    told_of = {(one["kind"], one["name"], one["effect"]) for one in changes}
    assert told_of == {
        ("role", "verifier", "move"),
        ("node", "pve44/0", "update"),
        ("slot", "verifier", "update"),
        ("model", MODEL, "record"),
    }
    files = {covered["file"] for one in changes for covered in one["covers"]}
    assert not any(file.startswith("tofu/") for file in files)  # the VM, its mappings and cards are what they were
    status, comment = plan(work, capsys, "markdown")
    assert status == 0
    assert comment.startswith("<!-- knaster plan v1 target=main -->")
    assert "nothing is lost or restarted" in comment
    assert "| verifier | pve48/1 | pve44/0 | pve48/1 is too small: verifier needs 6 GB, it has 5 GB |" in comment
    assert "- card pve44/0: is enabled: Quadro M4000; gpu-pve44 stays as it is\n" in comment
    assert (
        f"- model {MODEL}: generation_rate on Quadro M4000 16 ± 0.25 token/s (measured 2026-11-29) instead of "
        "12 to 25 token/s (estimated)\n"
    ) in comment
    assert (
        f"- model {MODEL}: power on Quadro M4000 80 W (measured 2026-11-29) instead of 120 W (estimated)\n" in comment
    )


def test_the_card_serves_llamacpp_alone(work: Repo, capsys: Capture) -> None:
    """With pytorch open to any card, the M4000 would still not be one for it: the policy of its type says so."""
    record(work, "--power-watts", "80")
    roles = (work.path / ROLES).read_text("utf-8")
    more = "  speech:\n    needs: {engine: pytorch, min_vram_gb: 6}\n    kinds: [tts]\n"
    models = (work.path / "catalog/models.yaml").read_text("utf-8").replace("min_cc: 7.5", "min_cc: 5.0")
    work.commit({ROLES: roles + more, "catalog/models.yaml": models}, "speech")
    capsys.readouterr()
    main(["-C", str(work.path), "placement", "plan", "--explain", "speech"])
    (line,) = [one for one in capsys.readouterr().out.splitlines() if one.startswith("pve44/0")]
    assert "not open to pytorch by card policy" in line
