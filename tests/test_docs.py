"""The documents: every command in them runs and prints what they show; every link leads somewhere."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from knaster.arguments import HELP
from knaster.cli import main
from tests import pages
from tests.test_cli import git

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")


def name(path: Path) -> str:
    """The document's path below the repository."""
    return str(path.relative_to(ROOT))


def blocks(path: Path, language: str) -> list[str]:
    """The fenced blocks of one language."""
    return [block.text for block in pages.blocks(path) if block.language == language]


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """This repository's data in a git repository of its own, as the working directory."""
    monkeypatch.chdir(own_fleet(tmp_path))
    return tmp_path


INPUTS = ("inventory", "catalog", "schemas")


def own_fleet(folder: Path, parts: tuple[str, ...] = INPUTS) -> Path:
    """These folders of this repository, committed on main in `folder`."""
    for name in parts:
        shutil.copytree(ROOT / name, folder / name)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "config", "user.name", "t")
    git(folder, "config", "user.email", "t@example.org")
    git(folder, "config", "commit.gpgsign", "false")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "fleet")
    return folder


def test_every_command_of_the_readme_does_what_it_shows(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = 0
    for command, output in pages.commands("".join(blocks(ROOT / "README.md", "console"))):
        words = shlex.split(command)
        if words[0] == "make":
            assert re.search(rf"(?m)^{words[1]}:", MAKEFILE), command
            continue
        if words[0] == "git":
            subprocess.run(words, cwd=fleet, check=True, capture_output=True)
            continue
        assert words[0] == "knaster", f"the test does not know how to run: {command}"
        capsys.readouterr()
        assert main(words[1:]) == 0, command
        shown = capsys.readouterr().out
        assert not output or re.fullmatch(pages.pattern(output), shown), f"{command}\n{shown}"
        ran += 1
    assert ran >= 8


def test_the_error_in_the_readme_is_the_one_that_is_printed(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (shown,) = blocks(ROOT / "README.md", "text")
    roles = fleet / "catalog/roles.yaml"
    roles.write_text(roles.read_text("utf-8").replace("min_vram_gb", "min_vram", 1), "utf-8")
    assert main(["validate", "-q"]) == 1
    assert capsys.readouterr().out.startswith(shown)


def test_the_comment_in_the_readme_is_the_one_that_its_line_makes(
    fleet: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (change,) = [block for block in pages.blocks(ROOT / "README.md") if block.language == "diff"]
    (shown,) = blocks(ROOT / "README.md", "markdown")
    git(fleet, "checkout", "-q", "-b", "topic")
    file = fleet / change.about
    file.write_text(pages.patched(file.read_text("utf-8"), change.text), "utf-8")
    git(fleet, "commit", "-qam", "A longer context")
    capsys.readouterr()
    assert main(["pr", "plan", "--format", "markdown"]) == 0
    body = capsys.readouterr().out.partition("-->\n\n")[2]
    assert re.sub(r"`[0-9a-f]{12}`", "`...`", body) == shown


@pytest.mark.usefixtures("fleet")
def test_the_python_in_the_readme_runs() -> None:
    (code,) = blocks(ROOT / "README.md", "python")
    names: dict[str, object] = {}
    exec(code, names)
    assert '"embedding"' in str(names["placement"])


def test_commands_to_run_are_where_tests_run_them() -> None:
    """The how-to pages: test_howto; `test_deployment_day` runs those of that page."""
    rest = [path for path in DOCUMENTS if path.parent.name != "howto"]
    assert [name(path) for path in rest if blocks(path, "console")] == ["README.md", "docs/deployment-day.md"]


def test_the_make_targets_that_documents_name_exist() -> None:
    named = {
        target for path in DOCUMENTS for target in re.findall(r"(?m)(?:^ {4}|`)make ([a-z]+)", path.read_text("utf-8"))
    }
    assert named >= {"run", "test", "lint", "lock"}
    assert {target for target in named if not re.search(rf"(?m)^{target}:", MAKEFILE)} == set()


def test_the_readme_names_every_command() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    table = HELP.partition("commands:\n")[2].partition("options")[0]
    names = [one.partition("|")[0] for one in re.findall(r"(?m)^  ([a-z |]+?)(?: \[| [A-Z]|  )", table)]
    assert names[:5] == ["validate", "placement plan", "render", "diff", "verify"]
    assert names[-4:] == ["tofu gate", "init", "explain", "completion"]
    assert all(f"knaster {command}" in text for command in names)


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", path.read_text("utf-8")):
        file, _, heading = target.partition("#")
        there = path.parent / file if file else path
        assert target.startswith("https://") or there.exists(), target
        assert not heading or heading in headings(there), target


def headings(path: Path) -> set[str]:
    """The headings of a page as the server makes anchors of them."""
    titles = re.findall(r"(?m)^#+ (.*)$", path.read_text("utf-8"))
    return {re.sub(r"[^a-z0-9_ -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("path", sorted((ROOT / "docs/decisions").glob("*.md")), ids=name)
def test_a_decision_has_its_three_parts(path: Path) -> None:
    text = path.read_text("utf-8")
    number = int(path.name[:4])
    assert text.startswith(f"# {number}. ")
    assert [f"**{part}.**" in text for part in ("Context", "Decision", "Consequence")] == [True, True, True]


def test_decisions_are_numbered_without_gaps() -> None:
    numbers = sorted(int(path.name[:4]) for path in (ROOT / "docs/decisions").glob("*.md"))
    assert numbers == list(range(1, len(numbers) + 1))
