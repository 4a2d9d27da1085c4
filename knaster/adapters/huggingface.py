"""One request to the Hugging Face hub, or to the mirror that HF_ENDPOINT names: bounded, by range, a few tries.

What huggingface_hub reads from the environment counts: HF_ENDPOINT, HF_TOKEN or the file of ``hf auth login``, HF_HOME,
HF_HUB_CACHE, HF_HUB_OFFLINE. Redirects are followed by hand, because the hub answers with one to a host that stores the
files, and the token stays with the hub.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from knaster.adapters.hub_errors import Denied, failure, retried, seconds, unreachable
from knaster.diagnostics import WorldError
from knaster.units import MIB
from knaster.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

TRIES = 3
PAUSES = (0.5, 2.0)
"""Seconds between tries, where the server names none."""
LONGEST_WAIT = 30.0
DEADLINE = 60.0
"""Seconds for one answer as a whole: a server that sends a byte a second never trips a time-out between two of them."""
_REDIRECTS = 5
_TIMEOUT = 20.0
_REFUSES_RANGES = 8 * MIB
"""Bytes that are read and thrown away at most where a server ignores what range is asked for."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A success: 200, 206 or 416 (the range begins after the end; no body), its headers in lower case, its bytes."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Hub:
    """Where the hub is, the token for it (sent to that very origin only), the cache, and whether to stay offline."""

    endpoint: str
    cache: Path
    token: str | None = field(default=None, repr=False)
    offline: bool = False
    sleep: Callable[[float], None] = time.sleep

    def get(self, path: str, bound: int, span: tuple[int, int] | None = None) -> Answer:
        """What the hub answers to a GET of `path` (quoted, with ``/`` before it), at most `bound` bytes of it.

        `span` asks for a range: its first byte, and how many. Raises WorldError: Denied for 401, 403 and 404.
        """
        for attempt in range(TRIES):
            try:
                return self._once(self.endpoint + path, bound, span)
            except WorldError as problem:
                wait = retried(problem)
                if wait is None or attempt + 1 == TRIES or wait > LONGEST_WAIT:
                    raise
                self.sleep(wait or PAUSES[attempt])
        raise AssertionError("no tries")

    def _once(self, url: str, bound: int, span: tuple[int, int] | None) -> Answer:
        session, errors = _session()
        try:
            for _ in range(_REDIRECTS):
                with session.stream(
                    "GET", url, headers=self._headers(url, span), timeout=_TIMEOUT, follow_redirects=False
                ) as answer:
                    if answer.status_code in (301, 302, 303, 307, 308):
                        url = self._next(url, answer.headers.get("location", ""))
                        continue
                    return self._read(answer, bound, span)
        except errors as error:
            raise unreachable(self.host, error) from None
        raise WorldError(f"{self.host} answers with more than {_REDIRECTS} redirects, one after the other")

    @property
    def host(self) -> str:
        """The hub's host, for messages."""
        return urlsplit(self.endpoint).hostname or "the hub"

    def _headers(self, url: str, span: tuple[int, int] | None) -> dict[str, str]:
        headers = {"User-Agent": f"knaster/{__version__}", "Accept-Encoding": "identity"}
        if self.token and _origin(url) == _origin(self.endpoint):
            headers["Authorization"] = f"Bearer {self.token}"
        if span is not None:
            headers["Range"] = f"bytes={span[0]}-{span[0] + span[1] - 1}"
        return headers

    def _next(self, url: str, location: str) -> str:
        there = urljoin(url, location)
        scheme = urlsplit(there).scheme
        if not location or scheme not in ("http", "https") or (scheme == "http" and url.startswith("https:")):
            raise WorldError(f"{self.host} answers with a redirect that leads nowhere safe, and it is not followed")
        return there

    def _read(self, answer: Any, bound: int, span: tuple[int, int] | None) -> Answer:
        headers = {str(name).lower(): str(value) for name, value in answer.headers.items()}
        status = answer.status_code
        if status == 416 and span is not None:
            return Answer(status, headers, b"")
        if status not in (200, 206):
            raise failure(status, headers, self.host, has_token=self.token is not None, wait=seconds(headers))
        skipped = span[0] if span is not None and status == 200 else 0
        if skipped > _REFUSES_RANGES:
            raise WorldError(f"{self.host} does not serve parts of files, which reading headers of models needs")
        if status == 206 and (span is None or not _begins(headers, span[0])):
            raise WorldError(f"{self.host} answers with another part of the file than was asked for")
        most = skipped + (span[1] if span is not None else bound + 1)
        body = _drained(answer.iter_bytes(), most, self.host)[skipped:]
        if span is None and len(body) > bound:
            raise WorldError(f"{self.host}: the answer is longer than {bound} bytes")
        return Answer(status, headers, body)


def hub() -> Hub:
    """The hub as the environment says. Raises WorldError for an address or a token that is none, without showing it."""
    from huggingface_hub import constants, get_token

    endpoint = constants.ENDPOINT.rstrip("/")
    try:
        parts = urlsplit(endpoint)
        sound = (
            parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc and not parts.query
        )
    except ValueError:
        sound = False
    if not sound:
        raise WorldError("HF_ENDPOINT holds no address of a hub", "write https://HOST, without user and password")
    token = get_token()
    if token is not None and not (token.isascii() and token.isprintable() and " " not in token):
        raise WorldError("HF_TOKEN holds no token", "a token of the hub begins with hf_")
    return Hub(endpoint, Path(constants.HF_HUB_CACHE), token, offline=constants.HF_HUB_OFFLINE)


def _session() -> tuple[Any, tuple[type[Exception], ...]]:
    """The HTTP client of huggingface_hub, which its users may have set up, and what it raises."""
    from huggingface_hub import get_session

    session = get_session()
    library = sys.modules[type(session).__module__.partition(".")[0]]
    raised = (getattr(library, name) for name in ("HTTPError", "InvalidURL", "StreamError"))
    return session, (OSError, ValueError, *raised)


def _drained(parts: Iterator[bytes], most: int, host: str) -> bytes:
    """The first `most` bytes of an answer."""
    found, length, deadline = [], 0, time.monotonic() + DEADLINE
    for part in parts:
        found.append(part)
        length += len(part)
        if length >= most:
            break
        if time.monotonic() > deadline:
            raise WorldError(f"{host}: no whole answer within {DEADLINE:g} s", "try again")
    return b"".join(found)[:most]


def _begins(headers: Mapping[str, str], start: int) -> bool:
    return headers.get("content-range", "").replace(" ", "").lower().startswith(f"bytes{start}-")


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"https": 443, "http": 80}.get(parts.scheme)


__all__ = ["Answer", "Denied", "Hub", "hub"]
