"""What is on a pull request and what is wanted there, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from knaster.diagnostics import WorldError
from knaster.reports.comment.markers import Marker, alert_marker, marker, read_marker

SYSTEM = frozenset({"gitea-actions", "forgejo-actions"})
"""Who a job's own token is. Ids of system users are negative, so nobody can register as one."""


class Remark(Protocol):
    """A comment, see `knaster.adapters.gitea.Comment`."""

    @property
    def id(self) -> int:
        """Grows with time."""

    @property
    def author_id(self) -> int:
        """Negative for system users."""

    @property
    def author_login(self) -> str:
        """In any case."""

    @property
    def body(self) -> str:
        """Byte for byte."""

    @property
    def html_url(self) -> str:
        """For people."""


class Request(Protocol):
    """A pull request as it is now, see `knaster.adapters.gitea.Pull`."""

    @property
    def head_sha(self) -> str:
        """Its newest commit."""

    @property
    def base_sha(self) -> str:
        """The tip of its base branch now."""

    @property
    def base_ref(self) -> str:
        """The name of that branch."""

    @property
    def state(self) -> str:
        """``open`` or ``closed``."""

    @property
    def merged(self) -> bool:
        """Whether it is merged."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What `pr plan` computed, and the comment that shows it. ``destructive`` counts what is taken away."""

    target: str
    base: str
    head: str
    plan_id: str
    result_id: str
    destructive: int
    ok: bool
    sentence: str
    body: str
    alert: str = ""
    """The text of the short comment for a result that turned destructive; "": a sentence without any data."""

    @property
    def mark(self) -> str:
        """The line that the comment begins with."""
        return marker(self.target)

    @property
    def alert_mark(self) -> str:
        """The line that the short comment begins with; the same for the same result of the same head."""
        return alert_marker(self.target, self.result_id, self.head)


@dataclass(frozen=True, slots=True)
class Poster:
    """Whose comments are ours: those of ``login``, without one those of the job's own user; and of ``known``.

    ``known`` is the id of whoever a comment of this run turned out to be written by.
    """

    login: str | None = None
    known: int | None = None

    def wrote(self, comment: Remark) -> bool:
        """Whether a comment is by us. What it says is another question: people quote."""
        if self.known is not None and comment.author_id == self.known:
            return True
        login = comment.author_login.lower()
        return login == self.login.lower() if self.login else comment.author_id < 0 and login in SYSTEM

    def learned(self, comment: Remark) -> Poster:
        """This poster after it wrote `comment`."""
        return self if self.wrote(comment) else replace(self, known=comment.author_id)


@dataclass(frozen=True, slots=True)
class Step:
    """The next thing to do. ``create`` and ``alert`` write ``body`` as a new comment, ``edit`` into ``comment``.

    ``done``: the comment is right. ``yield``: this plan is no longer the one to show; ``why`` says it, and ``ok`` is
    the verdict of the one that is.
    """

    act: Literal["create", "alert", "edit", "delete", "done", "yield"]
    comment: int = 0
    body: str = ""
    url: str = ""
    why: str = ""
    ok: bool = True


@dataclass(frozen=True, slots=True)
class Shown:
    """What our comment says of itself, and where it is."""

    marker: Marker
    url: str


@dataclass(frozen=True, slots=True)
class CommitStatus:
    """A commit status as Gitea takes it."""

    state: Literal["success", "failure", "pending"]
    context: str
    description: str
    target_url: str = ""


def wanted(plan: Mapping[str, Any], body: str, alert: str = "") -> Wanted:
    """What the data of ``plan.json`` and the text of ``comment.md`` ask for.

    Raises:
        WorldError: a key is missing, or the two are not of one plan.
    """
    target, base, head, plan_id, sentence = (
        _text(plan, key) for key in ("target", "base", "head", "plan_id", "sentence")
    )
    told = read_marker(body)
    if told is None or (told.target, told.base, told.head) != (target, base, head):
        raise WorldError("the comment is not of this plan", "make both anew: knaster pr plan")
    if not isinstance(plan.get("ok"), bool):
        raise WorldError("the plan does not say whether it is ok", "make it anew: knaster pr plan")
    return Wanted(target, base, head, plan_id, told.result, told.destructive, plan["ok"], sentence, body, alert)


def _text(plan: Mapping[str, Any], key: str) -> str:
    found = plan.get(key)
    if not isinstance(found, str):
        raise WorldError(f"the plan lacks {key}", "make it anew: knaster pr plan")
    return found
