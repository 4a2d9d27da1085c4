"""`explain`: every card (or node) that a role could be on, with why or why not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from knaster.cluster import Catalog, Node, Platform, Role
from knaster.placement import cpu_roles, gpu_roles, sharing
from knaster.placement.board import Board, Fleet, Held
from knaster.placement.cards import Card
from knaster.placement.filters import Ask, Failure
from knaster.placement.passes import run
from knaster.placement.result import PlacementPlan
from knaster.units import Exact


@dataclass(frozen=True, slots=True)
class Room:
    """What a node has for a CPU role: the guest (None outside Proxmox), its size in MiB, and what the plan leaves."""

    guest: str | None
    size: Exact
    left: Exact


@dataclass(frozen=True, slots=True)
class Line:
    """One card (``gpu_index``) or node (None): ``chosen``, ``fits`` (another came first), or the cause against it.

    ``room`` is told of a node that serves the role, or would if it had more of it.
    """

    node: str
    gpu_index: int | None
    name: str | None
    verdict: str
    text: str
    room: Room | None = None


def explain(
    role: str,
    nodes: Iterable[Node],
    roles: Mapping[str, Role],
    models: Catalog,
    *,
    platform: Platform | None = None,
    current: PlacementPlan | None = None,
) -> tuple[Line, ...]:
    """A line for every card, or for every node where the role runs (or would fall back to) on a CPU; sorted by place.

    Raises `KeyError` if there is no such role. A role whose engine is not in the catalog gets no line.
    """
    wanted = roles[role]
    engine = models.engines.get(wanted.needs.engine)
    if engine is None:
        return ()
    fleet = Fleet.of(nodes, models, platform)
    board = run(fleet, roles, Held.of(current, fleet.cards))
    ask = Ask.of(wanted, engine)
    lines = [card_line(board, ask, card) for card in fleet.cards.all] if wanted.needs.gpu else []
    if not wanted.needs.gpu or wanted.cpu_fallback:
        lines += [node_line(board, ask, node) for node in fleet.nodes.values()]
    return tuple(lines)


def card_line(board: Board, ask: Ask, card: Card) -> Line:
    """The line of one card, on the board of a finished run."""
    name, role = card.gpu.name, ask.role
    mine = board.cards_of.get(role.name, ())
    if card in mine:
        return Line(card.node.name, card.gpu.index, name, "chosen", _how(board, ask, card))
    failure = _against(board, ask, card)
    if failure is not None:
        why = {"disabled": card.gpu.reason, "state": card.node.reason}.get(failure.cause)
        text = f"{failure.text}: {why}" if why else failure.text
        return Line(card.node.name, card.gpu.index, name, failure.cause, text)
    first = ", ".join(one.name for one in sorted(mine, key=lambda one: one.key))
    return Line(card.node.name, card.gpu.index, name, "fits", f"would serve; {first or 'the CPU'} comes first")


def _against(board: Board, ask: Ask, card: Card) -> Failure | None:
    if ask.role.share_with:
        if card not in sharing.target_cards(board, ask.role):
            return Failure("target", f"{ask.role.share_with} does not hold it")
        return sharing.refusal(board, ask, card)
    failure = gpu_roles.judge(board, ask, card)
    holder = board.taken.get(card.key)
    return Failure("taken", f"taken by {holder}") if failure is None and holder else failure


def _how(board: Board, ask: Ask, card: Card) -> str:
    if ask.role.share_with:
        return f"shared with {ask.role.share_with}"
    held = card.key in board.held.cards.get(ask.role.name, ())
    return "held before, and none is better" if held else f"first in order ({ask.role.prefer})"


def node_line(board: Board, ask: Ask, node: Node) -> Line:
    """The line of one node's CPU, on the board of a finished run."""
    if board.node_of.get(ask.role.name) == node:
        return Line(node.name, None, None, "chosen", "runs on its CPU", _room(board, ask, node))
    if ask.role.share_with and not ask.role.needs.gpu and node not in sharing.target_nodes(board, ask.role):
        return Line(node.name, None, None, "target", f"{ask.role.share_with} is not there")
    found = cpu_roles.serving(board, ask, node)
    if isinstance(found, Failure):
        text = f"{found.text}: {node.reason}" if found.cause == "state" and node.reason else found.text
        return Line(
            node.name, None, None, found.cause, text, _room(board, ask, node) if found.cause == "room" else None
        )
    placed = board.node_of.get(ask.role.name)
    first = placed.name if placed else "a card"
    return Line(node.name, None, None, "fits", f"would serve; {first} comes first", _room(board, ask, node))


def _room(board: Board, ask: Ask, node: Node) -> Room | None:
    key, size = cpu_roles.room_of(board.fleet, ask.role, node)
    return None if size is None else Room(key[1], size, size - board.used.get(key, 0))
