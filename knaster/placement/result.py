"""What the planner answers: assignments, roles without a place and why, and the cards that are switched off."""

from __future__ import annotations

from dataclasses import dataclass

from knaster.cluster import Gpu


@dataclass(frozen=True, slots=True)
class Count:
    """So many cards (or nodes) failed one cause; ``text`` is the phrase without the number (``on windows (…)``)."""

    cause: str
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Move:
    """One role that would have to move, and the pins that say from where to where (``pve44/1``)."""

    role: str
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a role has fewer places than it wants: of ``total`` things of ``kind``, ``fit`` serve it, ``counts`` do not.

    ``fit + sum(c.number for c in counts) == total`` always. ``subject`` narrows the total (``of gpu-flex``);
    ``problem`` replaces the counts where nothing could be counted (an unknown engine, a share cycle). ``moves`` is an
    arrangement that would make room, confirmed by planning it; empty when none was found. ``fallback`` says why the CPU
    did not serve either, for a role that may fall back to it.
    """

    kind: str = "GPUs"
    subject: str = ""
    total: int = 0
    fit: int = 0
    counts: tuple[Count, ...] = ()
    problem: str | None = None
    moves: tuple[Move, ...] = ()
    fallback: Reason | None = None


@dataclass(frozen=True, slots=True)
class Assignment:
    """One role on one card (``gpu_index``), or on one node's CPU (``gpu_index`` None).

    ``card`` is the card's identity (see `card_identity`), ``guest`` the VM or LXC that the role runs in, None outside
    Proxmox. ``slots`` names the slots that this assignment serves.
    """

    role: str
    node: str
    gpu_index: int | None = None
    models_fitting: tuple[str, ...] = ()
    card: str | None = None
    guest: str | None = None
    slots: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unplaced:
    """A role with fewer places than it wants, and why, as one sentence and as data."""

    role: str
    reason: str
    detail: Reason


@dataclass(frozen=True, slots=True)
class DisabledGpu:
    """A card that people switched off."""

    node: str
    gpu_index: int
    name: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class PlacementPlan:
    """The whole answer; every tuple is sorted (assignments by role, node, card; the others by name)."""

    assignments: tuple[Assignment, ...] = ()
    unplaced: tuple[Unplaced, ...] = ()
    disabled_gpus: tuple[DisabledGpu, ...] = ()


def card_identity(gpu: Gpu) -> str:
    """How a card is recognised when indices shift: uuid, else PCI address and id, else index."""
    return card_identities(gpu)[0]


def card_identities(gpu: Gpu) -> tuple[str, ...]:
    """Every identity that a record may hold of a card, the surest first: facts may have become known since."""
    uuid = (gpu.uuid,) if gpu.uuid else ()
    facts = (f"pci:{gpu.pci.address}/{gpu.pci.id}",) if gpu.pci and gpu.pci.id else ()
    return (*uuid, *facts, f"index:{gpu.index}")
