"""A second planner, written from the rules alone: every role looks at every card, nothing is remembered or shortened.

It exists to be compared with `knaster.placement.plan` and takes nothing from it but the data classes of the inputs and
the shape of ``current``. Slow and literal on purpose; sums are fractions of the decimals that people write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from knaster.cluster import CardPolicy, Catalog, Engine, Gpu, Model, Node, Platform, Role
from knaster.guests import Guest, expand
from knaster.placement import Assignment, PlacementPlan

Number = int | float | Fraction


class Seat(NamedTuple):
    """One role on one card, or (``gpu`` None) on one node's CPU."""

    role: str
    node: str
    gpu: int | None


class Told(NamedTuple):
    """Why a role has fewer places than it wants: counted cards (or nodes), or a problem where nothing is counted."""

    kind: str = "GPUs"
    total: int = 0
    fit: int = 0
    causes: tuple[tuple[str, int], ...] = ()
    problem: bool = False
    fallback: Told | None = None


class Placed(NamedTuple):
    """What the oracle says of one assignment."""

    role: str
    node: str
    gpu: int | None
    card: str | None
    guest: str | None
    slots: tuple[str, ...]
    models: tuple[str, ...]


class Answer(NamedTuple):
    """The oracle's plan, in the order of the real one."""

    placed: tuple[Placed, ...]
    unplaced: tuple[tuple[str, Told], ...]
    disabled: tuple[tuple[str, int, str | None, str | None], ...]


@dataclass
class World:
    """The inputs, and what was decided so far."""

    nodes: Sequence[Node]
    roles: Mapping[str, Role]
    catalog: Catalog
    platform: Platform | None
    current: PlacementPlan | None
    seats: list[Seat] = field(default_factory=list)
    told: dict[str, Told] = field(default_factory=dict)


def oracle(
    nodes: Sequence[Node],
    roles: Mapping[str, Role],
    catalog: Catalog,
    platform: Platform | None = None,
    current: PlacementPlan | None = None,
) -> Answer:
    """Rules 1 to 6, one after the other."""
    world = World(nodes, roles, catalog, platform, current)
    _place_gpu_roles(world)
    _place_cpu_roles(world)
    _place_sharers(world)
    seats = sorted(world.seats, key=lambda seat: (seat.role, seat.node, -1 if seat.gpu is None else seat.gpu))
    return Answer(
        tuple(_placed(world, seat) for seat in seats),
        tuple(sorted(world.told.items())),
        tuple(
            sorted((node.name, gpu.index, gpu.name, gpu.reason) for node in nodes for gpu in node.gpus if gpu.disabled)
        ),
    )


# ---------------------------------------------------------------- small questions


def _number(value: Number) -> Fraction:
    return Fraction(str(value))


def _in_order(world: World) -> list[Role]:
    return sorted(world.roles.values(), key=lambda role: (role.priority, role.name))


def _node(world: World, name: str) -> Node:
    return next(node for node in world.nodes if node.name == name)


def _gpu(world: World, seat: Seat) -> Gpu:
    return next(gpu for gpu in _node(world, seat.node).gpus if gpu.index == seat.gpu)


def _engine(world: World, role: Role) -> Engine | None:
    return world.catalog.engines.get(role.needs.engine)


def _os(node: Node) -> str:
    """Inside the guests of a Proxmox node: linux."""
    return "linux" if node.platform == "proxmox" else node.os


def _wants_card(role: Role) -> bool:
    return role.needs.gpu


def identities(gpu: Gpu) -> tuple[str | None, str | None, str]:
    """The names of a card, the strongest first."""
    known = f"pci:{gpu.pci.address}/{gpu.pci.id}" if gpu.pci and gpu.pci.id else None
    return gpu.uuid, known, f"index:{gpu.index}"


def _identity(gpu: Gpu) -> str:
    return next(name for name in identities(gpu) if name)


def _records(world: World, node: Node, gpu: Gpu) -> list[Assignment]:
    """What `current` says of this very card: known by uuid (in any node), else by PCI address and id, else by index.

    A record without an identity means what it says, node and index, unless another record is sure of that card.
    """
    records = [one for one in (world.current.assignments if world.current else ()) if one.gpu_index is not None]
    plain = [one for one in records if one.card is None and (one.node, one.gpu_index) == (node.name, gpu.index)]
    for name in identities(gpu):
        here = [one for one in records if name == gpu.uuid or one.node == node.name]
        found = [one for one in here if name is not None and one.card == name]
        if found:
            return found + plain if name == f"index:{gpu.index}" else found
    return plain


def _holds_card(world: World, role: Role, node: Node, gpu: Gpu) -> bool:
    """Whether `current` gives this very card to the role."""
    return any(one.role == role.name for one in _records(world, node, gpu))


