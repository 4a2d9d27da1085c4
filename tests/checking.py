"""Short ways to run one rule and to look at what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from knaster.checks.scene import Scene, scene
from knaster.cluster import Cluster, Gpu, Node
from knaster.diagnostics import Diagnostic
from tests.builders import gpu, node, pci

Said = list[tuple[str, str]]
GuestRule = Callable[[Scene], Iterable[Diagnostic]]


def said(diagnostics: Iterable[Diagnostic]) -> Said:
    """Code and message of each diagnostic."""
    return [(diagnostic.code, diagnostic.message) for diagnostic in diagnostics]


def only(diagnostics: Iterable[Diagnostic]) -> Diagnostic:
    """The one diagnostic; more or fewer fail the test."""
    (found,) = diagnostics
    return found


def of_guests(rule: GuestRule, cluster: Cluster) -> list[Diagnostic]:
    """What a rule of guests says of a cluster that has a platform."""
    view = scene(cluster)
    assert view is not None
    return list(rule(view))


def p2000(index: int = 0, bus: int = 1, **more: object) -> Gpu:
    """A Quadro P2000 with all PCI facts."""
    given = {"name": "Quadro P2000", "pci": pci(f"0000:{bus:02x}:00.0", "10de:1c30", subsystem_id="10de:11b3"), **more}
    return gpu(index, 5, 6.1, **given)


def proxmox(name: str = "pve44", *cards: Gpu, **more: object) -> Node:
    """A Proxmox node of 32 GB."""
    return node(name, *cards, **{"platform": "proxmox", "memory_gb": 32, **more})


def route(diagnostic: Diagnostic) -> tuple[str, tuple[str | int, ...], str]:
    """File, route and side of the place."""
    assert diagnostic.place is not None
    return diagnostic.place.file, diagnostic.place.route, diagnostic.place.on
