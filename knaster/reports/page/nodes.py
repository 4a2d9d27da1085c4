"""Nodes as boxes: their cards, what runs on each, their guests and their RAM."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from knaster.cluster import Gpu, Node, Platform
from knaster.guests import Guest
from knaster.names import spot
from knaster.placement.result import Assignment
from knaster.planned import Planned
from knaster.reports.page.boxes import CardBox, GuestBox, NodeBox
from knaster.reports.page.budget import budget, size
from knaster.reports.page.tenants import Known, tenant
from knaster.slots import SlotView
from knaster.units import show, show_cc

Here = TypeVar("Here", Assignment, Guest)


@dataclass(frozen=True, slots=True)
class _Scene:
    known: Known
    on_node: Mapping[str, list[Assignment]]
    guests: Mapping[str, list[Guest]]
    platform: Platform | None
    drops: Mapping[str, tuple[str, ...]]


_KINDS = {"proxmox": "Proxmox VE", "workstation": "workstation", "bare": "bare machine"}


def nodes(planned: Planned, views: Iterable[SlotView], drops: Mapping[str, tuple[str, ...]]) -> dict[str, NodeBox]:
    """Every node by name. `drops`: the loss of a node or card (``pve46/1``) to the roles that lose a place by it."""
    cluster = planned.cluster
    scene = _Scene(
        Known(
            cluster.roles or {},
            cluster.catalog.models if cluster.catalog else {},
            {(view.role, view.name): view.model for view in views},
        ),
        _by_node(planned.plan.assignments),
        _by_node(planned.guests),
        cluster.platform,
        drops,
    )
    return {node.name: _node(node, scene) for node in reversed(cluster.nodes)}


def _by_node(things: Iterable[Here]) -> dict[str, list[Here]]:
    found: dict[str, list[Here]] = {}
    for one in things:
        found.setdefault(one.node, []).append(one)
    return found


def _node(node: Node, scene: _Scene) -> NodeBox:
    here, hosted = scene.on_node.get(node.name, []), scene.guests.get(node.name, [])
    placed = [(one, scene.known.roles[one.role]) for one in here if one.role in scene.known.roles]
    return NodeBox(
        name=node.name,
        kind=_KINDS[node.platform],
        facts=tuple(_facts(node)),
        state=node.state,
        reason=node.reason or "",
        assumed=node.source == "assumed",
        cpu_roles=node.cpu_roles,
        warnings=node.warnings,
        cards=tuple(_card(node, gpu, here, scene) for gpu in node.gpus),
        tenants=tuple(tenant(one, here, scene.known) for one in here if one.gpu_index is None),
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


def _card(node: Node, gpu: Gpu, here: Iterable[Assignment], scene: _Scene) -> CardBox:
    name = spot(node.name, gpu.index)
    tenants = tuple(tenant(one, here, scene.known) for one in here if one.gpu_index == gpu.index)
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
        tenants,
        scene.drops.get(name, ()),
    )


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