def _holds_cpu(world: World, role: Role, node: Node) -> bool:
    """Whether `current` gives this node's CPU to the role."""
    return any(
        one.role == role.name and one.node == node.name and one.gpu_index is None
        for one in (world.current.assignments if world.current else ())
    )


def _pinned_away(role: Role, node: Node, gpu: Gpu | None) -> bool:
    """Whether the pin names another node or (for a card) another index."""
    if role.pin is None:
        return False
    name, _, index = role.pin.partition("/")
    return name != node.name or bool(gpu and index and int(index) != gpu.index)


def _closed(node: Node, *, holds: bool) -> bool:
    return node.state == "down" or (node.state == "cordoned" and not holds)


# ---------------------------------------------------------------- rule 2: cards


def _place_gpu_roles(world: World) -> None:
    for role in _in_order(world):
        if _wants_card(role) and role.share_with is None:
            _place_gpu_role(world, role)


def _place_gpu_role(world: World, role: Role) -> None:
    engine = _engine(world, role)
    if engine is None:
        world.told[role.name] = Told(problem=True)
        return
    causes: list[str] = []
    free: list[tuple[Node, Gpu]] = []
    for node in world.nodes:
        for gpu in node.gpus:
            cause = _why_not_card(world, role, engine, node, gpu)
            if cause is None and any((seat.node, seat.gpu) == (node.name, gpu.index) for seat in world.seats):
                cause = "taken"
            if cause is None:
                free.append((node, gpu))
            else:
                causes.append(cause)
    free.sort(key=lambda place: _best_first(world, role, *place))
    chosen = free[: role.count]
    world.seats += [Seat(role.name, node.name, gpu.index) for node, gpu in chosen]
    if len(chosen) < role.count:
        world.told[role.name] = Told("GPUs", len(free) + len(causes), len(chosen), _counted(causes))


def _best_first(world: World, role: Role, node: Node, gpu: Gpu) -> tuple[Fraction, Fraction, bool, str, int]:
    assert gpu.memory_gb is not None
    assert gpu.compute_cap is not None
    sign = -1 if role.prefer == "largest" else 1
    return (
        sign * _number(gpu.memory_gb),
        sign * _number(gpu.compute_cap),
        not _holds_card(world, role, node, gpu),
        node.name,
        gpu.index,
    )


def _why_not_card(world: World, role: Role, engine: Engine, node: Node, gpu: Gpu) -> str | None:
    """The first cause, in the order of the design, for which a card cannot serve a role; never ``taken``."""
    if gpu.disabled:
        return "disabled"
    if _closed(node, holds=_holds_card(world, role, node, gpu)):
        return node.state
    if _pinned_away(role, node, gpu):
        return "pin"
    if _os(node) not in engine.os:
        return "os"
    if gpu.memory_gb is None:
        return "vram-unknown"
    if _number(gpu.memory_gb) < _number(role.needs.min_vram_gb):
        return "vram"
    return _why_not_capability(world, role, engine, gpu)


def _why_not_capability(world: World, role: Role, engine: Engine, gpu: Gpu) -> str | None:
    if gpu.compute_cap is None:
        return "compute-cap-unknown"
    if _number(gpu.compute_cap) < max(_number(role.needs.min_cc), _number(engine.min_cc)):
        return "compute-cap-below"
    for limit in (role.needs.max_cc, engine.max_cc):
        if limit is not None and _number(gpu.compute_cap) > _number(limit):
            return "compute-cap-above"
    policy = _policy(world, gpu)
    if policy and policy.engines is not None and engine.name not in policy.engines:
        return "policy"
    return None


def _policy(world: World, gpu: Gpu) -> CardPolicy | None:
    if world.platform is None or gpu.pci is None or gpu.pci.id is None:
        return None
    return world.platform.cards.get(gpu.pci.id)


