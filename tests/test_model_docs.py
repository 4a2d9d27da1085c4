"""docs/models.md: its commands run, its answer is the one that is printed, its options are those that there are."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from knaster.adapters import huggingface
from knaster.arguments import parse
from knaster.cli import main
from tests.hub_server import Repository, loopback
from tests.model_fleets import QWEN3_14B
from tests.test_docs import blocks

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs/models.md"
COMMANDS = sorted(
    {
        line.partition("#")[0].strip()
        for path in (PAGE, ROOT / "README.md")
        for block in blocks(path, "sh")
        for line in block.splitlines()
        if line.startswith("knaster model plan")
    }
)


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The real fleet as the working directory, and a hub that has the model of the page."""
    for folder in ("inventory", "catalog"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    monkeypatch.chdir(tmp_path)
    with loopback() as state:
        state.repositories["Qwen/Qwen3-14B"] = Repository({"config.json": json.dumps(QWEN3_14B).encode()})
        client = huggingface.Hub(state.hub, tmp_path / "cache", None, offline=False)
        monkeypatch.setattr(huggingface, "hub", lambda: client)
        yield tmp_path


@pytest.mark.usefixtures("fleet")
def test_the_answer_on_the_page_is_the_one_that_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    (shown,) = blocks(PAGE, "text")
    assert main(["model", "plan", "Qwen/Qwen3-14B", "--context", "16k"]) == 0
    assert capsys.readouterr().out == shown


@pytest.mark.usefixtures("fleet")
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_runs(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(shlex.split(command)[1:])
    shown = capsys.readouterr()
    assert status == (1 if "--free" in command else 0), shown
    assert shown.out.startswith("Qwen/Qwen3-14B: 14.8B parameters")


def test_there_are_commands_to_run() -> None:
    assert len(COMMANDS) >= 4


def test_every_option_is_on_the_page_and_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(["model", "plan", "--help"])
    known = set(re.findall(r"--[a-z-]+", capsys.readouterr().out.partition("global options")[0])) - {"--help"}
    table = PAGE.read_text("utf-8").partition("## What is asked")[2].partition("## ")[0]
    told = set(re.findall(r"`(--[a-z-]+)", table)) | {"--params"}
    assert told == known
    assert "`--params 14.8B`" in PAGE.read_text("utf-8")
