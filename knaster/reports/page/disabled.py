"""Cards that people switched off, with what would bring them back and what they could do then."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from knaster.cards.benchmarks import missing, required
from knaster.cards.types import finder
from knaster.cluster import Catalog, Cluster
from knaster.fit.to_measure import command
from knaster.placement.cards import Card, collect
from knaster.placement.filters import Ask, Spot, first_failure
from knaster.reports.page.classes import enabled, groups, kind_of
from knaster.reports.page.matrix import cell, key
from knaster.reports.page.pairs import natural


@dataclass(frozen=True, slots=True)
class DisabledRow:
    """Cards of one type that are off for one reason. ``steps`` are in order; ``models`` would fit, ``roles`` run."""

    name: str
    facts: str
    reason: str
    spots: tuple[str, ...]
    steps: tuple[str, ...]
    roles: tuple[str, ...]
    models: tuple[str, ...]

    @property
    def tags(self) -> tuple[str, ...]:
        """What the filter of the page knows it by."""
        return ("disabled",)


def disabled(cluster: Cluster) -> dict[str, DisabledRow]:
    """By type and reason; of a fleet without disabled cards nothing."""
    found: dict[str, list[Card]] = {}
    for card in collect(cluster.nodes, cluster.platform).all:
        if card.gpu.disabled:
            found.setdefault(f"{key(kind_of(card))}; {card.gpu.reason or ''}", []).append(card)
    fits = _fits(cluster) if found else {}
    return {name: _row(cards, cluster, fits) for name, cards in sorted(found.items())}


def _fits(cluster: Cluster) -> dict[str, tuple[str, ...]]:
    """For each class of disabled cards the models that would fit on every one of them."""
    catalog = cluster.catalog or Catalog()
    found = {}
    for group in groups(cluster):
        if group.kind.out == "disabled":
            cells = {name: cell(model, group, catalog) for name, model in catalog.models.items()}
            found[key(group.kind)] = tuple(sorted(name for name, one in cells.items() if one.fits))
    return found


def _row(cards: list[Card], cluster: Cluster, fits: dict[str, tuple[str, ...]]) -> DisabledRow:
    first = cards[0]
    kind = kind_of(first)
    return DisabledRow(
        kind.name,
        ", ".join(part for part in (*kind.label.split(", ")[1:], kind.policy) if part),
        first.gpu.reason or "",
        tuple(sorted((card.name for card in cards), key=natural)),
        tuple(_steps(cards, cluster)),
        tuple(_roles(first, cluster)),
        fits.get(key(kind), ()),
    )


def _steps(cards: list[Card], cluster: Cluster) -> Iterable[str]:
    """What has to be done, in order."""
    gpu = cards[0].gpu
    yield from _benchmark(cards[0], cluster)
    unknown = [
        what
        for value, what in ((gpu.memory_gb, "its VRAM"), (gpu.compute_cap, "its compute capability"))
        if value is None
    ]
    if unknown:
        yield f"Find out {' and '.join(unknown)}: knaster inventory collect on its machine."
    down = sorted({card.node.name for card in cards if card.node.state != "active"}, key=natural)
    if down:
        yield f"Bring back {', '.join(down)}, which {'is' if len(down) == 1 else 'are'} not active."
    files = sorted({card.node.file for card in cards}, key=natural)
    yield f"Take disabled: true (and its reason) out of {', '.join(files)}."


def _benchmark(card: Card, cluster: Cluster) -> Iterable[str]:
    """For each policy that requires a benchmark of the type: whether one is on record, else how to make it."""
    catalog = cluster.catalog or Catalog()
    for policy in required(card.gpu, finder(cluster.platform)):
        if lacking := missing(policy, catalog):
            measure = command(card.node, card.gpu, policy, catalog, cluster.platform)
            yield f"On its machine run {measure}: a {policy.name} needs a benchmark with a power reading; {lacking}."
        else:
            yield f"A benchmark with a power reading is on record for {policy.name}: its card policy is met."


def _roles(card: Card, cluster: Cluster) -> Iterable[str]:
    """Roles with cards of their own that this one would serve, were it enabled and free; by name."""
    engines = (cluster.catalog or Catalog()).engines
    for name, role in sorted((cluster.roles or {}).items()):
        engine = engines.get(role.needs.engine)
        if engine is None or not role.needs.gpu or role.share_with or role.pin:
            continue
        if first_failure(Ask.of(role, engine), enabled(card), Spot()) is None:
            yield name
