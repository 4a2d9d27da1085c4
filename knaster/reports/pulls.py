"""The reports of `pr fetch`, `pr plan` and `pr sweep`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from knaster.files import Files
from knaster.names import short_id
from knaster.placement.survival import Failures, Survival
from knaster.pull import PullPlan
from knaster.reports import diff
from knaster.reports.blocks import Block, Items, Line, Problems, Report, Table, plural
from knaster.reports.comment import result_id, sentence
from knaster.reports.json import diagnostic

VERSION = 1
"""Of the layout of ``plan.json``."""
_WORSE = 3


def fetched(target: str, base: str, number: int, head: str, others: int) -> Report:
    """JSON: ``{command, ok, target, base, number, head, others}``; ``others`` counts the other open pull requests."""
    data = {"command": "pr fetch", "ok": True, "target": target, "base": base}
    data |= {"number": number, "head": head, "others": others}
    text = f"fetched {target} {short_id(base)}, pull request {number} {short_id(head)} and {plural(others, 'other')}"
    return Report(data, (Line(text, "good"),))


def data(plan: PullPlan) -> dict[str, Any]:
    """The object of ``plan.json``.

    ``{version, command, ok, verdict, sentence, target, base, head, compared_with, plan_id, result_id, destructive,
    problems, repair, notes, failures, complete, counts, changes, inputs, new, fixed}``; see `knaster.pull.PullPlan` and
    `knaster.reports.diff.data`.
    """
    return {
        "version": VERSION,
        "command": "pr plan",
        "ok": plan.ok,
        "verdict": plan.verdict,
        "sentence": sentence(plan),
        "target": plan.target,
        "base": plan.base,
        "head": plan.head,
        "compared_with": plan.compared_with,
        "plan_id": plan.plan_id,
        "result_id": result_id(plan),
        "destructive": len(plan.comparison.destructive),
        "problems": [diagnostic(item) for item in plan.problems],
        "repair": plan.command or None,
        "notes": list(plan.notes),
        "failures": {"before": _failures(plan.failures_before), "after": _failures(plan.failures_after)},
        **diff.data(plan.comparison),
    }


def planned(plan: PullPlan, files: Files) -> Report:
    """What people read at a prompt; JSON as in `data`."""
    merge = f"{short_id(plan.head)} merged into {plan.target} {short_id(plan.base)}"
    blocks: tuple[Block, ...] = (
        Line(f"{merge}: {sentence(plan)}", "good" if plan.ok else "bad"),
        Items("to note", plan.notes),
        Problems(plan.problems, files),
        *((Line(f"to fix: {plan.command}", "bad"),) if plan.command else ()),
        *diff.blocks(plan.comparison, plan.problems),
        *_standing(plan),
        *((Line(f"plan {short_id(plan.plan_id)}"),) if plan.plan_id else ()),
    )
    return Report(data(plan), blocks)


def swept(target: str, tip: str, plans: Mapping[int, PullPlan], outcomes: Mapping[int, str]) -> Report:
    """JSON: ``{command, ok, target, base, pulls: [{number, head, ok, verdict, sentence, notes, comment}]}``.

    ``comment`` is as in `pr comment`, null where it could not be written.
    """
    found = [
        {
            "number": number,
            "head": plan.head,
            "ok": plan.ok,
            "verdict": plan.verdict,
            "sentence": sentence(plan),
            "notes": list(plan.notes),
            "comment": outcomes.get(number) or None,
        }
        for number, plan in plans.items()
    ]
    told = {"command": "pr sweep", "ok": all(outcomes.values()), "target": target, "base": tip, "pulls": found}
    rows = tuple(
        (f"#{number}", short_id(plan.head), outcomes.get(number) or "not told", sentence(plan))
        for number, plan in plans.items()
    )
    text = f"{plural(len(plans), 'open pull request')} planned against {target} {short_id(tip)}"
    return Report(told, (Table(("PULL", "HEAD", "COMMENT", "RESULT"), rows), Line(text, "good")))


def _standing(plan: PullPlan) -> Iterator[Line]:
    """How the fleet stands failures with the merge, and where it stands them worse than without."""
    before, after = plan.failures_before, plan.failures_after
    if after is None or not plan.ok:
        return
    nodes = _survived("node", after.nodes, before.nodes if before else None)
    cards = _survived("card", after.cards, before.cards if before else None)
    yield Line(f"survives {nodes} and {cards}{_worse(before, after)}")


def _survived(noun: str, now: Survival, then: Survival | None) -> str:
    differs = then is not None and (then.survived, then.total) != (now.survived, now.total)
    before = f" (before: {then.survived} of {then.total})" if then and differs else ""
    return f"{now.survived} of {plural(now.total, f'{noun} failure')}{before}"


def _worse(before: Failures | None, after: Failures) -> str:
    if before is None:
        return ""
    told = [
        f"; losing {name} now drops {', '.join(new)}"
        for now, then in ((after.nodes, before.nodes), (after.cards, before.cards))
        for name, roles in now.drops.items()
        if (new := sorted(set(roles) - set(then.drops.get(name, ()))))
    ]
    return "".join(told[:_WORSE]) + (f"; so do {len(told) - _WORSE} more" if len(told) > _WORSE else "")


def _failures(failures: Failures | None) -> dict[str, Any] | None:
    return {"nodes": _survival(failures.nodes), "cards": _survival(failures.cards)} if failures else None


def _survival(survival: Survival) -> dict[str, Any]:
    drops = {name: list(roles) for name, roles in survival.drops.items()}
    return {"total": survival.total, "survived": survival.survived, "drops": drops}
