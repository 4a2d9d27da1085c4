"""One side of the page as data: everything that is shown of one evaluation. Pure; `page` pairs two of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from knaster.cluster import Cluster
from knaster.diagnostics import Diagnostic, Severity
from knaster.names import short_id, spot
from knaster.placement.survival import failures
from knaster.reports.diff import Side
from knaster.reports.page.boxes import NodeBox
from knaster.reports.page.disabled import DisabledRow, disabled
from knaster.reports.page.failures import FailureRow, failure_rows, sentence, survived
from knaster.reports.page.figures import FigureRow, figures
from knaster.reports.page.matrix import Matrix, matrix
from knaster.reports.page.nodes import nodes
from knaster.reports.page.slots import SlotRow, slots
from knaster.reports.page.totals import Total, totals
from knaster.reports.page.unplaced import UnplacedRow, unplaced
from knaster.reports.wording import where
from knaster.slots import slot_views


@dataclass(frozen=True, slots=True)
class Problem:
    """One diagnostic."""

    severity: str
    code: str
    message: str
    place: str
    hint: str


@dataclass(frozen=True, slots=True)
class View:
    """One side. ``plan`` is "" where an error forbids rendering; ``survives`` are two sentences, ``survived`` the nodes
    and the cards that may be lost.
    """

    name: str
    ok: bool
    plan: str
    totals: tuple[Total, ...]
    nodes: Mapping[str, NodeBox]
    slots: Mapping[str, SlotRow]
    unplaced: Mapping[str, UnplacedRow]
    disabled: Mapping[str, DisabledRow]
    matrix: Matrix
    figures: Mapping[str, FigureRow]
    failures: Mapping[str, FailureRow]
    survives: tuple[str, ...]
    survived: tuple[tuple[str, tuple[str, ...]], ...]
    problems: tuple[Problem, ...]

    def total(self, key: str) -> Total | None:
        """The figure of that key."""
        return next((one for one in self.totals if one.key == key), None)


def view(side: Side) -> View | None:
    """What is shown of a side; None where its files did not load."""
    evaluation = side.evaluation
    planned = evaluation.planned
    if planned is None:
        return None
    cluster, found = planned.cluster, failures(planned.cluster, planned.plan)
    views = slot_views(planned)
    rows = slots(planned, views)
    return View(
        name=side.name,
        ok=evaluation.ok,
        plan=short_id(evaluation.plan_id),
        totals=totals(evaluation, planned, views, found),
        nodes=nodes(planned, views, {**found.nodes.drops, **found.cards.drops}),
        slots=rows,
        unplaced=unplaced(planned, rows),
        disabled=disabled(cluster),
        matrix=matrix(cluster),
        figures=figures(cluster.catalog),
        failures=failure_rows(found),
        survives=(sentence(found.nodes, "node"), sentence(found.cards, "card")),
        survived=(
            ("nodes", survived((node.name for node in cluster.nodes), found.nodes)),
            ("cards", survived(_cards(cluster), found.cards)),
        ),
        problems=tuple(map(_problem, sorted(evaluation.diagnostics, key=_worst_first))),
    )


def _cards(cluster: Cluster) -> list[str]:
    return [spot(node.name, gpu.index) for node in cluster.nodes for gpu in node.gpus]


_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}


def _worst_first(one: Diagnostic) -> int:
    return _RANK[one.severity]


def _problem(one: Diagnostic) -> Problem:
    place = where(one.place) if one.place else ""
    return Problem(one.severity.value, one.code, one.message, place, one.hint or "")
