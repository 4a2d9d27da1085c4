"""The client of Gitea's API: addresses, what is answered, every way to fail, and no token in any text."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from knaster.adapters.gitea import Comment, Denied, Gitea, Status, Temporary, access
from knaster.adapters.http import Limits, trust
from knaster.adapters.web import scrubbed
from knaster.diagnostics import WorldError
from tests.gitea_double import TOKEN, WEB_PAGE, Double, Fault, gitea
from tests.gitea_plans import BASE, HEAD, HEAD2
from tests.gitea_routes import Person
from tests.pve_server import certificates

PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
QUICK = Limits(connect=0.5, read=0.3, whole=0.6, size=100_000)


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def double() -> Iterator[Double]:
    with gitea() as running:
        running.pull(7, head=HEAD, base=BASE)
        yield running


@pytest.fixture
def waited() -> list[float]:
    return []


@pytest.fixture
def client(double: Double, waited: list[float]) -> Iterator[Gitea]:
    with Gitea(double.url, double.repo, TOKEN, limits=QUICK, sleep=waited.append) as found:
        yield found


def failed(client: Gitea) -> WorldError:
    """The error of asking for the pull request; nowhere does it hold the token."""
    with pytest.raises(WorldError) as caught:
        client.pull(7)
    assert TOKEN not in f"{caught.value.message} {caught.value.hint} {caught.value!r} {caught.value.__cause__!r}"
    return caught.value


@pytest.mark.parametrize(
    ("url", "root"),
    [
        ("https://git.example.org", "https://git.example.org/api/v1"),
        ("https://git.example.org/", "https://git.example.org/api/v1"),
        ("https://git.example.org/api/v1", "https://git.example.org/api/v1"),
        ("http://10.0.0.5:3000/sub/path/api/v1/", "http://10.0.0.5:3000/sub/path/api/v1"),
        (" https://[fd00::5]/git \n", "https://[fd00::5]/git/api/v1"),
    ],
)
def test_addresses(url: str, root: str) -> None:
    assert access(url, "o/r", {}).url == root


@pytest.mark.parametrize(
    "url", ["", "git.example.org", "ftp://a/", "https://", "https://u:p4ss@h/", "https://h/?a=b", "https://h:x/", "//h"]
)
def test_no_addresses(url: str) -> None:
    with pytest.raises(WorldError) as caught:
        access(url, "o/r", {})
    assert caught.value.hint
    assert "p4ss" not in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize("repo", ["", "o", "o/r/x", "../r", "o/..", "o/r?x", "o/ r", "o//", "o/r\n/"])
def test_no_repositories(repo: str) -> None:
    with pytest.raises(WorldError):
        access("https://h", repo, {})


def test_what_comes_from_where() -> None:
    job = {"GITHUB_API_URL": "http://inside:3000/api/v1", "GITHUB_REPOSITORY": "o/r", "GITEA_TOKEN": " t1 \n"}
    found = access(None, None, job)
    assert (found.url, found.repo, found.token) == ("http://inside:3000/api/v1", "o/r", "t1")
    assert "t1" not in repr(found)
    mine = {**job, "KNASTER_API_URL": "https://outside/git", "KNASTER_TOKEN": "t2"}
    found = access(None, None, mine)
    assert (found.url, found.token) == ("https://outside/git/api/v1", "t2")
    assert access("https://flag", "x/y", mine).url == "https://flag/api/v1"
    assert access("https://flag", "x/y", {"GITHUB_TOKEN": "for another server"}).token is None


@pytest.mark.parametrize("token", ["a b", "a\nb", "tökén"])
def test_a_token_that_is_none_is_not_shown(token: str) -> None:
    with pytest.raises(WorldError) as caught:
        access("https://h", "o/r", {"KNASTER_TOKEN": token})
    assert token not in f"{caught.value.message} {caught.value.hint}"


def test_scrubbed() -> None:
    assert (
        scrubbed("see https://user:pw@host/x?token=s3cret", "s3cret")
        == "see https://[redacted]@host/x?token=[redacted]"
    )
    assert scrubbed("x" * 500, None, most=10) == "x" * 9 + "…"


def test_reading(double: Double, client: Gitea) -> None:
    double.comment(7, "anna", 5, "one\r\ntwo")
    pull = client.pull(7)
    assert (pull.number, pull.head_sha, pull.base_sha, pull.base_ref, pull.state) == (7, HEAD, BASE, "main", "open")
    assert (pull.head_repo_id, pull.base_repo_id, pull.merged) == (1, 1, False)
    assert client.comments(7) == [
        Comment(101, 5, "anna", "one\r\ntwo", f"{double.web}/acme/fleet/pulls/7#issuecomment-101")
    ]
    assert client.version() == "1.27.3"
    assert {request.authorization for request in double.asked} == {f"token {TOKEN}"}


def test_all_comments_in_one_request(double: Double, client: Gitea) -> None:
    for number in range(120):
        double.comment(7, "anna", 5, f"comment {number}")
    assert [item.body for item in client.comments(7)] == [f"comment {number}" for number in range(120)]
    assert len(double.asked) == 1


def test_a_server_that_pages_comments_or_says_no_total(double: Double, client: Gitea) -> None:
    """Neither is there today: a total of its own, and the same page for ever, end all the same."""
    double.comment(7, "anna", 5, "one")
    page = b'[{"id":1,"body":"a","html_url":"","user":null}]'
    double.before("GET", "/comments", Fault(200, body=page), times=2)
    assert client.comments(7) == [Comment(1, 0, "", "a", "")]
    assert [request.query["page"] for request in double.asked] == ["1", "2"]


def test_open_pulls_are_paged(double: Double, client: Gitea) -> None:
    for number in range(8, 120):
        double.pull(number, head=HEAD, base=BASE)
    double.merge(50, "e" * 40)
    assert [pull.number for pull in client.open_pulls()] == [n for n in range(7, 120) if n != 50]
    assert len(double.asked) == 3


def test_the_pull_of_a_merge(double: Double, client: Gitea) -> None:
    double.merge(7, HEAD2)
    found = client.pull_of_commit(HEAD2)
    assert found is not None
    assert (found.number, found.merged, found.state) == (7, True, "closed")
    assert client.pull_of_commit(BASE) is None


def test_statuses(double: Double, client: Gitea) -> None:
    client.post_status(HEAD, "pending", "knaster/plan", "x" * 200)
    for number in range(60):
        client.post_status(HEAD, "success", f"other {number}", "")
    client.post_status(HEAD, "success", "knaster/plan", "ok", "http://x/")
    assert [len(item["description"]) for item in double.statuses[:1]] == [140]
    found = client.statuses(HEAD)
    assert len(found) == 61
    assert found["knaster/plan"] == Status(double.last, "knaster/plan", "success", "ok", "http://x/")


def test_a_status_that_is_stored_and_answered_500_is_not_stored_again(double: Double, client: Gitea) -> None:
    double.before("POST", "/statuses", Fault(500, done=True))
    client.post_status(HEAD, "success", "knaster/plan", "ok")
    assert len(double.statuses) == 1


def test_a_status_of_an_unknown_commit(double: Double, client: Gitea) -> None:
    with pytest.raises(Temporary):
        client.post_status("f" * 40, "success", "knaster/plan", "ok")
    assert double.writes() == ["POST /statuses/" + "f" * 40] * 3


def test_a_pull_request_that_is_not_there_yet(double: Double, client: Gitea, waited: list[float]) -> None:
    double.before("GET", "/pulls/7", Fault(404), times=2)
    assert client.pull(7).number == 7
    assert waited == [0.5, 2.0]


def test_a_pull_request_that_is_gone(client: Gitea, double: Double) -> None:
    del double.pulls[7]
    problem = failed(client)
    assert isinstance(problem, Denied)
    assert problem.status == 404
    assert len(double.asked) == 3


@pytest.mark.parametrize(("status", "tries"), [(500, 3), (502, 3), (503, 3), (504, 3), (429, 3), (400, 1), (422, 1)])
def test_what_is_tried_again(double: Double, client: Gitea, status: int, tries: int) -> None:
    double.before("GET", "/pulls/7", Fault(status), times=9)
    problem = failed(client)
    assert isinstance(problem, Temporary) is (tries == 3)
    assert problem.message.startswith(f"Gitea, GET /repos/acme/fleet/pulls/7: {status} ")
    assert len(double.asked) == tries


def test_retry_after(double: Double, client: Gitea, waited: list[float]) -> None:
    double.before("GET", "/pulls/7", Fault(429, headers=(("Retry-After", "7"),)))
    double.before("GET", "/pulls/7", Fault(503, headers=(("Retry-After", "Wed, 21 Oct 2026 07:28:00 GMT"),)))
    client.pull(7)
    assert waited == [7.0, 2.0]


def test_a_long_retry_after_is_not_waited_for(double: Double, client: Gitea, waited: list[float]) -> None:
    double.before("GET", "/pulls/7", Fault(429, headers=(("Retry-After", "3600"),)))
    problem = failed(client)
    assert isinstance(problem, Temporary)
    assert (problem.wait, waited) == (3600.0, [])


@pytest.mark.parametrize("kind", ["hang", "drip"])
def test_a_server_that_does_not_answer(double: Double, client: Gitea, kind: str) -> None:
    double.before("GET", "/pulls/7", Fault(kind=kind), times=9)  # type: ignore[arg-type]
    start = time.monotonic()
    problem = failed(client)
    assert time.monotonic() - start < 5
    assert problem.hint or "within 0.6 s" in problem.message
    assert len(double.asked) == 3


def test_a_connection_that_breaks(double: Double, client: Gitea) -> None:
    double.before("GET", "/pulls/7", Fault(kind="reset"), times=2)
    assert client.pull(7).number == 7
    double.before("GET", "/pulls/7", Fault(kind="reset"), times=3)
    assert "the connection broke" in failed(client).message


def test_nobody_listens() -> None:
    with gitea() as double:
        url = double.url
    with Gitea(url, "acme/fleet", TOKEN, sleep=lambda _: None) as client:
        problem = failed(client)
    assert "cannot connect" in problem.message


@pytest.mark.parametrize("page", [WEB_PAGE, b"", b"{", b"[" * 90_000, b"\xff\xfe", b"{}", b"[]", b'{"number":"7"}'])
def test_what_is_no_answer_of_gitea(double: Double, client: Gitea, page: bytes) -> None:
    double.before("GET", "/pulls/7", Fault(200, body=page))
    problem = failed(client)
    assert not isinstance(problem, Denied | Temporary)
    assert problem.hint == "see that the address names Gitea's API"
    assert len(double.asked) == 1


def test_another_site_at_that_address(double: Double) -> None:
    with Gitea(double.web + "/wrong/api/v1", double.repo, TOKEN, sleep=lambda _: None) as client:
        assert "a web page, not Gitea's API" in failed(client).message


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirects_are_not_followed(double: Double, client: Gitea, status: int) -> None:
    with gitea() as other:
        other.pull(7, head=HEAD, base=BASE)
        there = other.url.replace("127.0.0.1", f"user:{TOKEN}@localhost") + "/repos/acme/fleet/pulls/7"
        double.before("GET", "/pulls/7", Fault(status, headers=(("Location", there),)))
        problem = failed(client)
        assert "a redirect to another host, localhost, which is not followed" in problem.message
        assert other.asked == []


def test_an_answer_that_is_too_long(double: Double, client: Gitea) -> None:
    double.before("GET", "/pulls/7", Fault(200, body=b" " * 200_000))
    assert "longer than 100000 bytes" in failed(client).message


def test_a_server_that_says_the_token(double: Double, client: Gitea) -> None:
    text = f'{{"message":"bad token {TOKEN} of http://me:{TOKEN[:10]}@host/"}}'.encode()
    double.before("GET", "/pulls/7", Fault(401, body=text))
    assert failed(client).message.endswith("bad token [redacted] of http://[redacted]@host/")


def test_a_wrong_token(double: Double) -> None:
    with Gitea(double.url, double.repo, "wrong" * 8, sleep=lambda _: None) as client, pytest.raises(Denied) as caught:
        client.pull(7)
    assert caught.value.status == 401
    assert "wrongwrong" not in caught.value.message


@pytest.mark.parametrize(
    ("person", "read", "comment", "status"),
    [
        (Person(), 0, 0, 0),
        (Person(pulls="read", code="read"), 0, 0, 403),
        (Person(pulls="none", code="read"), 404, 404, 403),
        (Person(pulls="none", code="none"), 404, 404, 404),
    ],
)
def test_rights(double: Double, client: Gitea, person: Person, read: int, comment: int, status: int) -> None:
    double.people[TOKEN] = person
    acts = (
        (read, lambda: client.pull(7)),
        (read, lambda: client.comments(7)),
        (comment, lambda: client.create_comment(7, "x")),
        (status, lambda: client.post_status(HEAD, "success", "c", "d")),
    )
    for wanted, act in acts:
        if wanted:
            with pytest.raises(Denied) as caught:
                act()
            assert caught.value.status == wanted
        else:
            act()


def test_an_archived_repository(double: Double, client: Gitea) -> None:
    double.archived = True
    with pytest.raises(Denied) as caught:
        client.create_comment(7, "x")
    assert (caught.value.status, caught.value.hint) == (423, "the repository is archived")


def test_without_a_token(double: Double) -> None:
    double.public = True
    with Gitea(double.url, double.repo, sleep=lambda _: None) as client:
        assert client.pull(7).number == 7
        with pytest.raises(Denied):
            client.create_comment(7, "x")
    assert {request.authorization for request in double.asked} == {None}


def test_below_a_path() -> None:
    with gitea("/tools/git") as double:
        double.pull(7, head=HEAD, base=BASE)
        with Gitea(access(double.web, "acme/fleet", {}).url, "acme/fleet", TOKEN) as client:
            assert client.pull(7).html_url == f"{double.web}/acme/fleet/pulls/7"


def test_a_write_of_a_comment_is_tried_once(double: Double, client: Gitea) -> None:
    double.before("POST", "/comments", Fault(500, done=True))
    with pytest.raises(Temporary):
        client.create_comment(7, "x")
    assert double.bodies(7) == ["x"]
    double.before("PATCH", "/comments", Fault(500))
    with pytest.raises(Temporary):
        client.edit_comment(101, "y")
    assert client.edit_comment(101, "y").body == "y"
    client.delete_comment(101)
    client.delete_comment(101)
    assert double.bodies(7) == []


def test_certificates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ca, certificate = certificates(tmp_path)
    trust.cache_clear()
    with gitea(certificate=certificate) as double:
        double.pull(7, head=HEAD, base=BASE)
        with Gitea(double.url, double.repo, TOKEN, sleep=lambda _: None) as client:
            problem = failed(client)
        assert "its certificate is not trusted" in problem.message
        assert not isinstance(problem, Temporary)
        trust.cache_clear()
        monkeypatch.setenv("SSL_CERT_FILE", str(ca))
        with Gitea(double.url, double.repo, TOKEN) as client:
            assert client.pull(7).number == 7
    trust.cache_clear()
