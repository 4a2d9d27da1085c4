"""`knaster bench server`: figures of streamed chats by hand, and every way in which a stream can be none."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knaster.bench.chat import NoTokensError, completion
from knaster.bench.events import events
from knaster.bench.prompts import prompt
from knaster.cli import main
from tests.speaking import Clock, Say, Scripted, chat_lines, event

ROOT = Path(__file__).parent.parent
URL = "http://llm.example:8080"
CHAT = "/v1/chat/completions"
STREAM = "text/event-stream; charset=utf-8"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Scripted:
    found = Scripted(Clock())
    found.into(monkeypatch)
    monkeypatch.chdir(tmp_path)
    return found


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    for folder in ("inventory", "catalog", "schemas"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return tmp_path


def chat(first: float, each: float, pieces: int, **more: Any) -> Say:
    """A stream whose head and role come at once, its first piece of text after `first` s, then one each `each` s."""
    role, *lines, end = chat_lines(pieces, **more)
    waits = [first, *[each] * (pieces - 1)]
    return Say(200, STREAM, [(0, role), *zip(waits, lines, strict=True), (0.5, end)])


def bench(*more: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any]]:
    """Exit status and the JSON of a run."""
    capsys.readouterr()
    status = main(["bench", "server", URL, "--format", "json", *more])
    out = capsys.readouterr()
    return status, json.loads(out.out) if out.out else {"stderr": out.err}


def figures(found: dict[str, Any]) -> dict[str, tuple[float, str, float | None]]:
    return {one["metric"]: (one["value"], one["unit"], one["spread"]) for one in found["figures"]}


def test_the_figures_are_exact(server: Scripted, capsys: pytest.CaptureFixture[str]) -> None:
    """First token after 0.25 s (0.125 s of it before the server says anything); then 16 more in 16 x 0.125 = 2 s: 8 a
    second. 300 tokens of prompt in 0.25 s are 1200 a second. Each request takes 0.25 + 2 + 0.5 s: 17 / 2.75 in all."""
    server.wait = 0.125
    server.on(CHAT, lambda _: chat(0.125, 0.125, 17, usage=(300, 17), build="b6123-abc1234"))
    status, found = bench("--api-model", "m", "--requests", "3", capsys=capsys)
    assert status == 0
    assert figures(found) == {
        "generation_rate": (8.0, "token/s", 0.0),
        "time_to_first_token": (0.25, "s", 0.0),
        "prompt_rate": (1200.0, "token/s", 0.0),
    }
    assert found["total_rate"] == pytest.approx(17 / 2.75)
    assert (found["counted"], found["build"], found["notes"]) == ("tokens", "b6123-abc1234", [])
    assert len(server.asked) == 1 + 3


def test_the_server_counts_better_than_pieces(server: Scripted, capsys: pytest.CaptureFixture[str]) -> None:
    """Two tokens in each of 5 pieces: 10 tokens, so 9 behind the first in 4 x 0.25 s."""
    server.on(CHAT, lambda _: chat(0.5, 0.25, 5, usage=(10, 10)))
    _, found = bench("--api-model", "m", "--requests", "1", capsys=capsys)
    assert figures(found)["generation_rate"] == (9.0, "token/s", None)


def test_pieces_where_the_server_counts_nothing(server: Scripted, capsys: pytest.CaptureFixture[str]) -> None:
    server.on(CHAT, lambda _: chat(0.5, 0.25, 5))
    _, found = bench("--api-model", "m", "--requests", "2", capsys=capsys)
    assert set(figures(found)) == {"generation_rate", "time_to_first_token"}
    assert figures(found)["generation_rate"] == (4.0, "token/s", 0.0)
    assert found["counted"] == "pieces"
    assert found["notes"] == ["the server counts no tokens: pieces of text are counted for them"]
    assert found["source"].endswith("pieces of text")


def test_median_and_spread(server: Scripted, capsys: pytest.CaptureFixture[str]) -> None:
    """First tokens after 1, 2 and 6 s: median 2, mean 3, (4 + 1 + 9) / 2 = 7, root 2.645751."""
    waits = iter([99.0, 1.0, 2.0, 6.0])
    server.on(CHAT, lambda _: chat(next(waits), 0.25, 3, usage=(5, 3)))
    _, found = bench("--api-model", "m", "--requests", "3", capsys=capsys)
    value, _, spread = figures(found)["time_to_first_token"]
    assert value == 2.0
    assert spread == pytest.approx(2.6457513)


def test_thoughts_are_tokens_too(server: Scripted, capsys: pytest.CaptureFixture[str]) -> None:
    pieces = [event({"choices": [{"delta": {name: "hm"}}]}) for name in ("reasoning_content", "reasoning", "content")]
    end = event({"choices": [{"delta": {}, "finish_reason": "stop"}]})
    server.on(CHAT, lambda _: Say(200, STREAM, [*((0.5, piece) for piece in pieces), (0.5, end)]))
    _, found = bench("--api-model", "m", "--requests", "1", capsys=capsys)
    assert figures(found) == {"generation_rate": (2.0, "token/s", None), "time_to_first_token": (0.5, "s", None)}


def test_what_is_asked(server: Scripted, capsys: pytest.CaptureFixture[str]) -> None:
    server.on(CHAT, lambda _: chat(0.5, 0.25, 5, usage=(9, 5)))
    bench("--api-model", "m", "--requests", "2", "--prompt-tokens", "500", "--max-tokens", "64", capsys=capsys)
    asked = [server.data(number) for number in range(3)]
    texts = [one.pop("messages")[0]["content"] for one in asked]
    assert (
        asked
        == [
            {
                "model": "m",
                "max_tokens": 64,
                "temperature": 0,
                "stream": True,
                "stream_options": {"include_usage": True},
            }
        ]
        * 3
    )
    assert len({text[:20] for text in texts}) == 3, "no server knows the beginning of a prompt already"
    assert all(1600 < len(text) < 1900 for text in texts), "500 tokens of 3.5 characters, about"


def test_prompts() -> None:
    assert prompt("abc", 1, 100) == prompt("abc", 1, 100)
    assert prompt("abc", 1, 100)[:12] != prompt("abc", 2, 100)[:12] != prompt("abd", 2, 100)[:12]
    assert len(prompt("abc", 1, 20_000)) == pytest.approx(70_000, rel=0.02)
    assert prompt("abc", 1, 1).startswith("Text abc-1. Setze")


@pytest.mark.parametrize("status", [400, 422])
def test_a_server_without_stream_options(server: Scripted, status: int, capsys: pytest.CaptureFixture[str]) -> None:
    def answer(request: httpx.Request) -> Say:
        if "stream_options" in json.loads(request.content):
            return Say(status, "application/json", [(0, b'{"detail":"unknown field: stream_options"}')])
        return chat(0.5, 0.25, 5)

    server.on(CHAT, answer)
    code, found = bench("--api-model", "m", "--requests", "2", capsys=capsys)
    assert (code, found["counted"], len(server.asked)) == (0, "pieces", 4)


def test_several_at_a_time(server: Scripted, fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All are asked, each once; what waits for others says nothing about prompts; the catalog takes no such figures."""
    server.on(CHAT, lambda _: chat(0.5, 0.25, 5, usage=(9, 5)))
    options = ("--requests", "20", "--concurrency", "4", "--model", "qwen3-14b-q4_k_m", "--card", "Quadro P2000")
    status, found = bench(*options, capsys=capsys)
    assert status == 1
    assert len({server.data(number)["messages"][0]["content"] for number in range(21)}) == 21
    assert (len(found["results"]), found["partial"]) == (20, False)
    assert set(figures(found)) == {"generation_rate", "time_to_first_token"}
    assert found["not_recorded"] == "the catalog's figures are of one request at a time; record with --concurrency 1"
    assert not (fleet / "catalog/benchmarks").exists()
    assert bench(*options, "--dry-run", capsys=capsys)[0] == 0


