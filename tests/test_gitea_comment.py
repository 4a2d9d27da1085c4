"""`knaster pr comment` against the double of Gitea: one comment whatever happens, and the plan's exit status."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from knaster.adapters.gitea import Denied, Temporary
from knaster.cli import main
from knaster.commands import pr_comment
from knaster.diagnostics import WorldError
from tests.gitea_double import TOKEN, WEB_PAGE, Double, Fault, gitea
from tests.gitea_plans import BASE, BASE2, HEAD, HEAD2, HEAD3, RESULT, arguments, body, lay
from tests.gitea_routes import Person, Request
from tests.test_gitea import PROXIES

Capture = pytest.CaptureFixture[str]
GITHUB = ("GITHUB_EVENT_PATH", "GITHUB_API_URL", "KNASTER_API_URL", "KNASTER_TOKEN", "KNASTER_BOT")


@pytest.fixture(params=["", "/tools/git"], ids=["root", "sub-path"])
def double(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Double]:
    with gitea(request.param) as running:
        running.pull(7, head=HEAD, base=BASE)
        for name in (*PROXIES, *GITHUB):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("GITHUB_API_URL", running.url)
        monkeypatch.setenv("GITHUB_REPOSITORY", running.repo)
        monkeypatch.setenv("GITEA_TOKEN", TOKEN)
        monkeypatch.setattr(time, "sleep", lambda _: None)
        yield running


@pytest.fixture(autouse=True)
def _the_token_is_nowhere(capsys: Capture, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    caplog.set_level(logging.INFO)
    shown: list[str] = []
    real = capsys.readouterr

    def read() -> Any:
        found = real()
        shown.extend(found)
        return found

    capsys.readouterr = read  # type: ignore[method-assign]
    yield
    read()
    assert TOKEN not in "".join(shown) + caplog.text


def post(folder: Path, **more: Any) -> int:
    return pr_comment.run(arguments(folder, **more))


def own(double: Double, number: int = 7) -> list[str]:
    return [text for text in double.bodies(number) if text.startswith("<!-- knaster plan")]


def test_the_first_comment(double: Double, tmp_path: Path, capsys: Capture) -> None:
    assert post(lay(tmp_path)) == 0
    assert double.bodies(7) == [body()]
    assert double.writes() == ["POST /issues/7/comments"]
    url = f"{double.web}/acme/fleet/pulls/7#issuecomment-101"
    assert capsys.readouterr() == (f"pull request 7: comment created {url}\n", "")


def test_the_same_again_writes_nothing(double: Double, tmp_path: Path, capsys: Capture) -> None:
    post(lay(tmp_path), status=True)
    writes = double.writes()
    capsys.readouterr()
    assert post(tmp_path, status=True, format="json") == 0
    assert double.writes() == writes == ["POST /issues/7/comments", f"POST /statuses/{HEAD}"]
    assert json.loads(capsys.readouterr().out) == {
        "format_version": "1.0",
        "command": "pr comment",
        "ok": True,
        "number": 7,
        "comment": "unchanged",
        "url": f"{double.web}/acme/fleet/pulls/7#issuecomment-101",
        "why": None,
        "status": "unchanged",
    }


def test_120_comments_are_there_already(double: Double, tmp_path: Path) -> None:
    for number in range(60):
        double.comment(7, "anna", 5, f"comment {number}")
    double.comment(7, "gitea-actions", -2, body(HEAD2))
    for number in range(59):
        double.comment(7, "anna", 5, f"comment {number}")
    assert post(lay(tmp_path)) == 0
    assert double.writes() == ["PATCH /issues/comments/161"]
    assert len(double.bodies(7)) == 120
    assert double.bodies(7)[60] == body()


def test_a_person_and_another_tool_are_left_alone(double: Double, tmp_path: Path) -> None:
    """A person quotes the whole comment, marker and all, and another tool writes with our token."""
    double.comment(7, "anna", 5, body(HEAD2))
    double.comment(7, "gitea-actions", -2, f"<!-- other tool -->\n{body(HEAD2)}")
    before = list(double.bodies(7))
    post(lay(tmp_path))
    double.push(7, HEAD3)
    post(lay(tmp_path, HEAD3))
    assert double.bodies(7) == [*before, body(HEAD3)]


def test_three_quick_pushes(double: Double, tmp_path: Path, capsys: Capture) -> None:
    """Three runs, the newest done first: it alone is shown, and the older ones neither write nor fail."""
    for head in (HEAD2, HEAD3):
        double.push(7, head)
    for head in (HEAD3, HEAD2, HEAD):
        assert post(lay(tmp_path / head, head, ok=head == HEAD3), status=True) == 0
    assert double.bodies(7) == [body(HEAD3)]
    assert [item["sha"] for item in double.statuses] == [HEAD3]
    assert f"comment yielded: its head is {HEAD3[:12]} by now" in capsys.readouterr().out


def test_two_runs_race_for_the_first_comment(double: Double, tmp_path: Path) -> None:
    """The other run, of the same head, is done between our look and our write."""

    def other(_: Request) -> None:
        assert post(lay(tmp_path / "other")) == 0

    double.before("POST", "/comments", other)
    assert post(lay(tmp_path / "mine")) == 0
    assert own(double) == [body()]
    assert double.comments[7][0]["id"] == 101


@pytest.mark.parametrize("older_first", [True, False])
def test_two_runs_race_and_the_newer_head_survives(double: Double, tmp_path: Path, older_first: bool) -> None:
    older, newer = lay(tmp_path / "older"), lay(tmp_path / "newer", HEAD2)

    def push(_: Request) -> None:
        double.push(7, HEAD2)
        if not older_first:
            assert post(newer) == 0

    double.before("POST", "/comments", push)
    assert post(older) == 0
    if older_first:
        assert own(double) == [body()]  # the head moved while it was written
        assert post(newer) == 0
    assert own(double) == [body(HEAD2)]


def test_the_head_moves_between_look_and_write(double: Double, tmp_path: Path, capsys: Capture) -> None:
    double.comment(7, "gitea-actions", -2, body(HEAD3))
    double.before("GET", "/issues/7/comments", lambda _: double.push(7, HEAD2))
    assert post(lay(tmp_path)) == 0
    assert double.writes() == []
    assert "yielded" in capsys.readouterr().out


def test_an_older_run_after_a_newer_base(double: Double, tmp_path: Path, capsys: Capture) -> None:
    """Main moved; the sweep has shown the plan for its new tip. A run that started before keeps silent."""
    double.pulls[7]["base"]["sha"] = BASE2
    assert post(lay(tmp_path / "new", base=BASE2, ok=False), status=True) == 1
    assert post(lay(tmp_path / "old"), status=True) == 1  # the verdict that is shown
    assert own(double) == [body(base=BASE2, verdict="invalid")]
    assert [item["status"] for item in double.statuses] == ["failure"]
    assert "the tip of main by now" in capsys.readouterr().out


def test_two_targets_on_one_pull_request(double: Double, tmp_path: Path) -> None:
    """Two fleets in one repository, each in a folder of its own."""
    for _ in range(2):
        post(lay(tmp_path / "lab", target="main:lab"), status=True)
        post(lay(tmp_path / "prod", target="main:prod"), status=True)
    assert double.bodies(7) == [body(target="main:lab"), body(target="main:prod")]
    assert [item["context"] for item in double.statuses] == ["knaster/plan (main:lab)", "knaster/plan (main:prod)"]


def test_a_pull_request_that_was_aimed_at_another_branch(double: Double, tmp_path: Path) -> None:
    """What was said of the old target is gone: nobody keeps it up to date any more."""
    post(lay(tmp_path / "main"))
    double.comment(7, "anna", 5, body())
    double.pulls[7]["base"]["ref"] = "lab"
    post(lay(tmp_path / "lab", target="lab"))
    assert double.bodies(7) == [body(), body(target="lab")]
    assert [item["user"]["login"] for item in double.comments[7]] == ["anna", "gitea-actions"]


def test_duplicates_of_a_lost_run_are_pruned(double: Double, tmp_path: Path) -> None:
    for head in (HEAD2, HEAD2, HEAD):
        double.comment(7, "gitea-actions", -2, body(head))
    assert post(lay(tmp_path)) == 0
    assert [(item["id"], item["body"]) for item in double.comments[7]] == [(101, body())]


def test_a_bot_by_name(double: Double, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    double.people[TOKEN] = Person(9, "knaster-bot")
    monkeypatch.setenv("KNASTER_BOT", "knaster-bot")
    double.comment(7, "gitea-actions", -2, body(HEAD2))
    for _ in range(2):
        assert post(lay(tmp_path)) == 0
    assert double.bodies(7) == [body(HEAD2), body()]
    assert len(double.writes()) == 1


def test_a_poster_nobody_named(double: Double, tmp_path: Path, capsys: Capture) -> None:
    double.people[TOKEN] = Person(9, "anna")
    post(lay(tmp_path))
    double.push(7, HEAD2)
    assert post(lay(tmp_path, HEAD2)) == 0
    assert [(item["id"], item["body"]) for item in double.comments[7]] == [(101, body(HEAD2))]
    assert "--bot LOGIN" in capsys.readouterr().err


def test_a_result_that_turns_destructive(double: Double, tmp_path: Path) -> None:
    post(lay(tmp_path))
    bad = body(HEAD2, destructive=2)
    double.push(7, HEAD2)
    post(lay(tmp_path, HEAD2, destructive=2))
    post(lay(tmp_path, HEAD2, destructive=2))
    first, alert = double.bodies(7)
    assert first == bad
    assert alert.startswith(f"<!-- knaster alert v1 target=main result={RESULT} head={HEAD2} -->\n")
    assert f"{double.web}/acme/fleet/pulls/7#issuecomment-101" in alert
    double.push(7, HEAD)
    post(lay(tmp_path))
    assert len(double.bodies(7)) == 1, "harmless again: the warning is no longer true"
    double.push(7, HEAD2)
    (lay(tmp_path, HEAD2, destructive=1, result="f" * 16) / "alert.md").write_text("It drops `rerank`.", "utf-8")
    post(tmp_path)
    mark = f"<!-- knaster alert v1 target=main result={'f' * 16} head={HEAD2} -->"
    assert double.bodies(7)[1:] == [f"{mark}\nIt drops `rerank`.\n"]
    double.push(7, HEAD3)
    (tmp_path / "alert.md").unlink()
    post(lay(tmp_path, HEAD3, destructive=2))  # it was destructive all the time: nobody is told twice
    assert double.bodies(7)[1:] == [f"{mark}\nIt drops `rerank`.\n"]


@pytest.mark.parametrize(("ok", "exit_status"), [(True, 0), (False, 1)])
@pytest.mark.parametrize("rights", [("read", "none"), ("none", "none"), ("read", "read")])
def test_a_fork_token(
    double: Double, tmp_path: Path, capsys: Capture, ok: bool, exit_status: int, rights: tuple[Any, Any]
) -> None:
    """The server decides what such a token may; the plan alone decides the exit status."""
    double.people[TOKEN] = Person(code=rights[0], pulls=rights[1])
    assert post(lay(tmp_path, ok=ok), status=True) == exit_status
    err = capsys.readouterr().err
    assert "the status was not posted: Gitea, " in err
    comment = f"(body left in {tmp_path / 'comment.md'})"
    assert (comment in err) is (rights[1] == "none")
    assert len(double.bodies(7)) == (rights[1] == "read")
    assert double.statuses == []


def test_a_locked_pull_request_still_gets_its_status(double: Double, tmp_path: Path, capsys: Capture) -> None:
    double.people[TOKEN] = Person(pulls="read")
    double.pulls[7]["is_locked"] = True
    assert post(lay(tmp_path), status=True) == 0
    assert double.bodies(7) == []
    assert "the comment was not posted: Gitea, POST /repos/acme/fleet/issues/7/comments: 403" in capsys.readouterr().err
    assert [(item["context"], item["status"], item["target_url"]) for item in double.statuses] == [
        ("knaster/plan", "success", "")
    ]


@pytest.mark.parametrize("merged", [True, False])
def test_a_pull_request_that_is_closed(double: Double, tmp_path: Path, capsys: Capture, merged: bool) -> None:
    double.pulls[7].update(state="closed", merged=merged)
    assert post(lay(tmp_path, ok=False), status=True) == 0
    assert double.writes() == []
    assert f"the pull request is {'merged' if merged else 'closed'}" in capsys.readouterr().out


@pytest.mark.parametrize("moment", ["before", "between"])
@pytest.mark.parametrize(("ok", "exit_status"), [(True, 0), (False, 1)])
def test_a_pull_request_that_is_deleted(
    double: Double, tmp_path: Path, capsys: Capture, moment: str, ok: bool, exit_status: int
) -> None:
    def delete(_: Request) -> None:
        del double.pulls[7]

    double.before(*(("GET", "/pulls/7") if moment == "before" else ("POST", "/comments")), delete)
    assert post(lay(tmp_path, ok=ok)) == exit_status
    assert "the comment was not posted: Gitea, GET /repos/acme/fleet/pulls/7: 404" in capsys.readouterr().err


def test_a_pull_request_that_is_not_there_yet(double: Double, tmp_path: Path) -> None:
    double.before("GET", "/pulls/7", Fault(404), times=2)
    assert post(lay(tmp_path)) == 0
    assert double.bodies(7) == [body()]


@pytest.mark.parametrize("done", [True, False])
@pytest.mark.parametrize("kind", ["answer", "reset"])
def test_a_write_whose_answer_is_lost(double: Double, tmp_path: Path, done: bool, kind: Any) -> None:
    """Looked for before it is written again, so that there are never two."""
    double.before("POST", "/comments", Fault(502, kind=kind, done=done), times=2)
    assert post(lay(tmp_path)) == 0
    assert double.bodies(7) == [body()]


def test_an_edit_that_meets_another(double: Double, tmp_path: Path) -> None:
    double.comment(7, "gitea-actions", -2, body(HEAD2))
    double.before("PATCH", "/comments", Fault(500), times=2)
    assert post(lay(tmp_path)) == 0
    assert double.bodies(7) == [body()]


def test_a_comment_that_is_deleted_under_our_hands(double: Double, tmp_path: Path) -> None:
    double.comment(7, "gitea-actions", -2, body(HEAD2))
    double.before("PATCH", "/comments", lambda _: double.comments[7].clear())
    assert post(lay(tmp_path)) == 0
    assert double.bodies(7) == [body()]


def test_a_push_while_the_server_asks_to_wait(double: Double, tmp_path: Path) -> None:
    """After the wait it is another run's turn: a retry never writes what is out of date by then."""
    double.comment(7, "gitea-actions", -2, body(HEAD3))

    def push(_: Request) -> Fault:
        double.push(7, HEAD2)
        return Fault(429, headers=(("Retry-After", "20"),))

    double.before("PATCH", "/comments", push)
    assert post(lay(tmp_path)) == 0
    assert double.bodies(7) == [body(HEAD3)]


