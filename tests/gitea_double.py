"""A Gitea on the loopback interface that answers as the real one does where that matters to us.

    with gitea(prefix="/git") as double:          # double.url is the API's root, double.repo "acme/fleet"
        double.pull(7, head=HEAD, base=BASE)      # a pull request; `double.pulls[7]` is its JSON, to change at will
        double.comment(7, "anna", 5, "hello")     # a comment; `double.comments[7]` are all, oldest first
        double.before("PATCH", "comments", act)   # run `act(request)` before the next such request; what it returns,
                                                  # a `Fault`, is answered instead (`times=` more than once)
    double.asked                                  # every request so far
    double.people["token"] = Person(...)          # who a token is, and the rights of it

What it answers, and to whom, is in `tests.gitea_routes`.
"""

from __future__ import annotations

import http.server
import json
import re
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

from tests.gitea_routes import ROUTES, Person, Refusal, Request, Right

TOKEN = "0123456789abcdef0123456789abcdef01234567"
Act = Callable[[Request], "Fault | None"]
WEB_PAGE = b"<!DOCTYPE html><html><body>Sign in</body></html>"


@dataclass(frozen=True)
class Fault:
    """What to answer instead. ``done``: only after the request has had its effect.

    hang: nothing, until the server closes. drip: one byte now and then, for ever. reset: the connection breaks.
    """

    status: int = 500
    kind: Literal["answer", "hang", "drip", "reset"] = "answer"
    body: bytes = b'{"message":"","url":"http://127.0.0.1/api/swagger"}'
    headers: tuple[tuple[str, str], ...] = ()
    done: bool = False


