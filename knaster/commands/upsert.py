"""The loop around `knaster.posting.decide`: look, do one step, look again, until nothing is left to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from knaster.adapters.gitea import Comment, Denied, Gitea, Pull, Temporary
from knaster.diagnostics import WorldError
from knaster.posting import Poster, Step, Wanted, decide, pending, status

_ROUNDS = 24
_TRIES = 3
_EDITS = 2
"""More would be a quarrel with another run."""
_WORDS: dict[str, Literal["created", "updated"]] = {"create": "created", "edit": "updated"}


@dataclass(frozen=True, slots=True)
class Posted:
    """What became of the comment. ``why`` says why it was left to another run; ``ok`` is the verdict that is shown."""

    outcome: Literal["created", "updated", "unchanged", "yielded"]
    ok: bool
    url: str = ""
    why: str = ""
    known: bool = True
    """Whether the poster was known beforehand: if not, every run makes a comment and takes it back."""
    tip: str = ""
    """The tip of the target when the pull request was last looked at."""


def upsert(gitea: Gitea, number: int, plan: Wanted, poster: Poster) -> Posted:
    """Make the pull request show `plan` in one comment. Raises Denied, Temporary, WorldError."""
    gitea.pull(number)  # patient: right after a push it may not be there yet
    run = Run(gitea, number, plan, poster)
    try:
        for _ in range(_ROUNDS):
            if (posted := run.once()) is not None:
                return posted
    except Temporary:
        gitea.pull(number)  # one that was deleted meanwhile is Denied here, and 500 everywhere else
        raise
    raise WorldError("the comments do not come to rest: others keep changing them", "run it again")


def post_status(gitea: Gitea, plan: Wanted, default_branch: str, url: str, tip: str) -> bool:
    """Set the status of the plan's head; False if it is there already. Raises Denied, Temporary, WorldError.

    `tip` is that of the target now: a plan for an older one turns nothing green, it has to be made again.
    """
    new = status(plan, default_branch, url)
    if plan.ok and tip != plan.base:
        new = pending(plan.target, tip, default_branch)
    try:
        there = gitea.statuses(plan.head).get(new.context)
    except (Denied, Temporary):
        there = None
    if there and (there.state, there.description) == (new.state, new.description):  # two pull requests may share a head
        return False
    gitea.post_status(plan.head, new.state, new.context, new.description, new.target_url)
    return True


class Comments(Protocol):
    """What a run needs of `knaster.adapters.gitea.Gitea`, where it is described."""

    def pull(self, number: int, *, patience: int = ...) -> Pull:
        """The pull request now."""

    def comments(self, number: int) -> list[Comment]:
        """All its comments."""

    def create_comment(self, number: int, body: str) -> Comment:
        """A new one."""

    def edit_comment(self, comment: int, body: str) -> Comment:
        """Another text."""

    def delete_comment(self, comment: int) -> None:
        """Away with it."""

    def pause(self, attempt: int, wait: float = ...) -> None:
        """Before another try."""


class Run:
    """What one run has done so far."""

    def __init__(self, gitea: Comments, number: int, plan: Wanted, poster: Poster) -> None:
        """Nothing is asked yet."""
        self._gitea, self._number, self._plan, self._first = gitea, number, plan, poster
        self._poster = poster
        self._did: list[str] = []
        self._troubles = 0
        self._tip = ""

    def once(self) -> Posted | None:
        """One look and one step; the result once there is nothing more to do."""
        comments = self._gitea.comments(self._number)
        pull = self._gitea.pull(self._number, patience=1)
        self._tip = pull.base_sha
        step = decide(self._plan, pull, comments, self._poster)
        again = step.act in ("create", "edit") and self._did.count(step.act) >= (1 if step.act == "create" else _EDITS)
        if step.act in ("done", "yield") or again:
            return self._result(step)
        self._try(step)
        return None

    def _try(self, step: Step) -> None:
        try:
            self._do(step)
        except Temporary as problem:
            self._troubles += 1
            if self._troubles == _TRIES or problem.wait > 30:
                raise
            self._gitea.pause(self._troubles - 1, problem.wait)
        except Denied as refusal:
            if step.act != "edit" or refusal.status != 404 or self._did.count("gone") >= _TRIES:
                raise
            self._did.append("gone")  # somebody deleted it meanwhile
        else:
            self._did.append(step.act)

    def _do(self, step: Step) -> None:
        if step.act == "delete":
            self._gitea.delete_comment(step.comment)
        elif step.act == "edit":
            self._gitea.edit_comment(step.comment, step.body)
        else:
            written = self._gitea.create_comment(self._number, step.body)
            self._poster = self._poster.learned(written)

    def _result(self, step: Step) -> Posted:
        known = self._poster == self._first
        if step.act == "yield":
            return Posted("yielded", step.ok, step.url, step.why, known, self._tip)
        act = next((act for act in ("edit", "create") if act in self._did), "")
        if not known and "delete" in self._did:
            act = "edit" if "edit" in self._did else ""
        return Posted(_WORDS[act] if act else "unchanged", self._plan.ok, step.url, known=known, tip=self._tip)
