"""`pr fetch`, `pr sweep` and what `land` tells, with a real repository and a server that answers like Gitea."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from knaster.cli import main
from knaster.reports.comment import read_marker
from tests.git_repo import Repo, plain, remote_and_clone
from tests.gitea_double import TOKEN, Double, Fault, gitea
from tests.repo import MODELS, PVE44, ROLES, files
from tests.test_pr_plan import CHAT, CODE, without_general

Capture = pytest.CaptureFixture[str]


@dataclass
class Forge:
    """A bare repository and the server in front of it, which knows what the repository holds."""

    remote: Repo
    work: Repo
    server: Double

    def open(self, number: int, changed: dict[str, str]) -> str:
        """A pull request with one commit on top of main; its head."""
        self.work.git("fetch", "-q", "origin")
        self.work.git("checkout", "-q", "-B", f"branch-{number}", "origin/main")
        head = self.work.commit(changed, f"change {number}")
        self.work.git("push", "-q", "-f", "origin", f"branch-{number}", f"branch-{number}:refs/pull/{number}/head")
        self.server.pull(number, head=head, base=self.tip())
        return head

    def tip(self) -> str:
        """The SHA of main."""
        return self.remote.sha("refs/heads/main")

    def merge(self, number: int) -> str:
        """Merge a pull request."""
        self.work.git("fetch", "-q", "origin")
        self.work.git("checkout", "-q", "-B", "main", "origin/main")
        self.work.git("merge", "-q", "--no-ff", "-m", f"Merge {number}", f"origin/branch-{number}")
        self.work.git("push", "-q", "origin", "main")
        self.server.merge(number, self.tip())
        self.moved()
        return self.tip()

    def moved(self) -> None:
        """Tell the server where main is."""
        self.server.commits.add(self.tip())
        for pull in self.server.pulls.values():
            pull["base"]["sha"] = self.tip()

    def run(self, *command: str) -> int:
        """A command of knaster in the clone."""
        where = ("--api", self.server.url, "--repo", self.server.repo)
        return main(["-C", str(self.work.path), *command, *where])

    def statuses(self, head: str) -> list[tuple[str, str]]:
        """State and description of every status of a head, oldest first."""
        found = [one for one in self.server.statuses if one["sha"] == head]
        return [(one["status"], one["description"]) for one in found]


@pytest.fixture
def forge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Forge]:
    plain(monkeypatch)
    monkeypatch.setenv("KNASTER_TOKEN", TOKEN)
    for name in ("GITHUB_EVENT_PATH", "GITHUB_API_URL", "GITHUB_REPOSITORY", "KNASTER_BOT"):
        monkeypatch.delenv(name, raising=False)
    remote, work = remote_and_clone(tmp_path, without_general())
    with gitea() as server:
        yield Forge(remote, work, server)


ROLES_NOW = without_general()["catalog/roles.yaml"]
SWEEP = ("pr", "sweep", "--status")


def test_fetch_lists_the_open_pull_requests_of_the_same_branch(forge: Forge, tmp_path: Path, capsys: Capture) -> None:
    heads = {number: forge.open(number, {f"docs/{number}.md": "x"}) for number in (3, 4, 5)}
    forge.server.pulls[5]["base"]["ref"] = "lab"
    assert forge.run("pr", "fetch", "--to", str(tmp_path / "out"), "--number", "4") == 0
    listed = json.loads((tmp_path / "out/pulls.json").read_text())
    assert listed == {
        "version": 1,
        "target": "main",
        "base": forge.tip(),
        "number": 4,
        "head": heads[4],
        "url": f"{forge.server.web}/{forge.server.repo}",
        "others": {"3": heads[3]},
    }
    assert TOKEN not in capsys.readouterr().out


def test_a_token_that_sees_no_pull_request_fetches_the_one_of_its_event(
    forge: Forge, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fork's token on a private repository: the plan needs no rights at all."""
    head = forge.open(3, {"README.md": "x"})
    forge.open(4, {"README.md": "y"})
    forge.server.before("GET", "/pulls", Fault(404), times=99)
    event = {
        "number": 3,
        "pull_request": {"number": 3, "base": {"ref": "main"}, "html_url": "https://g.test/a/b/pulls/3"},
    }
    (tmp_path / "event.json").write_text(json.dumps(event))
    fetch = ("pr", "fetch", "--to", str(tmp_path / "out"), "--number", "3")
    assert forge.run(*fetch) == 2
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(tmp_path / "event.json"))
    assert forge.run(*fetch) == 0
    listed = json.loads((tmp_path / "out/pulls.json").read_text())
    assert (listed["head"], listed["others"], listed["url"]) == (head, {}, "https://g.test/a/b")
    assert "the other open pull requests are not looked at" in capsys.readouterr().err


