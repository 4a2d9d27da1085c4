"""``ansible/hosts.yaml``: every machine and every guest once, with its facts, and the groups that playbooks name.

Groups without a member stand there too: a play on a group that nobody declares ends in a warning nobody reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from knaster.cards.drivers import nvidia
from knaster.cluster import Node, Platform
from knaster.guests import Guest
from knaster.planned import Planned
from knaster.renderers.known import Data, known


def hosts(planned: Planned) -> Data:
    """The data of ``ansible/hosts.yaml``; hosts and the groups that people name sorted by name."""
    cluster = planned.cluster
    found = {node.name: _node(node) for node in cluster.nodes}
    roles = _roles(planned)
    found |= {guest.name: _guest(guest, roles.get(guest.name, set()), cluster.platform) for guest in planned.guests}
    return {
        "all": {
            "hosts": dict(sorted(found.items())),
            "children": _groups(cluster.nodes, planned.guests, cluster.platform),
        }
    }


def _groups(nodes: Iterable[Node], guests: tuple[Guest, ...], platform: Platform | None) -> Data:
    nodes = sorted(nodes, key=lambda node: node.name)
    pve = [node for node in nodes if node.platform == "proxmox"]
    user = platform.access.user if platform else None
    return {
        "pve_hosts": _group((node.name for node in pve), "root"),
        "pve_gpu_hosts": _group(node.name for node in pve if node.gpus),
        "pve_kiosk": _group(node.name for node in pve if "kiosk" in node.groups),
        "bare_hosts": _group(node.name for node in nodes if node.platform == "bare"),
        "workstations": _group(node.name for node in nodes if node.platform == "workstation"),
        "guests": _group(guest.name for guest in guests),
        "gpu_vms": _group((guest.name for guest in guests if guest.kind == "vm"), user),
        "lxc_guests": _group((guest.name for guest in guests if guest.kind == "lxc"), "root"),
        **{name: _group(members) for name, members in _own(nodes)},
    }


def _own(nodes: Iterable[Node]) -> list[tuple[str, list[str]]]:
    """The groups that people give to nodes, with their members."""
    members: dict[str, list[str]] = {}
    for node in nodes:
        for name in node.groups:
            members.setdefault(name, []).append(node.name)
    return sorted(members.items())


def _group(members: Iterable[str], user: str | None = None) -> Data:
    """A group; `user` is a variable of the group, so that ``group_vars`` beside a playbook overrides it."""
    found: Data = {"hosts": {name: {} for name in members}}
    return found | ({"vars": {"ansible_user": user}} if user else {})


def _node(node: Node) -> Data:
    return known(
        {
            "ansible_host": node.address,
            "knaster_kind": node.platform,
            "knaster_os": node.os,
            "knaster_state": node.state,
        }
    )


def _guest(guest: Guest, roles: Iterable[str], platform: Platform | None) -> Data:
    """A guest. Replication is a variable, not a resource of OpenTofu, because a failover turns its direction round."""
    vm = guest.kind == "vm"
    return known(
        {
            "ansible_host": guest.address,
            "knaster_kind": guest.kind,
            "pve_node": guest.node,
            "vmid": guest.vmid,
            "knaster_roles": sorted(roles),
            "knaster_services": None if vm else sorted(guest.services),
            "knaster_driver": _driver(guest, platform) if vm else None,
            "knaster_mappings": [card.mapping for card in guest.cards] if vm else None,
            "knaster_replication": [
                {"target": job.target, "schedule": job.schedule}
                for job in sorted(guest.replication, key=lambda job: (job.target, job.schedule))
            ],
        }
    )


def _driver(guest: Guest, platform: Platform | None) -> Data | None:
    driver = platform.drivers.get(guest.driver_generation or "") if platform else None
    if driver is None:
        return None
    cards = sum(nvidia(card.gpu) for card in guest.cards)
    return {"generation": driver.generation, "branch": driver.branch, "version": driver.version, "cards": cards}


def _roles(planned: Planned) -> Mapping[str, set[str]]:
    """The roles in each guest."""
    found: dict[str, set[str]] = {}
    for assignment in planned.plan.assignments:
        if assignment.guest is not None:
            found.setdefault(assignment.guest, set()).add(assignment.role)
    return found
