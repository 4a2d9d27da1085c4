"""What a Gitea job tells about its pull request: the event file, whose texts are somebody else's."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from knaster import foreign_json
from knaster.adapters.files import load
from knaster.diagnostics import WorldError
from knaster.units import MIB

PATH = "GITHUB_EVENT_PATH"
_BOUND = 16 * MIB


@dataclass(frozen=True, slots=True)
class Event:
    """``number`` is None for events that are not of a pull request."""

    number: int | None = None
    default_branch: str = "main"
    base_ref: str = ""
    """The branch that the pull request aims at."""
    url: str = ""
    """The page of the pull request."""


def event(environment: Mapping[str, str] | None = None) -> Event:
    """The event of this job; outside of a job an empty one. Raises WorldError for a file that is no event."""
    path = (os.environ if environment is None else environment).get(PATH)
    if not path:
        return Event()
    data = read_object(path, _BOUND, f"the event file ({PATH})")
    pull, repository = foreign_json.inner(data, "pull_request"), foreign_json.inner(data, "repository")
    number = pull.get("number") or data.get("number")
    return Event(
        number if isinstance(number, int) and not isinstance(number, bool) and number > 0 else None,
        foreign_json.string(repository, "default_branch") or "main",
        foreign_json.string(foreign_json.inner(pull, "base"), "ref"),
        foreign_json.string(pull, "html_url"),
    )


def read_text(path: str, bound: int, what: str, hint: str | None = None) -> str:
    """A regular file of at most `bound` bytes. Raises WorldError, which calls it `what` and gives the `hint`."""
    try:
        found = load(path, bound)
    except OSError as error:
        raise WorldError(f"cannot read {what}: {error.strerror}") from error
    if not isinstance(found, bytes):
        raise WorldError(f"cannot read {what}: {'it is not there' if found is None else found.reason}", hint)
    try:
        return found.decode("utf-8")
    except UnicodeDecodeError as error:
        raise WorldError(f"{what} is no UTF-8") from error


def read_object(path: str, bound: int, what: str, hint: str | None = None) -> dict[str, Any]:
    """The JSON object in a file. Raises WorldError, which calls it `what` and gives the `hint`."""
    try:
        data = json.loads(read_text(path, bound, what, hint))
    except (ValueError, RecursionError) as error:
        raise WorldError(f"{what} is no JSON", hint) from error
    if not isinstance(data, dict):
        raise WorldError(f"{what} is no JSON object", hint)
    return data
