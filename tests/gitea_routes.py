"""What the double of Gitea answers to a request, and to whom.

Seen on servers and in Gitea's source: comments ignore paging and come all at once, oldest first; a comment for an
unknown pull request is answered 500, and so is a status for an unknown commit; a right to read that is missing is
404, one to write 403; an unchanged body is 200; a status has its state under ``status`` and is never changed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from tests.gitea_double import Double

Right = Literal["none", "read", "write"]


@dataclass(frozen=True)
class Person:
    """Who a token is. The default is a job's own user with all rights."""

    id: int = -2
    login: str = "gitea-actions"
    code: Right = "write"
    pulls: Right = "write"


@dataclass(frozen=True)
class Request:
    """One request; `path` is below ``/repos/acme/fleet`` (or whole, if it is outside of it)."""

    method: str
    path: str
    query: dict[str, str]
    data: Any
    authorization: str | None


class Refusal(Exception):  # noqa: N818
    """An HTTP status and its message."""

    def __init__(self, status: int, message: str = "") -> None:
        self.status, self.message = status, message


def _need(right: Right, least: Right) -> None:
    if right == "none":
        raise Refusal(404, "The target couldn't be found.")
    if least == "write" != right:
        raise Refusal(403, "user should have a permission to write")


def _page(request: Request, found: list[Any]) -> tuple[int, Any, int | None]:
    limit = min(int(request.query.get("limit", "30")), 50)
    start = (int(request.query.get("page", "1")) - 1) * limit
    return 200, found[start : start + limit], len(found)


def _pulls(double: Double, who: Person, request: Request) -> tuple[int, Any, int | None]:
    _need(who.pulls, "read")
    wanted = request.query.get("state", "open")
    return _page(request, [pull for _, pull in sorted(double.pulls.items()) if wanted in ("all", pull["state"])])


def _pull(double: Double, who: Person, _: Request, number: str) -> tuple[int, Any, int | None]:
    _need(who.code, "read")
    _need(who.pulls, "read")
    if int(number) not in double.pulls:
        raise Refusal(404, "The target couldn't be found.")
    return 200, double.pulls[int(number)], None


def _comments(double: Double, who: Person, _: Request, number: str) -> tuple[int, Any, int | None]:
    _need(who.pulls, "read")
    if int(number) not in double.pulls:
        raise Refusal(500)
    found = double.comments[int(number)]
    return 200, found, len(found)


def _create(double: Double, who: Person, request: Request, number: str) -> tuple[int, Any, int | None]:
    _need(who.pulls, "read")
    if int(number) not in double.pulls:
        raise Refusal(500)
    if double.pulls[int(number)]["is_locked"] and who.pulls != "write":
        raise Refusal(403, "locked")
    if not request.data.get("body"):
        raise Refusal(422, "[Body]: Required")
    return 201, double.comment(int(number), who.login, who.id, request.data["body"]), None


def _found(double: Double, who: Person, comment: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    _need(who.pulls, "read")
    for some in double.comments.values():
        for item in some:
            if item["id"] == int(comment):
                if item["user"]["id"] != who.id:
                    _need(who.pulls, "write")
                return some, item
    raise Refusal(404)


def _edit(double: Double, who: Person, request: Request, comment: str) -> tuple[int, Any, int | None]:
    _, item = _found(double, who, comment)
    item["body"] = request.data["body"]
    return 200, item, None


def _delete(double: Double, who: Person, _: Request, comment: str) -> tuple[int, Any, int | None]:
    some, item = _found(double, who, comment)
    some.remove(item)
    return 204, None, None


def _status(double: Double, who: Person, request: Request, sha: str) -> tuple[int, Any, int | None]:
    _need(who.code, "write")
    if sha not in double.commits:
        raise Refusal(500)
    double.last += 1
    data = {key: request.data.get(key, "").strip() for key in ("context", "description", "target_url")}
    double.statuses.append({"id": double.last, "sha": sha, "status": request.data["state"], **data})
    return 201, double.statuses[-1], None


def _statuses(double: Double, who: Person, request: Request, sha: str) -> tuple[int, Any, int | None]:
    _need(who.code, "read")
    return _page(request, [item for item in reversed(double.statuses) if item["sha"] == sha])


def _merged(double: Double, who: Person, request: Request, sha: str) -> tuple[int, Any, int | None]:
    if sha not in double.merges:
        raise Refusal(404, "The target couldn't be found.")
    return _pull(double, who, request, str(double.merges[sha]))


_Handle = Callable[..., tuple[int, Any, "int | None"]]
ROUTES: tuple[tuple[str, str, _Handle], ...] = (
    ("GET", "/pulls", _pulls),
    ("GET", "/pulls/([0-9]+)", _pull),
    ("GET", "/issues/([0-9]+)/comments", _comments),
    ("POST", "/issues/([0-9]+)/comments", _create),
    ("PATCH", "/issues/comments/([0-9]+)", _edit),
    ("DELETE", "/issues/comments/([0-9]+)", _delete),
    ("POST", "/statuses/([^/]+)", _status),
    ("GET", "/statuses/([^/]+)", _statuses),
    ("GET", "/commits/([^/]+)/pull", _merged),
)
