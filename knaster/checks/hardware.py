"""What no machine can be, and what a machine cannot carry."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from knaster.checks.scene import Scene
from knaster.cluster import Cluster, Gpu, Node
from knaster.diagnostics import Diagnostic, Related
from knaster.guests import Guest
from knaster.names import spot
from knaster.units import MIB_PER_GIB, mib, show

_MOST_CARDS = 16
"""``hostpci0`` to ``hostpci15``."""


def processors(cluster: Cluster) -> Iterator[Diagnostic]:
    """A core has at least one thread."""
    for node in cluster.nodes:
        cores, threads = node.cpu.cores, node.cpu.threads
        if cores is not None and threads is not None and threads < cores:
            message = f"{node.name} has {cores} cores but {threads} threads; every core has at least one"
            hint = "cores counts physical cores, threads what the system schedules on: are they swapped?"
            yield Diagnostic("impossible-hardware", message, node.place("cpu", "threads"), hint=hint)


def card_memories(cluster: Cluster) -> Iterator[Diagnostic]:
    """``memory_mib`` and ``memory_gb`` speak of one card: drivers keep back up to an eighth, never a half."""
    for node in cluster.nodes:
        for gpu in node.gpus:
            if gpu.memory_mib is None or gpu.memory_gb is None or gpu.memory_kind == "unified":
                continue
            gap = abs(gpu.memory_mib / MIB_PER_GIB - gpu.memory_gb)
            if gap > max(0.15 * gpu.memory_gb, 1):
                message = (
                    f"card {spot(node.name, gpu.index)} cannot have both {show(gpu.memory_gb)} GB and "
                    f"{gpu.memory_mib} MiB ({show(gpu.memory_mib / MIB_PER_GIB)} GiB)"
                )
                place = node.place("gpus", gpu.position, "memory_mib")
                yield Diagnostic("impossible-hardware", message, place, hint="memory_gb is what the maker says, in GiB")


def memory_budgets(scene: Scene) -> Iterator[Diagnostic]:
    """The guests of a Proxmox node and the reserve of the host fit into its memory: passthrough pins all of it."""
    guests: defaultdict[str, list[Guest]] = defaultdict(list)
    for guest in scene.guests:
        guests[guest.node].append(guest)
    reserve = mib(scene.platform.host_reserve_gb)
    for name, some in sorted(guests.items()):
        node = scene.nodes.get(name)
        if node is None or node.platform != "proxmox" or node.memory_gb is None:
            continue
        need = sum(guest.memory_mib for guest in some) + reserve
        if need > mib(node.memory_gb):
            parts = [f"{guest.name} {show(guest.memory_gb)}" for guest in some]
            parts += [f"host {show(scene.platform.host_reserve_gb)}"] if reserve else []
            yield Diagnostic(
                "memory-budget",
                f"{name} has {show(node.memory_gb)} GB, its guests need {show(need / MIB_PER_GIB)}: {', '.join(parts)}",
                node.place("memory_gb"),
                hint="give a guest less memory, or move a container to another node",
                related=tuple(Related(scene.place(guest, "memory_gb"), f"memory of {guest.name}") for guest in some),
            )


def processor_budgets(scene: Scene) -> Iterator[Diagnostic]:
    """Proxmox starts no VM with more cores than its node has threads."""
    for guest in scene.guests:
        node = scene.nodes.get(guest.node)
        threads = node.cpu.threads if node else None
        if guest.kind == "vm" and threads is not None and guest.cores > threads:
            message = f"GPU VM {guest.name} has {guest.cores} cores, but {guest.node} has {threads} threads"
            yield Diagnostic("impossible-hardware", message, scene.place(guest, "cores"), hint=f"at most {threads}")


def passthrough_facts(scene: Scene) -> Iterator[Diagnostic]:
    """Proxmox compares id, subsystem and IOMMU group of a card at every start of its VM."""
    for guest in scene.guests:
        node = scene.nodes.get(guest.node)
        if guest.kind != "vm" or node is None:
            continue
        for card in guest.cards:
            missing = _missing_facts(card.gpu)
            if missing:
                yield _no_passthrough(node, card.gpu, guest, missing)
        if len(guest.cards) > _MOST_CARDS:
            message = f"a VM takes {_MOST_CARDS} cards, and {node.name} has {len(guest.cards)}"
            place = node.place("gpus", on="key")
            yield Diagnostic("passthrough-facts", message, place, hint="put some into another node")


def _no_passthrough(node: Node, gpu: Gpu, guest: Guest, missing: list[str]) -> Diagnostic:
    return Diagnostic(
        "passthrough-facts",
        f"card {spot(node.name, gpu.index)} is handed to the VM {guest.name}, but lacks {', '.join(missing)}",
        node.place("gpus", gpu.position, "pci" if gpu.pci else "index", on="key"),
        hint="`lspci -Dnnk` and /sys/bus/pci/devices/ADDRESS/iommu_group on the node tell; or collect the node again",
    )


def _missing_facts(gpu: Gpu) -> list[str]:
    if gpu.pci is None:
        return ["pci (address, id, subsystem_id, iommu_group)"]
    facts = (("id", gpu.pci.id), ("subsystem_id", gpu.pci.subsystem_id), ("iommu_group", gpu.pci.iommu_group))
    return [f"pci.{key}" for key, value in facts if value is None]
