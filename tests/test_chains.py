"""Fallback chains."""

from __future__ import annotations

import pytest

from knaster.cluster import Slot
from knaster.slots.chains import expand_chain

SLOTS = {
    "alone": (),
    "direct": ("tier0",),
    "flex": ("general", "tier0"),
    "general": ("tier0",),
    "hq": ("flex",),
    "twice": ("general", "direct"),
    "a": ("b",),
    "b": ("c",),
    "c": ("a",),
    "into": ("tier9", "a"),
    "self": ("tier0", "self", "tier1"),
    "mutual1": ("mutual2", "tier0"),
    "mutual2": ("mutual1", "tier0"),
}


@pytest.mark.parametrize(
    ("name", "chain", "cycle"),
    [
        ("alone", (), None),
        ("direct", ("tier0",), None),
        ("flex", ("general", "tier0"), None),
        ("hq", ("flex", "general", "tier0"), None),
        ("twice", ("general", "direct", "tier0"), None),
        ("a", ("b", "c"), ("a", "b", "c")),
        ("into", ("tier9", "a", "b", "c"), ("a", "b", "c")),
        ("self", ("tier0", "tier1"), ("self",)),
        ("mutual1", ("mutual2", "tier0"), None),
    ],
)
def test_expand_chain(name: str, chain: tuple[str, ...], cycle: tuple[str, ...] | None) -> None:
    declared = {slot: Slot(slot, fallback=fallback) for slot, fallback in SLOTS.items()}
    assert expand_chain(declared[name], declared) == (chain, cycle)
