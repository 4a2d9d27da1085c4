"""``prometheus/*.json``: target lists for ``file_sd``, one file per job of ``scrape.yaml``.

A machine or guest whose address nobody knows is no target. A list without targets is an empty list, never a missing
file: Prometheus takes both without a word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from knaster.cards.drivers import nvidia
from knaster.cluster import Catalog, Exporters, Node
from knaster.guests import Guest
from knaster.planned import Planned
from knaster.renderers.known import Data
from knaster.slots import Endpoint, SlotView, slot_views


def nodes(planned: Planned) -> Data:
    """Machines: their node_exporter, or on Windows windows_exporter."""
    ports = _ports(planned)
    return _listed(
        (node.address, ports.windows if node.os == "windows" else ports.node, _node_labels(node))
        for node in _by_name(planned)
    )


def guests(planned: Planned) -> Data:
    """VMs and containers: their node_exporter."""
    port = _ports(planned).node
    return _listed((guest.address, port, _guest_labels(guest)) for guest in planned.guests)


def gpus(planned: Planned) -> Data:
    """Whoever has NVIDIA cards in hand: GPU VMs, and machines outside Proxmox. A Proxmox host only passes them on."""
    port = _ports(planned).gpu
    vms = [guest for guest in planned.guests if any(nvidia(card.gpu) for card in guest.cards)]
    machines = [node for node in _by_name(planned) if node.platform != "proxmox" and any(map(nvidia, node.gpus))]
    return _listed(
        [
            *((guest.address, port, _guest_labels(guest)) for guest in vms),
            *((node.address, port, _node_labels(node)) for node in machines),
        ]
    )


def slots(planned: Planned) -> Data:
    """Every endpoint of every available slot whose engine shows metrics."""
    engines = (planned.cluster.catalog or Catalog()).engines
    paths = {name: engine.metrics for name, engine in engines.items() if engine.metrics is not None}
    machines = {node.name: node for node in planned.cluster.nodes}
    behind = {guest.name: guest for guest in planned.guests}

    def labels(view: SlotView, endpoint: Endpoint) -> Data:
        guest = behind.get(endpoint.guest or "")
        host = _guest_labels(guest) if guest else _node_labels(machines[endpoint.node])
        return {
            "slot": view.name,
            "role": view.role,
            "engine": view.engine,
            **host,
            "__metrics_path__": paths[view.engine],
        }

    return _listed(
        (endpoint.host, endpoint.port, labels(view, endpoint))
        for view in slot_views(planned)
        if view.engine in paths and view.state == "available"
        for endpoint in view.endpoints
    )


TARGETS: tuple[tuple[str, Callable[[Planned], Data]], ...] = (
    ("prometheus/nodes.json", nodes),
    ("prometheus/guests.json", guests),
    ("prometheus/gpus.json", gpus),
    ("prometheus/slots.json", slots),
)
"""The target lists, by path relative to ``generated/``."""


def _ports(planned: Planned) -> Exporters:
    return planned.cluster.platform.exporters if planned.cluster.platform else Exporters()


def _by_name(planned: Planned) -> list[Node]:
    return sorted(planned.cluster.nodes, key=lambda node: node.name)


def _listed(found: Iterable[tuple[str | None, int | None, Data]]) -> Data:
    """Groups of one target each. Prometheus takes label values that are text and nothing else."""
    return {"groups": list(_groups(found))}


def _groups(found: Iterable[tuple[str | None, int | None, Data]]) -> Iterator[Data]:
    for host, port, labels in found:
        if host is not None and port is not None:
            yield {"targets": [f"{host}:{port}"], "labels": labels}


def _node_labels(node: Node) -> Data:
    ops = {"pve_node": node.name} if node.platform == "proxmox" else {}
    return {"host": node.name, "kind": node.platform, **ops}


def _guest_labels(guest: Guest) -> Data:
    ops = {"vmid": str(guest.vmid)} if guest.vmid is not None else {}
    return {"host": guest.name, "kind": guest.kind, "pve_node": guest.node, **ops}
