"""What only the plan shows: required roles without a place, memory that does not suffice, pins that lost their card."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from knaster.checks.roles import conflicted
from knaster.cluster import Gpu, Node, Role, role_place
from knaster.diagnostics import Diagnostic, Related
from knaster.names import spot
from knaster.placement.result import Assignment, card_identities, card_identity
from knaster.planned import Planned
from knaster.units import MIB_PER_GIB, Exact, exact, mib, show


def required_roles(planned: Planned) -> Iterator[Diagnostic]:
    """A ``required`` role has all the places it wants."""
    roles = planned.cluster.roles or {}
    conflicting = conflicted(planned.cluster)
    placed = {assignment.role for assignment in planned.plan.assignments}
    for unplaced in planned.plan.unplaced:
        role = roles.get(unplaced.role)
        if role is not None and role.required and role.name not in conflicting:
            but = "only" if role.name in placed else "not placed:"  # a reason of some places begins "1 of 3 placed: "
            message = f"role {role.name} is required but {but} {unplaced.reason}"
            hint = f"`knaster placement plan --explain {role.name}` lists every candidate"
            yield Diagnostic("required-unplaced", message, role_place(role.name, "required"), hint=hint)


def guest_memories(planned: Planned) -> Iterator[Diagnostic]:
    """The roles of a guest, or of a node outside Proxmox, need no more memory than it has for them."""
    roles = planned.cluster.roles or {}
    users: defaultdict[tuple[str, str | None], list[Role]] = defaultdict(list)
    for assignment in planned.plan.assignments:
        role = roles.get(assignment.role)
        if role is not None and role.needs.min_memory_gb:
            users[assignment.node, assignment.guest].append(role)
    rooms = _rooms(planned)
    for room, some in sorted(users.items(), key=lambda item: (item[0][0], item[0][1] or "")):
        have = rooms.get(room)
        need = sum(mib(role.needs.min_memory_gb) for role in some)
        if have is not None and need > have:
            yield _over_memory(room[1] or room[0], have, need, some)


def _rooms(planned: Planned) -> dict[tuple[str, str | None], Exact]:
    """MiB for roles of every guest, and of every node outside Proxmox whose memory is known."""
    platform = planned.cluster.platform
    reserve = exact(platform.host_reserve_gb if platform else 0)
    rooms: dict[tuple[str, str | None], Exact] = {
        (guest.node, guest.name): guest.memory_mib for guest in planned.guests
    }
    for node in planned.cluster.nodes:
        if node.memory_gb is not None:
            rooms[node.name, None] = mib(max(exact(node.memory_gb) - reserve, 0))
    return rooms


def _over_memory(where: str, have: Exact, need: Exact, users: list[Role]) -> Diagnostic:
    parts = ", ".join(f"{role.name} {show(role.needs.min_memory_gb)}" for role in users)
    places = [role_place(role.name, "needs", "min_memory_gb") for role in users]
    return Diagnostic(
        "guest-memory",
        f"{where} has {show(have / MIB_PER_GIB)} GiB for roles, those on it need {show(need / MIB_PER_GIB)}: {parts}",
        places[-1],
        hint=f"give {where} more memory, or lower needs.min_memory_gb of a role",
        related=tuple(Related(place, "also there") for place in places[:-1]),
    )


def pins(planned: Planned) -> Iterator[Diagnostic]:
    """A pin still names the card that holds the role in the placement in force."""
    roles = planned.cluster.roles or {}
    nodes = {node.name: node for node in planned.cluster.nodes}
    for held in planned.current.assignments if planned.current else ():
        role = roles.get(held.role)
        if role is None or held.card is None or role.pin != spot(held.node, held.gpu_index):
            continue
        node = nodes.get(held.node)
        named = next((gpu for gpu in node.gpus if gpu.index == held.gpu_index), None) if node else None
        if node is None or named is None or held.card in card_identities(named):
            continue
        moved = _where(held, planned.cluster.nodes)
        if moved is not None:
            yield _moved(role, held, node, named, moved)


def _where(held: Assignment, nodes: tuple[Node, ...]) -> tuple[Node, Gpu] | None:
    """The card of an assignment, wherever it is now; only a uuid says that it is the same in another node."""
    everywhere = not (held.card or "").startswith(("pci:", "index:"))
    for node in nodes:
        if everywhere or node.name == held.node:
            for gpu in node.gpus:
                if held.card in card_identities(gpu):
                    return node, gpu
    return None


def _moved(role: Role, held: Assignment, node: Node, named: Gpu, moved: tuple[Node, Gpu]) -> Diagnostic:
    now = spot(moved[0].name, moved[1].index)
    return Diagnostic(
        "pin-moved",
        f"role {role.name} is pinned to {role.pin}, where it holds card {held.card}; that card is {now} now, "
        f"and {role.pin} is {card_identity(named)}",
        role_place(role.name, "pin"),
        hint=f"write pin: {now} to stay on the card; to take the other one, land a change without the pin first",
        related=(
            Related(node.place("gpus", named.position), f"the card that {role.pin} names now"),
            Related(moved[0].place("gpus", moved[1].position), "the card that holds the role"),
        ),
    )
