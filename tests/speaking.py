"""Speech and chats for the tests of `knaster bench`: sounds whose length is known, and servers whose timing is.

clock = Clock()
server = Scripted(clock)                 # an httpx transport: answers are scripted, and take time on `clock` alone
server.on("/v1/audio/speech", lambda request: Say(200, "audio/wav", [(1.5, wav(24000))]))
server.into(monkeypatch)                 # the commands use it from here on

with loopback({"/v1/audio/speech": reply}) as server: ...   # real sockets: server.url, server.asked
"""

from __future__ import annotations

import http.server
import io
import json
import ssl
import threading
import wave
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import numpy
import pytest
import soundfile

from knaster.commands import benching
from knaster.commands.bench_asking import Server

RATE = 24000
"""Samples a second of all sounds here."""


def samples(count: int) -> Any:
    """Noise that no encoder can leave out."""
    return numpy.random.default_rng(1).uniform(-0.3, 0.3, count).astype("float32")


def wav(count: int, *, rate: int = RATE, channels: int = 1, sample: bytes = b"\x01\x02") -> bytes:
    """A WAV of `count` samples as Python's own module writes it."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(sample * count * channels)
    return out.getvalue()


def encoded(count: int, format: str, subtype: str | None = None) -> bytes:
    """`count` samples as libsndfile encodes them."""
    out = io.BytesIO()
    soundfile.write(out, samples(count), RATE, format=format, subtype=subtype)
    return out.getvalue()


def chat_lines(pieces: int, *, usage: tuple[int, int] | None = None, build: str | None = None) -> list[bytes]:
    """The events of a chat of `pieces` pieces of text, one a line; `usage`: tokens of the prompt and of the answer."""
    more = {"system_fingerprint": build} if build else {}
    lines = [event({"choices": [{"delta": {"role": "assistant", "content": ""}}], **more})]
    lines += [event({"choices": [{"delta": {"content": "Wort "}}], **more}) for _ in range(pieces)]
    end = event({"choices": [{"delta": {}, "finish_reason": "length"}], **more})
    if usage:
        end += event({"choices": [], "usage": {"prompt_tokens": usage[0], "completion_tokens": usage[1]}, **more})
    return [*lines, end + b"data: [DONE]\n\n"]


def event(data: Any) -> bytes:
    """One server-sent event."""
    return b"data: " + json.dumps(data).encode() + b"\n\n"


@dataclass
class Clock:
    """Seconds that pass only when somebody says so. They are whole eighths in tests, which floats hold exactly."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass(frozen=True)
class Say:
    """An answer: its parts, and how many seconds each takes. An exception among them is raised in its place."""

    status: int = 200
    kind: str = "application/octet-stream"
    parts: Iterable[tuple[float, bytes | BaseException]] = ()
    headers: tuple[tuple[str, str], ...] = ()


class _Stream(httpx.SyncByteStream):
    def __init__(self, clock: Clock, parts: Iterable[tuple[float, bytes | BaseException]]) -> None:
        self.clock, self.parts = clock, parts

    def __iter__(self) -> Iterator[bytes]:
        for seconds, part in self.parts:
            self.clock.now += seconds
            if isinstance(part, BaseException):
                raise part
            yield part


@dataclass
class Scripted(httpx.BaseTransport):
    """Answers by path; what was asked is in ``asked``. Before an answer begins, ``wait`` seconds pass."""

    clock: Clock
    wait: float = 0.0
    routes: dict[str, Callable[[httpx.Request], Say]] = field(default_factory=dict)
    asked: list[httpx.Request] = field(default_factory=list)

    def on(self, path: str, answer: Callable[[httpx.Request], Say]) -> None:
        """Answer requests to `path`."""
        self.routes[path] = answer

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """httpx's own hook."""
        self.asked.append(request)
        self.clock.now += self.wait
        answer = self.routes.get(request.url.path)
        said = answer(request) if answer else Say(404, "application/json", [(0, b'{"detail":"Not Found"}')])
        headers = [("content-type", said.kind), *said.headers]
        return httpx.Response(said.status, headers=headers, stream=_Stream(self.clock, said.parts))

    def data(self, number: int = -1) -> Any:
        """The JSON of a request."""
        return json.loads(self.asked[number].content)

    def into(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let the commands talk to it, by its clock."""
        monkeypatch.setattr(benching, "Server", partial(Server, clock=self.clock, transport=self))


@dataclass
class Loopback:
    """A real server: ``asked`` are paths and JSON of requests, ``headers`` theirs; ``closing`` is set at the end."""

    url: str = ""
    asked: list[tuple[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)


Handle = Callable[[http.server.BaseHTTPRequestHandler, Any, Loopback], None]


def answer(to: http.server.BaseHTTPRequestHandler, body: bytes, kind: str, status: int = 200) -> None:
    """A whole answer with its length."""
    to.send_response(status)
    to.send_header("Content-Type", kind)
    to.send_header("Content-Length", str(len(body)))
    to.end_headers()
    to.wfile.write(body)


def chunks(to: http.server.BaseHTTPRequestHandler, parts: Iterable[bytes], kind: str) -> None:
    """An answer in chunks."""
    to.send_response(200)
    to.send_header("Content-Type", kind)
    to.send_header("Transfer-Encoding", "chunked")
    to.end_headers()
    for part in (*parts, b""):
        to.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
        to.wfile.flush()


@contextmanager
def loopback(handle: Handle, certificate: Path | None = None) -> Iterator[Loopback]:
    """A server on the loopback interface that lets `handle` answer; with a certificate it speaks TLS."""
    state = Loopback()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            """Nothing."""

        def do_GET(self) -> None:
            self.do_POST()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            data = json.loads(body) if body else None
            state.asked.append((self.path, data))
            state.headers.append({name.lower(): text for name, text in self.headers.items()})
            handle(self, data, state)

    running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running.daemon_threads = True
    running.block_on_close = False
    running.handle_error = lambda *_: None  # type: ignore[method-assign]  # clients that leave
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, certificate.with_suffix(".key"))
        running.socket = context.wrap_socket(running.socket, server_side=True)
    state.url = f"{'https' if certificate else 'http'}://127.0.0.1:{running.server_port}"
    thread = threading.Thread(target=running.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        state.closing.set()
        running.shutdown()
        running.server_close()
        thread.join()
