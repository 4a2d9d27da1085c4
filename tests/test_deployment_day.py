"""docs/deployment-day.md: every command of it runs, in order, and prints what the page shows."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from knaster.cli import main
from knaster.inventory.capture import Section, render
from tests import pages
from tests.llama_runs import GENERATION, PROMPT, llama_bench, nvidia_smi, program, row
from tests.stubs import linux
from tests.test_assemble_nvidia import bus
from tests.test_docs import ROOT, blocks, fleet

__all__ = ["fleet"]

PAGE = ROOT / "docs/deployment-day.md"
OFF = re.compile(r"    disabled: true\n    reason: .*\n")


@pytest.fixture
def day(fleet: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The fleet, and on the PATH programs that stand for pve44 and for the VM with the card."""
    programs = fleet.parent / "programs"
    sections = linux(
        hostname="pve44\n",
        address="192.0.2.1 via 192.168.100.1 dev vmbr0 src 192.168.100.44 uid 0\n",
        meminfo="MemTotal:       32886000 kB\n",
        lspci=bus("vfio-pci", "vfio-pci"),
        pve_status=Section("", 1),  # pvesh is there, and answers root alone
    )
    program(programs, "ssh", f"sys.stdin.read(); sys.stdout.write({render(sections)!r})\n")
    first, second = row("2026", PROMPT), row("2026", GENERATION)
    llama_bench(programs, f"[\n{first}", f",\n{second}\n]\n")
    answers = "print('96.40') if '-l' not in sys.argv else print('timestamp, power.draw [W]\\n' + LOG)"
    log = "".join(f"2026/11/29 10:00:{at:02}.000, 96.40 W\n" for at in range(60))
    nvidia_smi(programs, answers.replace("LOG", repr(log)))
    (fleet / "Mistral-7B-Instruct-v0.3-Q4_K_M.gguf").write_bytes(b"GGUF")
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    return fleet


def by_hand(day: Path) -> None:
    """The commands that run in the VM without knaster, as a shell runs them."""
    (script,) = blocks(PAGE, "sh")
    subprocess.run(["sh", "-c", script.replace("kill $log", "wait $log")], cwd=day, check=True)


def test_every_command_of_the_page_does_what_it_shows(day: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = []
    for command, output in pages.commands("".join(blocks(PAGE, "console"))):
        words = shlex.split(command)
        ran.append(" ".join(words[:3]))
        if words[0] == "git":
            subprocess.run(words, cwd=day, check=True, capture_output=True)
            continue
        if "--import" in words:
            by_hand(day)
        if words[1] == "validate":
            profile = day / "inventory/pve44.yaml"
            text, count = OFF.subn("", profile.read_text("utf-8"))
            assert count == 1
            profile.write_text(text, "utf-8")
        capsys.readouterr()
        assert main(words[1:]) == 0, f"{command}\n{capsys.readouterr().out}"
        shown = capsys.readouterr().out
        assert not output or re.fullmatch(pages.pattern(output), shown), f"{command}\n{shown}"
    assert ran[:3] == ["knaster inventory collect", "knaster bench llm", "knaster bench llm"]
    assert ran[-1] == "knaster pr plan"


def test_the_page_says_what_a_missing_record_says(day: Path, capsys: pytest.CaptureFixture[str]) -> None:
    profile = day / "inventory/pve44.yaml"
    profile.write_text(OFF.sub("", profile.read_text("utf-8")), "utf-8")
    assert main(["validate", "-q"]) == 1
    assert "[benchmark-missing]" in capsys.readouterr().out
    assert main(["explain", "benchmark-missing"]) == 0
