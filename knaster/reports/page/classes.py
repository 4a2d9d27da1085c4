"""Cards by class: those that no question of fit tells apart, so that a large fleet has few of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from knaster.cluster import Cluster, Number
from knaster.fit import Device
from knaster.fit.fits import card_device
from knaster.placement.cards import Card, CardClass, collect
from knaster.reports.page.pairs import natural
from knaster.units import Exact, show, show_cc

Out = Literal["", "disabled", "down"]


@dataclass(frozen=True, slots=True)
class Kind:
    """What a class of cards is told by; ``engines`` None: every engine. ``out`` says why none of them serves."""

    name: str
    memory_gb: Number | None
    compute_cap: Number | None
    os: str
    engines: tuple[str, ...] | None
    out: Out

    @property
    def label(self) -> str:
        """``Quadro P2000, 5 GB, compute 6.1, linux``."""
        size = f"{show(self.memory_gb)} GB" if self.memory_gb is not None else "VRAM not known"
        capability = f"compute {show_cc(self.compute_cap)}" if self.compute_cap is not None else "compute not known"
        return ", ".join((self.name, size, capability, self.os))

    @property
    def policy(self) -> str:
        """What the platform's card policy leaves open; "" where it says nothing."""
        if self.engines is None:
            return ""
        return f"{' and '.join(self.engines)} only" if self.engines else "no engine"


@dataclass(frozen=True, slots=True)
class Group:
    """A class with its cards: the devices that they are to a model (how many of each), and their names."""

    kind: Kind
    devices: tuple[tuple[Device, int], ...]
    spots: tuple[str, ...]

    @property
    def room(self) -> tuple[Exact, Exact] | None:
        """The least and the most MiB that models may take on one of them; None where nobody knows."""
        known = [device.free_mib for device, _ in self.devices if device.free_mib is not None]
        return (min(known), max(known)) if known else None


def groups(cluster: Cluster) -> tuple[Group, ...]:
    """The classes, cards in service first, then by size (largest first), capability and name."""
    found: dict[Kind, list[Card]] = {}
    for card in collect(cluster.nodes, cluster.platform).all:
        found.setdefault(kind_of(card), []).append(card)
    return tuple(_group(kind, found[kind], cluster) for kind in sorted(found, key=_order))


def kind_of(card: Card) -> Kind:
    """The class of one card. A cordoned node keeps what it has, so its cards are in service."""
    one: CardClass = card.kind
    out: Out = "disabled" if one.disabled else "down" if one.state == "down" else ""
    return Kind(card.gpu.name or "unknown card", one.memory_gb, one.compute_cap, one.os, one.engines, out)


def enabled(card: Card) -> CardClass:
    """The card to a filter, were it not disabled."""
    return replace(card.kind, disabled=False)


def _order(kind: Kind) -> tuple[object, ...]:
    return (
        kind.out,
        -(kind.memory_gb or 0),
        -(kind.compute_cap or 0),
        kind.name,
        kind.os,
        kind.engines is not None,
        kind.engines or (),
        kind.memory_gb is None,
        kind.compute_cap is None,
    )


def _group(kind: Kind, cards: Iterable[Card], cluster: Cluster) -> Group:
    listed = tuple(cards)
    devices: dict[Device, int] = {}
    for card in listed:
        device = card_device(card.node, card.gpu, cluster.platform)
        devices[device] = devices.get(device, 0) + 1
    order = sorted(devices.items(), key=lambda item: (item[0].free_mib is None, item[0].free_mib or 0))
    return Group(kind, tuple(order), tuple(sorted((card.name for card in listed), key=natural)))
