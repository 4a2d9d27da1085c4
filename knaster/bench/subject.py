"""Whose figures they are: model, engine, node and card type, as far as the fleet's own files tell. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from knaster.cluster import Catalog, Node
from knaster.planned import Planned
from knaster.slots import Endpoint, SlotView, slot_views

CPU = "cpu"


@dataclass(frozen=True, slots=True)
class Subject:
    """``model`` is the catalog's name. ``card`` is a card type; None: the CPU, or where not ``placed``, nobody said.
    ``slot``: what the plan has at the address, where it has something."""

    model: str | None = None
    engine: str | None = None
    node: str | None = None
    card: str | None = None
    slot: str | None = None
    placed: bool = False


def at(planned: Planned, host: str, port: int | None, kind: str) -> Subject:
    """What the plan has at an address, for slots that serve models of `kind`; an empty subject for nothing."""
    found = [
        (view, endpoint)
        for view in slot_views(planned)
        for endpoint in view.endpoints
        if kind in view.kinds and endpoint.host == host and endpoint.port == port
    ]
    return _subject(*found[0], planned.cluster.nodes) if found else Subject()


def _subject(view: SlotView, endpoint: Endpoint, nodes: Iterable[Node]) -> Subject:
    node = next((node for node in nodes if node.name == endpoint.node), None)
    cards = {gpu.name for gpu in node.gpus if gpu.index in endpoint.gpu_indices} if node else set()
    card = cards.pop() if len(cards) == 1 else None
    placed = card is not None or not endpoint.gpu_indices
    return Subject(view.model, view.engine, endpoint.node, card, view.name, placed)


def unplaced(catalog: Catalog | None, whose: Subject) -> bool:
    """Whether nobody knows what it runs on: its engine may use a card, and none is named, nor the CPU."""
    known = catalog.engines.get(whose.engine) if catalog and whose.engine else None
    return not whose.placed and (known is None or known.gpu != "none")


def engine(catalog: Catalog | None, model: str | None) -> str | None:
    """The engine of a catalog model, where it has only one."""
    found = catalog.models.get(model) if catalog and model else None
    return found.engines[0] if found and len(found.engines) == 1 else None
