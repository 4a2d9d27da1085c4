"""``proxmox.yaml``: per Proxmox node its resource mappings, and every guest with the roles it carries.

Names and units are those of the tfvars. Guests of nodes that are `down` stay: only `retire` may destroy a guest.
"""

from __future__ import annotations

from collections.abc import Iterable

from knaster.cluster import Driver, Gpu, Node, Platform
from knaster.guests import Guest, Passthrough
from knaster.placement.result import Assignment
from knaster.planned import Planned
from knaster.remembered import remembered
from knaster.renderers.known import Data, known
from knaster.renderers.passthrough import hostpci, mappings
from knaster.renderers.tofu import tags
from knaster.units import exact, mib


def proxmox(planned: Planned) -> Data:
    """The data of ``proxmox.yaml``; nodes and guests sorted by name."""
    on_node: dict[str, list[Guest]] = {}
    for guest in planned.guests:
        on_node.setdefault(guest.node, []).append(guest)
    nodes = sorted((node for node in planned.cluster.nodes if node.platform == "proxmox"), key=lambda node: node.name)
    roles, platform = _roles(planned.plan.assignments), planned.cluster.platform
    return {
        "nodes": {node.name: _node(node, on_node.get(node.name, []), platform) for node in nodes},
        "guests": {guest.name: _guest(guest, platform, sorted(roles.get(guest.name, ()))) for guest in planned.guests},
    }


def _roles(assignments: Iterable[Assignment]) -> dict[str, set[str]]:
    """The roles in each guest."""
    found: dict[str, set[str]] = {}
    for assignment in assignments:
        if assignment.guest is not None:
            found.setdefault(assignment.guest, set()).add(assignment.role)
    return found


def _node(node: Node, guests: list[Guest], platform: Platform | None) -> Data:
    return {
        "state": node.state,
        "source": node.source,
        "memory": _memory(node, guests, platform),
        "mappings": [{"name": name, **facts} for guest in guests for name, facts in mappings(guest)],
        "guests": sorted(guest.name for guest in guests),
    }


def _memory(node: Node, guests: list[Guest], platform: Platform | None) -> Data:
    """The RAM budget in MiB: passthrough pins all memory of a VM, so guests and host share what there is."""
    reserve = int(mib(platform.host_reserve_gb)) if platform else 0
    used = sum(guest.memory_mib for guest in guests)
    total = None if node.memory_gb is None else int(mib(node.memory_gb))
    free = None if total is None else total - reserve - used
    return known({"total_mib": total, "reserve_mib": reserve, "guests_mib": used, "free_mib": free})


@remembered
def _driver(guest: Guest, platform: Platform | None) -> Data | None:
    """The one driver of a VM, and the card that decides it: the oldest, for which the branch must still be made."""
    driver: Driver | None = platform.drivers.get(guest.driver_generation or "") if platform else None
    if driver is None:
        return None
    oldest = min(guest.cards, key=_age, default=None)
    return known(
        {
            "generation": driver.generation,
            "branch": driver.branch,
            "version": driver.version,
            "oldest_card": oldest.mapping if oldest else None,
            "compute_cap": oldest.gpu.compute_cap if oldest else None,
        }
    )


def _age(card: Passthrough) -> tuple[bool, object, int]:
    gpu: Gpu = card.gpu
    return gpu.compute_cap is None, exact(gpu.compute_cap or 0), card.slot


def _guest(guest: Guest, platform: Platform | None, roles: list[str]) -> Data:
    return known(
        {
            "kind": guest.kind,
            "node": guest.node,
            "vmid": guest.vmid,
            "address": guest.address,
            "memory_mib": guest.memory_mib,
            "cores": guest.cores,
            "disk_gib": guest.disk_gib,
            "storage": guest.storage,
            "storage_type": platform.storage.get(guest.storage) if platform else None,
            "tags": tags(guest),
            "driver": _driver(guest, platform),
            "hostpci": [{"device": card["device"], "mapping": card["mapping"]} for card in hostpci(guest)],
            "exists": guest.exists,
            "moves": guest.kind == "lxc" and bool(guest.replication),
            "services": sorted(guest.services),
            "replication": [
                {"target": job.target, "schedule": job.schedule}
                for job in sorted(guest.replication, key=lambda job: (job.target, job.schedule))
            ],
            "roles": roles,
        }
    )
