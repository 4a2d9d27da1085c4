"""Rule 4: roles that share a card (or a node) with another role."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Mapping

from knaster.cluster import Node, Role
from knaster.placement import cpu_roles
from knaster.placement.board import Board
from knaster.placement.cards import Card
from knaster.placement.filters import Ask, Failure
from knaster.placement.gpu_roles import judge
from knaster.units import exact, show

_SHOWN = 8


def in_order(roles: Mapping[str, Role]) -> tuple[tuple[Role, ...], tuple[Role, ...]]:
    """Sharers by priority and name, each after its target; and those in a cycle, or behind one, in the same order."""
    sharers = {name: role for name, role in roles.items() if role.share_with}
    followers: defaultdict[str, list[Role]] = defaultdict(list)
    for role in sharers.values():
        followers[role.share_with or ""].append(role)
    heap = [(role.priority, name) for name, role in sharers.items() if role.share_with not in sharers]
    heapq.heapify(heap)
    ready: list[Role] = []
    while heap:
        role = sharers.pop(heapq.heappop(heap)[1])
        ready.append(role)
        for follower in followers[role.name]:
            heapq.heappush(heap, (follower.priority, follower.name))
    return tuple(ready), tuple(sorted(sharers.values(), key=lambda role: (role.priority, role.name)))


def take(board: Board, ask: Ask) -> bool:
    """Let a sharer join a card (or node) of its target: the one it holds, else the first by node name and index."""
    if not ask.role.needs.gpu:
        return cpu_roles.take(board, ask, target_nodes(board, ask.role), first_by_name=True)
    held = board.held.cards.get(ask.role.name, frozenset())
    free = [card for card in target_cards(board, ask.role) if refusal(board, ask, card) is None]
    card = min(free, key=lambda card: (card.key not in held, card.key), default=None)
    if card is None:
        return False
    board.put_on_card(ask.role, card)
    return True


def target_cards(board: Board, role: Role) -> tuple[Card, ...]:
    """The cards that the target holds, by node name and index."""
    return tuple(sorted(board.cards_of.get(role.share_with or "", ()), key=lambda card: card.key))


def target_nodes(board: Board, role: Role) -> tuple[Node, ...]:
    """The nodes that the target is on, by name."""
    target = role.share_with or ""
    nodes = {card.node.name: card.node for card in board.cards_of.get(target, ())}
    if target in board.node_of:
        nodes[board.node_of[target].name] = board.node_of[target]
    return tuple(nodes[name] for name in sorted(nodes))


def refusal(board: Board, ask: Ask, card: Card) -> Failure | None:
    """Why the sharer cannot use one of its target's cards; with ``concurrent`` the sum of floors counts too."""
    failure = judge(board, ask, card)
    if failure is not None or ask.role.share_mode != "concurrent":
        return failure
    there = board.on_card[card.key]
    need = there.floors_beside(ask.role) + exact(ask.role.needs.min_vram_gb)
    size = exact(card.gpu.memory_gb or 0)
    if need <= size:
        return None
    others = there.beside(ask.role)
    more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
    names = ", ".join(role.name for role in others[:_SHOWN]) + more
    return Failure("beside", f"too small beside {names} (together {show(need)} GB, the card has {show(size)} GB)")


def tally(board: Board, ask: Ask) -> tuple[int, Counter[Failure]]:
    """The target's cards (``gpu: false``: its nodes): how many there are, and why each cannot serve."""
    if not ask.role.needs.gpu:
        nodes = target_nodes(board, ask.role)
        return len(nodes), cpu_roles.tally(board, ask, nodes)
    cards = target_cards(board, ask.role)
    found = (refusal(board, ask, card) for card in cards)
    return len(cards), Counter(one for one in found if one is not None)
