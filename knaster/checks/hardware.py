"""What no machine can be, and what a machine cannot carry."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from knaster.checks.common import listed
from knaster.checks.scene import Scene
from knaster.cluster import Cluster, Driver, Gpu, Node, platform_place
from knaster.diagnostics import Diagnostic, Related
from knaster.guests import Guest
from knaster.units import MIB_PER_GIB, exact, mib, show, show_cc

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
                    f"card {node.name}/{gpu.index} cannot have both {show(gpu.memory_gb)} GB and {gpu.memory_mib} MiB "
                    f"({show(gpu.memory_mib / MIB_PER_GIB)} GiB)"
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
        f"card {node.name}/{gpu.index} is handed to the VM {guest.name}, but lacks {', '.join(missing)}",
        node.place("gpus", gpu.position, "pci" if gpu.pci else "index", on="key"),
        hint="`lspci -Dnnk` and /sys/bus/pci/devices/ADDRESS/iommu_group on the node tell; or collect the node again",
    )


def _missing_facts(gpu: Gpu) -> list[str]:
    if gpu.pci is None:
        return ["pci (address, id, subsystem_id, iommu_group)"]
    facts = (("id", gpu.pci.id), ("subsystem_id", gpu.pci.subsystem_id), ("iommu_group", gpu.pci.iommu_group))
    return [f"pci.{key}" for key, value in facts if value is None]


def drivers(scene: Scene) -> Iterator[Diagnostic]:
    """One VM has one driver, that of the template or its own: it serves every card in it, disabled ones too."""
    groups: defaultdict[str, list[Guest]] = defaultdict(list)
    for guest in scene.guests:
        groups[guest.driver_generation or ""].append(guest)
    for generation, guests in sorted(groups.items()):
        driver = scene.platform.drivers.get(generation)
        cards = [(guest, card.gpu) for guest in guests for card in guest.cards]
        unserved = [card for card in cards if driver is not None and not _serves(driver, card[1])]
        if driver is not None and unserved:
            yield _unserved(scene, driver, unserved, [gpu for _, gpu in cards])


def _serves(driver: Driver, gpu: Gpu) -> bool:
    """Whether the driver knows the card; of a card of unknown capability nothing is said."""
    if gpu.compute_cap is None:
        return True
    capability = exact(gpu.compute_cap)
    return exact(driver.min_cc) <= capability and (driver.max_cc is None or capability <= exact(driver.max_cc))


def _unserved(scene: Scene, driver: Driver, cards: list[tuple[Guest, Gpu]], all_cards: list[Gpu]) -> Diagnostic:
    ceiling = f" to {show_cc(driver.max_cc)}" if driver.max_cc is not None else " on"
    counts = Counter(gpu.compute_cap or 0 for _, gpu in cards)
    told = ", ".join(f"{number} with {show_cc(capability)}" for capability, number in sorted(counts.items()))
    others = [one.generation for one in scene.platform.drivers.values() if all(_serves(one, gpu) for gpu in all_cards)]
    places = [Related(platform_place("drivers", driver.generation), f"{driver.generation} is declared here")]
    for guest, gpu in cards:
        if guest.node in scene.nodes:
            place = scene.nodes[guest.node].place("gpus", gpu.position, "compute_cap")
            places.append(Related(place, f"card {guest.node}/{gpu.index} has {show_cc(gpu.compute_cap or 0)}"))
    return Diagnostic(
        "driver-branch",
        f"GPU VMs get driver {driver.branch} ({driver.generation}), which serves compute capability "
        f"{show_cc(driver.min_cc)}{ceiling}, but not {len(cards)} of their cards: {told}",
        scene.place(cards[0][0], "driver_generation"),
        hint=f"{' and '.join(sorted(others))} serves all cards of all GPU VMs"
        if len(others) == 1
        else f"these serve all cards of all GPU VMs: {listed(others)}"
        if others
        else "declare a generation that serves all cards of all GPU VMs, or take the cards out",
        related=tuple(places),
    )
