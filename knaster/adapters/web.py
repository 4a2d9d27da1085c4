"""Addresses of servers that people name, and texts of servers that people are shown."""

from __future__ import annotations

import re
from urllib.parse import quote, urlsplit

from knaster.diagnostics import WorldError

_HOST = re.compile(r"[A-Za-z0-9._:-]+")
_USERINFO = re.compile(r"(?<=://)[^\s/?#@]{1,512}@")


def split(url: str, what: str, form: str, credential: str) -> tuple[str, str]:
    """``https://HOST:PORT`` and the quoted path, without a slash at its end, of the address of `what`.

    Raises:
        WorldError: it is no address of http or https (`form` says what one is), or holds a user or a password
            (`credential` says where those belong). Never shows it.
    """
    try:
        parts = urlsplit(url.strip())
        host, _ = parts.hostname, parts.port
    except ValueError:
        parts, host = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not host or not _HOST.fullmatch(host) or parts.query or parts.fragment:
        raise WorldError(f"this is no address of {what}", form)
    if "@" in parts.netloc:
        raise WorldError("no user and no password belong into the address", credential)
    return f"{parts.scheme}://{parts.netloc}", quote(parts.path.rstrip("/"), safe="/%-._~")


def scrubbed(text: str, secret: str | None, most: int = 300) -> str:
    """A text from outside for an error message: without the secret and without users in URLs, then cut to `most`."""
    secrets = {secret, quote(secret, safe="")} if secret else set()
    for one in sorted(secrets, key=len, reverse=True):
        text = text.replace(one, "[redacted]")
    text = _USERINFO.sub("[redacted]@", text)
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def credential(name: str, text: str) -> str | None:
    """The secret in the variable `name`, "" for none. Raises WorldError where it cannot be one; never shows it."""
    text = text.strip()
    if not text:
        return None
    if not text.isascii() or not text.isprintable() or " " in text:
        raise WorldError(f"{name} holds no token", "a token has letters, digits and a few signs only")
    return text
