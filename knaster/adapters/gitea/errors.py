"""How a call to Gitea fails, for callers that go on in spite of it, and what its HTTP statuses mean."""

from __future__ import annotations

from knaster.diagnostics import WorldError

REFUSED = frozenset({401, 403, 404, 423})
AGAIN = frozenset({429, 500, 502, 503, 504})

_HINTS = {
    401: "see that the token in KNASTER_TOKEN or GITEA_TOKEN is the right one, and that the job still runs",
    403: "give the token the right to write: pull-requests for comments, contents for statuses",
    404: "see that the address and the repository are right and that the token may read pull requests",
    413: "a proxy before Gitea bounds the size of a request: raise its bound or lower the comment's budget",
    422: "this Gitea does not know what it was asked",
    423: "the repository is archived",
    429: "try again later",
}
_SERVER = "try again; what happened is in Gitea's own log"


class Denied(WorldError):  # noqa: N818  what it says
    """Gitea does not let this token do this (401, 403, 404, 423): a pull request's verdict does not depend on it."""

    def __init__(self, message: str, hint: str | None = None, status: int = 403) -> None:
        super().__init__(message, hint)
        self.status = status


class Temporary(WorldError):  # noqa: N818  what it says
    """No answer, or one that asks to try again. A write may have arrived all the same: look before writing again.

    ``wait``: seconds that the server asks to be left alone, 0 where it does not say.
    """

    def __init__(self, message: str, hint: str | None = None, wait: float = 0.0) -> None:
        super().__init__(message, hint)
        self.wait = wait


def failure(status: int, message: str, wait: float) -> WorldError:
    """The exception that stands for an HTTP status which is no success; `message` is complete and harmless."""
    hint = _HINTS.get(status) or (_SERVER if status >= 500 else None)
    if status in REFUSED:
        return Denied(message, hint, status)
    if status in AGAIN:
        return Temporary(message, hint, wait)
    return WorldError(message, hint)
