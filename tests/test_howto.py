"""The how-to pages, each walked from top to bottom on this repository's fleet.

A block ``yaml PATH`` is a file to write, ``diff PATH`` a change to make, ``console`` commands with what they print.
``sh`` is for programs of other machines: there knaster's own lines have to be right.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from knaster.arguments import parse
from knaster.cli import main
from tests import pages
from tests.test_docs import INPUTS, own_fleet

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs/howto").glob("*.md"))
Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_a_page_does_what_it_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.chdir(own_fleet(tmp_path, (*INPUTS, "generated", "ansible")))
    for block in pages.blocks(page):
        if block.language == "yaml" and block.about:
            Path(block.about).write_text(block.text, "utf-8")
        elif block.language == "diff":
            file = Path(block.about)
            file.write_text(pages.patched(file.read_text("utf-8"), block.text), "utf-8")
        elif block.language == "console":
            for command, output in pages.commands(block.text):
                run(command, output, capsys)
        elif block.language == "sh":
            read(block.text)


def run(command: str, output: list[str], capsys: Capture) -> None:
    """Run one line and compare what it prints; ``# status N`` behind it is its exit status."""
    line, _, status = command.partition("  # status ")
    words = shlex.split(line)
    if words[0] == "git":
        shown = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    else:
        assert words[0] == "knaster", f"the test does not know how to run: {command}"
        capsys.readouterr()
        assert main(words[1:]) == int(status or 0), f"{command}\n{capsys.readouterr()}"
        shown = capsys.readouterr().out
    assert not output or re.fullmatch(pages.pattern(output), shown), f"{command}\n{shown}"


def read(text: str) -> None:
    """What a shell and knaster's parser have to say of lines that are not run."""
    assert shutil.which("bash")
    subprocess.run(["bash", "-n"], input=text, text=True, check=True)
    for line in re.findall(r"(?m)^ *(?:.*\| )?knaster (.*?)(?: &&| *#.*| >.*| \|.*)?$", text.replace("\\\n", " ")):
        parse(shlex.split(line))


def test_every_page_is_in_the_list() -> None:
    listed = re.findall(r"\]\(howto/([a-z-]+\.md)\)", (ROOT / "docs/README.md").read_text("utf-8"))
    assert sorted(listed) == [page.name for page in PAGES]


def test_addresses_in_the_state_are_those_of_the_module() -> None:
    module = "".join(path.read_text("utf-8") for path in (ROOT / "knaster/renderers/module/fleet").glob("*.tf"))
    declared = set(re.findall(r'(?m)^resource "(\w+)" "(\w+)"', module))
    text = "".join(path.read_text("utf-8") for path in (ROOT / "docs").rglob("*.md"))
    named = set(re.findall(r"module\.fleet\.(\w+)\.(\w+)", text))
    assert len(named) >= 3
    assert named <= declared


def test_the_parts_of_the_comment_are_called_as_it_calls_them() -> None:
    """In the column of parts; the words stand in the code that makes them."""
    table = (ROOT / "docs/howto/read-the-comment.md").read_text("utf-8")
    parts = [name for row in re.findall(r"(?m)^\| (.*?) \|", table) for name in re.findall(r"\*\*(.*?)\*\*", row)]
    source = (ROOT / "knaster/reports/comment/sections.py").read_text("utf-8")
    assert len(parts) >= 8
    assert [name for name in parts if f'"{name}"' not in source] == []