def test_it_is_recorded(server: Scripted, fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The address is that of GODE-PC-06's slot: model, engine, node and card are the plan's, the build the server's."""
    server.on(CHAT, lambda _: chat(0.5, 0.125, 9, usage=(100, 9), build="b6123-abc1234"))
    argv = ["bench", "server", "http://192.168.100.106:8085/v1", "--date", "2026-11-29", "--format", "json"]
    assert main(argv) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["slot"], found["engine"], found["node"]) == ("tier1-flex", "llamacpp", "GODE-PC-06")
    assert (found["card"], found["build"]) == ("NVIDIA RTX 4000 Ada Generation", "b6123-abc1234")
    assert found["recorded"] == [f"catalog/benchmarks/{found['model']}.yaml", "catalog/models.yaml"]
    text = (fleet / "catalog/models.yaml").read_text("utf-8")
    assert "{metric: generation_rate, value: 8, unit: token/s" in text
    assert "{metric: time_to_first_token, value: 0.5, unit: s" in text
    assert "{metric: prompt_rate, value: 200, unit: token/s" in text
    assert main(["validate", "-q"]) == 0, capsys.readouterr().out


@pytest.mark.usefixtures("fleet")
def test_on_a_cpu(server: Scripted, capsys: pytest.CaptureFixture[str]) -> None:
    """An engine that may use a card has to be told that it does not."""
    server.on(CHAT, lambda _: chat(0.5, 0.125, 9, usage=(100, 9)))
    status, found = bench("--model", "qwen3-14b-q4_k_m", "--node", "pve44", capsys=capsys)
    assert (status, server.asked) == (2, [])
    assert "--card CARD, --card NODE/INDEX or --card cpu" in found["stderr"]
    status, found = bench("--model", "qwen3-14b-q4_k_m", "--node", "pve44", "--card", "CPU", capsys=capsys)
    assert (status, found["card"], bool(found["recorded"])) == (0, None, True)