def _counted(causes: list[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted((cause, causes.count(cause)) for cause in set(causes)))


# ---------------------------------------------------------------- rule 3: processors


def _place_cpu_roles(world: World) -> None:
    for role in _in_order(world):
        if role.share_with is not None:
            continue
        if not _wants_card(role):
            _place_cpu_role(world, role)
        elif role.cpu_fallback and not any(seat.role == role.name for seat in world.seats):
            _fall_back(world, role)


def _place_cpu_role(world: World, role: Role) -> None:
    told = _seek_processor(world, role, list(world.nodes))
    if told:
        world.told[role.name] = told


def _fall_back(world: World, role: Role) -> None:
    """A role without a card goes to a CPU; where that fails too, the reason says both."""
    told = world.told[role.name]
    if told.problem:
        return
    second = _seek_processor(world, role, list(world.nodes))
    if second:
        world.told[role.name] = told._replace(fallback=second)
    elif role.count == 1:  # of more, all but one are still missing
        del world.told[role.name]


def _seek_processor(world: World, role: Role, nodes: list[Node], *, first: bool = False) -> Told | None:
    """Take the best node (`first`: the holder's, else the first by name) of `nodes`; else say why none serves."""
    engine = _engine(world, role)
    if engine is None:
        return Told(problem=True)
    causes: list[str] = []
    free: list[Node] = []
    for node in nodes:
        cause = _why_not_processor(world, role, engine, node)
        if cause is None:
            free.append(node)
        else:
            causes.append(cause)
    if not free:
        return Told("nodes", len(causes), 0, _counted(causes))

    def most_room_first(node: Node) -> tuple[bool, Fraction, str]:
        room = _room_left(world, role, node)
        assert room is not None
        return not _holds_cpu(world, role, node), Fraction(0) if first else -room, node.name

    world.seats.append(Seat(role.name, min(free, key=most_room_first).name, None))
    return None


def _why_not_processor(world: World, role: Role, engine: Engine, node: Node) -> str | None:
    if not node.cpu_roles:
        return "cpu-roles"
    if _closed(node, holds=_holds_cpu(world, role, node)):
        return node.state
    if _pinned_away(role, node, None):
        return "pin"
    if _os(node) not in engine.os:
        return "os"
    if _is_guestless(world, role, node):
        return "guest"
    room = _room_left(world, role, node)
    if room is None:
        return "memory-unknown"
    return "room" if room < _number(role.needs.min_memory_gb) else None


def _gpu_vm(world: World, node: Node) -> Guest | None:
    return next((g for g in expand(world.nodes, world.platform) if g.kind == "vm" and g.node == node.name), None)


def _container(world: World, name: str) -> Guest | None:
    return next((g for g in expand(world.nodes, world.platform) if g.kind == "lxc" and g.name == name), None)


def _cpu_guest(world: World, role: Role, node: Node) -> Guest | None:
    """The guest a CPU role would run in on this node: its own, on that guest's node; else the GPU VM; else none."""
    if world.platform is None or node.platform != "proxmox":
        return None
    if role.guest is not None:
        own = _container(world, role.guest)
        return own if own and own.node == node.name else None
    return _gpu_vm(world, node)


def _is_guestless(world: World, role: Role, node: Node) -> bool:
    """A role that names its guest runs in no other; one that does not needs the GPU VM on a Proxmox node."""
    if world.platform is None:
        return False
    if role.guest is not None:
        own = _container(world, role.guest)
        return own is None or own.node != node.name
    return node.platform == "proxmox" and _gpu_vm(world, node) is None


def _guest_of(world: World, seat: Seat) -> Guest | None:
    """The guest a placed role runs in: the GPU VM for a card."""
    node = _node(world, seat.node)
    if seat.gpu is not None:
        return _gpu_vm(world, node) if world.platform and node.platform == "proxmox" else None
    return _cpu_guest(world, world.roles[seat.role], node)


def _room_left(world: World, role: Role, node: Node, *, without: bool = False) -> Fraction | None:
    """GiB left where the role would run on this node; `without`: what this very role uses there counts as free."""
    guest = _cpu_guest(world, role, node)
    if guest:
        room = Fraction(guest.memory_mib, 1024)
    elif node.memory_gb is None:
        return None
    else:
        room = _number(node.memory_gb) - _number(world.platform.host_reserve_gb if world.platform else 0)
    for seat in world.seats:
        if seat.node == node.name and _guest_of(world, seat) == guest and not (without and seat.role == role.name):
            room -= _number(world.roles[seat.role].needs.min_memory_gb)
    return room


# ---------------------------------------------------------------- rule 4: sharers


def _place_sharers(world: World) -> None:
    waiting = [role for role in _in_order(world) if role.share_with is not None]
    while waiting:
        names = [role.name for role in waiting]
        ready = [role for role in waiting if role.share_with not in names]
        if not ready:  # only cycles, and what hangs on them, are left
            for role in waiting:
                world.told[role.name] = Told(problem=True)
            return
        _place_sharer(world, ready[0])
        waiting.remove(ready[0])


def _place_sharer(world: World, role: Role) -> None:
    engine = _engine(world, role)
    if engine is None or role.share_with not in world.roles:
        world.told[role.name] = Told(problem=True)
        return
    targets = [seat for seat in world.seats if seat.role == role.share_with]
    if _wants_card(role):
        told = _share_card(world, role, engine, [seat for seat in targets if seat.gpu is not None])
    else:
        told = _seek_processor(
            world, role, [_node(world, name) for name in {seat.node for seat in targets}], first=True
        )
    if told is None:
        return
    world.told[role.name] = told
    if role.cpu_fallback:
        _fall_back(world, role)


def _share_card(world: World, role: Role, engine: Engine, targets: list[Seat]) -> Told | None:
    causes: list[str] = []
    free: list[Seat] = []
    for seat in targets:
        node, gpu = _node(world, seat.node), _gpu(world, seat)
        cause = _why_not_card(world, role, engine, node, gpu)
        if cause is None and role.share_mode == "concurrent":
            together = [role.name, *_together(world, seat)]
            wanted = sum((_number(world.roles[name].needs.min_vram_gb) for name in together), Fraction(0))
            assert gpu.memory_gb is not None
            cause = "beside" if wanted > _number(gpu.memory_gb) else None
        if cause is None:
            free.append(seat)
        else:
            causes.append(cause)
    if not free:
        return Told("GPUs", len(causes), 0, _counted(causes))

    def holder_first(seat: Seat) -> tuple[bool, str, int]:
        assert seat.gpu is not None
        return not _holds_card(world, role, _node(world, seat.node), _gpu(world, seat)), seat.node, seat.gpu

    best = min(free, key=holder_first)
    world.seats.append(Seat(role.name, best.node, best.gpu))
    return None


def _together(world: World, seat: Seat) -> list[str]:
    """The roles that run on the seat's card while its role does, that role included.

    A concurrent sharer runs beside its target, an alternating one instead of it and of all that run beside it.
    """
    here = [other.role for other in world.seats if (other.node, other.gpu) == (seat.node, seat.gpu)]
    group = [seat.role]
    grown = True
    while grown:
        grown = False
        for name in here:
            role = world.roles[name]
            if role.share_with is None or role.share_mode != "concurrent":
                continue
            pair = [name, role.share_with]
            if len([one for one in pair if one in group]) == 1:
                group = [*group, *(one for one in pair if one not in group)]
                grown = True
    return group


# ---------------------------------------------------------------- rules 5 and 6


def _placed(world: World, seat: Seat) -> Placed:
    guest = _guest_of(world, seat)
    return Placed(
        seat.role,
        seat.node,
        seat.gpu,
        None if seat.gpu is None else _identity(_gpu(world, seat)),
        guest.name if guest else None,
        _slots(world, seat),
        tuple(sorted(model.name for model in world.catalog.models.values() if _model_fits(world, seat, model))),
    )


def _slots(world: World, seat: Seat) -> tuple[str, ...]:
    """One slot is served by all cards of its role; of n slots each card serves one, that of `current` if it had one."""
    role = world.roles[seat.role]
    names = sorted(slot.name for slot in role.slots)
    if len(names) < 2:
        return tuple(names)
    seats = sorted((one for one in world.seats if one.role == role.name), key=lambda one: (one.node, one.gpu or 0))
    given: dict[Seat, str] = {}
    for one in seats:
        for name in _slots_held(world, one):
            if name in names and one not in given:
                given[one] = name
                names.remove(name)
    for one in seats:
        if one not in given and names:
            given[one] = names.pop(0)
    return (given[seat],) if seat in given else ()


def _slots_held(world: World, seat: Seat) -> list[str]:
    if seat.gpu is None:
        return []
    records = _records(world, _node(world, seat.node), _gpu(world, seat))
    return sorted(name for one in records if one.role == seat.role for name in one.slots)


def _model_fits(world: World, seat: Seat, model: Model) -> bool:
    role = world.roles[seat.role]
    engine = _engine(world, role)
    if engine is None or model.kind not in role.kinds or engine.name not in model.engines:
        return False
    node = _node(world, seat.node)
    if _os(node) not in engine.os:
        return False
    if seat.gpu is None:
        room = _room_left(world, role, node, without=True)
        wanted = max(_number(model.vram_gb), _number(model.min_memory_gb))
        return engine.gpu != "required" and room is not None and wanted <= room
    return _model_fits_card(world, seat, model, engine)


def _model_fits_card(world: World, seat: Seat, model: Model, engine: Engine) -> bool:
    gpu = _gpu(world, seat)
    if gpu.compute_cap is None or gpu.memory_gb is None:
        return False
    if _number(gpu.compute_cap) < max(_number(model.min_cc), _number(engine.min_cc)):
        return False
    there = _number(gpu.memory_gb) * 1024 if gpu.memory_mib is None else Fraction(gpu.memory_mib)
    if world.platform:
        there -= _number(world.platform.vram_reserve_gb.get(_os(_node(world, seat.node)), 0)) * 1024
    for name in _together(world, seat):
        if name != seat.role:
            there -= _number(world.roles[name].needs.min_vram_gb) * 1024
    return _number(model.vram_gb) * 1024 <= there
