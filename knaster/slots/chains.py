"""Fallback chains: what is tried, in order, when a slot does not answer. Pure; checks and the registry share it."""

from __future__ import annotations

from collections.abc import Mapping

from knaster.cluster import Slot

LONGEST = 100
"""Entries of a chain: every slot's chain is told in full, so chains of chains grow with the square."""


def expand_chain(slot: Slot, declared: Mapping[str, Slot]) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    """The whole chain of `slot`, and the cycle it runs into (slot names in the order they lead on) or None.

    The slot's own list comes first; after a last entry that is a slot, that slot's list follows, and so on. Entries in
    the middle are not expanded. A name is tried once, the slot itself never. One that lists itself is a cycle of one.
    Behind `LONGEST` entries nothing is looked up, and no cycle seen: a check refuses such a chain.
    """
    chain: dict[str, None] = {}
    walked = {slot.name: None}
    current: Slot | None = slot
    while current is not None and current.fallback and len(chain) <= LONGEST:
        chain.update(dict.fromkeys(name for name in current.fallback if name != slot.name))
        last = current.fallback[-1]
        if last in walked:
            names = tuple(walked)
            return tuple(chain), names[names.index(last) :]
        walked[last] = None
        current = declared.get(last)
    return tuple(chain), (slot.name,) if slot.name in slot.fallback else None
