"""The benchmarks of endpoints that the documents show run as they show them, on this repository's fleet."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import httpx
import pytest

from knaster.cli import main
from tests.speaking import RATE, Clock, Say, Scripted, chat_lines, wav

ROOT = Path(__file__).parent.parent
COMMANDS = re.findall(r"(?m)^knaster (bench (?:tts|server) [^#\n]*)", (ROOT / "docs/measuring.md").read_text("utf-8"))


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for folder in ("inventory", "catalog", "schemas"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    monkeypatch.chdir(tmp_path)
    server = Scripted(Clock())
    server.on("/v1/audio/speech", lambda _: Say(200, "audio/wav", [(0.5, wav(RATE))]))
    server.on("/v1/chat/completions", _chat)
    server.into(monkeypatch)
    return tmp_path


def _chat(_: httpx.Request) -> Say:
    return Say(200, "text/event-stream", [(0.25, line) for line in chat_lines(4, usage=(9, 4))])


def test_there_are_some() -> None:
    assert [command.split()[1] for command in COMMANDS] == ["tts", "server", "server"]


@pytest.mark.parametrize("command", COMMANDS)
def test_each_runs_and_names_what_the_plan_has_there(
    fleet: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(shlex.split(command)) == 0
    shown = capsys.readouterr().out
    assert "  slot: " in shown
    recorded = (
        f"recorded in catalog/benchmarks/{re.findall('(?m)^  model: (.*)$', shown)[0]}.yaml and catalog/models.yaml"
    )
    assert ("not recorded: --dry-run" if "--dry-run" in command else recorded) in shown
    assert (fleet / "catalog/benchmarks").exists() == ("--dry-run" not in command)
