"""What a pull request does to its target branch: the result that `pr plan` computes and the comment shows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from knaster.changes import compare
from knaster.changes.result import Comparison
from knaster.diagnostics import Diagnostic, has_errors
from knaster.pipeline import Evaluation
from knaster.placement.survival import Failures

Verdict = Literal["unchanged", "changes", "destructive", "invalid", "conflict"]


@dataclass(frozen=True, slots=True)
class PullPlan:
    """The plan of the merge of ``base`` (the tip of ``target``) and ``head``, against ``compared_with``.

    All commits are full SHAs. ``compared_with`` is ``base``, or the last valid commit where the base itself is invalid.
    ``plan_id`` names exactly what would land (see `knaster.pipeline.Evaluation`); "" when nothing can. ``problems`` are
    errors of the merge (conflicts, an edited ``generated/``) and of its inputs; ``command`` is the one that repairs
    ``generated/``. ``failures_before`` and ``failures_after`` are None where a side could not be planned.
    """

    target: str
    base: str
    head: str
    compared_with: str
    verdict: Verdict = "unchanged"
    plan_id: str = ""
    comparison: Comparison = field(default_factory=Comparison)
    problems: tuple[Diagnostic, ...] = ()
    command: str = ""
    failures_before: Failures | None = None
    failures_after: Failures | None = None
    notes: tuple[str, ...] = ()
    """What else a reader must know: a base that is invalid, other pull requests that want the same card."""

    @property
    def ok(self) -> bool:
        """Whether the merge may land."""
        return self.verdict not in ("invalid", "conflict")

    def noted(self, notes: Iterable[str]) -> PullPlan:
        """The plan with more notes."""
        return replace(self, notes=(*self.notes, *notes))


def judged(
    pull: PullPlan,
    before: Evaluation,
    after: Evaluation,
    problems: Iterable[Diagnostic] = (),
    *,
    conflict: bool = False,
) -> PullPlan:
    """`pull` with its comparison, problems, plan id and verdict; `problems` are those of the merge itself."""
    comparison = compare(before, after)
    found = (*problems, *after.errors)
    verdict: Verdict = (
        "conflict"
        if conflict
        else "invalid"
        if has_errors(found)
        else "destructive"
        if comparison.destructive
        else "changes"
        if comparison.changes or comparison.new or comparison.fixed
        else "unchanged"
    )
    plan_id = after.plan_id if verdict not in ("conflict", "invalid") else ""
    return replace(pull, verdict=verdict, plan_id=plan_id, comparison=comparison, problems=found)