def test_a_token_that_may_not_post_a_status_still_comments(forge: Forge, capsys: Capture) -> None:
    forge.open(3, {"README.md": "x"})
    forge.server.before("POST", "/statuses", Fault(403), times=9)
    assert forge.run(*SWEEP) == 0
    assert len(forge.server.bodies(3)) == 1
    assert "the status of pull request 3 was not posted" in capsys.readouterr().err


def test_a_sweep_shows_every_open_pull_request_its_result(forge: Forge) -> None:
    head = forge.open(3, {"catalog/roles.yaml": ROLES_NOW + CODE})
    assert forge.run(*SWEEP) == 0
    (body,) = forge.server.bodies(3)
    found = read_marker(body)
    assert found is not None
    assert (found.head, found.base, found.verdict) == (head, forge.tip(), "changes")
    ((state, description),) = forge.statuses(head)
    assert state == "success"
    assert description.startswith(found.plan[:12])


def test_a_sweep_that_is_repeated_writes_nothing(forge: Forge) -> None:
    forge.open(3, {"catalog/roles.yaml": ROLES_NOW + CODE})
    forge.open(4, {"README.md": "x"})
    assert forge.run(*SWEEP) == 0
    written = len(forge.server.writes())
    assert forge.run(*SWEEP) == 0
    assert len(forge.server.writes()) == written


def test_after_main_moved_the_status_is_withdrawn_and_only_a_changed_result_is_written(forge: Forge) -> None:
    """Case A1, without a push: #4's card is gone once #3 is merged; #5 has the same result as before."""
    forge.open(3, {"catalog/roles.yaml": ROLES_NOW.replace("roles:\n", f"roles:\n{CHAT}")})
    code = forge.open(4, {"catalog/roles.yaml": ROLES_NOW + CODE})
    docs = forge.open(5, {"README.md": "x"})
    assert forge.run(*SWEEP) == 0
    (before,) = forge.server.bodies(5)
    tip = forge.merge(3)
    assert forge.run(*SWEEP) == 0
    assert forge.server.bodies(5) == [before]
    body = forge.server.bodies(4)[0]
    found = read_marker(body)
    assert found is not None
    assert (found.head, found.base) == (code, tip)
    assert "`code`" in body
    assert "chat" in body  # who holds the card
    for head in (code, docs):
        states = forge.statuses(head)
        assert [state for state, _ in states] == ["success", "pending", "success"]
        assert [tip[:12] in description for _, description in states] == [False, True, True]


def test_two_that_want_one_card_are_named_in_both_comments(forge: Forge) -> None:
    forge.open(3, {"catalog/roles.yaml": ROLES_NOW + CHAT})
    forge.open(4, {"catalog/roles.yaml": ROLES_NOW + CODE})
    assert forge.run(*SWEEP) == 0
    assert "pull request `#4` wants card `GODE-PC-05/0` too, for code" in forge.server.bodies(3)[0]
    assert "pull request `#3` wants card `GODE-PC-05/0` too, for chat" in forge.server.bodies(4)[0]
    forge.server.pulls[4]["state"] = "closed"
    assert forge.run(*SWEEP) == 0
    assert "wants card" not in forge.server.bodies(3)[0]


