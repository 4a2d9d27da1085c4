"""What to write to a pull request, decided from what is there: pure, so that every race can be tried by hand.

`decide` names one next step; the caller does it, looks again, and asks again until there is nothing to do. So whatever
happens between two steps (another run, a push, a person) is seen before the next write. Two laws keep runs that race
from harming each other: the oldest own comment is never deleted, and whoever creates a comment looks again afterwards.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from knaster.posting.values import CommitStatus, Poster, Remark, Request, Shown, Step, Wanted
from knaster.reports.comment.markers import alert_start, marker, read_marker
from knaster.reports.inert import inert

CONTEXT = "knaster/plan"
DESCRIPTION = 140
"""Characters of a commit status that every version shows."""
_REFUSED = frozenset({"invalid", "conflict"})


def decide(plan: Wanted, pull: Request, comments: Collection[Remark], poster: Poster) -> Step:
    """The one next step; `comments` are all of the pull request, and `pull` was read after them."""
    own = _ours(plan.mark, comments, poster)
    alerts = _ours(plan.alert_mark, comments, poster)
    if why := outdated(plan, pull):
        return _leave(plan, pull, (*own[1:], *alerts), why)
    if not own:
        return Step("create", body=plan.body)
    first = own[0]
    if overtaken := _overtaken(plan, pull, first):
        return overtaken
    if not alerts and _turned(plan, first):
        return Step("alert", body=_alert(plan, first.html_url))
    if not _same(first.body, plan.body):
        return Step("edit", first.id, plan.body, first.html_url)
    for extra in (*own[1:], *_stale(plan, alerts, comments, poster), *_of_other_branches(plan, pull, comments, poster)):
        return Step("delete", extra.id, url=first.html_url)
    return Step("done", first.id, url=first.html_url)


def outdated(plan: Wanted, pull: Request) -> str:
    """Why this plan is not to be shown any more; "" if it is.

    Not after the merge either: what was shown then is what was approved.
    """
    if pull.merged or pull.state != "open":
        return f"the pull request is {'merged' if pull.merged else 'closed'}"
    if pull.head_sha != plan.head:
        return f"its head is {pull.head_sha[:12]} by now, this plan is for {plan.head[:12]}"
    return ""


def status(plan: Wanted, default_branch: str = "main", url: str = "") -> CommitStatus:
    """The commit status of the head: plan id, sentence, and the tip of the target that it was planned with."""
    said, tip = inert(f"{plan.plan_id[:12]} {plan.sentence}".strip()), f" (on {plan.base[:12]})"
    room = DESCRIPTION - len(tip)
    short = said if len(said) <= room else f"{said[: room - 1]}…"
    return CommitStatus("success" if plan.ok else "failure", context(plan.target, default_branch), short + tip, url)


def pending(target: str, tip: str, default_branch: str = "main") -> CommitStatus:
    """The status that withdraws one for an older tip, until the head is planned with this one."""
    return CommitStatus("pending", context(target, default_branch), f"to be planned again (on {tip[:12]})")


def context(target: str, default_branch: str) -> str:
    """``knaster/plan``; another target than the default branch is named, so that one head cannot turn two green."""
    return CONTEXT if target == default_branch else f"{CONTEXT} ({inert(target)})"


def shown(target: str, comments: Iterable[Remark], poster: Poster) -> Shown | None:
    """What the pull request shows for this target branch now; None without a comment of ours that tells."""
    for item in _ours(marker(target), comments, poster):
        told = read_marker(item.body)
        return None if told is None else Shown(told, item.html_url)
    return None


def _ours(mark: str, comments: Iterable[Remark], poster: Poster) -> list[Remark]:
    """Our comments that begin with this line, oldest first."""
    return [item for item in _beginning(mark, comments, poster) if _begins(item.body, mark)]


def _beginning(start: str, comments: Iterable[Remark], poster: Poster) -> list[Remark]:
    """Our comments whose text starts so, oldest first."""
    return sorted(
        (item for item in comments if poster.wrote(item) and item.body.startswith(start)), key=lambda item: item.id
    )


def branch(target: str) -> str:
    """The branch of a target, which may name a folder too (``main:lab``)."""
    return target.partition(":")[0]


def _of_other_branches(plan: Wanted, pull: Request, comments: Iterable[Remark], poster: Poster) -> list[Remark]:
    """What we said before the pull request was aimed at the branch that it is aimed at now."""
    if branch(plan.target) != pull.base_ref:
        return []
    told = ((item, read_marker(item.body)) for item in comments if poster.wrote(item))
    return [item for item, marker in told if marker is not None and branch(marker.target) != pull.base_ref]


def _stale(plan: Wanted, alerts: list[Remark], comments: Iterable[Remark], poster: Poster) -> list[Remark]:
    """Our alerts that say nothing new: all but one of those for this result, and those for earlier ones.

    An earlier one stays while it is the only word about what is still destructive.
    """
    earlier = [item for item in _beginning(alert_start(plan.target), comments, poster) if item not in alerts]
    if not plan.destructive:
        return [*alerts, *earlier]
    return [*alerts[1:], *(earlier if alerts else earlier[:-1])]


def _leave(plan: Wanted, pull: Request, ours: Iterable[Remark], why: str) -> Step:
    """Write nothing; take back what this very run has just created, as long as it is not what was merged."""
    for item in ours if pull.state == "open" and not pull.merged else ():
        told = read_marker(item.body)
        if (told is not None and told.head == plan.head) or _begins(item.body, plan.alert_mark):
            return Step("delete", item.id, why=why)
    return Step("yield", why=why)


def _overtaken(plan: Wanted, pull: Request, first: Remark) -> Step | None:
    """The same head is already shown merged with the base's tip of now, and this plan is for an older tip."""
    told = read_marker(first.body)
    if told is None or branch(plan.target) != pull.base_ref or plan.base == pull.base_sha:
        return None
    if (told.head, told.base) != (plan.head, pull.base_sha):
        return None
    why = f"its comment is for {told.base[:12]}, the tip of {plan.target} by now; this plan is for {plan.base[:12]}"
    return Step("yield", first.id, url=first.html_url, why=why, ok=told.verdict not in _REFUSED)


def _turned(plan: Wanted, first: Remark) -> bool:
    """Whether the comment showed nothing destructive so far, and would from now on. An edit notifies nobody."""
    told = read_marker(first.body)
    return told is not None and told.destructive == 0 < plan.destructive


def _alert(plan: Wanted, url: str) -> str:
    text = plan.alert.removeprefix(plan.alert_mark).strip() or (
        f"This pull request now takes something away that runs ({plan.destructive} in number)."
        f" Read [the plan]({url}) before you merge."
    )
    return f"{plan.alert_mark}\n{text}\n"


def _begins(body: str, mark: str) -> bool:
    """Whether the first line is the marker. Not anywhere else: a quote begins with ``>`` or a word."""
    return body.split("\n", 1)[0].rstrip() == mark


def _same(there: str, ours: str) -> bool:
    return there.replace("\r\n", "\n").strip() == ours.replace("\r\n", "\n").strip()
