"""Names that the platform uses for nodes, drivers and storages have to exist."""

from __future__ import annotations

from collections.abc import Iterator

from knaster.checks.common import NO_NODES, node_names
from knaster.cluster import PLATFORM_FILE, Cluster, Platform, platform_place
from knaster.diagnostics import Diagnostic, Place
from knaster.names import Names


def nodes(cluster: Cluster) -> Iterator[Diagnostic]:
    """Guests, replication jobs, workers and overrides of GPU VMs name nodes that have a file."""
    if cluster.platform is None or NO_NODES in cluster.broken:
        return
    known = Names(node_names(cluster), "nodes")
    for what, name, place, apart in _named_nodes(cluster.platform):
        if name not in known:
            message = f'{what} the node "{name}", which has no file in inventory/'
            yield known.unknown("unknown-node", message, name, place, apart)


def _named_nodes(platform: Platform) -> Iterator[tuple[str, str, Place, tuple[str, ...]]]:
    """What names a node, the name, where, and which nodes it cannot mean."""
    for name, guest in platform.guests.items():
        yield f"guest {name} runs on", guest.node, platform_place("guests", name, "node"), ()
        apart = (guest.node, *(job.target for job in guest.replication))
        for job in guest.replication:
            place = platform_place("guests", name, "replication", job.position, "target")
            yield f"guest {name} is replicated to", job.target, place, apart
    for name in platform.workers:
        yield "workers names", name, platform_place("workers", name, on="key"), tuple(platform.workers)
    overrides = tuple(platform.gpu_vm.overrides) if platform.gpu_vm else ()
    for name in overrides:
        yield "gpu_vm.overrides names", name, platform_place("gpu_vm", "overrides", name, on="key"), overrides


def drivers(cluster: Cluster) -> Iterator[Diagnostic]:
    """A driver generation that is named for GPU VMs is one of ``drivers``."""
    if cluster.platform is None or cluster.platform.gpu_vm is None:
        return
    template, known = cluster.platform.gpu_vm, Names(cluster.platform.drivers, "driver generations")
    named = []
    if template.driver_generation is not None:
        named.append(("GPU VMs want", template.driver_generation, platform_place("gpu_vm", "driver_generation")))
    for name, override in template.overrides.items():
        if override.driver_generation is not None:
            place = platform_place("gpu_vm", "overrides", name, "driver_generation")
            named.append((f"the GPU VM of {name} wants", override.driver_generation, place))
    for what, wanted, place in named:
        if wanted not in known:
            message = f'{what} the driver generation "{wanted}", which drivers in {PLATFORM_FILE} does not have'
            yield known.unknown("unknown-driver", message, wanted, place)


def storages(cluster: Cluster) -> Iterator[Diagnostic]:
    """Every disk lies on a storage of ``storage``."""
    if cluster.platform is None:
        return
    known = Names(cluster.platform.storage, "storages")
    for what, name, place in _named_storages(cluster.platform):
        if name not in known:
            message = f'{what} on the storage "{name}", which storage in {PLATFORM_FILE} does not have'
            yield known.unknown("unknown-storage", message, name, place)


def _named_storages(platform: Platform) -> Iterator[tuple[str, str, Place]]:
    for name, guest in platform.guests.items():
        yield f"guest {name} lies", guest.storage, platform_place("guests", name, "storage")
    if platform.gpu_vm is None:
        return
    yield "GPU VMs lie", platform.gpu_vm.storage, platform_place("gpu_vm", "storage")
    for name, override in platform.gpu_vm.overrides.items():
        if override.storage is not None:
            place = platform_place("gpu_vm", "overrides", name, "storage")
            yield f"the GPU VM of {name} lies", override.storage, place
