"""What Gitea answers, as values. Only the fields that are used; what is missing is an error, not a guess."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from knaster.diagnostics import WorldError


@dataclass(frozen=True, slots=True)
class Pull:
    """A pull request. ``base_sha`` is the tip of ``base_ref`` now. A deleted fork has ``head_repo_id`` -1."""

    number: int
    head_sha: str
    base_sha: str
    base_ref: str
    html_url: str
    state: str
    merged: bool
    head_repo_id: int
    base_repo_id: int
    title: str


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment, its body byte for byte. System users (``gitea-actions``) have negative ids."""

    id: int
    author_id: int
    author_login: str
    body: str
    html_url: str


@dataclass(frozen=True, slots=True)
class Status:
    """One commit status. They are never changed: for each context the one with the highest ``id`` counts."""

    id: int
    context: str
    state: str
    description: str
    target_url: str


def pull(data: Any) -> Pull:
    """From the JSON of a pull request. Raises WorldError."""
    head, base = _inner(data, "head"), _inner(data, "base")
    return Pull(
        number=_whole(data, "number"),
        head_sha=_text(head, "sha"),
        base_sha=_text(base, "sha"),
        base_ref=_text(base, "ref"),
        html_url=_text(data, "html_url"),
        state=_text(data, "state"),
        merged=data.get("merged") is True,
        head_repo_id=_whole(head, "repo_id"),
        base_repo_id=_whole(base, "repo_id"),
        title=_text(data, "title"),
    )


def comment(data: Any) -> Comment:
    """From the JSON of a comment; an author that is gone is 0, "". Raises WorldError."""
    author = data.get("user") if isinstance(data, dict) else None
    known = isinstance(author, dict)
    return Comment(
        id=_whole(data, "id"),
        author_id=_whole(author, "id") if known else 0,
        author_login=_text(author, "login") if known else "",
        body=_text(data, "body"),
        html_url=_text(data, "html_url"),
    )


def status(data: Any) -> Status:
    """From the JSON of a commit status, whose state is under ``status``. Raises WorldError."""
    return Status(
        id=_whole(data, "id"),
        context=_text(data, "context"),
        state=_text(data, "status"),
        description=_text(data, "description"),
        target_url=_text(data, "target_url"),
    )


def items(data: Any) -> list[Any]:
    """A list (null is an empty one). Raises WorldError for anything else."""
    if data is None:
        return []
    if not isinstance(data, list):
        raise _strange("a list")
    return data


def _inner(data: Any, key: str) -> Mapping[str, Any]:
    found = data.get(key) if isinstance(data, dict) else None
    if not isinstance(found, dict):
        raise _strange(key)
    return found


def _text(data: Any, key: str) -> str:
    found = data.get(key) if isinstance(data, dict) else None
    if not isinstance(found, str):
        raise _strange(key)
    return found


def _whole(data: Any, key: str) -> int:
    found = data.get(key) if isinstance(data, dict) else None
    if not isinstance(found, int) or isinstance(found, bool):
        raise _strange(key)
    return found


def _strange(what: str) -> WorldError:
    return WorldError(f"the answer is none of Gitea's: it lacks {what}", "see that the address names Gitea's API")
