"""Rule 3: roles that run on a CPU, in the room of a guest or of a machine without guests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from knaster.cluster import Node, Role
from knaster.placement.board import Board, Fleet, RoomKey
from knaster.placement.filters import TAKEN_OUT, Ask, Failure, pin_of
from knaster.units import Exact, mib, show

NODE_CAUSES = ("cpu-roles", "state", "pin", "os", "guest", "memory-unknown", "room")
"""The order in which a node is counted: once, under its first failing cause."""


def take(board: Board, ask: Ask, nodes: Iterable[Node] | None = None, *, first_by_name: bool = False) -> bool:
    """Place the role: the holder, else the node with most room (or the first), then by name; False if there is none.

    `nodes` are given sorted by name, so the first of equals is kept.
    """
    held = board.held.nodes.get(ask.role.name, frozenset())
    every = board.fleet.nodes.values() if nodes is None else tuple(nodes)
    for some in ([node for node in every if node.name in held] if held else (), every):
        if found := _best(board, ask, some, first_by_name=first_by_name):
            board.put_on_node(ask.role, *found)
            return True
    return False


def _best(board: Board, ask: Ask, nodes: Iterable[Node], *, first_by_name: bool) -> tuple[Node, RoomKey] | None:
    """Of the nodes that serve the role the one with most room, or the first; of equals the first."""
    best: tuple[Exact, Node, RoomKey] | None = None
    for node in nodes:
        found = serving(board, ask, node)
        if isinstance(found, Failure):
            continue
        key, room = found
        rank = 0 if first_by_name else room
        if best is None or rank > best[0]:
            best = (rank, node, key)
    return None if best is None else best[1:]


def serving(board: Board, ask: Ask, node: Node) -> tuple[RoomKey, Exact] | Failure:
    """Where on the node the role would run and the MiB left there, or the first cause why it cannot."""
    failure = _policy(board, ask, node) or _guest(board.fleet, ask.role, node)
    if failure:
        return failure
    key, capacity = room_of(board.fleet, ask.role, node)
    if capacity is None:
        return Failure("memory-unknown", "of unknown memory")
    room = capacity - board.used.get(key, 0)
    need = ask.role.needs.min_memory_gb
    return (key, room) if mib(need) <= room else Failure("room", f"with less than {show(need)} GB of room")


def room_of(fleet: Fleet, role: Role, node: Node) -> tuple[RoomKey, Exact | None]:
    """The room that a role would use on a node, and its whole size in MiB (None: not known, or no guest there)."""
    memory = None if node.memory_gb is None else mib(node.memory_gb)
    if fleet.platform is None:
        return (node.name, None), memory
    if node.platform == "proxmox":
        guest = fleet.guests.get(role.guest) if role.guest else fleet.vm_of.get(node.name)
        return (node.name, guest.name if guest else None), guest.memory_mib if guest else None
    return (node.name, None), None if memory is None else memory - mib(fleet.platform.host_reserve_gb)


def _policy(board: Board, ask: Ask, node: Node) -> Failure | None:
    pin = pin_of(ask.role)
    held = node.name in board.held.nodes.get(ask.role.name, ())
    if not node.cpu_roles:
        return Failure("cpu-roles", "without CPU roles")
    if board.fleet.lost == (node.name, None):
        return Failure("state", TAKEN_OUT)
    if node.state == "down" or (node.state == "cordoned" and not held):
        return Failure("state", node.state)
    if pin is not None and pin[0] != node.name:
        return Failure("pin", f"outside pin {ask.role.pin}")
    if node.role_os not in ask.engine.os:
        return Failure("os", f"on {node.role_os} ({ask.engine.name} runs on {' and '.join(ask.engine.os)})")
    return None


def _guest(fleet: Fleet, role: Role, node: Node) -> Failure | None:
    if fleet.platform is None:
        return None
    if role.guest:
        guest = fleet.guests.get(role.guest)
        return None if guest and guest.node == node.name else Failure("guest", f"without guest {role.guest}")
    if node.platform == "proxmox" and node.name not in fleet.vm_of:
        return Failure("guest", "without a guest to run in")
    return None


def tally(board: Board, ask: Ask, nodes: Iterable[Node] | None = None) -> Counter[Failure]:
    """Every node that cannot take the role, under its first failing cause."""
    found = (serving(board, ask, node) for node in (board.fleet.nodes.values() if nodes is None else nodes))
    return Counter(one for one in found if isinstance(one, Failure))
