"""``manifest.json``: what the generated files were made from, and what they are. The only file that holds digests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Record:
    """What a manifest says: the digest of the inputs, the version of knaster, and the digest of each file by path."""

    input_digest: str
    tool_version: str
    files: Mapping[str, str]


def record(text: str) -> Record | None:
    """What the text of a ``manifest.json`` records; None where it is none."""
    try:
        found = json.loads(text)
        files = {str(path): str(digest) for path, digest in found["files"].items()}
        return Record(str(found["input_digest"]), str(found["tool_version"]), files)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
