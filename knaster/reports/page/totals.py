"""The figures at the top of the page: counted from the plan, never from what is shown."""

from __future__ import annotations

from dataclasses import dataclass

from knaster.diagnostics import Severity
from knaster.pipeline import Evaluation
from knaster.placement.survival import Failures
from knaster.planned import Planned
from knaster.reports.validation import tally
from knaster.slots import SlotView


@dataclass(frozen=True, slots=True)
class Total:
    """One figure: a number, of how many (None: of nothing), and whether more of it is worse (or better)."""

    key: str
    label: str
    number: int
    of: int | None = None
    good: int = 0
    """1: more is better, -1: more is worse, 0: neither."""

    @property
    def text(self) -> str:
        """``6 of 8``."""
        return str(self.number) if self.of is None else f"{self.number} of {self.of}"


def totals(evaluation: Evaluation, planned: Planned, views: tuple[SlotView, ...], found: Failures) -> tuple[Total, ...]:
    """In the order in which they are shown."""
    cluster, plan = planned.cluster, planned.plan
    used = {(one.node, one.gpu_index) for one in plan.assignments if one.gpu_index is not None}
    roles = cluster.roles or {}
    return (
        Total("nodes", "nodes", len({node.name for node in cluster.nodes})),
        Total("cards", "cards in use", len(used), found.cards.total),
        Total("roles", "roles placed", len({one.role for one in plan.assignments}), len(roles), good=1),
        Total("slots", "slots available", sum(view.state == "available" for view in views), len(views), good=1),
        Total("survival", "node failures survived", found.nodes.survived, found.nodes.total, good=1),
        Total("card-survival", "card failures survived", found.cards.survived, found.cards.total, good=1),
        Total("unplaced", "roles short of a place", len(plan.unplaced), good=-1),
        Total("disabled", "cards disabled", len(plan.disabled_gpus), good=-1),
        Total("guests", "guests", len(planned.guests)),
        Total("errors", "errors", tally(evaluation.diagnostics, Severity.ERROR), good=-1),
        Total("warnings", "warnings", tally(evaluation.diagnostics, Severity.WARNING), good=-1),
    )