def test_an_interruption_keeps_what_was_measured(server: Scripted, capsys: pytest.CaptureFixture[str]) -> None:
    left = iter([0, 0, 0])

    def answer(_: httpx.Request) -> Say:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return chat(0.5, 0.25, 5, usage=(9, 5))

    server.on(CHAT, answer)
    status, found = bench("--api-model", "m", "--requests", "8", capsys=capsys)
    assert (status, found["interrupted"], found["partial"], len(found["results"])) == (130, True, True, 2)
    assert figures(found)["generation_rate"][0] == 4.0


def test_failures_in_between(server: Scripted, capsys: pytest.CaptureFixture[str]) -> None:
    steps = iter(["good", "good", "bad", "good", "bad", "bad", "bad"])

    def answer(_: httpx.Request) -> Say:
        if next(steps) == "bad":
            return Say(503, "application/json", [(0, b'{"error":{"message":"Loading model","code":503}}')])
        return chat(0.5, 0.25, 5, usage=(9, 5))

    server.on(CHAT, answer)
    status, found = bench("--api-model", "m", "--requests", "50", capsys=capsys)
    assert (status, found["partial"], len(found["results"]), len(server.asked)) == (1, True, 2, 7)
    assert [one["what"] for one in found["failures"]] == ["request 2", "request 4", "request 5", "request 6"]
    assert found["failures"][0]["message"] == "the server: it answers 503 Service Unavailable: Loading model"


GOOD = chat_lines(3)

