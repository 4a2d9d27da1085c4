"""One VM has one driver: what is named for it serves all its cards, and what is not named follows from the oldest."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from knaster.cards.drivers import generation, nvidia, serves
from knaster.checks.scene import Scene
from knaster.cluster import PLATFORM_FILE, Driver, Gpu, platform_place
from knaster.diagnostics import Diagnostic, Related
from knaster.guests import Guest, named_driver
from knaster.names import listed, spot
from knaster.units import show_cc


def named(scene: Scene) -> Iterator[Diagnostic]:
    """The driver that people name, for all VMs or for one, serves every card in it, disabled ones too."""
    groups: defaultdict[str, list[Guest]] = defaultdict(list)
    for guest in _vms(scene):
        groups[_named(scene, guest) or ""].append(guest)
    for wanted, guests in sorted(groups.items()):
        driver = scene.platform.drivers.get(wanted)
        cards = [(guest, card.gpu) for guest in guests for card in guest.cards if nvidia(card.gpu)]
        unserved = [card for card in cards if driver is not None and not serves(driver, card[1])]
        if driver is not None and unserved:
            yield _unserved(scene, driver, unserved)


def derived(scene: Scene) -> Iterator[Diagnostic]:
    """Where no driver is named, the cards of the VM have to tell it: all are known, and one branch serves them all.

    A VM without NVIDIA cards has none.
    """
    for guest in _vms(scene):
        if _named(scene, guest) is not None or guest.driver_generation is not None or guest.node not in scene.nodes:
            continue
        cards = [card.gpu for card in guest.cards if nvidia(card.gpu)]
        unknown = [gpu for gpu in cards if gpu.compute_cap is None]
        yield from (_not_known(scene, guest, gpu) for gpu in unknown)
        if cards and not unknown:
            yield _no_branch(scene, guest, cards)


def _vms(scene: Scene) -> Iterable[Guest]:
    return (guest for guest in scene.guests if guest.kind == "vm")


def _named(scene: Scene, guest: Guest) -> str | None:
    template = scene.platform.gpu_vm
    return named_driver(guest.node, template) if template else None


def _not_known(scene: Scene, guest: Guest, gpu: Gpu) -> Diagnostic:
    return Diagnostic(
        "driver-unknown",
        f"the driver of GPU VM {guest.name} follows from its oldest card, but nobody knows the compute capability of "
        f"card {spot(guest.node, gpu.index)}",
        scene.nodes[guest.node].place("gpus", gpu.position, "compute_cap"),
        hint=f"collect the node again, fill compute_cap in, or name one under "
        f"gpu_vm.overrides.{guest.node}.driver_generation in {PLATFORM_FILE}",
    )


def _no_branch(scene: Scene, guest: Guest, cards: list[Gpu]) -> Diagnostic:
    capabilities = sorted({gpu.compute_cap or 0 for gpu in cards})
    return Diagnostic(
        "driver-branch",
        f"no driver generation serves all cards of GPU VM {guest.name}: their compute capabilities are "
        f"{', '.join(map(show_cc, capabilities))}",
        scene.nodes[guest.node].place("gpus", on="key"),
        hint=f"declare one under drivers in {PLATFORM_FILE}, or take the cards out",
        related=tuple(
            Related(platform_place("drivers", one.generation), f"{one.generation} serves {_range(one)}")
            for one in scene.platform.drivers.values()
        ),
    )


def _range(driver: Driver) -> str:
    return f"{show_cc(driver.min_cc)}{f' to {show_cc(driver.max_cc)}' if driver.max_cc is not None else ' on'}"


def _unserved(scene: Scene, driver: Driver, cards: list[tuple[Guest, Gpu]]) -> Diagnostic:
    counts = Counter(gpu.compute_cap or 0 for _, gpu in cards)
    told = ", ".join(f"{number} with {show_cc(capability)}" for capability, number in sorted(counts.items()))
    oldest = {generation([card.gpu for card in guest.cards], scene.platform.drivers) for guest, _ in cards}
    told_by_oldest = sorted(found for found in oldest if found is not None)
    places = [Related(platform_place("drivers", driver.generation), f"{driver.generation} is declared here")]
    for guest, gpu in cards:
        if guest.node in scene.nodes:
            place = scene.nodes[guest.node].place("gpus", gpu.position, "compute_cap")
            places.append(Related(place, f"card {spot(guest.node, gpu.index)} has {show_cc(gpu.compute_cap or 0)}"))
    return Diagnostic(
        "driver-branch",
        f"GPU VMs get driver {driver.branch} ({driver.generation}), which serves compute capability "
        f"{_range(driver)}, but not {len(cards)} of their cards: {told}",
        scene.place(cards[0][0], "driver_generation"),
        hint="declare a generation that serves all cards of each of these VMs, or take the cards out"
        if None in oldest
        else f"without driver_generation the oldest card of each decides, here for {listed(told_by_oldest)}",
        related=tuple(places),
    )
