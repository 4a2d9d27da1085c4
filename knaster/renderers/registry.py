"""``registry.yaml``: the slots with their endpoints, the models they name, and the external endpoints of the chains."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from knaster.cluster import Catalog, External, Figure, Model, Worker
from knaster.figures import shown
from knaster.guests import Guest
from knaster.planned import Planned
from knaster.renderers.known import Data, known
from knaster.slots import Endpoint, SlotView, slot_views


@dataclass(frozen=True, slots=True)
class _Fleet:
    """What an endpoint needs: guests by name, the nodes of the Proxmox cluster, and the workers by node."""

    guests: Mapping[str, Guest]
    proxmox: frozenset[str]
    workers: Mapping[str, Worker]


def registry(planned: Planned) -> Data:
    """The data of ``registry.yaml``; slots, models and external endpoints sorted by name."""
    cluster = planned.cluster
    platform = cluster.platform
    fleet = _Fleet(
        guests={guest.name: guest for guest in planned.guests},
        proxmox=frozenset(node.name for node in cluster.nodes if node.platform == "proxmox"),
        workers=platform.workers if platform else {},
    )
    views = slot_views(planned)
    external = platform.external if platform else {}
    return {
        "slots": {view.name: _slot(view, fleet) for view in views},
        "models": _models(views, cluster.catalog),
        "external": {name: _external(endpoint) for name, endpoint in sorted(external.items())},
    }


def _slot(view: SlotView, fleet: _Fleet) -> Data:
    share = view.vram_share
    return known(
        {
            "role": view.role,
            "kinds": list(view.kinds),
            "engine": view.engine,
            "processor": view.processor,
            "model": view.model,
            "models": list(view.models),
            "state": view.state,
            "reason": view.reason,
            "endpoints": [_endpoint(endpoint, fleet) for endpoint in view.endpoints],
            "fallback": list(view.fallback),
            "excludes": list(view.excludes),
            "excludes_roles": list(view.excludes_roles),
            "concurrent": list(view.concurrent),
            "vram_share": {"alone": share.alone, "shared": share.shared} if share else None,
        }
    )


def _endpoint(endpoint: Endpoint, fleet: _Fleet) -> Data:
    guest = fleet.guests.get(endpoint.guest) if endpoint.guest else None
    return known(
        {
            "backend": _backend(endpoint, guest),
            "node": endpoint.node,
            "guest": endpoint.guest,
            "program": fleet.workers[endpoint.node].program if endpoint.worker else None,
            "host": endpoint.host,
            "port": endpoint.port,
            "gpu_indices": list(endpoint.gpu_indices),
            "mappings": _mappings(endpoint, guest),
            "labels": _labels(endpoint, guest, fleet),
        }
    )


def _mappings(endpoint: Endpoint, guest: Guest | None) -> list[str] | None:
    """The resource mappings of the cards in slot order: sure names, where indices inside a VM may differ."""
    if guest is None or not endpoint.gpu_indices:
        return None
    return [card.mapping for card in guest.cards if card.gpu.index in endpoint.gpu_indices]


def _backend(endpoint: Endpoint, guest: Guest | None) -> str:
    if endpoint.worker:
        return "worker"
    return guest.kind if guest else "host"


def _labels(endpoint: Endpoint, guest: Guest | None, fleet: _Fleet) -> Data | None:
    """Ops labels, for nodes of the Proxmox cluster only: a workstation has neither."""
    if endpoint.node not in fleet.proxmox:
        return None
    return known({"pve_node": endpoint.node, "vmid": guest.vmid if guest else None})


def _models(views: Iterable[SlotView], catalog: Catalog | None) -> Data:
    """The facts of every model that a slot names, and of no other: what fits nowhere changes nothing here."""
    named = {name for view in views for name in (*view.models, view.model)}
    declared = catalog.models if catalog else {}
    return {name: _model(model) for name, model in sorted(declared.items()) if name in named}


def _model(model: Model) -> Data:
    """What a reader needs to start and to call the model; how large it is on a card is `vram_gb`, in GiB."""
    return known(
        {
            "kind": model.kind,
            "source": model.source,
            "precision": model.precision,
            "vram_gb": model.vram_gb,
            "context": model.context,
            "lora": model.lora,
            "args": list(model.args),
            "tensor_parallel": model.tensor_parallel,
            "startup_timeout": model.startup_timeout,
            "figures": [_figure(figure) for figure in shown(model.figures)] or None,
        }
    )


def _figure(figure: Figure) -> Data:
    """A figure always says whether it was measured."""
    return known(
        {
            "metric": figure.metric,
            "value": figure.value,
            "unit": figure.unit,
            "kind": figure.kind,
            "spread": figure.spread,
            "card": figure.card,
            "voice": figure.voice,
            "engine": figure.engine,
            "build": figure.build,
            "date": figure.date,
            "partial": figure.partial or None,
        }
    )


def _external(endpoint: External) -> Data:
    return known({"url": endpoint.url, "model": endpoint.model, "credential_env": endpoint.credential_env})
