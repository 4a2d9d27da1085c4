"""What `model plan` found out, and the JSON of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from knaster.cluster.architecture import Architecture
from knaster.diagnostics import Diagnostic
from knaster.model_plan.advice import Change
from knaster.model_plan.attempts import Ask
from knaster.model_plan.candidates import Absent, OnRecord, Outcome, Row
from knaster.model_plan.catalog_edit import lines
from knaster.model_plan.entry import Entry
from knaster.model_plan.pools import Hardware, LeftOut, Room
from knaster.model_plan.shapes import Spread
from knaster.reports.json import diagnostic
from knaster.units import GIB


@dataclass(frozen=True, slots=True)
class Answer:
    """Everything that `model plan` found out.

    ``written`` are the files that ``--write`` changed, None where nobody asked for it; ``notes`` is what a reader
    should know of the model's files, ``diagnostics`` what is wrong with the fleet's.
    """

    name: str
    model: Architecture
    kind: str
    ask: Ask
    outcome: Outcome
    fleet: Hardware
    entry: Entry | None = None
    changes: tuple[Change, ...] = ()
    revision: str | None = None
    notes: tuple[str, ...] = ()
    written: tuple[str, ...] | None = None
    diagnostics: tuple[Diagnostic, ...] = ()


def data(answer: Answer, per_token: int | None) -> dict[str, Any]:
    """The JSON object of an answer."""
    model, entry = answer.model, answer.entry
    return {
        "command": "model plan",
        "ok": bool(answer.outcome.rows),
        "model": {
            "name": answer.name,
            "revision": answer.revision,
            "kind": answer.kind,
            "family": model.family,
            "parameters": model.parameters,
            "layers": model.layers,
            "hidden": model.hidden,
            "heads": model.heads,
            "kv_heads": model.kv_heads,
            "head_dim": model.head_dim,
            "vocab": model.vocab,
            "experts": model.experts,
            "encoder": model.encoder,
            "stored": model.stored,
            "trained_context": model.context,
            "exact": model.exact,
        },
        "context": answer.ask.context,
        "parallel": answer.ask.parallel,
        "kv_precision": answer.ask.kv_precision,
        "bytes_per_token": per_token,
        "rows": [_row(row) for row in answer.outcome.rows],
        "absent": [_absent(one) for one in answer.outcome.absent],
        "left_out": [_left_out(one) for one in answer.fleet.left_out],
        "changes": [_changed(change) for change in answer.changes],
        "entry": None if entry is None else {"name": entry.name, "model": entry.data, "yaml": "\n".join(lines(entry))},
        "written": list(answer.written or ()),
        "notes": list(answer.notes),
        "diagnostics": [diagnostic(one) for one in answer.diagnostics],
    }


def _row(row: Row) -> dict[str, Any]:
    fit = row.fit
    need, shape = fit.need, fit.shape
    return {
        "gpus": fit.cards,
        "nodes": shape.nodes if shape else 1,
        "gpus_per_node": len(shape.each) if shape else 0,
        "pool": row.where,
        "classes": [kind.name for kind in shape.each] if shape else [],
        "os": shape.each[0].os if shape else None,
        "precision": fit.tried.precision,
        "engine": fit.tried.planning.engine.name,
        "build": row.build or None,
        "split": fit.split,
        "per_card_gib": [_gib(size) for size in fit.demand] if shape else [],
        "offer_gib": [_gib(size) for size in fit.offer] if shape else [],
        "headroom_gib": _gib(fit.headroom),
        "min_memory_gb": None if shape else _gib(fit.demand[0]),
        "weights_bytes": need.weights,
        "cache_bytes": need.cache,
        "state_bytes": need.state,
        "compute_bytes": need.compute,
        "context_overhead_bytes": need.context_overhead,
        "load_peak_bytes": list(need.load_peak),
        "ram_bytes": need.ram_bytes,
        "bytes_per_token": need.bytes_per_token,
        "parts": [{"name": part.name, "bytes": part.size, "source": part.source} for part in need.parts],
        "spare": row.spare,
        "figures": [_on_record(one) for one in row.figures],
        "where": [*map(_spread_data, row.spreads), *map(_room_data, row.rooms)],
    }


def _on_record(one: OnRecord) -> dict[str, Any]:
    """What is not known of it is left out, as in the catalog; ``kind`` says whether anybody measured it."""
    known = {key: value for key, value in asdict(one.figure).items() if value is not None and value is not False}
    return {"model": one.model, **known}


def _spread_data(spread: Spread) -> dict[str, Any]:
    cards = [{"node": card.node, "gpu_index": card.index, "held_by": list(card.holders)} for card in spread.cards]
    return {"cards": cards, "fabric": spread.fabric}


def _room_data(room: Room) -> dict[str, Any]:
    return {
        "node": room.node,
        "guest": room.guest,
        "room_gib": _gib(room.size),
        "left_gib": _gib(room.left),
        "held_by": list(room.holders),
    }


def _changed(change: Change) -> dict[str, Any]:
    return {"kind": change.kind, "options": change.options or None, "row": _row(change.row)}


def _absent(one: Absent) -> dict[str, Any]:
    return {"where": one.where, "precision": one.precision, "engine": one.engine, "reason": one.reason}


def _left_out(one: LeftOut) -> dict[str, Any]:
    return {"name": one.name, "reason": one.reason}


def _gib(size: int) -> float:
    return round(size / GIB, 3)
