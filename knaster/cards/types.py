"""Card types: which policies hold for a card. A policy belongs to the type, whatever keys its node has or lacks.

A type is known by its PCI id, and by its names: that of the policy and that of the table of cards. Of a card without an
id, whose name nobody knows, memory and compute capability decide.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from knaster.cards.table import table
from knaster.cluster import CardPolicy, Gpu, Number, Platform

_NOISE = {"nvidia", "quadro", "geforce", "tesla", "generation"}


@lru_cache(maxsize=4096)
def slug(name: str) -> str:
    """A card's name without what does not tell types apart: ``NVIDIA RTX 4000 Ada Generation`` is ``rtx4000ada``."""
    words = re.findall(r"[a-z0-9]+", name.lower())
    return "".join(word for word in words if word not in _NOISE)


Finder = Callable[[Gpu], tuple[CardPolicy, ...]]


def finder(platform: Platform | None) -> Finder:
    """What finds the policies that hold for a card; it remembers what it found for cards that are described alike."""
    cards = tuple(platform.cards.values()) if platform else ()
    known: dict[tuple[object, ...], tuple[CardPolicy, ...]] = {}

    def find(gpu: Gpu) -> tuple[CardPolicy, ...]:
        if not cards:
            return ()
        id = gpu.pci.id if gpu.pci else None
        key = (id, gpu.name, gpu.memory_gb, gpu.compute_cap)
        if key not in known:
            known[key] = _policies(_Claim(id, slug(gpu.name or ""), gpu.memory_gb, gpu.compute_cap), cards)
        return known[key]

    return find


def policies(gpu: Gpu, platform: Platform | None) -> tuple[CardPolicy, ...]:
    """The policies that hold for a card, by id; more than one where its PCI id and its name contradict each other."""
    return finder(platform)(gpu)


def engines(policies: Iterable[CardPolicy]) -> tuple[str, ...] | None:
    """The engines that may use a card for which these policies hold, in the order of the first; None: all."""
    allowed = [policy.engines for policy in policies if policy.engines is not None]
    if not allowed:
        return None
    return tuple(name for name in allowed[0] if all(name in others for others in allowed[1:]))


@lru_cache(maxsize=256)
def names(policy: CardPolicy) -> frozenset[str]:
    """The names, as slugs, by which cards of the policy's type go."""
    known = {slug(row.name) for (id, _), row in table().items() if id == policy.id}
    return frozenset({slug(policy.name), *known} - {""})


@dataclass(frozen=True, slots=True)
class _Claim:
    """What a node says of a card that tells its type."""

    id: str | None
    name: str
    memory_gb: Number | None
    compute_cap: Number | None


def _policies(claim: _Claim, cards: tuple[CardPolicy, ...]) -> tuple[CardPolicy, ...]:
    return tuple(
        policy for policy in cards if _holds(claim, policy) or (_unidentified(claim, cards) and _like(claim, policy))
    )


def _holds(claim: _Claim, policy: CardPolicy) -> bool:
    return claim.id == policy.id or claim.name in names(policy)


def _unidentified(claim: _Claim, cards: tuple[CardPolicy, ...]) -> bool:
    """Whether neither an id nor a name that anybody knows says what the card is."""
    if claim.id is not None:
        return False
    return claim.name not in _known_names() and not any(claim.name in names(policy) for policy in cards)


def _like(claim: _Claim, policy: CardPolicy) -> bool:
    """Whether memory and compute capability are those of the policy's type; what is unknown is like nothing, and such
    a card serves no role either."""
    return (policy.id, claim.memory_gb, claim.compute_cap) in _facts()


@lru_cache(maxsize=1)
def _known_names() -> frozenset[str]:
    return frozenset(slug(row.name) for row in table().values())


@lru_cache(maxsize=1)
def _facts() -> Mapping[tuple[str, Number | None, Number | None], bool]:
    rows = table().items()
    return {(id, row.memory_gb, row.compute_cap): True for (id, _), row in rows if row.memory_gb and row.compute_cap}
