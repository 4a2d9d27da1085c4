"""The slots: the names that clients call, with what serves them now. Pure; checks and the registry read this one view.

A slot is served by all cards of its role; where a role has several slots, each assignment names the slots it serves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from knaster.cluster import Model, Role, Slot, VramShare
from knaster.placement.result import Assignment
from knaster.planned import Planned
from knaster.slots.chains import expand_chain
from knaster.slots.meeting import Seat, neighbours

_NO_PLACE = "no place of its role is left for this slot"
_NO_ADDRESS = "the address of the machine that serves it is not known"
_NO_MODEL = "no model of the catalog fits where the role runs"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a slot answers: one guest, or one node outside Proxmox.

    ``gpu_indices`` (sorted) are the cards that stand behind it, empty on a CPU. ``host`` is the address of the guest,
    else of the node; None where nobody knows it. ``worker``: a worker program on the node answers, not a guest.
    """

    node: str
    gpu_indices: tuple[int, ...]
    guest: str | None
    host: str | None
    port: int | None
    worker: bool


@dataclass(frozen=True, slots=True)
class SlotView:
    """One declared slot. Names in tuples are sorted, except ``fallback``, which is in the order to try.

    ``models`` fit on every card that serves the slot; ``model`` is the one it names, else the largest of them. An
    embedding slot falls back only to what serves the same ``model``: vectors of another do not compare with its own.
    ``excludes`` are slots that cannot run at the same time on a common card, ``excludes_roles`` such roles that serve
    no slot (a training run), ``concurrent`` slots that may run beside it there. ``reason`` says why it is unavailable.
    """

    name: str
    role: str
    engine: str
    model: str | None
    models: tuple[str, ...]
    state: Literal["available", "unavailable"]
    reason: str | None
    endpoints: tuple[Endpoint, ...]
    fallback: tuple[str, ...]
    excludes: tuple[str, ...]
    vram_share: VramShare | None
    kinds: tuple[str, ...] = ()
    processor: Literal["gpu", "cpu"] = "gpu"
    excludes_roles: tuple[str, ...] = ()
    concurrent: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Index:
    """What every slot looks up, indexed once."""

    models: Mapping[str, Model]
    ports: Mapping[str, int | None]
    guest_addresses: Mapping[str, str | None]
    node_addresses: Mapping[str, str | None]
    workers: frozenset[str]
    external: dict[str, str | None]
    """The model that an endpoint outside is asked for, None where the platform names none."""
    reasons: Mapping[str, str]


def slot_views(planned: Planned) -> tuple[SlotView, ...]:
    """One view per declared slot, sorted by name (then role). A role without slots has none."""
    roles = planned.cluster.roles or {}
    index = _index(planned)
    slots = {slot.name: slot for _, role in sorted(roles.items()) for slot in role.slots}
    seats = _seats(roles, planned.plan.assignments)
    near = neighbours(roles, seats)
    views = [_view(seat, seat.slot, near, slots, index) for seat in seats if seat.slot is not None]
    serves = index.external | {view.name: view.model for view in views}
    return tuple(sorted((_comparable(view, serves) for view in views), key=lambda view: (view.name, view.role)))


def _comparable(view: SlotView, serves: Mapping[str, str | None]) -> SlotView:
    """An embedding slot without the fallbacks that serve another model, or one that nobody names."""
    if "embedding" not in view.kinds or not view.fallback:
        return view
    same = tuple(name for name in view.fallback if view.model is not None and serves.get(name) == view.model)
    return replace(view, fallback=same)


def _index(planned: Planned) -> _Index:
    cluster = planned.cluster
    platform, catalog = cluster.platform, cluster.catalog
    return _Index(
        models=catalog.models if catalog else {},
        ports={name: engine.port for name, engine in catalog.engines.items()} if catalog else {},
        guest_addresses={guest.name: guest.address for guest in planned.guests},
        node_addresses={node.name: node.address for node in cluster.nodes},
        workers=frozenset(platform.workers) if platform else frozenset(),
        external={name: outside.model for name, outside in platform.external.items()} if platform else {},
        reasons={unplaced.role: unplaced.reason for unplaced in planned.plan.unplaced},
    )


