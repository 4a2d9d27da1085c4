"""What docs/faults.md promises: whatever fails, a reader sees the old or the new, and the next run completes it.

The page names a test for every outcome; the last test here reads the page and looks for each of them.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from knaster.adapters import scratch
from knaster.adapters.gitea import Gitea
from knaster.adapters.http import Limits
from knaster.cli import main
from tests.cited import cited, missing, rows
from tests.faults import CASES, HOUSE
from tests.git_repo import plain
from tests.gitea_double import TOKEN, WEB_PAGE, Fault, gitea
from tests.repo import files
from tests.test_land import cloned, land, tip
from tests.test_pr_plan import CODE
from tests.test_pr_sweep import ROLES_NOW, SWEEP, Forge, forge

__all__ = ["forge"]

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("fault", ["kill", "full", "read-only"])
def test_a_disk_that_fails(fault: str, case: str, tmp_path: Path) -> None:
    """The checks are in `tests.faults.sweep`, which prints how many times something failed."""
    command = [sys.executable, "-m", "tests.faults", fault, case, str(tmp_path)]
    done = subprocess.run(command, cwd=HOUSE, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert int(done.stdout) >= 2


def test_no_room_for_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    plain(monkeypatch)
    _, work = cloned(tmp_path)

    def full(*_arguments: object, **_more: object) -> None:
        raise OSError(28, "No space left on device")

    for name in ("TemporaryFile", "TemporaryDirectory"):
        with monkeypatch.context() as patch:
            patch.setattr(scratch, name, full)
            assert land(work) == 2
        said = capsys.readouterr().err
        assert "knaster: error: cannot write a temporary file: No space left on device" in said
        assert "hint: free some space, or name another folder with TMPDIR" in said


class TestLocks:
    """Git's own locks, held by somebody else or left by a run that died."""

    @pytest.fixture(autouse=True)
    def _plain(self, monkeypatch: pytest.MonkeyPatch) -> None:
        plain(monkeypatch)

    def test_locks_of_the_clone_do_not_keep_land_from_it(self, tmp_path: Path) -> None:
        """It uses neither the index nor a branch of the clone."""
        remote, work = cloned(tmp_path)
        source = tip(remote)
        for name in ("index.lock", "HEAD.lock", "refs/heads/main.lock", "packed-refs.lock", "config.lock"):
            (work.path / ".git" / name).touch()
        assert land(work) == 0
        assert remote.sha("main^") == source

    def test_a_lock_on_the_servers_branch_is_a_lost_race_and_then_an_error(
        self, tmp_path: Path, capsys: Capture
    ) -> None:
        remote, work = cloned(tmp_path)
        source, lock = tip(remote), remote.path / "refs/heads/main.lock"
        lock.touch()
        assert land(work) == 2
        assert "nothing was pushed" in capsys.readouterr().err
        assert tip(remote) == source
        lock.unlink()
        assert land(work) == 0


class TestClocks:
    """No decision depends on the clock."""

    def test_a_clock_that_is_years_off_changes_nothing_but_the_date_of_the_commit(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        plain(monkeypatch)
        trees, plans = set(), set()
        for at, seconds in enumerate((100_000_000, 4_000_000_000)):  # 1973 and 2096
            remote, work = cloned(tmp_path / str(at))
            monkeypatch.setenv("GIT_COMMITTER_DATE", f"{seconds} +0000")
            monkeypatch.setenv("GIT_AUTHOR_DATE", f"{seconds} +0000")
            assert land(work) == 0
            assert remote.git("show", "-s", "--format=%ct", "main") == str(seconds)
            trees.add(remote.sha("main^{tree}"))
            plans.add(re.findall("(?m)^Knaster-Plan: (.+)$", remote.git("show", "-s", "--format=%B", "main"))[0])
            work.git("pull", "-q", "origin", "main")
            assert main(["-C", str(work.path), "verify"]) == 0
            monkeypatch.delenv("GIT_COMMITTER_DATE")
            monkeypatch.delenv("GIT_AUTHOR_DATE")
            changed = files()["catalog/roles.yaml"].replace("min_vram_gb: 2}", "min_vram_gb: 3}")
            work.commit({"catalog/roles.yaml": changed})  # now: after 1973, and before its parent of 2096
            work.git("push", "-q", "origin", "HEAD:main")
            assert land(work) == 0
            trees.add(remote.sha("main^{tree}"))
        assert (len(trees), len(plans)) == (2, 1)

    def test_the_time_of_day_is_read_for_the_date_of_a_benchmark_alone(self) -> None:
        """Waiting goes by the monotonic clock, which nobody sets."""
        found = set()
        for path in (HOUSE / "knaster").rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Attribute) and ast.unparse(node) in (
                    *("time.time", "time.localtime", "time.gmtime", "datetime.now", "datetime.utcnow"),
                    *("datetime.today", "date.today"),
                ):
                    found.add(str(path.relative_to(HOUSE / "knaster")))
        assert found == {"commands/bench_llm.py", "commands/benching.py"}


