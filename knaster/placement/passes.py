"""One planning run: GPU roles, CPU roles, sharers, in that order. Pure and deterministic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from knaster.cluster import Role
from knaster.placement import cpu_roles, gpu_roles, reasons, sharing
from knaster.placement.board import Board, Fleet, Held
from knaster.placement.filters import Ask
from knaster.placement.result import Reason


def run(fleet: Fleet, roles: Mapping[str, Role], held: Held) -> Board:
    """Place every role that can be placed; a reason stands on the board for every other one."""
    board = Board(fleet, held)
    asks = {name: ask for name in sorted(roles) if (ask := _ask(board, roles[name])) is not None}
    own = sorted(
        (ask for ask in asks.values() if not ask.role.share_with), key=lambda a: (a.role.priority, a.role.name)
    )
    without_card = _place_on_cards(board, [ask for ask in own if ask.role.needs.gpu])
    _place_on_nodes(board, [ask for ask in own if not ask.role.needs.gpu or ask.role.name in without_card])
    ready, stuck = sharing.in_order(roles)
    for role in stuck:
        if role.name in asks:
            board.reasons[role.name] = Reason(problem=f"share_with {role.share_with} leads into a cycle")
    _place_sharers(board, [asks[role.name] for role in ready if role.name in asks], roles)
    return board


def _ask(board: Board, role: Role) -> Ask | None:
    engine = board.fleet.catalog.engines.get(role.needs.engine)
    if engine is None:
        board.reasons[role.name] = Reason(problem=f"engine {role.needs.engine} is not in the catalog")
        return None
    return Ask.of(role, engine)


def _place_on_cards(board: Board, asks: Iterable[Ask]) -> set[str]:
    """Rule 2. The names of roles that got no card at all and may fall back to a CPU."""
    fallback = set()
    for ask in asks:
        got = gpu_roles.take(board, ask)
        if got < ask.role.count:
            board.reasons[ask.role.name] = reasons.for_cards(board, ask)
        if not got and ask.role.cpu_fallback:
            fallback.add(ask.role.name)
    return fallback


def _place_on_nodes(board: Board, asks: Iterable[Ask]) -> None:
    """Rule 3: CPU roles and fallbacks together, by priority and name."""
    for ask in asks:
        _fall_back(board, ask)


def _fall_back(board: Board, ask: Ask) -> None:
    """Place on a CPU; a fallback's reason of its cards is dropped when that worked, else both are told."""
    name = ask.role.name
    cards = board.reasons.pop(name, None)
    if cpu_roles.take(board, ask):
        if cards is not None and ask.role.count > 1:
            board.reasons[name] = replace(cards, fit=0)
        return
    nodes = reasons.for_nodes(board, ask)
    board.reasons[name] = nodes if cards is None else replace(cards, fallback=nodes)


def _place_sharers(board: Board, asks: Iterable[Ask], roles: Mapping[str, Role]) -> None:
    """Rule 4."""
    for ask in asks:
        if ask.role.share_with not in roles:
            board.reasons[ask.role.name] = Reason(problem=f"share_with {ask.role.share_with} is no role")
        elif not sharing.take(board, ask):
            board.reasons[ask.role.name] = reasons.for_sharer(board, ask)
            if ask.role.cpu_fallback:
                _fall_back(board, ask)
