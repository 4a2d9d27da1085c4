"""``tofu/knaster.auto.tfvars.json``: what OpenTofu makes of the fleet, as three variables.

Every attribute is written, none is null: OpenTofu takes null for a required attribute without a word. Nothing here
depends on the placement, so that a role that moves changes no guest.
"""

from __future__ import annotations

from knaster.cluster import Driver, GpuVm, Network, Platform
from knaster.guests import Guest
from knaster.planned import Planned
from knaster.renderers.known import JSON_HEAD, Data, known
from knaster.renderers.passthrough import hostpci, mappings


def tfvars(planned: Planned) -> Data:
    """The data of the tfvars: ``mappings``, ``vms`` and ``containers`` by name, sorted."""
    platform = planned.cluster.platform
    vms = [guest for guest in planned.guests if guest.kind == "vm"]
    containers = [guest for guest in planned.guests if guest.kind == "lxc"]
    found = {name: {"node": vm.node, **facts} for vm in vms for name, facts in mappings(vm)}
    return {
        "//": JSON_HEAD,
        "mappings": dict(sorted(found.items())),
        "vms": {vm.name: _vm(vm, platform) for vm in vms} if platform else {},
        "containers": {lxc.name: _container(lxc, platform.network) for lxc in containers} if platform else {},
    }


def _common(guest: Guest, network: Network) -> Data:
    """What a VM and a container have in common; the address carries the network's prefix length."""
    prefix = network.cidr.rpartition("/")[2]
    return {
        "node": guest.node,
        "vmid": guest.vmid,
        "address": f"{guest.address}/{prefix}" if guest.address else None,
        "gateway": network.gateway,
        "bridge": network.bridge,
        "dns": list(network.dns),
        "memory_mib": guest.memory_mib,
        "cores": guest.cores,
        "disk_gib": guest.disk_gib,
        "storage": guest.storage,
    }


def _vm(guest: Guest, platform: Platform) -> Data:
    driver = platform.drivers.get(guest.driver_generation or "")
    return known(
        {
            **_common(guest, platform.network),
            "image": _image(platform.gpu_vm) if platform.gpu_vm else None,
            "driver": _driver(driver) if driver else None,
            "hostpci": hostpci(guest),
            "tags": ["gpu", "knaster"],
        }
    )


def _container(guest: Guest, network: Network) -> Data:
    return known(
        {
            **_common(guest, network),
            "template": guest.template,
            "unprivileged": True,
            "exists": guest.exists,
            "tags": ["knaster"],
        }
    )


def _image(template: GpuVm) -> Data:
    image = template.image
    return {"url": image.url, "checksum": image.checksum, "checksum_algorithm": image.checksum_algorithm}


def _driver(driver: Driver) -> Data:
    return {"generation": driver.generation, "branch": driver.branch, "version": driver.version}