BROKEN = [
    Fault(500),
    Fault(502, body=WEB_PAGE),
    Fault(200, body=WEB_PAGE),
    Fault(302, headers=(("Location", "https://login.example.org/"),)),
    Fault(429, headers=(("Retry-After", "9999"),)),
    Fault(kind="reset"),
    Fault(200, body=b"[" + b"1," * 10 + b"1]"),
]


@pytest.mark.parametrize("fault", BROKEN)
@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/issues/7/comments"), ("GET", "/pulls/7"), ("POST", "/comments")]
)
def test_a_server_that_fails(
    double: Double, tmp_path: Path, capsys: Capture, fault: Fault, method: str, path: str
) -> None:
    """A good plan could not be shown: 2, told by the exception. A bad one stays bad: 1. The status is tried anyway."""
    double.before(method, path, fault, times=99)
    with pytest.raises(WorldError) as caught:
        post(lay(tmp_path), status=True)
    assert not isinstance(caught.value, Denied)
    assert [item["status"] for item in double.statuses] == ["success"]
    assert post(lay(tmp_path, ok=False), status=True) == 1
    assert "knaster: error: " in capsys.readouterr().err
    assert [item["status"] for item in double.statuses] == ["success", "failure"]


def test_a_status_that_fails(double: Double, tmp_path: Path) -> None:
    double.before("POST", "/statuses", Fault(502), times=99)
    with pytest.raises(Temporary):
        post(lay(tmp_path), status=True)
    assert double.bodies(7) == [body()]


