"""Arrangements: at most three other unpinned roles that could move so that a role without a place gets one.

A claim is made only after the planner has confirmed it: the same run with those moves as pins places the role, and
leaves every other role where it is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations, islice

from knaster.cluster import Node, Role
from knaster.placement import cpu_roles, gpu_roles
from knaster.placement.board import Board
from knaster.placement.cards import Card, Key
from knaster.placement.filters import Ask, Failure
from knaster.placement.passes import run
from knaster.placement.result import Move
from knaster.units import exact

MOST_MOVES = 3
TRIES = 8
"""Proposals that are planned for one role before the search gives up; none found, none claimed."""
_WORK = 2_000_000
_STEPS = 64
_LACKING = 16

Moves = tuple[Move, ...]


def tries(board: Board, roles: Mapping[str, Role]) -> Iterator[int]:
    """How often all searches of one plan together may plan again: the larger the fleet, the less often."""
    return iter(range(_WORK // max(1, len(roles) * (len(board.fleet.nodes) + len(board.fleet.cards.all)))))


def arrange(board: Board, roles: Mapping[str, Role], name: str, left: Iterator[int]) -> Moves:
    """The first confirmed arrangement that gives role `name` one more place; empty if none was found.

    `left` is shared by all searches of one plan (see `tries`): each confirmation takes one from it.
    """
    role = roles[name]
    engine = board.fleet.catalog.engines.get(role.needs.engine)
    if engine is None or role.share_with:
        return ()
    ask = Ask.of(role, engine)
    proposals = _card_moves(board, ask, roles) if role.needs.gpu else _node_moves(board, ask, roles)
    for moves in islice(proposals, TRIES):
        if next(left, None) is None:
            return ()
        if _confirmed(board, roles, name, moves):
            return moves
    return ()


def _confirmed(board: Board, roles: Mapping[str, Role], name: str, moves: Moves) -> bool:
    pinned = {move.role: replace(roles[move.role], pin=move.target) for move in moves}
    after = run(board.fleet, {**roles, **pinned}, board.held)
    before_all, after_all = _places(board, roles), _places(after, roles)
    changed = {one for one in roles if one != name and before_all[one] != after_all[one]}
    kept = all(len(after_all[one]) >= len(before_all[one]) for one in changed)
    unpinned = all(roles[one].pin is None for one in changed)
    return len(after_all[name]) > len(before_all[name]) and kept and unpinned and len(changed) <= MOST_MOVES


def _places(board: Board, roles: Mapping[str, Role]) -> dict[str, frozenset[Key | str]]:
    return {
        name: frozenset(card.key for card in board.cards_of.get(name, ()))
        | ({board.node_of[name].name} if name in board.node_of else frozenset[Key | str]())
        for name in roles
    }


def _card_moves(board: Board, ask: Ask, roles: Mapping[str, Role]) -> Iterator[Moves]:
    """Shortest chains first: this role's card from its holder, the holder's from the next, the last to a free card."""
    wanted = [board.fleet.cards.by_node[key[0]][key[1]] for key in sorted(board.taken)]
    queue: deque[tuple[Moves, Card]] = deque(
        ((), card) for card in wanted if gpu_roles.judge(board, ask, card) is None and _movable(board, roles, card)
    )
    seen = {card.key for _, card in queue}
    for _ in range(_STEPS):
        if not queue:
            return
        moves, card = queue.popleft()
        holder = _ask(board, roles[board.taken[card.key]])
        free = next((one for one in gpu_roles.candidates(board, holder)), None)
        if free is not None:
            yield (*moves, Move(holder.role.name, card.name, free.name))
        for other in wanted if len(moves) + 1 < MOST_MOVES else ():
            if other.key not in seen and _movable(board, roles, other) and not gpu_roles.judge(board, holder, other):
                seen.add(other.key)
                queue.append(((*moves, Move(holder.role.name, card.name, other.name)), other))


def _movable(board: Board, roles: Mapping[str, Role], card: Card) -> bool:
    """Roles with one card and no pin; a pin names one card, so it cannot say where two go."""
    holder = roles[board.taken[card.key]]
    return holder.pin is None and holder.count == 1


def _node_moves(board: Board, ask: Ask, roles: Mapping[str, Role]) -> Iterator[Moves]:
    """On each node that lacks only room: one to three CPU roles that could go elsewhere."""
    for node in islice(_lacking_room(board, ask), _LACKING):
        here = [role for role in roles.values() if _leaves(board, role, node.name)]
        here.sort(key=lambda role: (-exact(role.needs.min_memory_gb), role.name))
        found = (_elsewhere(board, role, node.name) for role in here[: MOST_MOVES * 2])
        moves = [move for move in found if move is not None]
        for number in range(1, MOST_MOVES + 1):
            yield from combinations(moves, number)


def _lacking_room(board: Board, ask: Ask) -> Iterator[Node]:
    for node in board.fleet.nodes.values():
        found = cpu_roles.serving(board, ask, node)
        if isinstance(found, Failure) and found.cause == "room":
            yield node


def _leaves(board: Board, role: Role, node: str) -> bool:
    on_node = role.name in board.node_of and board.node_of[role.name].name == node
    return on_node and role.pin is None and not role.share_with and role.needs.min_memory_gb > 0


def _elsewhere(board: Board, role: Role, node: str) -> Move | None:
    rooms = [
        (-found[1], other.name)
        for other in board.fleet.nodes.values()
        if other.name != node and not isinstance(found := cpu_roles.serving(board, _ask(board, role), other), Failure)
    ]
    return Move(role.name, node, min(rooms)[1]) if rooms else None


def _ask(board: Board, role: Role) -> Ask:
    return Ask.of(role, board.fleet.catalog.engines[role.needs.engine])
