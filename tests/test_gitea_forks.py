"""Against a real Gitea and a real runner: pull requests from forks, and how long a run takes on the real fleet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.gitea_fleet import FLEET, rerank
from tests.gitea_site import OWNER, Site, fill_tool_cache, seconds
from tests.real_gitea import Server, job_path, running, until
from tests.tool_cache import ROOT


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with running(tmp_path / "server", job_path()) as server:
        server.user(OWNER)
        yield server


@pytest.mark.parametrize("private", [True, False])
def test_a_pull_request_from_a_fork(server: Server, tmp_path: Path, private: bool) -> None:
    """Where its own run may not post, the next sweep does, or `plan` started by hand."""
    site = Site(server, f"{OWNER}/fleet", tmp_path / "clone")
    site.create(FLEET, private=private)
    fill_tool_cache(server, site.root)
    site.quiet()
    server.user("guest")
    server.call(OWNER, "PUT", f"/repos/{site.repo}/collaborators/guest", {"permission": "read"})
    server.call("guest", "POST", f"/repos/{site.repo}/forks", {})
    until("forked", lambda: server.ask("guest", "GET", "/repos/guest/fleet")[0] == 200)
    site.git("checkout", "-q", "-f", "--detach", "origin/main")
    site.write(rerank(gb=6))
    site.git("commit", "-q", "-m", "From outside")
    site.git("push", "-q", f"{server.url}/guest/fleet.git", "HEAD:refs/heads/idea", who="guest")
    head = site.git("rev-parse", "HEAD")
    number = site.open("guest:idea", "An idea", who="guest")
    if not private:
        site.shown(number, head)
    (run,) = until("the run of the fork", lambda: [one for one in site.runs() if "pull_request" in one["event"]])
    site.quiet()
    if not private:
        assert {run["conclusion"] for run in site.runs() if "plan" in run["path"]} == {"success"}, site.log(run)
    assert site.status(head) == ("", ""), "a fork's run may not post a status"

    again = (
        ("plan.yaml", {"ref": "main", "inputs": {"number": str(number)}})
        if private
        else ("sweep.yaml", {"ref": "main"})
    )
    server.call(OWNER, "POST", f"/repos/{site.repo}/actions/workflows/{again[0]}/dispatches", again[1])
    site.judged(head, "success")
    assert "rerank" in site.shown(number, head)
    assert {login for login, _ in site.comments(number)} == {"gitea-actions"}


def test_the_real_fleet_waits_for_git_and_the_runner_only(server: Server, tmp_path: Path) -> None:
    """Prints what our own steps take; the aim is 3 s on top of git's and the runner's time."""
    site = Site(server, f"{OWNER}/fleet", tmp_path / "clone")
    fleet = {
        str(path.relative_to(ROOT)): path.read_text("utf-8")
        for folder in ("inventory", "catalog", "generated")
        for path in sorted((ROOT / folder).rglob("*"))
        if path.is_file()
    }
    site.create(fleet)
    fill_tool_cache(server, site.root)
    site.quiet()
    models = fleet["catalog/models.yaml"]
    changed = models.replace("vram_gb: 3.55", "vram_gb: 5.2")
    assert changed != models
    head = site.push("bigger", {"catalog/models.yaml": changed})
    number = site.open("bigger", "A bigger model")
    body = site.shown(number, head)
    runs = [run for run in site.quiet() if "plan" in run["path"]]
    took = seconds(site.log(runs[0]))
    ours = sum(value for name, value in took if not name.startswith("git init"))
    print(f"\n{body}\n")
    print(
        "".join(f"{value:6.2f} s  {name}\n" for name, value in [*took, ("ours, git's part of the fetch in it", ours)])
    )
    assert runs[0]["conclusion"] == "success"
