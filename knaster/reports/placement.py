"""The report of `placement plan`, and what the reports of its questions share with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from knaster.cluster import Cluster, Gpu
from knaster.diagnostics import Severity
from knaster.files import Files
from knaster.names import spot
from knaster.pipeline import Evaluation
from knaster.placement.failure import place_name
from knaster.placement.result import Assignment, PlacementPlan, Unplaced
from knaster.planned import Planned
from knaster.reports.blocks import Block, Items, Line, Problems, Report, Table, plural
from knaster.reports.json import diagnostic
from knaster.reports.validation import tally
from knaster.slots import slot_views
from knaster.units import show

_MODELS_SHOWN = 2


def report(evaluation: Evaluation, planned: Planned, files: Files, *, verbose: bool = False) -> Report:
    """JSON: ``{command, ok, assignments, unplaced, disabled_gpus, inactive_nodes, diagnostics}``.

    An assignment's ``change`` is ``new`` or ``was …`` against the placement in force, null for none. With `verbose`
    people read every model, and the warnings too.
    """
    answer, cards = planned.plan, gpus(planned.cluster)
    was = _earlier(planned)
    changes = _changes(planned, was)
    inactive = [node for node in planned.cluster.nodes if node.state != "active"]
    data = {
        **head(evaluation),
        "assignments": [
            _assignment(item, cards, change) for item, change in zip(answer.assignments, changes, strict=True)
        ],
        "unplaced": [_unplaced(item) for item in answer.unplaced],
        "disabled_gpus": [
            {"node": item.node, "gpu_index": item.gpu_index, "name": item.name, "reason": item.reason}
            for item in answer.disabled_gpus
        ],
        "inactive_nodes": [{"node": node.name, "state": node.state, "reason": node.reason} for node in inactive],
        **tail(evaluation),
    }
    differ = len([change for change in changes if change])
    blocks = (
        _table(planned, cards, changes, verbose=verbose),
        Items(
            "not placed", tuple(f"{item.role}{_lost_place(item.role, was)}: {item.reason}" for item in answer.unplaced)
        ),
        Items("disabled cards", tuple(_disabled(answer))),
        Items("nodes cordoned or down", tuple(f"{node.name} {node.state}{_why(node.reason)}" for node in inactive)),
        *closing(evaluation, files, _counted(evaluation, answer, differ, verbose=verbose), verbose=verbose),
    )
    return Report(data, blocks)


def _table(
    planned: Planned, cards: Mapping[tuple[str, int], Gpu], changes: list[str | None], *, verbose: bool
) -> Table:
    """One row for each assignment; a column for changes only where there are some."""
    models = _Models(planned)
    names, rows = ["ROLE", "WHERE", "CARD", "MODELS THAT FIT"], []
    for item, change in zip(planned.plan.assignments, changes, strict=True):
        gpu = None if item.gpu_index is None else cards.get((item.node, item.gpu_index))
        on = "CPU" if item.gpu_index is None else card(gpu)
        row = [item.role, place_name(item), on, _told(models.ordered(item), verbose=verbose)]
        rows.append([*row[:2], change or "", *row[2:]] if any(changes) else row)
    if any(changes):
        names.insert(2, "CHANGE")
    return Table(tuple(names), tuple(tuple(row) for row in rows))


def _earlier(planned: Planned) -> dict[str, list[str]]:
    """Where each role is in the placement in force."""
    was: dict[str, list[str]] = {}
    for item in planned.current.assignments if planned.current else ():
        was.setdefault(item.role, []).append(place_name(item))
    return was


def _changes(planned: Planned, was: Mapping[str, list[str]]) -> list[str | None]:
    """For each assignment: nothing where it is in force, else the place it is instead of, else ``new``."""
    if planned.current is None:
        return [None] * len(planned.plan.assignments)
    now: dict[str, set[str]] = {}
    for item in planned.plan.assignments:
        now.setdefault(item.role, set()).add(place_name(item))
    left = {role: sorted(set(was.get(role, ())) - places) for role, places in now.items()}
    changes: list[str | None] = []
    for item in planned.plan.assignments:
        if place_name(item) in was.get(item.role, ()):
            changes.append(None)
        else:
            changes.append(f"was {left[item.role].pop(0)}" if left[item.role] else "new")
    return changes


def _lost_place(role: str, was: Mapping[str, list[str]]) -> str:
    return f" (was {', '.join(was[role])})" if role in was else ""


class _Models:
    """The models that fit an assignment: first those that its slots serve, then by size."""

    def __init__(self, planned: Planned) -> None:
        self._known = planned.cluster.catalog.models if planned.cluster.catalog else {}
        self._served = {(view.role, view.name): view.model for view in slot_views(planned)}

    def ordered(self, item: Assignment) -> tuple[str, ...]:
        served = [self._served.get((item.role, slot)) for slot in item.slots]
        first = [name for name in dict.fromkeys(served) if name in item.models_fitting]
        rest = sorted(set(item.models_fitting) - set(first), key=self._size)
        return (*(name for name in first if name is not None), *rest)

    def _size(self, name: str) -> tuple[float, float, str]:
        model = self._known.get(name)
        return (-model.vram_gb, -model.min_memory_gb, name) if model else (0, 0, name)


def head(evaluation: Evaluation) -> dict[str, Any]:
    """How the JSON of every answer begins."""
    return {"command": "placement plan", "ok": evaluation.ok}


def tail(evaluation: Evaluation) -> dict[str, Any]:
    """How it ends."""
    return {"diagnostics": [diagnostic(item) for item in evaluation.diagnostics]}


def closing(
    evaluation: Evaluation, files: Files, summary: str | None = None, *, verbose: bool = False
) -> tuple[Block, ...]:
    """Errors in full; warnings only with `verbose`, because `validate` shows them."""
    errors = tuple(item for item in evaluation.diagnostics if item.severity is Severity.ERROR)
    blocks: list[Block] = [Line(summary)] if summary else []
    if errors or verbose:
        blocks.append(Problems(evaluation.diagnostics if verbose else errors, files))
    if errors:
        blocks += [
            Line(f"{plural(len(errors), 'error')}: this plan would not be rendered", "bad"),
        ]
    return tuple(blocks)


def _counted(evaluation: Evaluation, answer: PlacementPlan, differ: int, *, verbose: bool) -> str:
    placed = len({item.role for item in answer.assignments})
    text = f"{placed} of {plural(len(evaluation.cluster.roles or ()), 'role')} placed"
    if differ:
        text += f"; {plural(differ, 'place')} other than in the placement in force"
    warnings = tally(evaluation.diagnostics, Severity.WARNING)
    if warnings:
        text += f"; {plural(warnings, 'warning')}" + ("" if verbose else ", shown by knaster validate")
    return text


def _disabled(answer: PlacementPlan) -> Iterable[str]:
    for item in answer.disabled_gpus:
        yield f"{spot(item.node, item.gpu_index)} {item.name or 'unknown card'}{_why(item.reason)}"


def _why(reason: str | None) -> str:
    return f": {reason}" if reason else ""


def gpus(cluster: Cluster) -> dict[tuple[str, int], Gpu]:
    """Every card by node and index."""
    return {(node.name, gpu.index): gpu for node in cluster.nodes for gpu in node.gpus}


def card(gpu: Gpu | None) -> str:
    """``Quadro P2000, 5 GB``."""
    if gpu is None:
        return ""
    size = f", {show(gpu.memory_gb)} GB" if gpu.memory_gb is not None else ""
    return f"{gpu.name or 'unknown card'}{size}"


def _told(names: tuple[str, ...], *, verbose: bool) -> str:
    if not names:
        return "none"
    shown = len(names) if verbose else _MODELS_SHOWN
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more


def _assignment(item: Assignment, cards: Mapping[tuple[str, int], Gpu], change: str | None) -> dict[str, Any]:
    gpu = None if item.gpu_index is None else cards.get((item.node, item.gpu_index))
    return {
        "role": item.role,
        "node": item.node,
        "gpu_index": item.gpu_index,
        "card": item.card,
        "card_name": gpu.name if gpu else None,
        "guest": item.guest,
        "slots": item.slots,
        "models_fitting": item.models_fitting,
        "change": change,
    }


def _unplaced(item: Unplaced) -> dict[str, Any]:
    detail = item.detail
    return {
        "role": item.role,
        "reason": item.reason,
        "of": {"kind": detail.kind, "subject": detail.subject, "total": detail.total, "fit": detail.fit},
        "causes": [{"cause": count.cause, "number": count.number, "text": count.text} for count in detail.counts],
        "problem": detail.problem,
        "moves": [{"role": move.role, "from": move.source, "to": move.target} for move in detail.moves],
    }
