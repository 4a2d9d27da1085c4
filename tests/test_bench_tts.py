"""`knaster bench tts`: the figures by hand, what is recorded, and every way in which a server can fail to speak."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest

from knaster.bench.sentences import sentences
from knaster.cli import main
from tests.speaking import RATE, Clock, Say, Scripted, encoded, wav

ROOT = Path(__file__).parent.parent
URL = "http://tts.example:5000"
SPEECH = "/v1/audio/speech"
KEY = "k3y-0123456789abcdef"
COUNT = 8
"""Sentences of the set."""


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def server(clock: Clock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Scripted:
    found = Scripted(clock)
    found.into(monkeypatch)
    monkeypatch.chdir(tmp_path)
    return found


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    for folder in ("inventory", "catalog", "schemas"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return tmp_path


def said(*parts: tuple[float, bytes | BaseException], kind: str = "audio/wav", status: int = 200) -> Say:
    return Say(status, kind, parts)


def plan(steps: list[Say | BaseException]) -> Callable[[httpx.Request], Say]:
    """One answer after another; the last for ever."""
    left = iter(steps)
    last: list[Say | BaseException] = []

    def answer(_: httpx.Request) -> Say:
        last[:] = [next(left, *last)]
        if isinstance(last[0], BaseException):
            raise last[0]
        return last[0]

    return answer


def bench(*more: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any]]:
    """Exit status and the JSON of a run."""
    capsys.readouterr()
    status = main(["bench", "tts", URL, "--format", "json", *more])
    out = capsys.readouterr()
    assert KEY not in out.out + out.err
    return status, json.loads(out.out) if out.out else {"stderr": out.err}


def repetition(short: float, long: float) -> list[Say]:
    """Seven sentences of one second that take `short`, and one of three seconds that takes `long`."""
    return [*[said((short, wav(RATE)))] * 7, said((long, wav(3 * RATE)))]


def test_the_set_never_changes() -> None:
    """Its figures are compared for years: another text needs another name."""
    texts = sentences("de-1")
    assert [len(text) for text in texts] == [10, 43, 67, 81, 93, 130, 226, 361]
    whole = (ROOT / "knaster/bench/sentences/de-1.txt").read_bytes()
    assert sha256(whole).hexdigest() == "87d5fc35d24cde980aa329b681e207d6accb78f23924dede87a0e60ec41cb46f"
    assert whole.decode("utf-8").splitlines() == list(texts)


def test_the_factor_is_exact(server: Scripted, capsys: pytest.CaptureFixture[str]) -> None:
    """(7 x 0.5 + 2) / 10 s = 0.55; (7 x 0.25 + 1) / 10 = 0.275; (7 x 1 + 4.5) / 10 = 1.15. Median 0.55.

    Their mean is 0.658333, the sum of squares around it 0.400417, half of that 0.200208, its root 0.447446.
    """
    warm_up = said((99.0, wav(RATE)))
    server.on(SPEECH, plan([warm_up, *repetition(0.5, 2), *repetition(0.25, 1), *repetition(1, 4.5)]))
    status, found = bench("--api-model", "m", capsys=capsys)
    assert status == 0
    (figure,) = found["figures"]
    assert figure["value"] == 0.55
    assert figure["spread"] == pytest.approx(0.447446, abs=1e-6)
    assert (figure["metric"], figure["unit"], figure["kind"]) == ("real_time_factor", "s/s", "measured")
    assert [(one["wall_s"], one["audio_s"]) for one in found["results"][:8]] == [(0.5, 1.0)] * 7 + [(2.0, 3.0)]
    assert (found["partial"], found["interrupted"], found["not_recorded"]) == (
        False,
        False,
        "there is no catalog here (-C DIR names the fleet's repository)",
    )


@pytest.mark.parametrize(
    ("name", "body", "kind"),
    [
        ("wav", wav(2 * RATE), "audio/wav"),
        ("mp3", encoded(2 * RATE, "MP3"), "audio/mpeg"),
        ("flac", encoded(2 * RATE, "FLAC", "PCM_16"), "audio/flac"),
        ("opus", encoded(2 * RATE, "OGG", "OPUS"), "audio/ogg"),
        ("wav", wav(2 * RATE), "application/octet-stream"),
        ("wav", wav(2 * RATE), ""),
    ],
)
def test_every_format(server: Scripted, name: str, body: bytes, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Two seconds of speech in half a second."""
    server.on(SPEECH, lambda _: said((0.5, body), kind=kind))
    status, found = bench("--api-model", "m", "--audio", name, "--repetitions", "2", capsys=capsys)
    assert status == 0
    assert [(one["value"], one["spread"]) for one in found["figures"]] == [(0.25, 0.0)]
    assert server.data()["response_format"] == name
    assert found["notes"] == []


