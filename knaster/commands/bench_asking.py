"""One request of a benchmark to an OpenAI-compatible server: the answer, or in words what came instead."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from knaster import foreign_json
from knaster.adapters import web
from knaster.adapters.http import Exchange, HttpError, Limits, Session, redirect
from knaster.bench import answers
from knaster.diagnostics import WorldError
from knaster.units import MIB

_FORM = "name it as https://HOST:PORT/v1, with the path before /v1 if there is one"
_HINTS = {
    "certificate": "name the file of your CA's certificates in SSL_CERT_FILE",
    "silent": "see that it is not busy loading a model; --timeout SECONDS waits longer",
    "late": "--timeout SECONDS waits longer",
    "refused": "see that the address and the port are right and that the server runs",
    "broken": "what happened is in the server's own log",
    "address": "see that the address is right",
}
_NOBODY = frozenset({"certificate", "refused", "address"})
_ENDPOINTS = ("/audio/speech", "/chat/completions", "/models")


class UnmeasuredError(Exception):
    """A request that gave nothing to measure. ``nobody``: no server was reached; ``status`` 0 then."""

    def __init__(self, message: str, hint: str | None = None, *, nobody: bool = False, status: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.nobody = nobody
        self.status = status


@dataclass(frozen=True, slots=True)
class Server:
    """Where the API is (``root`` ends in a version, as ``/v1``), the key for it, and what is waited for, in seconds.

    ``clock`` and ``transport`` are there for tests.
    """

    root: str
    key: str | None = field(default=None, repr=False)
    timeout: float = 300.0
    size: int = 64 * MIB
    clock: Callable[[], float] = time.monotonic
    transport: Any = field(default=None, repr=False)

    def session(self) -> Session:
        """A connection of its own."""
        limits = Limits(min(self.timeout, 10.0), self.timeout, self.timeout, self.size)
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        return Session(headers, limits, self.clock, self.transport, direct=True)

    def ask(self, session: Session, method: str, path: str, data: Mapping[str, Any] | None = None) -> Exchange:
        """A success that has a body. Raises UnmeasuredError for everything else."""
        try:
            answer = session.ask(method, self.root + path, data=data)
        except HttpError as problem:
            came = f", after {problem.got} bytes" if problem.got else ""
            nothing = problem.kind == "late" and not problem.got
            raise self.failed(
                problem.text + came, _HINTS.get("silent" if nothing else problem.kind), nobody=problem.kind in _NOBODY
            ) from None
        status, body, kind = answer.status, answer.body, answer.headers.get("content-type", "")
        if 300 <= status < 400:
            hint = f"name the address that it leads to; it would have to end in {path}"
            raise self.failed(redirect(answer, self.root), hint, status=status)
        wrong = answers.wrong(status, answer.reason, kind, body)
        if wrong is not None:
            raise self.failed(wrong, answers.way_out(status, _full(self.root, path)), status=status)
        return answer

    def failed(self, text: str, hint: str | None = None, *, nobody: bool = False, status: int = 0) -> UnmeasuredError:
        """The failure that `text` completes the sentence of, without the key."""
        return UnmeasuredError(web.scrubbed(f"the server: {text}", self.key), hint, nobody=nobody, status=status)

    def only_model(self) -> str:
        """The one model that it serves. Raises WorldError where it does not say, or serves several."""
        hint = "name it: --api-model NAME"
        try:
            with self.session() as session:
                names = sorted(set(_names(self.ask(session, "GET", "/models").body)))
        except UnmeasuredError as problem:
            if problem.nobody:
                raise WorldError(problem.message, problem.hint) from None
            raise WorldError(f"the server does not say which models it has: {problem.message}", hint) from None
        if len(names) == 1:
            return names[0]
        shown = web.scrubbed(", ".join(names[:10]), self.key)
        raise WorldError(
            "the server has more than one model" if names else "the server names no model",
            f"{hint} ({shown})" if names else hint,
        )


def root(url: str) -> str:
    """The API's root for an address with or without ``/v1`` or the endpoint itself. Raises WorldError."""
    host, path = web.split(url, "a server", _FORM, "name the variable that holds its key: --api-key-env NAME")
    for end in _ENDPOINTS:
        if path.endswith(end):
            return host + path.removesuffix(end)
    last = path.rpartition("/")[2]
    versioned = len(last) > 1 and last[0] == "v" and last[1].isdigit()
    return f"{host}{path}" if versioned else f"{host}{path}/v1"


def key(variable: str | None) -> str | None:
    """The key in an environment variable. Raises WorldError where it holds none."""
    if variable is None:
        return None
    found = web.credential(variable, os.environ.get(variable, ""))
    if found is None:
        raise WorldError(f"the variable {variable} is not set", "--api-key-env names the variable that holds the key")
    return found


def place(root: str) -> tuple[str, int]:
    """Host and port of an address."""
    parts = urlsplit(root)
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


def _full(root: str, path: str) -> str:
    """``/v1/audio/speech``."""
    return f"/{urlsplit(root).path.rpartition('/')[2]}{path}"


def _names(body: bytes) -> Iterable[str]:
    listed = (foreign_json.mapping(body) or {}).get("data")
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, dict) and isinstance(one.get("id"), str):
            yield one["id"]
