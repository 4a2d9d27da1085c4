"""Nodes as boxes: their cards, what runs on each, their guests and their RAM."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from knaster.cluster import Gpu, Model, Node, Platform, Role, VramShare
from knaster.guests import Guest
from knaster.placement.result import Assignment
from knaster.planned import Planned
from knaster.reports.page.budget import Budget, budget, size
from knaster.reports.placement import spot
from knaster.slots import SlotView
from knaster.units import show, show_cc


@dataclass(frozen=True, slots=True)
class Tenant:
    """One assignment: a role, the slots it serves here with their models, the other models that fit, and with whom
    it shares the place (``mode``)."""

    role: str
    slots: tuple[str, ...]
    serves: tuple[str, ...]
    fits: tuple[str, ...]
    mode: str
    share: str
    guest: str | None


@dataclass(frozen=True, slots=True)
class CardBox:
    """One card with what runs on it. ``loses`` are the roles that lose a place with it: said of it, no part of it."""

    spot: str
    index: int
    name: str
    facts: str
    out: str
    reason: str
    mapping: str
    tenants: tuple[Tenant, ...]
    loses: tuple[str, ...] = field(compare=False)

    def has(self, role: str) -> bool:
        """Whether the role is on it."""
        return any(one.role == role for one in self.tenants)


@dataclass(frozen=True, slots=True)
class GuestBox:
    """A VM or container on the node, and the roles in it."""

    name: str
    kind: str
    facts: str
    services: tuple[str, ...]
    roles: tuple[str, ...]
    replicas: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NodeBox:
    """One machine. ``tenants`` are the roles on its CPU; ``loses`` is said of it as of a card."""

    name: str
    kind: str
    facts: tuple[str, ...]
    state: str
    reason: str
    assumed: bool
    cpu_roles: bool
    warnings: tuple[str, ...]
    cards: tuple[CardBox, ...]
    tenants: tuple[Tenant, ...]
    guests: tuple[GuestBox, ...]
    budget: Budget
    loses: tuple[str, ...] = field(compare=False)

    def card(self, spot: str) -> CardBox | None:
        """Its card of that name."""
        return next((one for one in self.cards if one.spot == spot), None)

    def guest(self, name: str) -> GuestBox | None:
        """Its guest of that name."""
        return next((one for one in self.guests if one.name == name), None)

    def has(self, role: str) -> bool:
        """Whether the role is on its CPU."""
        return any(one.role == role for one in self.tenants)

    @property
    def tags(self) -> tuple[str, ...]:
        """What the filter of the page knows it by."""
        over = self.budget.free is not None and self.budget.free < 0
        busy = self.tenants or any(card.tenants for card in self.cards)
        found = {
            "attention": self.state != "active" or over or bool(self.warnings),
            "assumed": self.assumed,
            "used": bool(busy),
            "idle": any(not card.tenants and not card.out for card in self.cards),
            "disabled": any(card.out == "disabled" for card in self.cards),
        }
        return tuple(name for name, true in found.items() if true)


@dataclass(frozen=True, slots=True)
class _Scene:
    roles: Mapping[str, Role]
    models: Mapping[str, Model]
    serves: Mapping[tuple[str, str], str | None]
    on_node: Mapping[str, list[Assignment]]
    guests: Mapping[str, list[Guest]]
    platform: Platform | None
    drops: Mapping[str, tuple[str, ...]]


_KINDS = {"proxmox": "Proxmox VE", "workstation": "workstation", "bare": "bare machine"}


def nodes(planned: Planned, views: Iterable[SlotView], drops: Mapping[str, tuple[str, ...]]) -> dict[str, NodeBox]:
    """Every node by name. `drops`: the loss of a node or card (``pve46/1``) to the roles that lose a place by it."""
    cluster = planned.cluster
    scene = _Scene(
        cluster.roles or {},
        cluster.catalog.models if cluster.catalog else {},
        {(view.role, view.name): view.model for view in views},
        _grouped(planned.plan.assignments),
        _hosted(planned.guests),
        cluster.platform,
        drops,
    )
    return {node.name: _node(node, scene) for node in reversed(cluster.nodes)}


def _grouped(assignments: Iterable[Assignment]) -> dict[str, list[Assignment]]:
    found: dict[str, list[Assignment]] = {}
    for one in assignments:
        found.setdefault(one.node, []).append(one)
    return found


def _hosted(guests: Iterable[Guest]) -> dict[str, list[Guest]]:
    found: dict[str, list[Guest]] = {}
    for guest in guests:
        found.setdefault(guest.node, []).append(guest)
    return found


def _node(node: Node, scene: _Scene) -> NodeBox:
    here, hosted = scene.on_node.get(node.name, []), scene.guests.get(node.name, [])
    placed = [(one, scene.roles[one.role]) for one in here if one.role in scene.roles]
    mappings = {card.gpu.index: card.mapping for guest in hosted for card in guest.cards}
    return NodeBox(
        name=node.name,
        kind=_KINDS[node.platform],
        facts=tuple(_facts(node)),
        state=node.state,
        reason=node.reason or "",
        assumed=node.source == "assumed",
        cpu_roles=node.cpu_roles,
        warnings=node.warnings,
        cards=tuple(_card(node, gpu, here, mappings.get(gpu.index, ""), scene) for gpu in node.gpus),
        tenants=tuple(_tenant(one, here, scene) for one in here if one.gpu_index is None),
        guests=tuple(_guest(guest, here) for guest in hosted),
        budget=budget(node, hosted, placed, scene.platform),
        loses=scene.drops.get(node.name, ()),
    )


def _facts(node: Node) -> Iterable[str]:
    yield node.os
    if node.address:
        yield node.address
    yield f"{show(node.memory_gb)} GB RAM" if node.memory_gb is not None else "RAM not known"
    if node.cpu.model:
        yield node.cpu.model
    if node.cpu.cores is not None:
        yield f"{node.cpu.cores} cores"
    yield from node.groups


def _card(node: Node, gpu: Gpu, here: Iterable[Assignment], mapping: str, scene: _Scene) -> CardBox:
    name = spot(node.name, gpu.index)
    tenants = tuple(_tenant(one, here, scene) for one in here if one.gpu_index == gpu.index)
    out = "disabled" if gpu.disabled else node.state if node.state != "active" else ""
    facts = (
        f"{show(gpu.memory_gb)} GB" if gpu.memory_gb is not None else "VRAM not known",
        f"compute {show_cc(gpu.compute_cap)}" if gpu.compute_cap is not None else "compute capability not known",
    )
    return CardBox(
        name,
        gpu.index,
        gpu.name or "unknown card",
        " \N{MIDDLE DOT} ".join(facts),
        out,
        gpu.reason or "" if gpu.disabled else "",
        mapping,
        tenants,
        scene.drops.get(name, ()),
    )


def _tenant(one: Assignment, here: Iterable[Assignment], scene: _Scene) -> Tenant:
    role = scene.roles.get(one.role)
    served = tuple(dict.fromkeys(model for slot in one.slots if (model := scene.serves.get((one.role, slot)))))
    rest = sorted(set(one.models_fitting) - set(served), key=lambda name: _by_size(name, scene.models))
    beside = [other.role for other in here if other is not one and other.gpu_index == one.gpu_index is not None]
    return Tenant(
        one.role,
        one.slots,
        served,
        tuple(rest),
        _mode(role, beside) if role else "",
        _share(role.vram_share) if role else "",
        one.guest,
    )


def _by_size(name: str, models: Mapping[str, Model]) -> tuple[float, str]:
    return (-models[name].vram_gb if name in models else 0.0, name)


def _mode(role: Role, beside: list[str]) -> str:
    """How it shares its place, where it is a sharer, or somebody shares with it."""
    if role.share_with is not None:
        how = "runs at the same time" if role.share_mode == "concurrent" else "takes turns"
        return f"shares with {role.share_with}: {how}"
    return f"shared by {', '.join(sorted(beside))}" if beside else ""


def _share(share: VramShare | None) -> str:
    if share is None or (share.alone == 1 and share.shared == 1):
        return ""
    return f"{show(share.alone * 100)} % of the VRAM alone, {show(share.shared * 100)} % while shared"


def _guest(guest: Guest, here: Iterable[Assignment]) -> GuestBox:
    facts = (
        f"id {guest.vmid}" if guest.vmid is not None else "no id",
        guest.address or "no address",
        size(guest.memory_mib),
        f"{guest.cores} cores",
        f"{guest.disk_gib} GB on {guest.storage}",
    )
    return GuestBox(
        guest.name,
        "VM" if guest.kind == "vm" else "container",
        " \N{MIDDLE DOT} ".join(facts),
        tuple(sorted(guest.services)),
        tuple(sorted({one.role for one in here if one.guest == guest.name})),
        tuple(sorted({job.target for job in guest.replication})),
    )
