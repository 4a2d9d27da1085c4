"""What the hub's refusals mean: the code that it sends beside the status, and the way out.

Source of the codes: ``hf_raise_for_status`` of huggingface_hub (``X-Error-Code``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from knaster.diagnostics import WorldError

Refusal = Literal["gated", "repository", "revision", "file", "token"]
_CODES: dict[str, Refusal] = {
    "GatedRepo": "gated",
    "RepoNotFound": "repository",
    "RevisionNotFound": "revision",
    "EntryNotFound": "file",
}


GATED = {
    False: "accept its conditions on its page, and set HF_TOKEN",
    True: "accept its conditions on its page, with the account of your token",
}
"""What to do about a gated model, without and with a token."""


class Denied(WorldError):  # noqa: N818 -- as its siblings of adapters.gitea
    """The hub does not show this; ``refusal`` says what it is about."""

    def __init__(self, message: str, hint: str | None, refusal: Refusal) -> None:
        super().__init__(message, hint)
        self.refusal = refusal


class Temporary(WorldError):  # noqa: N818
    """It may work on the next try; ``wait`` are the seconds that the server asks for, 0 where it does not."""

    def __init__(self, message: str, hint: str | None, wait: float = 0) -> None:
        super().__init__(message, hint)
        self.wait = wait


def retried(problem: WorldError) -> float | None:
    """The seconds to wait before a next try; None where there is no sense in one."""
    return problem.wait if isinstance(problem, Temporary) else None


def failure(status: int, headers: Mapping[str, str], host: str, *, has_token: bool, wait: float) -> WorldError:
    """The error for an answer that is no success. Nothing that the server wrote is shown."""
    if status == 429:
        hint = "wait some minutes" if has_token else "set HF_TOKEN: with one, the hub allows more"
        return Temporary(f"{host} answers 429: too many requests", hint, wait)
    if status >= 500:
        return Temporary(f"{host} answers {status}", "try again later", wait)
    if status in (401, 403, 404, 410):
        return _denied(status, headers.get("x-error-code", ""), host, has_token=has_token)
    return WorldError(f"{host} answers {status}", "see that HF_ENDPOINT names a hub")


def _denied(status: int, code: str, host: str, *, has_token: bool) -> Denied:
    said: dict[Refusal, tuple[str, str]] = {
        "gated": ("it is gated", GATED[has_token]),
        "repository": (
            "there is no such model, or it is private",
            "look at the spelling" if has_token else "look at the spelling; for a private one set HF_TOKEN",
        ),
        "revision": ("it has no such revision", "name a branch, a tag or a commit after @"),
        "file": ("it has no such file", "look at the spelling"),
        "token": (
            "the token may not read it" if status == 403 else "the token is not accepted",
            "renew HF_TOKEN, or log in again with: hf auth login",
        ),
    }
    if code in _CODES:
        refusal = _CODES[code]
    elif status in (401, 403):
        refusal = "token" if has_token else "repository"
    else:
        refusal = "repository"
    message, hint = said[refusal]
    return Denied(f"{message} ({host} answers {status})", hint, refusal)


def seconds(headers: Mapping[str, str]) -> float:
    """``Retry-After`` in seconds; 0 for a date or anything else."""
    text = headers.get("retry-after", "")
    return float(text) if text.isascii() and text.isdigit() and len(text) < 8 else 0.0


def unreachable(host: str, error: Exception) -> WorldError:
    """The error for a connection that failed; its own text may hold a signed address and is not shown."""
    if isinstance(error, WorldError):
        return error
    name, text = type(error).__name__, str(error)
    if name == "OfflineModeIsEnabled":
        return WorldError("HF_HUB_OFFLINE is set", "unset it, or name a folder")
    if "CERTIFICATE_VERIFY_FAILED" in text:
        return WorldError(
            f"the certificate of {host} is not trusted", "name the file of your CA's certificates in SSL_CERT_FILE"
        )
    hint = "see that the host is up; HF_ENDPOINT names a mirror, HF_HUB_OFFLINE=1 uses the cache alone"
    if "Timeout" in name:
        return Temporary(f"{host}: no answer in time", hint)
    if "Connect" in name:
        return Temporary(f"cannot connect to {host}", hint)
    return Temporary(f"the connection to {host} broke ({name})", hint)
