"""Which driver a GPU VM gets: it has one for all its cards, so the oldest card decides.

Disabled cards count: they are handed to the VM as well. A driver branch is NVIDIA's; cards of others have no say in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from knaster.cluster import Driver, Gpu
from knaster.units import exact


def nvidia(gpu: Gpu) -> bool:
    """Whether it is NVIDIA's, or nobody knows whose it is."""
    return gpu.vendor in (None, "nvidia")


def serves(driver: Driver, gpu: Gpu) -> bool:
    """Whether the branch knows the card; of a card of unknown capability nothing is said."""
    if gpu.compute_cap is None:
        return True
    capability = exact(gpu.compute_cap)
    return exact(driver.min_cc) <= capability and (driver.max_cc is None or capability <= exact(driver.max_cc))


def generation(cards: Iterable[Gpu], drivers: Mapping[str, Driver]) -> str | None:
    """The generation whose version is the newest of those that still serve the oldest card, and every other.

    None where no card is NVIDIA's, where the capability of one is not known, or where no branch serves all of them.
    """
    found = [gpu for gpu in cards if nvidia(gpu)]
    if not found or any(gpu.compute_cap is None for gpu in found):
        return None
    fitting = [driver for driver in drivers.values() if all(serves(driver, gpu) for gpu in found)]
    newest = max(fitting, key=lambda driver: (release(driver.version), driver.generation), default=None)
    return newest.generation if newest else None


def release(version: str) -> tuple[int, ...]:
    """``580.95.05`` as numbers, so that 580.105.08 is newer."""
    return tuple(int(part) for part in version.split("."))