def test_an_invalid_pull_request_fails_its_own_status_alone(forge: Forge) -> None:
    bad = forge.open(3, {"catalog/roles.yaml": "roles: [\n"})
    good = forge.open(4, {"README.md": "x"})
    assert forge.run(*SWEEP) == 0
    assert [state for state, _ in forge.statuses(bad)] == ["failure"]
    assert [state for state, _ in forge.statuses(good)] == ["success"]


def test_one_that_cannot_be_told_does_not_keep_the_others_from_it(forge: Forge, capsys: Capture) -> None:
    forge.open(3, {"README.md": "x"})
    forge.open(4, {"README.md": "y"})
    forge.server.before("POST", "/issues/3/comments", Fault(403), times=9)
    assert forge.run(*SWEEP) == 2
    assert forge.server.bodies(3) == []
    assert len(forge.server.bodies(4)) == 1
    assert "pull request 3 could not be told" in capsys.readouterr().err


def test_a_status_that_fails_does_not_keep_the_others_from_it(forge: Forge, capsys: Capture) -> None:
    one, two = forge.open(3, {"README.md": "x"}), forge.open(4, {"README.md": "y"})
    assert forge.run(*SWEEP) == 0
    forge.open(5, {"docs/a.md": "x"})
    tip = forge.merge(5)
    for method in ("GET", "POST"):
        forge.server.before(method, one, Fault(500), times=99)
    assert forge.run(*SWEEP) == 2
    assert [state for state, _ in forge.statuses(one)] == ["success"]
    assert [state for state, _ in forge.statuses(two)] == ["success", "pending", "success"]
    assert tip[:12] in forge.statuses(two)[-1][1]
    assert "the status of pull request 3 was not posted" in capsys.readouterr().err


def test_two_pull_requests_with_one_head_come_to_rest(forge: Forge) -> None:
    head = forge.open(3, {"README.md": "x"})
    forge.work.git("push", "-q", "origin", f"{head}:refs/pull/4/head")
    forge.server.pull(4, head=head, base=forge.tip())
    assert forge.run(*SWEEP) == 0
    written = len(forge.server.writes())
    assert forge.run(*SWEEP) == 0
    assert len(forge.server.writes()) == written


def test_a_head_that_is_gone_does_not_keep_the_others_from_it(forge: Forge) -> None:
    forge.open(3, {"README.md": "x"})
    forge.open(4, {"README.md": "y"})
    forge.remote.git("update-ref", "-d", "refs/pull/3/head")
    assert forge.run(*SWEEP) == 2
    assert len(forge.server.bodies(4)) == 1


def test_nothing_open(forge: Forge, capsys: Capture) -> None:
    assert forge.run(*SWEEP) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("0 open pull requests planned against main")


def test_a_plan_for_an_older_tip_turns_nothing_green(forge: Forge, tmp_path: Path) -> None:
    """Main moved between the plan and the comment: the status waits for the next plan."""
    forge.open(3, {"docs/a.md": "x"})
    head = forge.open(4, {"catalog/roles.yaml": ROLES_NOW + CODE})
    out = str(tmp_path / "out")
    assert forge.run("pr", "fetch", "--to", out, "--number", "4") == 0
    assert main(["-C", str(forge.work.path), "-q", "pr", "plan", "--to", out]) == 0
    tip = forge.merge(3)
    assert forge.run("pr", "comment", "--plan", out, "--number", "4", "--status") == 0
    assert forge.statuses(head) == [("pending", f"to be planned again (on {tip[:12]})")]
    assert forge.run(*SWEEP) == 0
    assert [state for state, _ in forge.statuses(head)] == ["pending", "success"]


def land(forge: Forge) -> None:
    """Land and tell the server."""
    assert forge.run("land") == 0
    forge.moved()


def test_a_merge_that_lands_as_it_was_shown_is_not_told(forge: Forge) -> None:
    land(forge)
    forge.open(3, {"catalog/roles.yaml": ROLES_NOW + CODE})
    assert forge.run(*SWEEP) == 0
    forge.merge(3)
    land(forge)
    assert len(forge.server.bodies(3)) == 1


