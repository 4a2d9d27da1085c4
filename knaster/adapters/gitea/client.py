"""The calls themselves. Reading and statuses are tried again here; a write of a comment is tried once.

A comment that may have arrived must be looked for before it is written again, and whether it should still be written
depends on what the pull request is by then: that is the caller's loop (`knaster.commands.upsert`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any
from urllib.parse import quote

from knaster.adapters.gitea import records
from knaster.adapters.gitea.errors import Denied, Temporary
from knaster.adapters.gitea.records import Comment, Pull, Status
from knaster.adapters.gitea.transport import TRIES, Transport
from knaster.adapters.http import Limits

_PAGE = 50
_PAGES = 400
_DESCRIPTION = 140


class Gitea:
    """One repository of one Gitea or Forgejo. ``with Gitea(...) as gitea:`` closes its connections.

    Every method raises `Denied`, `Temporary` (no answer; see there) or WorldError; no message holds the token.
    """

    def __init__(
        self,
        url: str,
        repo: str,
        token: str | None = None,
        *,
        limits: Limits | None = None,
        sleep: Callable[[float], None] | None = None,
    ) -> None:
        """`url` ends in ``/api/v1``, `repo` is ``OWNER/NAME``: see `knaster.adapters.gitea.access`."""
        self._transport = Transport(url, token, limits or Limits(), sleep or time.sleep)
        self._repo = f"/repos/{quote(repo)}"

    def __enter__(self) -> Gitea:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._transport.__exit__(kind, error, trace)

    def pause(self, attempt: int, wait: float = 0.0) -> None:
        """Wait before try `attempt` + 1 of something: `wait` seconds, or a few."""
        self._transport.pause(attempt, wait)

    def version(self) -> str:
        """``1.27.3``; needs no right."""
        data = self._transport.ask("GET", "/version").data
        return str(data.get("version", "")) if isinstance(data, dict) else ""

    def pull(self, number: int, *, patience: int = TRIES) -> Pull:
        """One pull request as it is now. A 404 is asked again: right after a push it may not be there yet."""
        for attempt in range(patience):
            try:
                return records.pull(self._get(f"/pulls/{number}"))
            except Denied as refusal:
                if refusal.status != 404 or attempt + 1 == patience:
                    raise
                self.pause(attempt)
        raise AssertionError("no patience")

    def open_pulls(self) -> list[Pull]:
        """All open pull requests, by number."""
        found = {item.number: item for item in map(records.pull, self._paged("/pulls", state="open"))}
        return [found[number] for number in sorted(found)]

    def pull_of_commit(self, sha: str) -> Pull | None:
        """The pull request whose merge made this commit; None where there is none."""
        try:
            return records.pull(self._get(f"/commits/{quote(sha, safe='')}/pull"))
        except Denied as refusal:
            if refusal.status == 404:
                return None
            raise

    def comments(self, number: int) -> list[Comment]:
        """All comments of a pull request, oldest first.

        Today's servers ignore paging and answer all of them at once; one that pages is followed to its end.
        """
        found = {item.id: item for item in map(records.comment, self._paged(f"/issues/{number}/comments"))}
        return [found[key] for key in sorted(found)]

    def create_comment(self, number: int, body: str) -> Comment:
        """A new comment. One try."""
        return records.comment(self._write("POST", f"/issues/{number}/comments", body=body))

    def edit_comment(self, comment: int, body: str) -> Comment:
        """Another text for a comment. One try: by the next one it may be out of date."""
        return records.comment(self._write("PATCH", f"/issues/comments/{comment}", body=body))

    def delete_comment(self, comment: int) -> None:
        """Take a comment away; that it is gone already is right too."""
        try:
            self._transport.ask("DELETE", f"{self._repo}/issues/comments/{comment}")
        except Denied as refusal:
            if refusal.status != 404:
                raise

    def statuses(self, sha: str) -> dict[str, Status]:
        """The commit statuses in force: context to the newest."""
        found: dict[str, Status] = {}
        for item in map(records.status, self._paged(f"/statuses/{quote(sha, safe='')}")):
            if item.context not in found or found[item.context].id < item.id:
                found[item.context] = item
        return found

    def post_status(self, sha: str, state: str, context: str, description: str, target_url: str = "") -> None:
        """Add a commit status; `state` is one of pending, success, failure, error. At most 140 characters are kept."""
        said = description if len(description) <= _DESCRIPTION else f"{description[: _DESCRIPTION - 1]}…"
        path = f"{self._repo}/statuses/{quote(sha, safe='')}"
        data = {"state": state, "context": context, "description": said, "target_url": target_url}
        for attempt in range(TRIES):
            try:
                self._transport.ask("POST", path, data=data, tries=1)
                return
            except Temporary as problem:
                if self._stands(sha, data):  # a server without its default branch stores it and answers 500
                    return
                if attempt + 1 == TRIES:
                    raise
                self.pause(attempt, problem.wait)

    def _stands(self, sha: str, wanted: dict[str, str]) -> bool:
        try:
            found = self.statuses(sha).get(wanted["context"])
        except (Denied, Temporary):
            return False
        there = (found.state, found.description, found.target_url) if found else ()
        return there == (wanted["state"], wanted["description"], wanted["target_url"])

    def _get(self, path: str) -> Any:
        return self._transport.ask("GET", self._repo + path).data

    def _write(self, method: str, path: str, **data: str) -> Any:
        return self._transport.ask(method, self._repo + path, data=data, tries=1).data

    def _paged(self, path: str, **query: str) -> Iterator[Any]:
        """Every item once, page by page, until a page brings nothing new or the server's total is reached."""
        seen: set[Any] = set()
        for page in range(1, _PAGES + 1):
            answer = self._transport.ask("GET", self._repo + path, query={**query, "page": page, "limit": _PAGE})
            new = [item for item in records.items(answer.data) if _identity(item) not in seen]
            seen.update(map(_identity, new))
            yield from new
            if not new or (answer.total is not None and len(seen) >= answer.total):
                return


def _identity(item: Any) -> Any:
    found = item.get("id") if isinstance(item, dict) else None
    return found if isinstance(found, int) else repr(item)
