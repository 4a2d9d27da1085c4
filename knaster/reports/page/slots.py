"""Slots with who serves them now, their fallback chains, and what cannot run at the same time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from knaster.names import spot
from knaster.planned import Planned
from knaster.slots import Endpoint, SlotView


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of a fallback chain: another slot, or an endpoint outside of the fleet."""

    name: str
    kind: Literal["slot", "external", "unknown"]
    answers: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """Where a slot answers: its node, the cards behind it, and the address (``host:port``)."""

    node: str
    places: tuple[str, ...]
    address: str
    program: str


@dataclass(frozen=True, slots=True)
class SlotRow:
    """One slot. ``excludes`` are names of slots, ``excludes_roles`` roles that serve none (a training run)."""

    name: str
    role: str
    kinds: tuple[str, ...]
    engine: str
    model: str
    available: bool
    reason: str
    answers: tuple[Answer, ...]
    chain: tuple[Hop, ...]
    excludes: tuple[str, ...]
    excludes_roles: tuple[str, ...]
    beside: tuple[str, ...]

    @property
    def tags(self) -> tuple[str, ...]:
        """What the filter of the page knows it by."""
        return ("used",) if self.available else ("attention",)


def slots(planned: Planned, views: Iterable[SlotView]) -> dict[str, SlotRow]:
    """Every declared slot by name."""
    listed = tuple(views)
    platform = planned.cluster.platform
    outside = frozenset(platform.external) if platform else frozenset[str]()
    available = {view.name: view.state == "available" for view in listed}
    programs = {name: worker.program for name, worker in platform.workers.items()} if platform else {}
    return {view.name: _row(view, available, outside, programs) for view in reversed(listed)}


def _row(
    view: SlotView, available: Mapping[str, bool], outside: frozenset[str], programs: Mapping[str, str]
) -> SlotRow:
    return SlotRow(
        view.name,
        view.role,
        view.kinds,
        view.engine,
        view.model or "",
        view.state == "available",
        view.reason or "",
        tuple(_answer(one, programs) for one in view.endpoints),
        tuple(hop(name, available, outside) for name in view.fallback),
        view.excludes,
        view.excludes_roles,
        view.concurrent,
    )


def hop(name: str, available: Mapping[str, bool], outside: frozenset[str]) -> Hop:
    """A step of a chain; an external endpoint counts as one that answers: nobody here can know better."""
    if name in available:
        return Hop(name, "slot", available[name])
    return Hop(name, "external" if name in outside else "unknown", name in outside)


def _answer(one: Endpoint, programs: Mapping[str, str]) -> Answer:
    places = tuple(spot(one.node, index) for index in one.gpu_indices)
    host = one.host or ("address not known" if not one.worker else one.node)
    address = f"{host}:{one.port}" if one.port is not None else host
    where = places or ((f"{one.node} ({one.guest})" if one.guest else one.node),)
    return Answer(one.node, where, address, programs.get(one.node, "") if one.worker else "")
