"""The httpx door: one request at a time over one connection, with bounds that no server escapes.

Redirects are never followed: a credential goes where the user said. A time-out between two parts of an answer is no
bound, because a server that sends one byte a second never trips it: when the time for the whole is over, the connection
is shut, whatever it is doing. When each part arrived is kept, for those who measure.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from knaster.units import MIB
from knaster.version import __version__

if TYPE_CHECKING:
    import ssl

Kind = Literal["certificate", "silent", "late", "refused", "broken", "large", "encoded", "address"]
_PARTS = 200_000


class HttpError(Exception):
    """No whole answer. ``kind`` says why, the text completes "the server: ..." and holds nothing of the request.

    certificate: not trusted. silent: nothing came for too long. late: no end in time. refused: no connection. broken:
    the connection ended too early. large: more than the bound. encoded: compressed. address: none that can be asked.
    """

    def __init__(self, kind: Kind, text: str, got: int = 0) -> None:
        super().__init__(text)
        self.kind = kind
        self.text = text
        self.got = got
        """Bytes of the answer's body that came."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds: to connect, between two parts of an answer, for a whole answer; and the bytes of one answer."""

    connect: float = 5.0
    read: float = 20.0
    whole: float = 60.0
    size: int = 64 * MIB


@dataclass(frozen=True, slots=True)
class Exchange:
    """An answer. ``headers`` by lower-case name. Seconds of the session's clock: ``started`` when the request was about
    to be sent, ``ended`` when all had come. ``arrivals``: bytes of the body that were there at which time."""

    status: int
    reason: str
    headers: Mapping[str, str]
    body: bytes
    started: float
    ended: float
    arrivals: tuple[tuple[int, float], ...] = ()


@dataclass(slots=True)
class Session:
    """A connection that is kept open between requests. ``clock`` and ``transport`` (httpx's) are there for tests.

    ``direct``: past any proxy that the environment names, because the times that are taken are to be the server's.
    """

    headers: Mapping[str, str] = field(repr=False)
    limits: Limits = Limits()
    clock: Callable[[], float] = time.monotonic
    transport: Any = field(default=None, repr=False)
    direct: bool = False
    _open: Any = field(default=None, repr=False)
    _line: Any = field(default=None, repr=False)
    """The network stream in use."""

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._open is not None:
            self._open.close()
            self._open = self._line = None

    def ask(
        self,
        method: str,
        url: str,
        *,
        query: Mapping[str, str | int] | None = None,
        data: Mapping[str, Any] | None = None,
    ) -> Exchange:
        """The answer to one request with `data` as JSON. Raises HttpError."""
        import httpx

        got = [0]
        with self._watched() as late:
            try:
                return self._once(method, url, query, data, got)
            except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError, ValueError) as error:
                problem = self._late(got[0]) if late.is_set() else _problem(error, got[0])
                raise problem from None

    def _once(self, method: str, url: str, query: Any, data: Any, got: list[int]) -> Exchange:
        client, arrivals, parts = self._client(), [], []
        started = self.clock()
        with client.stream(method, url, params=query, json=data, extensions={"trace": self._trace}) as answer:
            coding = answer.headers.get("Content-Encoding", "identity").strip().lower()
            if coding not in ("", "identity"):
                raise HttpError("encoded", "it sends a compressed answer, which was not asked for")
            for part in answer.iter_raw():
                got[0] += len(part)
                arrivals.append((got[0], self.clock()))
                parts.append(part)
                self._bound(got[0], len(parts), started)
            headers = {name.lower(): value for name, value in answer.headers.items()}
            body = b"".join(parts)
            status, reason = answer.status_code, answer.reason_phrase
        return Exchange(status, reason, headers, body, started, self.clock(), tuple(arrivals))

    def _bound(self, size: int, parts: int, started: float) -> None:
        if size > self.limits.size:
            raise HttpError("large", f"the answer is longer than {self.limits.size} bytes", size)
        if parts > _PARTS:
            raise HttpError("large", f"the answer comes in more than {_PARTS} parts", size)
        if self.clock() - started > self.limits.whole:
            raise self._late(size)

    def _late(self, got: int) -> HttpError:
        return HttpError("late", f"no whole answer within {self.limits.whole:g} s", got)

    def _client(self) -> Any:
        import httpx

        if self._open is None:
            headers = {
                "User-Agent": f"knaster/{__version__}",
                "Accept-Encoding": "identity",  # a small answer never becomes a large one
                **self.headers,
            }
            seconds = httpx.Timeout(self.limits.read, connect=self.limits.connect)
            self._open = httpx.Client(
                headers=headers,
                timeout=seconds,
                follow_redirects=False,
                verify=trust(),
                transport=self.transport or (httpx.HTTPTransport(verify=trust()) if self.direct else None),
            )
        return self._open

    def _trace(self, event: str, info: Mapping[str, Any]) -> None:
        """httpcore tells of each step; where it has connected, of the stream."""
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            self._line = info.get("return_value")

    @contextmanager
    def _watched(self) -> Iterator[threading.Event]:
        """While it lasts, the connection is shut when the time for the whole is over; the event is set then."""
        late = threading.Event()

        def shut() -> None:
            late.set()
            line = self._line
            with suppress(OSError, AttributeError):
                line.get_extra_info("socket").shutdown(socket.SHUT_RDWR)

        timer = threading.Timer(self.limits.whole, shut)
        timer.daemon = True
        timer.start()
        try:
            yield late
        finally:
            timer.cancel()


def redirect(answer: Exchange, asked: str) -> str:
    """Where a redirect leads, in words; of another host its name alone."""
    try:
        there = urlsplit(answer.headers.get("location", "")).hostname
    except ValueError:
        there = None
    other = bool(there) and there != urlsplit(asked).hostname
    to = f"another host, {there}" if other else "another address"
    return f"it answers with a redirect to {to}, which is not followed"


@cache
def trust() -> ssl.SSLContext:
    """The system's certificates, as git uses them, or those of SSL_CERT_FILE; not the ones that come with httpx.

    The CA of an on-premises server is in the system's store, if anywhere.
    """
    import ssl

    return ssl.create_default_context()


def _problem(error: Exception, got: int) -> HttpError:
    import httpx

    text = str(error)
    if "CERTIFICATE_VERIFY_FAILED" in text:
        return HttpError("certificate", "its certificate is not trusted", got)
    if isinstance(error, httpx.TimeoutException):
        return HttpError("silent", "no answer in time", got)
    if isinstance(error, httpx.ConnectError):
        return HttpError("refused", f"cannot connect ({text})", got)
    if isinstance(error, httpx.TransportError | OSError):
        return HttpError("broken", f"the connection broke ({type(error).__name__})", got)
    return HttpError("address", type(error).__name__, got)