def test_what_is_asked(server: Scripted, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTS_KEY", KEY)
    server.on(SPEECH, lambda _: said((0.5, wav(RATE))))
    options = ("--voice", "thorsten", "--api-key-env", "TTS_KEY", "--repetitions", "1", "--stream")
    bench("--api-model", "m", *options, capsys=capsys)
    assert len(server.asked) == 1 + COUNT
    assert [server.data(number)["input"] for number in range(1, 9)] == list(sentences())
    assert server.data() == {
        "model": "m",
        "input": sentences()[-1],
        "response_format": "wav",
        "voice": "thorsten",
        "stream": True,
        "stream_format": "audio",
    }
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/", "/v1/audio/speech"])
def test_addresses(server: Scripted, path: str, capsys: pytest.CaptureFixture[str]) -> None:
    server.on(SPEECH, lambda _: said((0.5, wav(RATE))))
    assert main(["bench", "tts", URL + path, "--api-model", "m", "--repetitions", "1"]) == 0
    capsys.readouterr()


def test_addresses_with_a_path(server: Scripted, capsys: pytest.CaptureFixture[str]) -> None:
    server.on("/openai/v1/audio/speech", lambda _: said((0.5, wav(RATE))))
    for path in ("/openai", "/openai/v1", "/openai/v1/audio/speech"):
        assert main(["bench", "tts", URL + path, "--api-model", "m", "--repetitions", "1"]) == 0
    capsys.readouterr()


def test_time_to_the_first_sound(server: Scripted, capsys: pytest.CaptureFixture[str]) -> None:
    """The head comes after 0.25 s, but no sound before 0.25 + 0.5 s; all of it after 0.25 + 0.5 + 1.25 = 2 s."""
    body = wav(4 * RATE)
    server.on(SPEECH, lambda _: said((0.25, body[:44]), (0.5, body[44:1000]), (1.25, body[1000:])))
    status, found = bench("--api-model", "m", "--stream", "--repetitions", "2", capsys=capsys)
    assert status == 0
    figures = {one["metric"]: (one["value"], one["unit"], one["spread"]) for one in found["figures"]}
    assert figures == {"real_time_factor": (0.5, "s/s", 0.0), "time_to_first_audio": (0.75, "s", 0.0)}
    assert found["notes"] == []


def test_a_server_that_does_not_stream(server: Scripted, capsys: pytest.CaptureFixture[str]) -> None:
    server.on(SPEECH, lambda _: said((2.0, wav(4 * RATE))))
    _, found = bench("--api-model", "m", "--stream", "--repetitions", "1", capsys=capsys)
    assert found["notes"] == ["the first sound comes with the last: the server does not stream"]


def test_another_format_than_was_asked_for(server: Scripted, capsys: pytest.CaptureFixture[str]) -> None:
    server.on(SPEECH, lambda _: said((0.5, wav(RATE)), kind="audio/mpeg"))
    status, found = bench("--api-model", "m", "--audio", "mp3", "--repetitions", "1", capsys=capsys)
    assert status == 0
    assert found["notes"] == ["mp3 was asked for, WAV came"]


def test_the_only_model(server: Scripted, capsys: pytest.CaptureFixture[str]) -> None:
    server.on(SPEECH, lambda _: said((0.5, wav(RATE))))
    listed = b'{"object":"list","data":[{"id":"qwen3-tts"}]}'
    server.on("/v1/models", lambda _: said((0, listed), kind="application/json"))
    status, found = bench("--repetitions", "1", capsys=capsys)
    assert (status, found["api_model"], server.data()["model"]) == (0, "qwen3-tts", "qwen3-tts")


@pytest.mark.parametrize(
    ("listed", "told"),
    [
        (b'{"data":[{"id":"a"},{"id":"b"}]}', "--api-model NAME (a, b)"),
        (b'{"data":[]}', "the server names no model"),
        (b"<html>", "a web page"),
        (b'{"data":7}', "the server names no model"),
    ],
)
def test_no_only_model(server: Scripted, listed: bytes, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    server.on("/v1/models", lambda _: said((0, listed), kind="application/json"))
    status, found = bench(capsys=capsys)
    assert status == 2
    assert told in found["stderr"]


# What is recorded.


def test_it_is_recorded(server: Scripted, fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Model, engine and node come from the plan: the address is that of the slot `tts-de`. Piper runs on the CPU."""
    server.on(SPEECH, lambda _: said((0.25, wav(RATE))))
    argv = ["bench", "tts", "http://192.168.100.221:5000", "--voice", "thorsten", "--date", "2026-11-29"]
    assert main([*argv, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    model = found["model"]
    assert (found["slot"], found["engine"], found["node"], found["card"]) == ("tts-de", "piper", "pve52", None)
    assert found["recorded"] == [f"catalog/benchmarks/{model}.yaml", "catalog/models.yaml"]
    text = (fleet / "catalog/models.yaml").read_text("utf-8")
    assert text.count("value: 0.25, unit: s/s") == 1
    assert 'date: "2026-11-29"' in text
    assert "knaster bench tts, de-1, 3 repetitions, WAV" in text
    assert main(["validate", "-q"]) == 0, capsys.readouterr().out


def test_what_the_user_says_counts(server: Scripted, fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server.on(SPEECH, lambda _: said((0.25, wav(RATE))))
    argv = ["--model", "qwen3-tts-1.7b-bf16", "--card", "GODE-PC-06/0", "--build", "0.9", "--api-model", "tts"]
    status, found = bench(*argv, capsys=capsys)
    assert status == 0
    assert (found["engine"], found["node"]) == ("pytorch", "GODE-PC-06")
    assert found["card"] == "NVIDIA RTX 4000 Ada Generation"
    assert (found["build"], server.data()["model"]) == ("0.9", "tts")
    assert found["recorded"]
    assert "value: 0.25, unit: s/s" in (fleet / "catalog/models.yaml").read_text("utf-8")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--model", "qwen3-tts-1.7b"), 'did you mean "qwen3-tts-1.7b-bf16"?'),
        (("--model", "phi-4-q4_k_m"), "phi-4-q4_k_m is of kind llm"),
        (("--card", "pve44/7"), "pve44 has pve44/0, pve44/1"),
        (("--card", "pve44"), "pve44 has pve44/0, pve44/1"),
        (("--card", "pve-ada/0"), "the inventory has no node pve-ada"),
        (("--model", "qwen3-tts-1.7b-bf16"), "nobody says on which card qwen3-tts-1.7b-bf16 runs"),
        (("--model", "qwen3-tts-1.7b-bf16", "--node", "GODE-PC-06"), "nobody says on which card"),
        (("--node", "pve45"), 'there is no node "pve45"'),
        (("--engine", "pyper"), 'has no engine "pyper"'),
        (("--api-key-env", "NOT_THERE"), "the variable NOT_THERE is not set"),
    ],
)
@pytest.mark.usefixtures("fleet")
def test_what_cannot_be_right_is_told_before(
    server: Scripted, options: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, found = bench("--api-model", "m", *options, capsys=capsys)
    assert status == 2
    assert told in found["stderr"]
    assert not server.asked


def test_a_catalog_that_cannot_be_edited_is_told_before(
    server: Scripted, fleet: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (fleet / "catalog/models.yaml").open("a") as file:
        file.write("nonsense: 1\n")
    status, found = bench("--model", "piper-de-thorsten-high", capsys=capsys)
    assert status == 2
    assert "figures cannot be recorded: catalog/models.yaml" in found["stderr"]
    assert not server.asked


def unchanged(fleet: Path) -> bool:
    same = (fleet / "catalog/models.yaml").read_bytes() == (ROOT / "catalog/models.yaml").read_bytes()
    return same and not (fleet / "catalog/benchmarks").exists()


def test_a_dry_run(server: Scripted, fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server.on(SPEECH, lambda _: said((0.25, wav(RATE))))
    status, found = bench("--model", "piper-de-thorsten-high", "--dry-run", capsys=capsys)
    assert (status, found["not_recorded"]) == (0, "--dry-run")
    assert unchanged(fleet)


def test_a_run_in_part(server: Scripted, fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence of the second repetition fails: the figure is of the first and the third, 0.25 and 0.75."""
    good, bad = said((0.25, wav(RATE))), said((0, b'{"error":{"message":"CUDA out of memory"}}'), status=500)
    slow = said((0.75, wav(RATE)))
    steps: list[Say | BaseException] = [good, *[good] * 8, *[good] * 3, bad, *[good] * 4, *[slow] * 8]
    server.on(SPEECH, plan(steps))
    status, found = bench("--model", "piper-de-thorsten-high", capsys=capsys)
    assert status == 1
    assert (found["partial"], found["figures"][0]["value"]) == (True, 0.5)
    assert found["failures"] == [
        {
            "what": "repetition 2, sentence 4",
            "message": "the server: it answers 500 Internal Server Error: CUDA out of memory",
            "hint": "what happened is in the server's own log",
        }
    ]
    assert "partial: true" in (fleet / "catalog/models.yaml").read_text("utf-8"), "kept, and marked"


def test_an_interruption_keeps_what_was_measured(
    server: Scripted, fleet: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """After two of eight sentences: (0.5 + 1) / (1 + 2) = 0.5."""
    steps: list[Say | BaseException] = [said((0, wav(RATE)))]
    steps += [said((0.5, wav(RATE))), said((1, wav(2 * RATE))), KeyboardInterrupt()]
    server.on(SPEECH, plan(steps))
    status, found = bench("--model", "piper-de-thorsten-high", capsys=capsys)
    assert status == 130
    assert (found["partial"], found["interrupted"], found["ok"]) == (True, True, False)
    assert [one["value"] for one in found["figures"]] == [0.5]
    assert found["notes"] == ["not every sentence is in the figures: they compare with nothing but themselves"]
    assert "partial: true" in (fleet / "catalog/models.yaml").read_text("utf-8")


def test_an_interrupted_run_never_takes_the_place_of_a_whole_one(
    server: Scripted, fleet: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is marked as partial; and a whole run takes its place, but never the other way round."""
    good = said((0.5, wav(RATE)))
    server.on(
        SPEECH, plan([*[good] * 4, KeyboardInterrupt(), *[said((0.25, wav(RATE)))] * 25, good, KeyboardInterrupt()])
    )
    model = ("--model", "piper-de-thorsten-high", "--card", "cpu")
    catalog = fleet / "catalog/models.yaml"
    status, found = bench(*model, capsys=capsys)
    assert (status, bool(found["recorded"])) == (130, True)
    assert "{metric: real_time_factor, value: 0.5, unit: s/s" in catalog.read_text("utf-8")
    assert "partial: true" in catalog.read_text("utf-8")
    assert bench(*model, capsys=capsys)[0] == 0
    assert "partial: true" not in catalog.read_text("utf-8")
    status, found = bench(*model, capsys=capsys)
    assert status == 130
    assert "partial: true" not in catalog.read_text("utf-8")


def test_an_interruption_before_anything_was_measured(server: Scripted, capsys: pytest.CaptureFixture[str]) -> None:
    server.on(SPEECH, plan([KeyboardInterrupt()]))
    status, found = bench("--api-model", "m", capsys=capsys)
    assert (status, found["measured"], found["interrupted"]) == (130, False, True)


# Servers that do not speak. Each message names what came back; nothing is recorded.

FAILURES: list[tuple[Say | BaseException, str]] = [
    (said(status=200), "it answers 200 OK with an empty body"),
    (said((0, b"  \n")), "it answers 200 OK with an empty body"),
    (
        said((0, b"<!DOCTYPE html><html><title>Sign in</title>"), kind="text/html"),
        '200 OK with a web page ("Sign in")',
    ),
    (
        said((0, b"<html><title>502 Bad Gateway</title></html>"), kind="text/html", status=502),
        'it answers 502 Bad Gateway with a web page ("502 Bad Gateway")',
    ),
    (said((0, b'{"detail":"Not Found"}'), kind="application/json", status=404), "404 Not Found: Not Found"),
    (
        said((0, b'{"detail":[{"loc":["body","voice"],"msg":"Field required"}]}'), status=422),
        "422 Unprocessable Entity: body.voice: Field required",
    ),
    (
        said((0, b'{"error":{"message":"no voice x"}}'), kind="application/json"),
        "it answers 200 OK: no voice x",
    ),
    (said((0, b'{"error":"no key"}'), status=401), "it answers 401 Unauthorized: no key"),
    (
        said((0, b'{"ok":true}'), kind="application/json"),
        'it answers with application/json, not with speech: {"ok":true}',
    ),
    (said((0, b"upstream timed out"), kind="text/plain", status=504), "504 Gateway Timeout: upstream timed out"),
    (said((0, b"hello"), kind="text/plain"), "it answers with text/plain, not with speech: hello"),
    (said((0, b"\xff\xf1\x50\x80" + bytes(9)), kind="audio/aac"), "the answer is no speech: AAC"),
    (said((0, bytes(900)), kind="audio/pcm"), "the answer is no speech: PCM without a head"),
    (said((0, wav(RATE)[:-99])), "the answer is no speech: a WAV that is cut"),
    (said((0, wav(0))), "there is no sound in it"),
    (said((0, wav(100, sample=b"\0\0"))), "it is silent from beginning to end"),
    (said((0, wav(9)), (0, httpx.ReadError("reset"))), "the connection broke (ReadError), after 62 bytes"),
    (said((0, wav(9)), (0, httpx.RemoteProtocolError("incomplete"))), "(RemoteProtocolError), after 62 bytes"),
    (httpx.ReadTimeout("slow"), "no answer in time"),
    (said((301.0, wav(RATE))), "no whole answer within 300 s, after 48044 bytes"),
    (
        Say(200, "audio/wav", [(0, b"x")], (("content-encoding", "gzip"),)),
        "a compressed answer, which was not asked for",
    ),
    (
        Say(307, "", [], (("location", "https://evil.example/v1/audio/speech"),)),
        "a redirect to another host, evil.example, which is not followed",
    ),
    (
        Say(308, "", [], (("location", "/v1/audio/speech/"),)),
        "a redirect to another address, which is not followed",
    ),
]


@pytest.mark.parametrize(("answer", "told"), FAILURES, ids=[told for _, told in FAILURES])
def test_nothing_measured(
    server: Scripted,
    fleet: Path,
    monkeypatch: pytest.MonkeyPatch,
    answer: Say | BaseException,
    told: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("TTS_KEY", KEY)
    server.on(SPEECH, plan([answer]))
    model = ("--model", "piper-de-thorsten-high", "--api-key-env", "TTS_KEY")
    status, found = bench(*model, capsys=capsys)
    assert (status, found["measured"], found["figures"]) == (1, False, [])
    (failure,) = found["failures"]
    assert told in failure["message"]
    assert failure["what"] == "warm-up"
    assert len(server.asked) == 1, "nothing else is tried, nowhere"
    assert unchanged(fleet)


def test_the_same_as_text(server: Scripted, capsys: pytest.CaptureFixture[str]) -> None:
    server.on(SPEECH, plan([said((0, b"<html><title>\x1b[2JOops</title>"), kind="text/html", status=503)]))
    assert main(["bench", "tts", URL, "--api-model", "m"]) == 1
    out = capsys.readouterr().out
    assert 'failures\n  warm-up: the server: it answers 503 Service Unavailable with a web page ("\\x1b[2JOops")' in out
    assert "hint: what happened is in the server's own log" in out
    assert out.endswith("\nnothing measured\n")
    assert "\x1b" not in out


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (httpx.ConnectError("[Errno 111] Connection refused"), "cannot connect ([Errno 111] Connection refused)"),
        (httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] ..."), "its certificate is not trusted"),
    ],
)
@pytest.mark.parametrize("warm_up", ["0", "1"])
def test_nobody_is_there(
    server: Scripted, error: Exception, told: str, warm_up: str, capsys: pytest.CaptureFixture[str]
) -> None:
    server.on(SPEECH, plan([error]))
    status, found = bench("--api-model", "m", "--warm-up", warm_up, capsys=capsys)
    assert status == 2
    assert told in found["stderr"]
    assert "hint: " in found["stderr"]


def test_a_server_that_dies_is_not_asked_for_ever(server: Scripted, capsys: pytest.CaptureFixture[str]) -> None:
    good = said((0.25, wav(RATE)))
    server.on(SPEECH, plan([*[good] * 10, httpx.ConnectError("refused")]))
    status, found = bench("--api-model", "m", "--repetitions", "100", capsys=capsys)
    assert status == 1, "not all of it"
    assert (found["partial"], len(found["failures"]), len(server.asked)) == (True, 3, 13)
    assert found["figures"][0]["value"] == 0.25


def test_a_server_that_repeats_the_key(
    server: Scripted, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TTS_KEY", KEY)
    echo = b'{"error":{"message":"bad key ' + KEY.encode() + b'"}}'
    server.on(SPEECH, plan([said((0, echo), status=401)]))
    _, found = bench("--api-model", "m", "--api-key-env", "TTS_KEY", capsys=capsys)
    assert "bad key [redacted]" in found["failures"][0]["message"]


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (("ftp://a",), "this is no address of a server"),
        (("http://user:pw@a",), "no user and no password belong into the address"),
        (("http://a?x=1",), "this is no address of a server"),
        ((URL, "--repetitions", "0"), "'0' is no number from 1 to 1000"),
        ((URL, "--timeout", "nan"), "'nan' is no number of seconds"),
        ((URL, "--timeout", "inf"), "'inf' is no number of seconds"),
        ((URL, "--date", "29.11.2026"), "'29.11.2026' is no day such as 2026-11-29"),
        ((URL, "--date", "2026-02-30"), "is no day"),
        ((URL, "--audio", "aac"), "invalid choice: 'aac'"),
    ],
)
def test_usage(argv: tuple[str, ...], told: str, server: Scripted, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "tts", *argv]) == 2
    assert told in capsys.readouterr().err
    assert not server.asked


def test_progress_is_on_terminals_alone(
    server: Scripted, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server.on(SPEECH, lambda _: said((0.25, wav(RATE))))
    main(["bench", "tts", URL, "--api-model", "m", "--repetitions", "1"])
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    main(["bench", "tts", URL, "--api-model", "m", "--repetitions", "1"])
    shown = capsys.readouterr().err
    assert "warm-up 1 of 1" in shown
    assert "repetition 1 of 1, sentence 8 of 8" in shown
    assert shown.endswith("\r\x1b[K")


def test_markdown(server: Scripted, capsys: pytest.CaptureFixture[str]) -> None:
    server.on(SPEECH, lambda _: said((0.25, wav(RATE))))
    assert main(["bench", "tts", URL, "--api-model", "m|x`", "--format", "markdown"]) == 0
    out = capsys.readouterr().out
    assert "| METRIC | MEASURED | SPREAD |\n| --- | --- | --- |\n| `real_time_factor` | `0.25 s/s` | `± 0` |" in out
