"""One request to Gitea: time-outs, bounds, a few tries, and errors that show neither token nor header.

Redirects are never followed: the token goes where the user said. The body of an answer has a deadline as a whole,
because a server that sends one byte a second never trips a time-out between two of them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from knaster.adapters.gitea.access import scrubbed
from knaster.adapters.gitea.errors import Temporary, failure
from knaster.diagnostics import WorldError
from knaster.version import __version__

if TYPE_CHECKING:
    import ssl

    import httpx

TRIES = 3
PAUSES = (0.5, 2.0)
"""Seconds between tries, where the server names none."""
LONGEST_WAIT = 30.0
ANSWER_BOUND = 64 * 1024 * 1024
"""Bytes: a thousand comments of the size that we write."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds: to connect, between two parts of an answer, for a whole answer; and the bytes of one answer."""

    connect: float = 5.0
    read: float = 20.0
    whole: float = 60.0
    size: int = ANSWER_BOUND


@dataclass(frozen=True, slots=True)
class Answer:
    """A success: its JSON (None for an empty body), and how many items there are in all, if the server says."""

    data: Any
    total: int | None = None


@dataclass(slots=True)
class Transport:
    """The connection to one API root. ``sleep`` is there for tests."""

    root: str
    token: str | None = field(repr=False)
    limits: Limits = Limits()
    sleep: Callable[[float], None] = time.sleep
    _open: httpx.Client | None = field(default=None, repr=False)

    def __enter__(self) -> Transport:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    def ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str | int] | None = None,
        data: Mapping[str, str] | None = None,
        tries: int = TRIES,
    ) -> Answer:
        """What Gitea answers; `path` begins with ``/`` and is quoted already.

        Raises:
            Denied: this token may not (401, 403, 404, 423).
            Temporary: no answer after `tries` tries.
            WorldError: any other refusal, or no JSON.
        """
        for attempt in range(tries):
            try:
                return self._once(method, path, query, data)
            except Temporary as problem:
                if attempt + 1 == tries or problem.wait > LONGEST_WAIT:
                    raise
                self.pause(attempt, problem.wait)
        raise AssertionError("no tries")

    def pause(self, attempt: int, wait: float) -> None:
        """Wait before the next try: as long as the server asked, at most half a minute."""
        self.sleep(min(wait or PAUSES[min(attempt, len(PAUSES) - 1)], LONGEST_WAIT))

    def _once(
        self, method: str, path: str, query: Mapping[str, str | int] | None, data: Mapping[str, str] | None
    ) -> Answer:
        import httpx

        what = f"{method} {path}"
        deadline = time.monotonic() + self.limits.whole
        try:
            with self._client().stream(method, self.root + path, params=query, json=data) as answer:
                body = self._body(what, answer, deadline)
                return self._read(what, answer, body)
        except (httpx.TransportError, OSError) as error:
            kind, said, hint = _unreachable(error)
            raise kind(self._said(what, said), hint) from None
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, ValueError) as error:
            raise WorldError(self._said(what, type(error).__name__), "see that the address is right") from None

    def _client(self) -> httpx.Client:
        import httpx

        if self._open is None:
            headers = {
                "User-Agent": f"knaster/{__version__}",
                "Accept": "application/json",
                "Accept-Encoding": "identity",  # a small answer never becomes a large one
            }
            if self.token:
                headers["Authorization"] = f"token {self.token}"
            seconds = httpx.Timeout(self.limits.read, connect=self.limits.connect)
            self._open = httpx.Client(headers=headers, timeout=seconds, follow_redirects=False, verify=trust())
        return self._open

    def _body(self, what: str, answer: httpx.Response, deadline: float) -> bytes:
        parts, length = [], 0
        for part in answer.iter_bytes():
            parts.append(part)
            length += len(part)
            if length > self.limits.size:
                raise WorldError(self._said(what, f"the answer is longer than {self.limits.size} bytes"))
            if time.monotonic() > deadline:
                raise Temporary(self._said(what, f"no whole answer within {self.limits.whole:g} s"))
        return b"".join(parts)

    def _read(self, what: str, answer: httpx.Response, body: bytes) -> Answer:
        status = answer.status_code
        if 300 <= status < 400:
            raise WorldError(self._said(what, self._redirect(answer)), "name the address that it leads to")
        data = _json(body)
        if not 200 <= status < 300:
            said = f"{status} {answer.reason_phrase}{_reason(body, data)}"
            raise failure(status, self._said(what, said), _seconds(answer.headers.get("Retry-After")))
        if body and data is None and body.strip() != b"null":
            raise WorldError(self._said(what, "the answer is no JSON"), "see that the address names Gitea's API")
        total = answer.headers.get("X-Total-Count", "")
        return Answer(data, int(total) if total.isascii() and total.isdigit() and len(total) < 10 else None)

    def _redirect(self, answer: httpx.Response) -> str:
        try:
            there = urlsplit(answer.headers.get("Location", "")).hostname
        except ValueError:
            there = None
        to = "another host" if there and there != urlsplit(self.root).hostname else "another address"
        named = f", {there}" if there and to == "another host" else ""
        return f"it answers with a redirect to {to}{named}, which is not followed"

    def _said(self, what: str, text: str) -> str:
        return scrubbed(f"Gitea, {what}: {text}", self.token)


def _json(body: bytes) -> Any:
    """None where it is none."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _reason(body: bytes, data: Any) -> str:
    if isinstance(data, dict) and isinstance(data.get("message"), str) and data["message"]:
        return f": {data['message']}"
    return " (a web page, not Gitea's API)" if body.lstrip()[:1] == b"<" else ""


def _seconds(text: str | None) -> float:
    """``Retry-After`` in seconds; 0 for a date or anything else."""
    return float(text) if text and text.isascii() and text.isdigit() and len(text) < 8 else 0.0


@cache
def trust() -> ssl.SSLContext:
    """The system's certificates, as git uses them, or those of SSL_CERT_FILE; not the ones that come with httpx.

    The CA of an on-premises Gitea is in the system's store, if anywhere.
    """
    import ssl

    return ssl.create_default_context()


def _unreachable(error: Exception) -> tuple[type[WorldError], str, str]:
    import httpx

    text = str(error)
    if "CERTIFICATE_VERIFY_FAILED" in text:
        hint = "name the file of your CA's certificates in SSL_CERT_FILE"
        return WorldError, "its certificate is not trusted", hint
    if isinstance(error, httpx.TimeoutException):
        return Temporary, "no answer in time", "see that the host is up and that no firewall is between"
    if isinstance(error, httpx.ConnectError):
        return Temporary, f"cannot connect ({text})", "see that the address and the port are right"
    return Temporary, f"the connection broke ({type(error).__name__})", "try again"
