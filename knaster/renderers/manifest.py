"""``manifest.json``: what the generated files were made from, and what they are. The only file that holds digests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256

from knaster.renderers.known import JSON_HEAD, Data

FORMAT = 1
"""Version of the layout of ``generated/``."""


def manifest(files: Mapping[str, str], *, input_digest: str, version: str) -> Data:
    """The data of ``manifest.json``: `files` are the texts of all other files by path relative to ``generated/``."""
    return {
        "//": JSON_HEAD,
        "version": FORMAT,
        "tool_version": version,
        "input_digest": input_digest,
        "files": {path: digest(text) for path, text in sorted(files.items())},
    }


def digest(text: str) -> str:
    """``sha256:`` and the hex digest of the text's UTF-8 bytes."""
    return f"sha256:{sha256(text.encode()).hexdigest()}"


def recorded(manifest_text: str, path: str) -> str | None:
    """The digest that the text of a ``manifest.json`` records for a file; None where it records none, or is none."""
    try:
        files = json.loads(manifest_text)["files"]
        found = files[path]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return found if isinstance(found, str) else None
