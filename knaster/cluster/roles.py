"""``catalog/roles.yaml``: jobs that want a card or a CPU. Units: ``*_gb`` are GiB."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from knaster.cluster.machines import Number
from knaster.diagnostics import Place

ShareMode = Literal["alternating", "concurrent"]
Prefer = Literal["largest", "smallest_fitting"]
ROLES_FILE = "catalog/roles.yaml"


@dataclass(frozen=True, slots=True)
class Needs:
    """What a role asks of a card (or, with ``gpu: false``, of a node)."""

    engine: str
    min_vram_gb: Number = 0
    min_cc: Number = 0
    max_cc: Number | None = None
    gpu: bool = True
    min_memory_gb: Number = 0


@dataclass(frozen=True, slots=True)
class Slot:
    """A name that clients call; ``fallback`` is ordered. ``position`` is its place in the file's list."""

    name: str
    port: int | None = None
    fallback: tuple[str, ...] = ()
    model: str | None = None
    position: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class VramShare:
    """The share of a card's VRAM (0 to 1) that a role may take alone and while another role runs beside it."""

    alone: Number
    shared: Number


@dataclass(frozen=True, slots=True)
class Role:
    """A job that wants a card or a CPU. Lower ``priority`` is served first."""

    name: str
    needs: Needs
    kinds: tuple[str, ...]
    priority: int = 100
    prefer: Prefer = "smallest_fitting"
    count: int = 1
    slots: tuple[Slot, ...] = ()
    share_with: str | None = None
    share_mode: ShareMode = "alternating"
    vram_share: VramShare | None = None
    cpu_fallback: bool = False
    pin: str | None = None
    required: bool = False
    guest: str | None = None
    description: str | None = None


def role_place(name: str, *route: str | int, on: Literal["key", "value"] = "value") -> Place:
    """A place inside one role."""
    return Place(ROLES_FILE, ("roles", name, *route), on)
