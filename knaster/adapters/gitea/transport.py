"""One request to Gitea: a few tries, and errors that show neither token nor header."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from knaster import foreign_json
from knaster.adapters.gitea.errors import Temporary, failure
from knaster.adapters.http import Exchange, HttpError, Limits, Session, redirect
from knaster.adapters.web import scrubbed
from knaster.diagnostics import WorldError

TRIES = 3
PAUSES = (0.5, 2.0)
"""Seconds between tries, where the server names none."""
LONGEST_WAIT = 30.0


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
    limits: Limits
    sleep: Callable[[float], None] = time.sleep
    _open: Session | None = field(default=None, repr=False)

    def __enter__(self) -> Transport:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._open is not None:
            self._open.__exit__(kind, error, trace)
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
        what = f"{method} {path}"
        try:
            answer = self._session().ask(method, self.root + path, query=query, data=data)
        except HttpError as problem:
            raise self._unreachable(what, problem) from None
        return self._read(what, answer)

    def _session(self) -> Session:
        if self._open is None:
            token = {"Authorization": f"token {self.token}"} if self.token else {}
            self._open = Session({"Accept": "application/json", **token}, self.limits)
        return self._open

    def _read(self, what: str, answer: Exchange) -> Answer:
        status, body = answer.status, answer.body
        if 300 <= status < 400:
            raise WorldError(self._said(what, redirect(answer, self.root)), "name the address that it leads to")
        data = foreign_json.value(body)
        if not 200 <= status < 300:
            said = f"{status} {answer.reason}{_reason(body, data)}"
            raise failure(status, self._said(what, said), _seconds(answer.headers.get("retry-after")))
        if body and data is None and body.strip() != b"null":
            raise WorldError(self._said(what, "the answer is no JSON"), "see that the address names Gitea's API")
        total = answer.headers.get("x-total-count", "")
        return Answer(data, int(total) if total.isascii() and total.isdigit() and len(total) < 10 else None)

    def _unreachable(self, what: str, problem: HttpError) -> WorldError:
        kind, hint = _KINDS.get(problem.kind, (WorldError, None))
        return kind(self._said(what, problem.text), hint)

    def _said(self, what: str, text: str) -> str:
        return scrubbed(f"Gitea, {what}: {text}", self.token)


def _reason(body: bytes, data: Any) -> str:
    if isinstance(data, dict) and isinstance(data.get("message"), str) and data["message"]:
        return f": {data['message']}"
    return " (a web page, not Gitea's API)" if body.lstrip()[:1] == b"<" else ""


def _seconds(text: str | None) -> float:
    """``Retry-After`` in seconds; 0 for a date or anything else."""
    return float(text) if text and text.isascii() and text.isdigit() and len(text) < 8 else 0.0


_KINDS: Mapping[str, tuple[type[WorldError], str | None]] = {
    "certificate": (WorldError, "name the file of your CA's certificates in SSL_CERT_FILE"),
    "silent": (Temporary, "see that the host is up and that no firewall is between"),
    "late": (Temporary, None),
    "refused": (Temporary, "see that the address and the port are right"),
    "broken": (Temporary, "try again"),
    "address": (WorldError, "see that the address is right"),
}