def test_the_status(double: Double, tmp_path: Path) -> None:
    post(lay(tmp_path, plan_id="0123456789abcdef", sentence="x" * 300), status=True)
    (found,) = double.statuses
    assert (found["sha"], found["status"], found["context"]) == (HEAD, "success", "knaster/plan")
    assert found["description"] == "0123456789ab " + "x" * 108 + "… (on 111111111111)"
    assert found["target_url"] == f"{double.web}/acme/fleet/pulls/7#issuecomment-101"


def event(folder: Path, monkeypatch: pytest.MonkeyPatch, data: object) -> None:
    (folder / "event.json").write_text(data if isinstance(data, str) else json.dumps(data), "utf-8")
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(folder / "event.json"))


def test_what_a_job_tells(double: Double, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    event(tmp_path, monkeypatch, {"pull_request": {"number": 7}, "repository": {"default_branch": "lab"}})
    post(lay(tmp_path / "plan", target="lab"), number=None, status=True)
    event(tmp_path, monkeypatch, {"number": 7, "repository": {"default_branch": "lab"}})
    post(lay(tmp_path / "plan"), number=None, status=True)
    assert double.bodies(7) == [body()]
    assert [item["context"] for item in double.statuses] == ["knaster/plan", "knaster/plan (main)"]


@pytest.mark.parametrize("data", ["{", "[]", {}, {"number": "7"}, {"number": True}, {"pull_request": {"number": -1}}])
def test_a_job_that_does_not_tell(
    double: Double, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: object
) -> None:
    event(tmp_path, monkeypatch, data)
    with pytest.raises(WorldError):
        post(lay(tmp_path / "plan"), number=None)
    assert post(lay(tmp_path / "plan", ok=False), number=None) == 1
    assert double.asked == []


def test_another_address_by_flag(double: Double, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_API_URL", "http://127.0.0.1:9/api/v1")
    monkeypatch.setenv("GITHUB_REPOSITORY", "no/where")
    assert post(lay(tmp_path), api=double.web, repo=double.repo) == 0


@pytest.mark.parametrize("name", ["plan.json", "comment.md"])
@pytest.mark.parametrize("what", ["missing", "link", "bytes", "other"])
def test_a_folder_that_is_no_plan(double: Double, tmp_path: Path, name: str, what: str) -> None:
    path = lay(tmp_path) / name
    text = path.read_bytes()
    path.unlink()
    if what == "link":
        (tmp_path / "elsewhere").write_bytes(text)
        path.symlink_to(tmp_path / "elsewhere")
    elif what != "missing":
        path.write_bytes(b"\xff\xfe" if what == "bytes" else b"{}")
    with pytest.raises(WorldError):
        post(tmp_path)
    assert double.asked == []


@pytest.mark.parametrize(("ok", "exit_status"), [(True, 2), (False, 1)])
def test_the_command_line(double: Double, tmp_path: Path, capsys: Capture, ok: bool, exit_status: int) -> None:
    words = ["-v", "pr", "comment", "--plan", str(lay(tmp_path, ok=ok)), "--number", "7", "--status"]
    double.before("GET", "", Fault(401, body=f'{{"message":"bad token {TOKEN}"}}'.encode()), times=1)
    assert main(words) == (0 if ok else 1)
    assert "bad token [redacted]" in capsys.readouterr().err
    double.before("GET", "", Fault(502, body=TOKEN.encode()), times=99)
    assert main(words) == exit_status
    assert capsys.readouterr().err.startswith("knaster: error: Gitea, GET /repos/acme/fleet/pulls/7: 502 Bad Gateway\n")
