"""What a server answered instead of what it was asked for, in words. Pure; whoever shows them makes them harmless."""

from __future__ import annotations

import json
import re
from typing import Any

from knaster import foreign_json

_TITLE = re.compile(r"(?is)<title[^>]{0,200}>(.{1,200}?)</title>")
_HINTS = {
    400: "see that it knows this model, voice and format",
    401: "name the variable that holds its key: --api-key-env NAME",
    403: "name the variable that holds its key: --api-key-env NAME",
    404: "see that it knows the model, and that the address is right: with its path it ends in PATH",
    405: "see that the address is right: with its path it ends in PATH",
    422: "see that it knows this model, voice and format",
    429: "try again when it has less to do",
}
_SERVER = "what happened is in the server's own log"


def wrong(status: int, reason: str, content_type: str, body: bytes) -> str | None:
    """Why an answer is none, completing "the server: ..."; None for a success that may be one.

    A success may not: with an empty body, a web page, or JSON that tells of an error.
    """
    success = 200 <= status < 300
    head = f"it answers {status} {reason}".rstrip()
    data = foreign_json.value(body) if not success or _kind(content_type).endswith("json") else None
    told = said(data, bare=not success)
    if told is not None:
        return f"{head}: {told}"
    if not body.strip():
        return f"{head} with an empty body"
    if body[:200].lstrip().startswith(b"<") and not body.lstrip().startswith(b"<?xml"):
        return f"{head} with a web page{_title(body)}"
    if not success:
        return f"{head}: {_start(body)}" if _readable(body) else head
    return None


def other(content_type: str, wanted: str, body: bytes) -> str | None:
    """Why a success of this type is not `wanted` (``speech``); None where the type tells nothing against it."""
    kind = _kind(content_type)
    if kind.startswith(("audio/", "video/ogg")) or kind in ("", "application/octet-stream", "application/ogg"):
        return None
    return f"it answers with {kind}, not with {wanted}{f': {_start(body)}' if _readable(body) else ''}"


def no_stream(content_type: str, body: bytes) -> str:
    """What a success is that is no stream of events."""
    told = _kind(content_type) or "no type"
    return f"it answers with {told}, not with a stream of events{f': {_start(body)}' if _readable(body) else ''}"


def way_out(status: int, path: str) -> str | None:
    """What to do about an HTTP status; `path` is that of the endpoint below the server's address."""
    hint = _HINTS.get(status) or (_SERVER if status >= 500 else None)
    return hint and hint.replace("PATH", path)


def said(data: Any, *, bare: bool = False) -> str | None:
    """The message of an error in JSON, as OpenAI, FastAPI and others write it; None where there is none.

    `bare`: it is known to be an error, and a message alone is one too.
    """
    if not isinstance(data, dict):
        return None
    error = data.get("error")
    if not error and bare:
        error = next((data[key] for key in ("detail", "message", "msg") if data.get(key)), None)
    if not error:
        return None
    if isinstance(error, list):
        error = error[0] if error else None
    if isinstance(error, dict):
        where = error.get("loc")
        text = next((error[key] for key in ("message", "msg", "detail") if error.get(key)), error)
        prefix = f"{'.'.join(map(str, where))}: " if isinstance(where, list) else ""
        return f"{prefix}{_short(text)}"
    return _short(error)


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= 300 else f"{text[:299]}…"


def _kind(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def _title(body: bytes) -> str:
    found = _TITLE.search(body[:4000].decode("utf-8", "replace"))
    return f' ("{" ".join(found[1].split())}")' if found else ""


def _readable(body: bytes) -> bool:
    try:
        text = body[:100].decode("utf-8")
    except UnicodeDecodeError as error:
        text = body[: error.start].decode("utf-8") if error.start > 90 else ""
    return bool(text) and sum(character.isprintable() or character.isspace() for character in text) == len(text)


def _start(body: bytes) -> str:
    text = " ".join(body[:400].decode("utf-8", "replace").split())
    return text if len(text) <= 100 else f"{text[:99]}…"