@dataclass
class Double:
    """The state of the server. Everything may be changed by a test at any time."""

    url: str = ""
    web: str = ""
    repo: str = "acme/fleet"
    public: bool = False
    archived: bool = False
    people: dict[str, Person] = field(default_factory=lambda: {TOKEN: Person()})
    pulls: dict[int, dict[str, Any]] = field(default_factory=dict)
    comments: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    statuses: list[dict[str, Any]] = field(default_factory=list)
    commits: set[str] = field(default_factory=set)
    merges: dict[str, int] = field(default_factory=dict)
    asked: list[Request] = field(default_factory=list)
    hooks: list[tuple[str, str, Act, list[int]]] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)
    last: int = 100

    def pull(self, number: int, *, head: str, base: str, ref: str = "main", fork: bool = False) -> dict[str, Any]:
        """Open a pull request."""
        self.commits |= {head, base}
        self.comments.setdefault(number, [])
        self.pulls[number] = {
            "id": 1000 + number,
            "number": number,
            "title": f"change {number}",
            "state": "open",
            "merged": False,
            "is_locked": False,
            "html_url": f"{self.web}/{self.repo}/pulls/{number}",
            "head": {"ref": f"branch-{number}", "sha": head, "repo_id": 2 if fork else 1, "repo": None},
            "base": {"ref": ref, "sha": base, "repo_id": 1, "repo": None},
        }
        return self.pulls[number]

    def push(self, number: int, head: str) -> None:
        """Another head."""
        self.commits.add(head)
        self.pulls[number]["head"]["sha"] = head

    def merge(self, number: int, commit: str) -> None:
        """Merge a pull request as `commit`."""
        self.commits.add(commit)
        self.merges[commit] = number
        self.pulls[number].update(state="closed", merged=True)

    def comment(self, number: int, login: str, author: int, body: str) -> dict[str, Any]:
        """A comment by somebody."""
        self.last += 1
        url = f"{self.web}/{self.repo}/pulls/{number}#issuecomment-{self.last}"
        user = {"id": author, "login": login}
        self.comments.setdefault(number, []).append({"id": self.last, "user": user, "body": body, "html_url": url})
        return self.comments[number][-1]

    def before(self, method: str, pattern: str, act: Act | Fault, times: int = 1) -> None:
        """Run `act` before the next `times` requests that fit; a Fault is answered instead."""
        run: Act = (lambda _: act) if isinstance(act, Fault) else act
        self.hooks.append((method, pattern, run, [times]))

    def writes(self) -> list[str]:
        """``METHOD path`` of every request that could change something, in order."""
        return [f"{request.method} {request.path}" for request in self.asked if request.method != "GET"]

    def bodies(self, number: int) -> list[str]:
        """The comments of a pull request."""
        return [item["body"] for item in self.comments[number]]

    def hooked(self, request: Request) -> Fault | None:
        """Run what waits for this request."""
        for method, pattern, act, left in self.hooks:
            if left[0] and method == request.method and re.search(pattern, request.path):
                left[0] -= 1
                if (fault := act(request)) is not None:
                    return fault
        return None

    def person(self, request: Request) -> Person:
        """Who asks, with the rights that the token has on this repository. Writing needs a token."""
        if request.authorization is None:
            if request.method != "GET":
                raise Refusal(401, "token is required")
            right: Right = "read" if self.public else "none"
            return Person(0, "", right, right)
        scheme, _, token = request.authorization.partition(" ")
        if scheme.lower() not in ("token", "bearer") or token not in self.people:
            raise Refusal(401, f"invalid username, password or token {token}")
        return self.people[token]

    def answer(self, request: Request) -> tuple[int, Any, int | None]:
        """Status, JSON and the total of a list."""
        if request.path == "/version":
            return 200, {"version": "1.27.3"}, None
        who = self.person(request)
        if self.archived and request.method != "GET":
            raise Refusal(423, "this repository is archived")
        for method, pattern, handle in ROUTES:
            if method == request.method and (found := re.fullmatch(pattern, request.path)):
                return handle(self, who, request, *found.groups())
        raise Refusal(404)


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet: else each answer takes 40 ms

    def __init__(self, double: Double, prefix: str, lock: threading.RLock, *more: Any) -> None:
        self.double, self.prefix, self.lock = double, prefix, lock
        super().__init__(*more)

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        data = json.loads(self.rfile.read(length)) if length else None
        query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
        root = f"{self.prefix}/api/v1"
        if not parts.path.startswith(f"{root}/"):
            return self._send(404, WEB_PAGE, ())  # some other site
        path = parts.path.removeprefix(root).removeprefix(f"/repos/{self.double.repo}")
        request = Request(self.command, path, query, data, self.headers.get("Authorization"))
        with self.lock:
            self.double.asked.append(request)
        fault = self.double.hooked(request)  # without the lock: it may be another client's whole run
        with self.lock:
            status, body, headers = (0, b"", ()) if fault and not fault.done else self._answer(request)
        return self._fault(fault) if fault else self._send(status, body, headers)

    do_POST = do_PATCH = do_DELETE = do_GET  # noqa: N815  the names that http.server asks for

    def _answer(self, request: Request) -> tuple[int, bytes, tuple[tuple[str, str], ...]]:
        try:
            status, data, total = self.double.answer(request)
        except Refusal as refusal:
            return refusal.status, json.dumps({"message": refusal.message, "url": "x"}).encode(), ()
        headers = () if total is None else (("X-Total-Count", str(total)),)
        return status, b"" if data is None else json.dumps(data).encode(), headers

    def _fault(self, fault: Fault) -> None:
        if fault.kind == "answer":
            return self._send(fault.status, fault.body, fault.headers)
        self.close_connection = True
        if fault.kind == "hang":
            self.double.closing.wait(30)
        elif fault.kind == "drip":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            self.wfile.flush()
            while not self.double.closing.wait(0.05):
                self.wfile.write(b" ")
                self.wfile.flush()
        else:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
        return None

    def _send(self, status: int, body: bytes, headers: tuple[tuple[str, str], ...]) -> None:
        self.send_response(status)
        for key, value in headers:
            self.send_header(key, value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def gitea(prefix: str = "", certificate: Path | None = None) -> Iterator[Double]:
    """The server, running below the path `prefix` (``/git``); with TLS if there is a `certificate`."""
    double = Double()
    handler = partial(_Handler, double, prefix, threading.RLock())
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        running.handle_error = lambda *_: None  # type: ignore[method-assign]  # clients that gave up
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, certificate.with_suffix(".key"))
            running.socket = context.wrap_socket(running.socket, server_side=True)
        double.web = f"http{'s' if certificate else ''}://127.0.0.1:{running.server_address[1]}{prefix}"
        double.url = f"{double.web}/api/v1"
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield double
        finally:
            double.closing.set()
            running.shutdown()
            thread.join()