def test_a_merge_that_lands_otherwise_is_told_what_is_different(forge: Forge) -> None:
    """#4 was shown on a free card. #3 was merged first and nobody planned #4 again before it was merged too."""
    land(forge)
    forge.open(3, {"catalog/roles.yaml": ROLES_NOW.replace("roles:\n", f"roles:\n{CHAT}")})
    forge.open(4, {"catalog/roles.yaml": ROLES_NOW + CODE})
    assert forge.run(*SWEEP) == 0
    forge.merge(3)
    commit = forge.merge(4)
    land(forge)
    assert len(forge.server.bodies(3)) == 1
    first, told = forge.server.bodies(4)
    assert told.startswith(f"<!-- knaster landed v1 target=main commit={commit} -->\n")
    shown = read_marker(first)
    assert shown is not None
    assert f"plan `{shown.plan[:12]}` was shown" in told
    assert "`code`" in told
    land(forge)  # a second run tells nobody twice
    assert len(forge.server.bodies(4)) == 2


def test_a_squash_that_lands_otherwise_is_told_by_a_fresh_clone(forge: Forge, tmp_path: Path) -> None:
    """The runner's clone has never seen the head, which a squash leaves behind. The message looks like a landing's."""
    land(forge)
    forge.open(3, {"catalog/roles.yaml": ROLES_NOW.replace("roles:\n", f"roles:\n{CHAT}")})
    forge.open(4, {"catalog/roles.yaml": ROLES_NOW + CODE})
    assert forge.run(*SWEEP) == 0
    forge.merge(3)
    forge.work.git("fetch", "-q", "origin")
    forge.work.git("checkout", "-q", "-B", "main", "origin/main")
    forge.work.git("merge", "-q", "--squash", "branch-4")
    title = f"Document trailers\n\nKnaster-Source: {'a' * 40}\nKnaster-Plan: {'b' * 64}\n"
    commit = forge.work.commit({}, title)
    forge.work.git("push", "-q", "origin", "main")
    forge.server.merge(4, commit)
    forge.moved()
    forge.work = Repo.clone(forge.remote.path, tmp_path / "fresh")
    land(forge)
    assert len(forge.server.bodies(4)) == 2
    assert "Landed otherwise than shown" in forge.server.bodies(4)[1]


def test_a_merge_after_another_one_is_no_news_by_itself(forge: Forge) -> None:
    """Main moved, so the plan has another id; but what this pull request does is what it showed."""
    land(forge)
    forge.open(3, {"catalog/roles.yaml": ROLES_NOW.replace("roles:\n", f"roles:\n{CHAT}")})
    forge.open(4, {"README.md": "x"})
    assert forge.run("pr", "sweep") == 0
    forge.merge(3)
    forge.merge(4)
    land(forge)
    assert [len(forge.server.bodies(number)) for number in (3, 4)] == [1, 1]


def test_a_merge_that_a_sweep_planned_again_is_not_told(forge: Forge) -> None:
    land(forge)
    forge.open(3, {"catalog/models.yaml": MODELS.replace("vram_gb: 1.2", "vram_gb: 1.3")})
    forge.open(4, {"README.md": "x"})
    assert forge.run(*SWEEP) == 0
    forge.merge(3)
    land(forge)
    assert forge.run(*SWEEP) == 0
    forge.merge(4)
    land(forge)
    assert len(forge.server.bodies(4)) == 1


def test_landing_needs_no_server(forge: Forge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KNASTER_TOKEN")
    assert main(["-C", str(forge.work.path), "land"]) == 0
    assert forge.server.asked == []


def test_a_server_that_fails_does_not_undo_a_landing(forge: Forge, capsys: Capture) -> None:
    forge.open(3, {"inventory/pve46.yaml": PVE44.replace("pve44", "pve46"), "catalog/roles.yaml": ROLES})
    assert files()["catalog/roles.yaml"] == ROLES
    forge.merge(3)
    forge.server.before("GET", ".*", Fault(500), times=99)
    assert forge.run("land") == 0
    assert "no pull request was told of this landing" in capsys.readouterr().err
