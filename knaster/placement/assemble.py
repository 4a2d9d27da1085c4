"""A finished run turned into the plan: models that fit (rule 5), slots, sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from knaster.cluster import Engine, Model, Node, Role
from knaster.fit import Device, fits
from knaster.fit.fits import card_device
from knaster.placement.board import Board
from knaster.placement.cards import Card, Key
from knaster.placement.cpu_roles import room_of
from knaster.placement.reasons import sentence
from knaster.placement.result import Assignment, DisabledGpu, PlacementPlan, Reason, Unplaced
from knaster.units import Exact, mib


@dataclass(frozen=True, slots=True)
class Seat:
    """Where one assignment is: a card, or a node's CPU (``card`` None)."""

    node: Node
    card: Card | None = None

    @property
    def key(self) -> Key | str:
        """What the seat is recognised by in the placement in force."""
        return self.card.key if self.card else self.node.name


def assemble(board: Board, roles: Mapping[str, Role], reasons: Mapping[str, Reason]) -> PlacementPlan:
    """The plan of a finished run; `reasons` are the board's, with arrangements where some were found."""
    models = _Models(board)
    assignments = [one for name in sorted(roles) for one in _assignments(board, roles[name], models)]
    return PlacementPlan(
        assignments=tuple(assignments),
        unplaced=tuple(_unplaced(board, roles[name], reasons[name]) for name in sorted(reasons)),
        disabled_gpus=tuple(
            DisabledGpu(card.node.name, card.gpu.index, card.gpu.name, card.gpu.reason)
            for card in board.fleet.cards.all
            if card.gpu.disabled
        ),
    )


def seats_of(board: Board, name: str) -> tuple[Seat, ...]:
    """All places of one role, by node name and index."""
    if name in board.node_of:
        return (Seat(board.node_of[name]),)
    return tuple(Seat(card.node, card) for card in sorted(board.cards_of.get(name, ()), key=lambda card: card.key))


def _assignments(board: Board, role: Role, models: _Models) -> Iterable[Assignment]:
    seats = seats_of(board, role.name)
    for seat, slots in zip(seats, _slots(board, role, seats), strict=True):
        yield Assignment(
            role=role.name,
            node=seat.node.name,
            gpu_index=seat.card.gpu.index if seat.card else None,
            models_fitting=models.fitting(role, seat),
            card=seat.card.identity if seat.card else None,
            guest=board.guest_name(seat.node) if seat.card else room_of(board.fleet, role, seat.node)[0][1],
            slots=slots,
        )


def _slots(board: Board, role: Role, seats: tuple[Seat, ...]) -> list[tuple[str, ...]]:
    """One slot is served by every seat; of several each seat gets its own, first the one that it has in force."""
    names = sorted(slot.name for slot in role.slots)
    if len(names) < 2:
        return [tuple(names)] * len(seats)
    got: dict[Key | str, str] = {}
    for seat in seats:
        kept = [name for name in board.held.slots.get((role.name, seat.key), ()) if name in names]
        if kept:
            got[seat.key] = kept[0]
            names.remove(kept[0])
    for seat in seats:
        if seat.key not in got and names:
            got[seat.key] = names.pop(0)
    return [(got[seat.key],) if seat.key in got else () for seat in seats]


def _unplaced(board: Board, role: Role, reason: Reason) -> Unplaced:
    placed = len(seats_of(board, role.name))
    return Unplaced(role.name, sentence(reason, placed=placed, wanted=role.count), reason)


class _Models:
    """The catalog models that fit a seat, worked out once per kind of seat."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._models = sorted(board.fleet.catalog.models.values(), key=lambda model: model.name)
        self._seen: dict[tuple[Engine, tuple[str, ...], Device, Exact], tuple[str, ...]] = {}

    def fitting(self, role: Role, seat: Seat) -> tuple[str, ...]:
        engine = self._board.fleet.catalog.engines[role.needs.engine]
        there, share = device(self._board, role, seat)
        key = (engine, role.kinds, there, share)
        if key not in self._seen:
            self._seen[key] = tuple(m.name for m in self._models if _serves(m, role, there, engine, share))
        return self._seen[key]


def device(board: Board, role: Role, seat: Seat) -> tuple[Device, Exact]:
    """What the models of a role run on at this seat, and the MiB of it that others hold."""
    if seat.card is not None:
        share = mib(board.on_card[seat.card.key].floors_beside(role))
        return card_device(seat.node, seat.card.gpu, board.fleet.platform), share
    room, capacity = room_of(board.fleet, role, seat.node)
    others_use = board.used[room] - mib(role.needs.min_memory_gb)
    free = None if capacity is None else capacity - others_use
    return Device(seat.node.role_os, gpu=False, free_mib=free), 0


def _serves(model: Model, role: Role, device: Device, engine: Engine, share: Exact) -> bool:
    return model.kind in role.kinds and fits(model, device, engine, share)