FAULTS = {
    "hangs": (Fault(kind="hang"), r"no answer in time|no whole answer within 0\.3 s"),
    "drips": (Fault(kind="drip"), r"0\.3 s"),
    "resets": (Fault(kind="reset"), "the connection broke"),
    "redirects": (Fault(302, headers=(("Location", "http://elsewhere.example/x"),)), r"elsewhere\.example"),
    "HTML": (Fault(200, body=WEB_PAGE), "see that the address names Gitea's API"),
    "502": (Fault(502, body=WEB_PAGE), "502"),
}


class TestServers:
    """A Gitea that fails whatever it is asked."""

    @pytest.fixture(autouse=True)
    def _impatient(self, monkeypatch: pytest.MonkeyPatch) -> None:
        limits = Limits(connect=0.3, read=0.3, whole=0.3)
        monkeypatch.setattr(
            "knaster.commands.server.Gitea", lambda *where: Gitea(*where, limits=limits, sleep=lambda _seconds: None)
        )

    @pytest.fixture
    def planned(self, forge: Forge, tmp_path: Path) -> Iterator[Path]:
        """A pull request, fetched and planned while the server was well."""
        forge.open(3, {"catalog/roles.yaml": ROLES_NOW + CODE})
        folder = tmp_path / "pull"
        assert forge.run("pr", "fetch", "--number", "3", "--to", str(folder)) == 0
        assert main(["-C", str(forge.work.path), "pr", "plan", "--to", str(folder)]) == 0
        yield folder
        # Afterwards the server is well again: the same command does what it could not.
        forge.server.hooks.clear()
        assert forge.run(*SWEEP) == 0
        assert len(forge.server.bodies(3)) == 1

    @pytest.mark.parametrize("kind", FAULTS)
    @pytest.mark.parametrize("command", ["fetch", "comment", "sweep"])
    def test_it_fails(self, command: str, kind: str, forge: Forge, planned: Path, capsys: Capture) -> None:
        fault, told = FAULTS[kind]
        for method in ("GET", "POST", "PATCH", "DELETE"):
            forge.server.before(method, "/", lambda _request: fault, times=10_000)
        words = {
            "fetch": ("pr", "fetch", "--number", "3", "--to", str(planned.parent / "other")),
            "comment": ("pr", "comment", "--plan", str(planned), "--number", "3", "--status"),
            "sweep": SWEEP,
        }[command]
        capsys.readouterr()
        assert forge.run(*words) == 2
        said = capsys.readouterr()
        assert re.search(told, said.err), said.err
        assert "This is a bug" not in said.err
        assert TOKEN not in said.out + said.err
        assert forge.server.bodies(3) == []
        assert not (planned.parent / "other" / "pulls.json").exists()

    def test_it_is_gone(self, forge: Forge, planned: Path, capsys: Capture) -> None:
        with gitea() as other:
            nowhere = other.url
        words = ("pr", "comment", "--plan", str(planned), "--number", "3", "--api", nowhere, "--repo", "acme/fleet")
        assert main(["-C", str(forge.work.path), *words]) == 2
        assert "cannot connect" in capsys.readouterr().err


def test_every_row_of_the_page_names_tests_that_exist() -> None:
    page = HOUSE / "docs/faults.md"
    assert len(rows(page)) > 20
    assert [row for row in rows(page) if not cited(row)] == []
    assert missing(page.read_text("utf-8")) == []
