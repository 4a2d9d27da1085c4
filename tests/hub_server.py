"""A hub on the loopback interface: model info, files by range, gated and missing models, files of another host."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"
TOKEN = "hf_" + "T" * 20
_INFO = re.compile(r"/api/models/(?P<repo>[^/]+/[^/]+)(?:/revision/(?P<revision>[^/]+))?\Z")
_FILE = re.compile(r"/(?P<repo>[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<path>.+)\Z")


@dataclass
class Repository:
    """What a repository holds, and how the hub treats it. ``cdn`` files are served by the other host."""

    files: Mapping[str, bytes]
    gated: bool = False
    private: bool = False
    cdn: frozenset[str] = frozenset()
    info: object = None


@dataclass
class Request:
    """One request, as it arrived."""

    host: str
    path: str
    headers: Mapping[str, str]


@dataclass
class Loopback:
    """Two servers: the hub, and where it keeps large files. ``failing`` are statuses for the next requests."""

    repositories: dict[str, Repository] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    failing: list[tuple[int, Mapping[str, str]]] = field(default_factory=list)
    ranges: bool = True
    redirect: str | None = None
    hub: str = ""
    store: str = ""

    def seen(self, host: str) -> list[Request]:
        """What arrived at ``hub`` or ``store``."""
        return [request for request in self.requests if request.host == host]


class _Handler(BaseHTTPRequestHandler):
    state: Loopback
    host: str
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""

    def do_HEAD(self) -> None:
        """As GET; `_answer` leaves the body out."""
        self.do_GET()

    def do_GET(self) -> None:
        state, path = self.state, unquote(urlsplit(self.path).path)
        state.requests.append(Request(self.host, self.path, {k.lower(): v for k, v in self.headers.items()}))
        if state.failing:
            status, headers = state.failing.pop(0)
            self._answer(status, b"<html>no</html>", headers)
        elif self.host == "store":
            self._file(state.repositories, path)
        elif state.redirect is not None:
            self._answer(302, b"", {"Location": state.redirect})
        elif match := _INFO.match(urlsplit(self.path).path):
            self._info(match["repo"], unquote(match["revision"] or "main"))
        elif match := _FILE.match(path):
            self._resolve(match["repo"], match["path"])
        else:
            self._answer(404, b"", {})

    def _trusted(self) -> bool:
        return self.headers.get("Authorization") == f"Bearer {TOKEN}"

    def _info(self, name: str, revision: str) -> None:
        found = self.state.repositories.get(name)
        if found is None or (found.private and not self._trusted()):
            return self._answer(401, b"{}", {"X-Error-Code": "RepoNotFound"})
        if revision not in ("main", COMMIT):
            return self._answer(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
        siblings = [_sibling(path, data, large=path in found.cdn) for path, data in found.files.items()]
        info = {"id": name, "sha": COMMIT, "gated": found.gated, "siblings": siblings}
        body = found.info if isinstance(found.info, bytes) else json.dumps(found.info or info).encode()
        return self._answer(200, body, {})

    def _resolve(self, name: str, path: str) -> None:
        found = self.state.repositories[name]
        if found.gated and not self._trusted():
            return self._answer(401, b"", {"X-Error-Code": "GatedRepo"})
        if path not in found.files:
            return self._answer(404, b"", {"X-Error-Code": "EntryNotFound"})
        if path in found.cdn:
            place = f"{self.state.store}/{name}/{path}?X-Amz-Signature=secret"
            size, etag = str(len(found.files[path])), _etag(found.files[path])
            linked = {"X-Linked-Size": size, "X-Linked-Etag": etag, "X-Repo-Commit": COMMIT}
            return self._answer(302, b"", {"Location": place, **linked})
        return self._bytes(found.files[path])

    def _file(self, repositories: Mapping[str, Repository], path: str) -> None:
        owner, name, rest = path.lstrip("/").split("/", 2)
        self._bytes(repositories[f"{owner}/{name}"].files[rest])

    def _bytes(self, data: bytes) -> None:
        match = re.match(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if match is None or not self.state.ranges:
            return self._answer(200, data, {"X-Repo-Commit": COMMIT, "ETag": _etag(data), "Accept-Ranges": "bytes"})
        start, end = int(match[1]), min(int(match[2]), len(data) - 1)
        if start >= len(data):
            return self._answer(416, b"", {"Content-Range": f"bytes */{len(data)}"})
        return self._answer(206, data[start : end + 1], {"Content-Range": f"bytes {start}-{end}/{len(data)}"})

    def _answer(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        try:
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)
        except OSError:
            self.close_connection = True  # the client has read enough


def _sibling(path: str, data: bytes, *, large: bool) -> dict[str, object]:
    plain: dict[str, object] = {"rfilename": path, "size": len(data), "blobId": "0" * 40}
    lfs = {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 134}
    return {**plain, "lfs": lfs} if large else plain


def _etag(data: bytes) -> str:
    return f'"{hashlib.sha256(data).hexdigest()}"'


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """A client that hangs up is no news."""


@contextmanager
def loopback(**repositories: Repository) -> Iterator[Loopback]:
    """Both servers; the names of `repositories` are below ``org/``."""
    state = Loopback({f"org/{name}": repository for name, repository in repositories.items()})
    servers = []
    for host in ("hub", "store"):
        handler = type("Handler", (_Handler,), {"state": state, "host": host})
        server = _Server(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        setattr(state, host, f"http://127.0.0.1:{server.server_address[1]}")
        servers.append(server)
    try:
        yield state
    finally:
        for server in servers:
            server.shutdown()
            server.server_close()
