"""The benchmarks over real sockets: true lengths of true files; servers that hang, drip, redirect, are not trusted."""

from __future__ import annotations

import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from knaster.adapters.http import HttpError, Limits, Session, trust
from knaster.cli import main
from tests.pve_server import certificates
from tests.speaking import RATE, Loopback, answer, chat_lines, chunks, encoded, loopback, wav

KEY = "k3y-0123456789abcdef"
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("API_KEY", KEY)
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)


def bench(kind: str, url: str, *more: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    argv = ["bench", kind, url, "--api-model", "m", "--api-key-env", "API_KEY", "--format", "json"]
    status = main([*argv, *more])
    out = capsys.readouterr()
    assert KEY not in out.out + out.err
    return status, json.loads(out.out) if out.out else {"stderr": out.err}


BODIES = {
    "wav": (wav(RATE * 3 // 2), "audio/wav"),
    "mp3": (encoded(RATE * 3 // 2, "MP3"), "audio/mpeg"),
    "flac": (encoded(RATE * 3 // 2, "FLAC", "PCM_16"), "audio/flac"),
    "opus": (encoded(RATE * 3 // 2, "OGG", "OPUS"), "audio/ogg"),
}


@pytest.mark.parametrize("name", BODIES)
def test_speech_of_a_second_and_a_half(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    def handle(to: BaseHTTPRequestHandler, data: Any, _: Loopback) -> None:
        answer(to, *BODIES[data["response_format"]])

    with loopback(handle) as server:
        status, found = bench("tts", server.url, "--audio", name, "--repetitions", "1", capsys=capsys)
    assert status == 0
    assert {one["audio_s"] for one in found["results"]} == {1.5}
    assert all(one["wall_s"] > 0 for one in found["results"])
    total = sum(one["wall_s"] for one in found["results"])
    assert found["figures"][0]["value"] == pytest.approx(total / (8 * 1.5))
    assert {path for path, _ in server.asked} == {"/v1/audio/speech"}
    assert {one["authorization"] for one in server.headers} == {f"Bearer {KEY}"}
    assert {one["accept-encoding"] for one in server.headers} == {"identity"}


def test_a_proxy_is_passed_by(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Its time is not the server's. Nobody listens at the one that the environment names here."""
    for name in PROXIES:
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with loopback(lambda to, _, __: chunks(to, [wav(RATE)], "audio/wav")) as server:
        assert bench("tts", server.url, "--repetitions", "1", capsys=capsys)[0] == 0


def test_speech_in_chunks(capsys: pytest.CaptureFixture[str]) -> None:
    """Its head says no lengths; no sound is sent before a condition that the test knows to be later than the head."""
    body = wav(RATE)
    head = body[:4] + b"\xff" * 4 + body[8:40] + b"\xff" * 4

    def parts() -> Any:
        yield head
        time.sleep(0.05)
        yield body[44:]

    with loopback(lambda to, _, __: chunks(to, parts(), "audio/wav")) as server:
        status, found = bench("tts", server.url, "--stream", "--repetitions", "1", capsys=capsys)
    assert status == 0
    assert all(one["audio_s"] == 1.0 and one["wall_s"] >= one["first_audio_s"] >= 0.05 for one in found["results"])


def test_chats(capsys: pytest.CaptureFixture[str]) -> None:
    lines = chat_lines(9, usage=(50, 9))
    with loopback(lambda to, _, __: chunks(to, lines, "text/event-stream")) as server:
        options = ("--requests", "12", "--concurrency", "3")
        status, found = bench("server", server.url, *options, capsys=capsys)
    assert status == 0
    assert [(one["tokens"], one["pieces"], one["prompt_tokens"]) for one in found["results"]] == [(9, 9, 50)] * 12
    assert all(0 < one["first_token_s"] <= one["wall_s"] for one in found["results"])


@pytest.mark.parametrize("kind", ["tts", "server"])
def test_a_server_that_hangs(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    with loopback(lambda _, __, state: state.closing.wait()) as server:  # type: ignore[arg-type]
        status, found = bench(kind, server.url, "--timeout", "0.2", capsys=capsys)
    assert (status, found["measured"]) == (1, False)
    assert found["failures"][0]["message"] in (
        "the server: no answer in time",
        "the server: no whole answer within 0.2 s",
    )
    assert len(server.asked) == 1


def drip(to: BaseHTTPRequestHandler, parts: bytes, state: Loopback) -> None:
    """One byte now and then, for ever."""
    while not state.closing.wait(0.02):
        to.wfile.write(parts)
        to.wfile.flush()


@pytest.mark.parametrize("where", ["head", "body"])
def test_a_server_that_drips(where: str, capsys: pytest.CaptureFixture[str]) -> None:
    """No time-out between two bytes ever ends it."""

    def handle(to: BaseHTTPRequestHandler, _: Any, state: Loopback) -> None:
        to.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: audio/wav\r\n")
        if where == "body":
            to.wfile.write(b"Content-Length: 100000\r\n\r\n")
        else:
            to.wfile.write(b"X-A: ")
        drip(to, b"a", state)

    with loopback(handle) as server:
        status, found = bench("tts", server.url, "--timeout", "0.3", capsys=capsys)
    assert status == 1
    assert found["failures"][0]["message"].startswith("the server: no whole answer within 0.3 s")


def test_an_answer_without_an_end() -> None:
    def handle(to: BaseHTTPRequestHandler, _: Any, state: Loopback) -> None:
        to.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: audio/wav\r\nConnection: close\r\n\r\n")
        while not state.closing.is_set():
            to.wfile.write(bytes(65536))

    with loopback(handle) as server, Session({}, Limits(size=1_000_000)) as session:
        with pytest.raises(HttpError) as caught:
            session.ask("POST", server.url, data={})
        server.closing.set()
    assert (caught.value.kind, caught.value.text) == ("large", "the answer is longer than 1000000 bytes")


def test_a_connection_that_breaks(capsys: pytest.CaptureFixture[str]) -> None:
    def handle(to: BaseHTTPRequestHandler, _: Any, __: Loopback) -> None:
        to.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: audio/wav\r\nContent-Length: 5000\r\n\r\n" + wav(100))
        to.wfile.flush()
        to.connection.shutdown(socket.SHUT_RDWR)

    with loopback(handle) as server:
        status, found = bench("tts", server.url, capsys=capsys)
    assert status == 1
    assert found["failures"][0]["message"].endswith(", after 244 bytes")


def test_a_redirect_to_another_host_gets_no_key(capsys: pytest.CaptureFixture[str]) -> None:
    with loopback(lambda to, _, __: answer(to, wav(10), "audio/wav")) as other:
        there = other.url.replace("127.0.0.1", "localhost")

        def handle(to: BaseHTTPRequestHandler, _: Any, __: Loopback) -> None:
            to.send_response(307)
            to.send_header("Location", f"{there}/v1/audio/speech")
            to.send_header("Content-Length", "0")
            to.end_headers()

        with loopback(handle) as server:
            status, found = bench("tts", server.url, capsys=capsys)
        assert other.asked == []
    assert status == 1
    message = "the server: it answers with a redirect to another host, localhost, which is not followed"
    assert found["failures"][0]["message"] == message


def test_a_certificate_that_nobody_trusts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ca, certificate = certificates(tmp_path)
    trust.cache_clear()
    try:
        with loopback(lambda to, _, __: answer(to, wav(10), "audio/wav"), certificate) as server:
            status, found = bench("tts", server.url, capsys=capsys)
            assert (status, server.asked) == (2, [])
            assert "its certificate is not trusted" in found["stderr"]
            assert "SSL_CERT_FILE" in found["stderr"]
            trust.cache_clear()
            monkeypatch.setenv("SSL_CERT_FILE", str(ca))
            assert bench("tts", server.url, "--repetitions", "1", capsys=capsys)[0] == 0
    finally:
        trust.cache_clear()


def test_nobody_listens(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        status, found = bench("tts", f"http://127.0.0.1:{port}", capsys=capsys)
    assert status == 2
    assert "cannot connect" in found["stderr"]


def test_no_thread_stays() -> None:
    before = threading.active_count()
    with loopback(lambda to, _, __: answer(to, b"{}", "application/json")) as server, Session({}) as session:
        for _ in range(20):
            assert session.ask("GET", server.url).body == b"{}"
    assert threading.active_count() <= before + 1