FAILURES: list[tuple[Say | Exception, str]] = [
    (Say(200, STREAM, []), "200 OK with an empty body"),
    (Say(200, "text/html", [(0, b"<html><title>Open WebUI</title>")]), '200 OK with a web page ("Open WebUI")'),
    (Say(404, "text/plain", [(0, b"404 page not found")]), "404 Not Found: 404 page not found"),
    (
        Say(200, "application/json", [(0, b'{"choices":[{"message":{"content":"Hallo"}}]}')]),
        "it answers with application/json, not with a stream of events",
    ),
    (Say(200, STREAM, [(0, GOOD[0] + GOOD[1])]), "the stream breaks off after 1 pieces of text"),
    (Say(200, STREAM, [(0, GOOD[0] + GOOD[-1])]), "the stream ends without any text"),
    (Say(200, STREAM, [(0, b"data: [DONE]\n\n")]), "the stream ends without any text"),
    (
        Say(200, STREAM, [(0, GOOD[0] + GOOD[1] + event({"error": {"message": "CUDA error", "code": 500}}))]),
        "an error in the middle of the stream: CUDA error",
    ),
    (
        Say(200, STREAM, [(0, GOOD[1] + b'error: {"code":500,"message":"slot lost"}\n\n')]),
        "an error in the middle of the stream: slot lost",
    ),
    (Say(200, STREAM, [(0, GOOD[1] + b"data: {oops\n\n")]), "holds a line that is no JSON object"),
    (Say(200, STREAM, [(0, b"data: [1]\n\n")]), "holds a line that is no JSON object"),
    (Say(200, STREAM, [(0, b"data: " + b"[" * 100_000 + b"\n\n")]), "holds a line that is no JSON object"),
    (Say(200, STREAM, [(0, GOOD[1]), (0, httpx.RemoteProtocolError("x"))]), "the connection broke"),
    (Say(200, STREAM, [(0, GOOD[1]), (400, GOOD[2])]), "no whole answer within 300 s"),
    (Say(302, "", [], (("location", "https://login.example/?next=/v1"),)), "another host, login.example"),
]


