"""`knaster report`: exit status, where the page goes, what is said on stderr, and the two sides."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from knaster.cli import main
from tests.fleet_pages import read
from tests.repo import PC5, ROLES, files, lay
from tests.test_cases import CASES, NAMES, laid
from tests.test_cli import BAD, REQUIRED, Capture, git

ROOT = Path(__file__).parent.parent


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A small fleet, committed on main."""
    root = tmp_path / "fleet"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    lay(root, files())
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "fleet")
    return root


def test_the_page_goes_to_a_file_and_nothing_is_said(repository: Path, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "fleet.html"
    assert main(["-C", str(repository), "report", "-o", str(out)]) == 0
    assert capsys.readouterr() == ("", "")
    assert read(out.read_text("ascii")).values("data-assignment") == ["general", "embedding", "speech"]


def test_without_a_file_it_goes_to_standard_output(repository: Path, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "fleet.html"
    assert main(["-C", str(repository), "report", "-o", str(out)]) == 0
    for words in (["report"], ["report", "-o", "-"]):
        assert main(["-C", str(repository), *words]) == 0
        assert capsys.readouterr() == (out.read_text("ascii"), "")


def test_it_works_outside_git(tmp_path: Path, capsys: Capture) -> None:
    lay(tmp_path, files())
    assert main(["-C", str(tmp_path), "report"]) == 0
    assert capsys.readouterr().out.startswith("<!doctype html>\n")


def test_with_a_base_both_sides_are_on_it(repository: Path, tmp_path: Path) -> None:
    """tier1 is renamed; the card of GODE-PC-05 is disabled, and the role on it has no other."""
    (repository / "catalog/roles.yaml").write_text(ROLES.replace("slots: [embed]", "slots: [vectors]"), "utf-8")
    off = PC5.replace('driver: "580.88"', 'driver: "580.88", disabled: true, reason: "noisy"')
    (repository / "inventory/GODE-PC-05.yaml").write_text(off, "utf-8")
    out = tmp_path / "fleet.html"
    assert main(["-C", str(repository), "report", "--base", "main", "-o", str(out)]) == 0
    found = read(out.read_text("ascii"))
    assert re.search(r"− Before main \([0-9a-f]{12}\) plan [0-9a-f]{12} \+ After the working tree", found.said)
    for told in (
        "− Taken away role general loses its place",
        "roles placed 3 of 3 2 of 3 ▼ 1 fewer worse",
        "general + newly short",
        "+ newly disabled",
        "slot vectors is new",
        "noisy",
    ):
        assert told.replace("general + newly", "newly") in found.said, told


def test_a_fleet_that_does_not_load_gets_no_page(repository: Path, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "fleet.html"
    out.write_text("the page of yesterday", "utf-8")
    (repository / "catalog/roles.yaml").write_text("roles: [", "utf-8")
    assert main(["-C", str(repository), "report", "-o", str(out)]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "catalog/roles.yaml:2:1: error:" in said.err
    assert "no page: its files did not load" in said.err
    assert out.read_text("utf-8") == "the page of yesterday"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fleet", "fleet.html"]


@pytest.mark.parametrize(("texts", "code"), [(BAD, "unknown-fallback"), (REQUIRED, "required-unplaced")])
def test_an_invalid_fleet_that_loads_has_a_page_that_says_so(
    texts: dict[str, str], code: str, tmp_path: Path, capsys: Capture
) -> None:
    lay(tmp_path, texts)
    assert main(["-C", str(tmp_path), "report"]) == 1
    said = capsys.readouterr()
    assert "the working tree is not valid: 1 error." in read(said.out).said
    assert f"[{code}]" in read(said.out).said
    assert f"[{code}]" in said.err
    assert "the page shows what its files ask for" in said.err


@pytest.mark.parametrize("case", [name for name in NAMES if name not in ("check-skipped", "file-missing")])
def test_every_mistake_has_a_page_or_a_reason(case: str, tmp_path: Path, capsys: Capture) -> None:
    """Each bad repository of tests/cases: a page that can be read, or none and an error; never a bug of ours."""
    status = main(["-C", str(laid(case, tmp_path)), "report"])
    said = capsys.readouterr()
    assert status == ("error" in (CASES / case / "expected.txt").read_text("utf-8"))
    assert status == bool(said.err)
    if said.out:
        ids = read(said.out).count("id")
        assert set(ids.values()) == {1}
        assert status == ("is not valid" in said.out)
    else:
        assert "no page" in said.err


def test_a_base_that_does_not_load_is_named(repository: Path, capsys: Capture) -> None:
    lay(repository, files(roles="roles: ["))
    git(repository, "commit", "-qam", "broken")
    lay(repository, files())
    assert main(["-C", str(repository), "report", "--base", "HEAD"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert re.search(r"HEAD \([0-9a-f]{12}\) is invalid \(.*\); no page", said.err)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--base", "nowhere"], "nowhere"),
        (["--format", "json"], "a page of HTML, not json"),
        (["--format", "markdown"], "a page of HTML, not markdown"),
        (["-o", "inventory/fleet.html"], "inventory/ holds the fleet's own files"),
        (["-o", "missing/fleet.html"], "cannot write missing/fleet.html"),
    ],
)
def test_what_cannot_be_done_is_said(
    words: list[str], told: str, repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(repository)
    assert main(["report", *words]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert told in said.err


def test_a_base_needs_git(tmp_path: Path, capsys: Capture) -> None:
    lay(tmp_path, files())
    assert main(["-C", str(tmp_path), "report", "--base", "main"]) == 2
    assert "no git repository" in capsys.readouterr().err


def test_the_commands_of_the_how_to_run(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """Every line of its shell blocks, on a branch with a change; the web server is not started."""
    monkeypatch.chdir(repository)
    git(repository, "checkout", "-q", "-b", "topic")
    (repository / "catalog/roles.yaml").write_text(ROLES.replace("min_vram_gb: 2", "min_vram_gb: 3"), "utf-8")
    blocks = re.findall(r"(?ms)^```sh\n(.*?)^```$", (ROOT / "docs/report.md").read_text("utf-8"))
    lines = [line.partition("#")[0].split() for block in blocks for line in block.splitlines()]
    assert len(lines) >= 3
    for words in lines:
        assert words[0] == "knaster"
        assert main([word.replace("/tmp", str(tmp_path)) for word in words[1:]]) == 0, words
        written = Path(words[words.index("-o") + 1].replace("/tmp", str(tmp_path)))
        assert read(written.read_text("ascii")).values("data-assignment")
        written.unlink()
    assert capsys.readouterr().err == ""
