"""``proxmox.yaml``: per Proxmox node its resource mappings, and every guest with the roles it carries.

Names and units are those of the tfvars. Guests of nodes that are `down` stay: only `retire` may destroy a guest.
"""

from __future__ import annotations

from collections.abc import Iterable

from knaster.guests import Guest
from knaster.placement.result import Assignment
from knaster.planned import Planned
from knaster.renderers.known import Data, known
from knaster.renderers.passthrough import hostpci, mappings


def proxmox(planned: Planned) -> Data:
    """The data of ``proxmox.yaml``; nodes and guests sorted by name."""
    on_node: dict[str, list[Guest]] = {}
    for guest in planned.guests:
        on_node.setdefault(guest.node, []).append(guest)
    names = sorted(node.name for node in planned.cluster.nodes if node.platform == "proxmox")
    roles = _roles(planned.plan.assignments)
    return {
        "nodes": {name: _node(on_node.get(name, [])) for name in names},
        "guests": {guest.name: _guest(guest, sorted(roles.get(guest.name, ()))) for guest in planned.guests},
    }


def _roles(assignments: Iterable[Assignment]) -> dict[str, set[str]]:
    """The roles in each guest."""
    found: dict[str, set[str]] = {}
    for assignment in assignments:
        if assignment.guest is not None:
            found.setdefault(assignment.guest, set()).add(assignment.role)
    return found


def _node(guests: list[Guest]) -> Data:
    return {
        "mappings": [{"name": name, **facts} for guest in guests for name, facts in mappings(guest)],
        "guests": sorted(guest.name for guest in guests),
    }


def _guest(guest: Guest, roles: list[str]) -> Data:
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
            "driver_generation": guest.driver_generation,
            "hostpci": [{"device": card["device"], "mapping": card["mapping"]} for card in hostpci(guest)],
            "services": sorted(guest.services),
            "replication": [
                {"target": job.target, "schedule": job.schedule}
                for job in sorted(guest.replication, key=lambda job: (job.target, job.schedule))
            ],
            "roles": roles,
        }
    )
