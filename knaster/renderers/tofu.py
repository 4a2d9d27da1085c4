"""``tofu/``: what OpenTofu makes of the fleet, as the variables of the module and the two files that follow from names.

Every attribute is written, none is null: OpenTofu takes null for a required attribute without a word. Nothing here
depends on the placement, so that a role that moves changes no guest.
"""

from __future__ import annotations

import re

from knaster.cluster import GpuVm, Platform
from knaster.guests import Guest
from knaster.planned import Planned
from knaster.remembered import remembered
from knaster.renderers.known import JSON_HEAD, Data, known
from knaster.renderers.passthrough import hostpci, mappings

FLEET = "module.fleet"
"""Address of the module that holds the guests; the root module around it holds state, credentials and adoption."""

_CONTAINER = "proxmox_virtual_environment_container"
_OS_TYPES = ("alpine", "archlinux", "centos", "debian", "devuan", "fedora", "gentoo", "nixos", "opensuse", "ubuntu")


def tfvars(planned: Planned) -> Data:
    """The data of the tfvars: ``nodes``, and ``mappings``, ``vms`` and ``containers`` by name, all sorted."""
    platform = planned.cluster.platform
    vms = [guest for guest in planned.guests if guest.kind == "vm"]
    containers = [guest for guest in planned.guests if guest.kind == "lxc"]
    found = {name: {"node": vm.node, **facts} for vm in vms for name, facts in mappings(vm)}
    return {
        "//": JSON_HEAD,
        "nodes": sorted({node.name for node in planned.cluster.nodes if node.platform == "proxmox"}),
        "mappings": dict(sorted(found.items())),
        "vms": {vm.name: _vm(vm, platform) for vm in vms} if platform else {},
        "containers": {lxc.name: _container(lxc, platform) for lxc in containers} if platform else {},
    }


def moved(planned: Planned) -> Data:
    """The data of ``moved.tf.json``: where each container is in the state, if it was elsewhere before.

    One that begins or ends to replicate changes its resource, not its life. One that is gone and named under ``retire``
    comes to the only resource without guard, and is destroyed there.
    """
    platform = planned.cluster.platform
    guests = {guest.name: guest for guest in planned.guests}
    moves: list[tuple[str, str, str]] = []
    for name in sorted({*guests, *(platform.retire if platform else ())}):
        guest = guests.get(name)
        if guest is None:  # a chain, because two moves to one place are refused
            moves += [(name, "replicated", "fixed"), (name, "fixed", "retired")]
        elif guest.kind == "lxc":
            moves.append((name, "fixed", "replicated") if guest.replication else (name, "replicated", "fixed"))
    return {
        "//": JSON_HEAD,
        "moved": [{"from": _address(name, old), "to": _address(name, new)} for name, old, new in moves],
    }


def excluded(planned: Planned) -> Data:
    """The data of ``down.exclude``: the guests of nodes that are down, which OpenTofu could neither read nor change.

    Images stay: OpenTofu leaves out whatever depends on what is excluded, and on images depends every VM of every node.
    """
    down = {node.name for node in planned.cluster.nodes if node.state == "down" and node.platform == "proxmox"}
    return {"addresses": [f"{FLEET}.{_guest_address(guest)}" for guest in planned.guests if guest.node in down]}


def _guest_address(guest: Guest) -> str:
    if guest.kind == "vm":
        return f'proxmox_virtual_environment_vm.gpu["{guest.name}"]'
    return _address(guest.name, "replicated" if guest.replication else "fixed")


def _address(name: str, place: str) -> str:
    return f'{_CONTAINER}.{place}["{name}"]'


def _common(guest: Guest, platform: Platform) -> Data:
    """What a VM and a container have in common; the address carries the network's prefix length."""
    network = platform.network
    prefix = network.cidr.rpartition("/")[2]
    return {
        "node": guest.node,
        "vmid": guest.vmid,
        "address": f"{guest.address}/{prefix}" if guest.address else None,
        "gateway": network.gateway,
        "bridge": network.bridge,
        "dns": list(network.dns),
        "ssh_keys": list(platform.access.ssh_keys),
        "memory_mib": guest.memory_mib,
        "cores": guest.cores,
        "disk_gib": guest.disk_gib,
        "storage": guest.storage,
    }


@remembered
def _vm(guest: Guest, platform: Platform) -> Data:
    return known(
        {
            **_common(guest, platform),
            "user": platform.access.user,
            "image": _image(platform.gpu_vm) if platform.gpu_vm else None,
            "hostpci": hostpci(guest),
            "exists": guest.exists,
            "tags": tags(guest),
        }
    )


def _container(guest: Guest, platform: Platform) -> Data:
    return known(
        {
            **_common(guest, platform),
            "template": guest.template,
            "os_type": os_type(guest.template or ""),
            "unprivileged": guest.unprivileged,
            "exists": guest.exists,
            "replicates": bool(guest.replication),
            "tags": tags(guest),
        }
    )


def tags(guest: Guest) -> list[str]:
    """Proxmox tags, lower case and sorted: so Proxmox reads them back."""
    return ["gpu", "knaster"] if guest.kind == "vm" else ["knaster"]


def os_type(template: str) -> str:
    """What Proxmox sets up inside: by the name of the template, ``unmanaged`` where that tells nothing."""
    word = re.match("[a-z]+", template.rpartition("/")[2].lower())
    return word.group() if word and word.group() in _OS_TYPES else "unmanaged"


def _image(template: GpuVm) -> Data:
    image = template.image
    return {
        "url": image.url,
        "checksum": image.checksum,
        "checksum_algorithm": image.checksum_algorithm,
        "storage": image.storage,
    }
