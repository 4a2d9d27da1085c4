"""The report of `placement plan --explain`: what a role asks, and why it is on one card and not on another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from knaster.cluster import Gpu, Role
from knaster.files import Files
from knaster.names import spot
from knaster.pipeline import Evaluation
from knaster.placement.explain import Line as Candidate
from knaster.placement.filters import Ask
from knaster.planned import Planned
from knaster.reports.blocks import Block, Items, Line, Report, Table, plural
from knaster.reports.placement import card, closing, gpus, head, tail
from knaster.units import MIB_PER_GIB, Exact, show, show_cc

_RANK = {"chosen": 0, "fits": 1}
_ELSEWHERE = "target"
"""The verdict of what a sharer's target does not hold."""


def report(
    evaluation: Evaluation, planned: Planned, role: str, found: Iterable[Candidate], files: Files, *, verbose: bool
) -> Report:
    """JSON: ``{command, ok, role, asks, candidates, diagnostics}``; a candidate is ``{node, gpu_index, card,
    memory_gb, compute_cap, guest, room_gb, left_gb, verdict, text}``, sorted by place."""
    candidates, cards = tuple(found), gpus(planned.cluster)
    wanted = (planned.cluster.roles or {})[role]
    engines = planned.cluster.catalog.engines if planned.cluster.catalog else {}
    ask = Ask.of(wanted, engines[wanted.needs.engine]) if wanted.needs.engine in engines else None
    data = {
        **head(evaluation),
        "role": role,
        "asks": _asks(wanted, ask),
        "candidates": [_data(one, cards) for one in candidates],
        **tail(evaluation),
    }
    shown = [one for one in candidates if verbose or one.verdict != _ELSEWHERE]
    shown.sort(key=lambda one: _RANK.get(one.verdict, len(_RANK)))
    on_card = any(one.gpu_index is not None for one in shown)
    what = "CARD" if on_card and all(one.gpu_index is not None for one in shown) else "CARD OR ROOM"
    rows = tuple((spot(one.node, one.gpu_index), _what(one, cards), _verdict(one), one.text) for one in shown)
    reasons = tuple(item.reason for item in planned.plan.unplaced if item.role == role)
    blocks: tuple[Block, ...] = (
        Line(_sentence(wanted, ask)),
        Table(("WHERE", what if on_card else "ROOM", "", "WHY"), rows),
        *_folded(wanted, len(candidates) - len(shown)),
        Items("not placed", reasons),
        *closing(evaluation, files, verbose=verbose),
    )
    return Report(data, blocks)


def _verdict(one: Candidate) -> str:
    return one.verdict if one.verdict in _RANK else "no"


def _folded(role: Role, number: int) -> tuple[Block, ...]:
    if not number:
        return ()
    told = f"card{'' if number == 1 else 's'} that {role.share_with} does not hold"
    if not role.needs.gpu:
        told = f"node{'' if number == 1 else 's'} without {role.share_with}"
    return (Line(f"{number} more {told} (-v shows all)"),)


def _sentence(role: Role, ask: Ask | None) -> str:
    """What the role asks, floors and ceilings of its engine included."""
    needs = role.needs
    engine = f"{needs.engine} ({' or '.join(ask.engine.os)})" if ask else f"{needs.engine} (not in the catalog)"
    parts = _of_card(role, ask) if needs.gpu else []
    if needs.min_memory_gb or not needs.gpu:
        parts.append(f"memory {show(needs.min_memory_gb)} GB or more")
    if role.guest:
        parts.append(f"in guest {role.guest}")
    parts.append(f"pinned to {role.pin}" if role.pin else "not pinned")
    if role.cpu_fallback:
        parts.append("else a CPU")
    thing = plural(role.count, "card") if needs.gpu else "a CPU"
    if role.share_with:
        thing = f"a share ({role.share_mode}) of {'a card' if needs.gpu else 'the node'} of {role.share_with}"
    return f"{role.name} asks for {thing} for {engine}: {', '.join(parts)}"


def _of_card(role: Role, ask: Ask | None) -> list[str]:
    floor = show_cc(ask.min_cc if ask else role.needs.min_cc)
    ceiling = ask.max_cc if ask else role.needs.max_cc
    capability = f"{floor} to {show_cc(ceiling)}" if ceiling is not None else f"{floor} or more"
    parts = [f"VRAM {show(role.needs.min_vram_gb)} GB or more", f"compute capability {capability}"]
    return parts if role.share_with else [*parts, f"prefers {role.prefer}"]


def _asks(role: Role, ask: Ask | None) -> dict[str, Any]:
    needs = role.needs
    return {
        "engine": needs.engine,
        "os": ask.engine.os if ask else None,
        "gpu": needs.gpu,
        "min_vram_gb": needs.min_vram_gb,
        "min_cc": ask.min_cc if ask else needs.min_cc,
        "max_cc": ask.max_cc if ask else needs.max_cc,
        "min_memory_gb": needs.min_memory_gb,
        "prefer": role.prefer,
        "count": role.count,
        "pin": role.pin,
        "guest": role.guest,
        "share_with": role.share_with,
        "share_mode": role.share_mode if role.share_with else None,
        "cpu_fallback": role.cpu_fallback,
    }


def _what(one: Candidate, cards: Mapping[tuple[str, int], Gpu]) -> str:
    """``Quadro P2000, 5 GB, 6.1`` of a card, ``infra: 12 GB, 11 left`` of a node."""
    if one.gpu_index is not None:
        gpu = cards.get((one.node, one.gpu_index))
        capability = f", {show_cc(gpu.compute_cap)}" if gpu and gpu.compute_cap is not None else ""
        return f"{card(gpu)}{capability}"
    if one.room is None:
        return ""
    guest = f"{one.room.guest}: " if one.room.guest else ""
    return f"{guest}{show(one.room.size / MIB_PER_GIB)} GB, {show(one.room.left / MIB_PER_GIB)} left"


def _data(one: Candidate, cards: Mapping[tuple[str, int], Gpu]) -> dict[str, Any]:
    gpu = None if one.gpu_index is None else cards.get((one.node, one.gpu_index))
    return {
        "node": one.node,
        "gpu_index": one.gpu_index,
        "card": one.name,
        "memory_gb": gpu.memory_gb if gpu else None,
        "compute_cap": gpu.compute_cap if gpu else None,
        "guest": one.room.guest if one.room else None,
        "room_gb": _gib(one.room.size) if one.room else None,
        "left_gb": _gib(one.room.left) if one.room else None,
        "verdict": one.verdict,
        "text": one.text,
    }


def _gib(mib: Exact) -> int | float:
    number = round(float(mib / MIB_PER_GIB), 3)
    return int(number) if number.is_integer() else number
