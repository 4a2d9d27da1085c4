"""The reports of `placement plan`: the plan, one role explained, and what a failure would do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from knaster.cluster import Cluster, Gpu
from knaster.diagnostics import Diagnostic, Severity
from knaster.files import Files
from knaster.pipeline import Evaluation
from knaster.placement.explain import Line as Verdict
from knaster.placement.failure import Change, place_name
from knaster.placement.result import Assignment, PlacementPlan, Unplaced
from knaster.reports.blocks import Block, Items, Line, Problems, Report, Table, plural
from knaster.reports.json import diagnostic
from knaster.reports.validation import tally
from knaster.units import show

_MODELS_SHOWN = 2


def report(evaluation: Evaluation, answer: PlacementPlan, files: Files) -> Report:
    """JSON: ``{command, ok, assignments, unplaced, disabled_gpus, diagnostics}``."""
    cluster = evaluation.cluster
    cards = _cards(cluster)
    data = {
        **_head(evaluation),
        "assignments": [_assignment(item, cards) for item in answer.assignments],
        "unplaced": [_unplaced(item) for item in answer.unplaced],
        "disabled_gpus": [
            {"node": item.node, "gpu_index": item.gpu_index, "name": item.name, "reason": item.reason}
            for item in answer.disabled_gpus
        ],
        **_tail(evaluation),
    }
    rows = tuple(
        (item.role, place_name(item), _on(item, cards), _models(item.models_fitting)) for item in answer.assignments
    )
    blocks = (
        Table(("ROLE", "WHERE", "CARD", "MODELS THAT FIT"), rows),
        Items("not placed", tuple(f"{item.role}: {item.reason}" for item in answer.unplaced)),
        Items("disabled cards", tuple(_disabled(answer))),
        *_closing(evaluation, files, _counted(evaluation, answer)),
    )
    return Report(data, blocks)


def explained(evaluation: Evaluation, role: str, lines: Iterable[Verdict], files: Files) -> Report:
    """JSON: ``{command, ok, role, candidates: [{node, gpu_index, card, verdict, text}], diagnostics}``."""
    rows = tuple(lines)
    data = {
        **_head(evaluation),
        "role": role,
        "candidates": [
            {
                "node": line.node,
                "gpu_index": line.gpu_index,
                "card": line.name,
                "verdict": line.verdict,
                "text": line.text,
            }
            for line in rows
        ],
        **_tail(evaluation),
    }
    table = Table(
        ("WHERE", "CARD", "VERDICT", "WHY"),
        tuple((spot(line.node, line.gpu_index), line.name or "", line.verdict, line.text) for line in rows),
        title=f"where {role} could run",
    )
    unplaced = evaluation.planned.plan.unplaced if evaluation.planned else ()
    reasons = tuple(item.reason for item in unplaced if item.role == role)
    return Report(data, (table, Items("not placed", reasons), *_closing(evaluation, files, None)))


def lost(evaluation: Evaluation, target: str, changes: tuple[Change, ...], files: Files) -> Report:
    """What the loss of `target` would do. Survived means that every placed role stays placed.

    JSON: ``{command, ok, without, survived, changes: [{role, change, before, after, reason}], diagnostics}``.
    """
    survived = not _names(changes, "lost")
    data = {
        **_head(evaluation),
        "without": target,
        "survived": survived,
        "changes": [
            {"role": item.role, "change": item.what, "before": item.before, "after": item.after, "reason": item.reason}
            for item in changes
        ],
        **_tail(evaluation),
    }
    rows = tuple((item.role, item.what, ", ".join(item.before), ", ".join(item.after)) for item in changes)
    reasons = tuple(f"{item.role}: {item.reason}" for item in changes if item.reason)
    blocks = (
        Line(_verdict(target, changes), "good" if survived else "bad"),
        Table(("ROLE", "CHANGE", "BEFORE", "AFTER"), rows),
        Items("why", reasons),
        *_closing(evaluation, files, None),
    )
    return Report(data, blocks)


def spot(node: str, index: int | None) -> str:
    """``pve44/1`` for a card, ``pve44`` for a node's CPU."""
    return node if index is None else f"{node}/{index}"


def _verdict(target: str, changes: tuple[Change, ...]) -> str:
    if not changes:
        return f"without {target} nothing changes: every placed role stays where it is"
    dropped = _names(changes, "lost")
    if not dropped:
        return f"without {target} every placed role stays placed"
    return f"without {target} the fleet drops {', '.join(dropped)}"


def _names(changes: Iterable[Change], what: str) -> list[str]:
    return [item.role for item in changes if item.what == what]


def _head(evaluation: Evaluation) -> dict[str, Any]:
    return {"command": "placement plan", "ok": evaluation.ok}


def _tail(evaluation: Evaluation) -> dict[str, Any]:
    return {"diagnostics": [diagnostic(item) for item in evaluation.diagnostics]}


def _closing(evaluation: Evaluation, files: Files, summary: str | None) -> tuple[Block, ...]:
    """Errors in full; warnings as a count, because `validate` shows them."""
    errors = tuple(item for item in evaluation.diagnostics if item.severity is Severity.ERROR)
    blocks: list[Block] = [Line(summary)] if summary else []
    if errors:
        blocks += [
            Problems(errors, files),
            Line(f"{plural(len(errors), 'error')}: this plan would not be rendered", "bad"),
        ]
    return tuple(blocks)


def _counted(evaluation: Evaluation, answer: PlacementPlan) -> str:
    placed = len({item.role for item in answer.assignments})
    roles = len(evaluation.cluster.roles or ())
    warned: tuple[Diagnostic, ...] = evaluation.diagnostics
    warnings = tally(warned, Severity.WARNING)
    more = f"; {plural(warnings, 'warning')}, shown by knaster validate" if warnings else ""
    return f"{placed} of {plural(roles, 'role')} placed{more}"


def _disabled(answer: PlacementPlan) -> Iterable[str]:
    for item in answer.disabled_gpus:
        why = f": {item.reason}" if item.reason else ""
        yield f"{spot(item.node, item.gpu_index)} {item.name or 'unknown card'}{why}"


def _cards(cluster: Cluster) -> dict[tuple[str, int], Gpu]:
    return {(node.name, gpu.index): gpu for node in cluster.nodes for gpu in node.gpus}


def _on(item: Assignment, cards: dict[tuple[str, int], Gpu]) -> str:
    if item.gpu_index is None:
        return "CPU"
    gpu = cards.get((item.node, item.gpu_index))
    if gpu is None:
        return ""
    size = f", {show(gpu.memory_gb)} GB" if gpu.memory_gb is not None else ""
    return f"{gpu.name or 'unknown card'}{size}"


def _models(names: tuple[str, ...]) -> str:
    if not names:
        return "none"
    more = f" and {len(names) - _MODELS_SHOWN} more" if len(names) > _MODELS_SHOWN else ""
    return ", ".join(names[:_MODELS_SHOWN]) + more


def _assignment(item: Assignment, cards: dict[tuple[str, int], Gpu]) -> dict[str, Any]:
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