@pytest.mark.parametrize(("answer", "told"), FAILURES, ids=[told for _, told in FAILURES])
def test_nothing_measured(
    server: Scripted, fleet: Path, answer: Say, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    server.on(CHAT, lambda _: answer)
    status, found = bench("--model", "qwen3-14b-q4_k_m", "--card", "Quadro P2000", capsys=capsys)
    assert (status, found["measured"], len(server.asked)) == (1, False, 1)
    (failure,) = found["failures"]
    assert told in failure["message"]
    assert (fleet / "catalog/models.yaml").read_bytes() == (ROOT / "catalog/models.yaml").read_bytes()


def test_more_tokens_than_were_asked_for_are_not_believed(server: Scripted, capsys: pytest.CaptureFixture[str]) -> None:
    """A server that sends several tokens in one piece may count more than pieces, but not more than `max_tokens`."""
    server.on(CHAT, lambda _: chat(0.5, 0.25, 5, usage=(9, 128)))
    assert figures(bench("--api-model", "m", capsys=capsys)[1])["generation_rate"][0] == 127.0  # 127 in 4 x 0.25 s
    server.on(CHAT, lambda _: chat(0.5, 0.25, 5, usage=(9, 129)))
    status, found = bench("--api-model", "m", capsys=capsys)
    assert (status, found["measured"]) == (1, False)
    assert "it counts 129 tokens, and at most 128 were asked for" in found["failures"][0]["message"]


@pytest.mark.parametrize(
    ("answer", "note"),
    [
        (chat(0.5, 0, 5), "no rate of generation: each answer came at once"),
        (chat(0.5, 0, 1), "no rate of generation: each answer has one token alone"),
        (Say(200, STREAM, [(0, b""), (39.5, event({"choices": [{"delta": {"content": "a"}}]})), (0.5, chat_lines(1)[1]),
                           (0, chat_lines(1)[-1])]), "the first token comes with the last"),
        (chat(0.5, 0.25, 5), None),
    ],
)  # fmt: skip
def test_a_server_that_does_not_stream_is_told(
    server: Scripted, answer: Say, note: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    server.on(CHAT, lambda _: answer)
    status, found = bench("--api-model", "m", capsys=capsys)
    assert status == 0
    assert [one for one in found["notes"] if "counts no tokens" not in one] == [
        one for one in found["notes"] if note and one.startswith(note)
    ]
    assert len(found["notes"]) == (2 if note else 1)


@pytest.mark.usefixtures("fleet")
def test_a_card_is_called_as_the_fleet_calls_it(server: Scripted, capsys: pytest.CaptureFixture[str]) -> None:
    server.on(CHAT, lambda _: chat(0.5, 0.25, 5, usage=(9, 5)))
    status, found = bench("--model", "qwen3-14b-q4_k_m", "--card", "nvidia quadro p2000", capsys=capsys)
    assert (status, found["card"]) == (0, "Quadro P2000")


@pytest.mark.parametrize("warm_up", ["0", "1"])
def test_nobody_is_there(server: Scripted, warm_up: str, capsys: pytest.CaptureFixture[str]) -> None:
    def refuse(_: httpx.Request) -> Say:
        raise httpx.ConnectError("[Errno 111] Connection refused")

    server.on(CHAT, refuse)
    status, found = bench("--api-model", "m", "--warm-up", warm_up, capsys=capsys)
    assert status == 2
    assert "cannot connect" in found["stderr"]


def test_text(server: Scripted, capsys: pytest.CaptureFixture[str]) -> None:
    server.on(CHAT, lambda _: chat(0.5, 0.25, 5, usage=(9, 5)))
    assert main(["bench", "server", URL, "--api-model", "m", "--date", "2026-11-29", "--requests", "2"]) == 0
    assert capsys.readouterr().out == TEXT


TEXT = """\
CONCURRENCY  REQUESTS  ALL TOGETHER
1            2         2.5 token/s

METRIC               MEASURED    SPREAD
generation_rate      4 token/s   ± 0
time_to_first_token  0.5 s       ± 0
prompt_rate          18 token/s  ± 0

of
  url: http://llm.example:8080/v1
  api model: m
  date: 2026-11-29
  source: knaster bench server, 2 requests, 1 at a time, 256 in, at most 128 out, tokens

not recorded: there is no catalog here (-C DIR names the fleet's repository)

measured: 2 of 2 requests
"""
"""5 tokens in 0.5 + 4 x 0.25 + 0.5 = 2 s are 2.5 a second in all; 9 tokens of prompt in 0.5 s are 18."""


# Events.


def test_fields_as_the_standard_has_them() -> None:
    """The examples of WHATWG HTML, 9.2.6, and all three ends of a line; each line has the time of its last byte."""
    body = b": comment\n\ndata: first\r\ndata:second\rdata:  third\nevent\nid: 1"
    arrivals = [(12, 1.0), (23, 2.0), (len(body), 3.0)]
    assert list(events(body, arrivals)) == [
        ("data", "first", 2.0),
        ("data", "second", 3.0),
        ("data", " third", 3.0),
        ("event", "", 3.0),
        ("id", "1", 3.0),
    ]


@given(st.lists(st.integers(1, 40), max_size=30), st.integers(1, 6))
def test_how_a_stream_is_cut_into_parts_changes_nothing_but_times(cuts: list[int], pieces: int) -> None:
    body = b"".join(chat_lines(pieces, usage=(7, pieces)))
    arrivals, at = [], 0
    for number, size in enumerate(cuts):
        at = min(at + size, len(body))
        arrivals.append((at, 1.0 + number))
    arrivals.append((len(body), 100.0))
    found = completion(body, arrivals, 0.5, 100.0)
    assert (found.pieces, found.tokens, found.prompt_tokens) == (pieces, pieces, 7)
    assert 0.5 < found.first <= found.last <= 100.0


@given(st.binary(max_size=300))
def test_any_bytes_are_a_stream_or_refused(body: bytes) -> None:
    try:
        completion(body, [(len(body), 1.0)], 0.0, 1.0)
    except NoTokensError:
        return
