"""The verdict as one sentence, and the counts: from the changes themselves, never from text that was rendered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from knaster.changes.result import Change, Effect
from knaster.changes.words import listed
from knaster.diagnostics import Severity
from knaster.pull import PullPlan
from knaster.reports.blocks import plural
from knaster.reports.wording import DONE, models_told, tells_fit, things

_TAKES = {Effect.DESTROY: "destroys", Effect.REPLACE: "replaces", Effect.LOSE: "drops"}
_DOES = {
    Effect.REFUSE: "breaks the apply of",
    Effect.MOVE: "moves",
    Effect.RESTART: "restarts",
    Effect.CREATE: "adds",
    Effect.UPDATE: "changes",
}


def sentence(plan: PullPlan) -> str:
    """One plain sentence without a full stop, such as ``This merge moves 1 role; nothing is lost or restarted``.

    Of data it holds the name of the target branch alone.
    """
    if plan.verdict == "conflict":
        return f"Conflict with {plan.target}: {plural(_errors(plan), 'problem')}; nothing can land"
    if plan.verdict == "invalid":
        return f"Invalid: {plural(_errors(plan), 'error')}; nothing can land"
    changes = plan.comparison.changes
    takes, does, models = _clauses(_TAKES, changes), _clauses(_DOES, changes), models_told(changes)
    fitting = f"; {listed(models)}" if models else ""
    if takes:
        return f"This merge {listed(takes)}" + (f"; it also {listed(does)}" if does else "") + fitting
    if does:
        restarts = any(change.effect is Effect.RESTART for change in changes)
        return f"This merge {listed(does)}; nothing is lost" + ("" if restarts else " or restarted") + fitting
    if models:
        return f"Nothing that runs changes{fitting}"
    if changes:
        return "This merge changes only what is recorded, and nothing that runs"
    if not plan.comparison.complete:
        return "What this merge changes is not known: one side could not be read"
    return "No change to the fleet"


def counts(plan: PullPlan) -> str:
    """Everything that was counted: ``1 dropped, 2 moved; 1 new warning``."""
    effects = Counter(change.effect for change in plan.comparison.changes if not tells_fit(change))
    told = [f"{effects[effect]} {word}" for effect, word in DONE.items() if effects[effect]]
    told += models_told(plan.comparison.changes)
    found = [plural(_errors(plan), "error")] if plan.problems else []
    known = frozenset(plan.problems)
    new = Counter(one.severity for one in plan.comparison.new if one not in known)
    found += [plural(new[severity], f"new {severity}") for severity in Severity if new[severity]]
    if plan.comparison.fixed:
        found.append(f"{len(plan.comparison.fixed)} fixed")
    if not told and not plan.problems:
        told = ["0 changes" if plan.ok and plan.comparison.complete else "not compared"]
    return "; ".join(", ".join(some) for some in (told, found) if some)


def _errors(plan: PullPlan) -> int:
    return sum(one.severity is Severity.ERROR for one in plan.problems)


def _clauses(verbs: dict[Effect, str], changes: Sequence[Change]) -> list[str]:
    counted = {effect: things(change for change in changes if change.effect is effect) for effect in verbs}
    return [f"{verbs[effect]} {found}" for effect, found in counted.items() if found]