def _seats(roles: Mapping[str, Role], assignments: Iterable[Assignment]) -> list[Seat]:
    """One seat per slot with the assignments that serve it; a role without slots has one seat with all of its own."""
    of_role: dict[str, list[Assignment]] = {}
    of_slot: dict[tuple[str, str], list[Assignment]] = {}
    for assignment in assignments:
        of_role.setdefault(assignment.role, []).append(assignment)
        for name in assignment.slots:
            of_slot.setdefault((assignment.role, name), []).append(assignment)
    seats = []
    for name, role in sorted(roles.items()):
        if len(role.slots) <= 1:
            seats.append(Seat(role, role.slots[0] if role.slots else None, tuple(of_role.get(name, ()))))
            continue
        seats += [Seat(role, slot, tuple(of_slot.get((name, slot.name), ()))) for slot in role.slots]
    return seats


def _view(
    seat: Seat, slot: Slot, near: Mapping[Seat, tuple[list[Seat], list[Seat]]], slots: Mapping[str, Slot], index: _Index
) -> SlotView:
    role = seat.role
    models = _models(seat.serving)
    endpoints = _endpoints(seat.serving, slot.port or index.ports.get(role.needs.engine), index)
    reason = _out_of_service(seat, models, endpoints, index)
    exclusive, concurrent = near.get(seat, ([], []))
    return SlotView(
        name=slot.name,
        role=role.name,
        engine=role.needs.engine,
        model=slot.model or _largest(models, index.models),
        models=models,
        state="unavailable" if reason else "available",
        reason=reason,
        endpoints=endpoints,
        fallback=expand_chain(slot, slots)[0],
        excludes=_slot_names(exclusive),
        vram_share=role.vram_share,
        kinds=tuple(sorted(role.kinds)),
        processor=_processor(seat),
        excludes_roles=tuple(sorted(other.role.name for other in exclusive if other.slot is None)),
        concurrent=_slot_names(concurrent),
    )


def _out_of_service(seat: Seat, models: tuple[str, ...], endpoints: tuple[Endpoint, ...], index: _Index) -> str | None:
    """Why nobody can call the slot: its role has no place, no model fits there, or nobody knows the address."""
    if not seat.serving:
        return index.reasons.get(seat.role.name, _NO_PLACE)
    if not models:
        return _NO_MODEL
    reachable = any(endpoint.host is not None or endpoint.worker for endpoint in endpoints)
    return None if reachable else _NO_ADDRESS


def _slot_names(seats: Iterable[Seat]) -> tuple[str, ...]:
    return tuple(sorted({seat.slot.name for seat in seats if seat.slot is not None}))


def _processor(seat: Seat) -> Literal["gpu", "cpu"]:
    """Where the slot runs; where it runs nowhere, what its role asks for."""
    on_card = any(a.gpu_index is not None for a in seat.serving) if seat.serving else seat.role.needs.gpu
    return "gpu" if on_card else "cpu"


def _models(serving: tuple[Assignment, ...]) -> tuple[str, ...]:
    """Models that fit everywhere the slot is served. Equal cards have equal lists, so few sets are compared."""
    lists = [set(names) for names in {assignment.models_fitting for assignment in serving}]
    return tuple(sorted(set.intersection(*lists))) if lists else ()


def _largest(names: tuple[str, ...], models: Mapping[str, Model]) -> str | None:
    """The model with the most VRAM, ties by name."""
    return min(names, key=lambda name: (-models[name].vram_gb if name in models else 0, name), default=None)


def _endpoints(serving: tuple[Assignment, ...], port: int | None, index: _Index) -> tuple[Endpoint, ...]:
    cards: dict[tuple[str, str], list[int]] = {}
    for assignment in serving:
        behind = cards.setdefault((assignment.node, assignment.guest or ""), [])
        if assignment.gpu_index is not None:
            behind.append(assignment.gpu_index)
    return tuple(
        Endpoint(
            node=node,
            gpu_indices=tuple(sorted(cards[node, guest])),
            guest=guest or None,
            host=index.guest_addresses.get(guest) if guest else index.node_addresses.get(node),
            port=port,
            worker=not guest and node in index.workers,
        )
        for node, guest in sorted(cards)
    )
