"""A card whose type needs a benchmark serves nobody before one is on record."""

from __future__ import annotations

from collections.abc import Iterator

from knaster.cards.benchmarks import missing, required
from knaster.cards.types import finder
from knaster.cluster import MODELS_FILE, CardPolicy, Cluster, Gpu, Node, platform_place
from knaster.diagnostics import Diagnostic, Related
from knaster.fit.to_measure import command
from knaster.names import spot


def benchmarks(cluster: Cluster) -> Iterator[Diagnostic]:
    """A card that is not disabled, of a type that requires a benchmark, has a record with a power reading."""
    catalog = cluster.catalog
    if catalog is None or cluster.platform is None:
        return
    policies = finder(cluster.platform)
    for node in cluster.nodes:
        for gpu in node.gpus:
            for policy in () if gpu.disabled else required(gpu, policies):
                if lacking := missing(policy, catalog):
                    measure = command(node, gpu, policy, catalog, cluster.platform)
                    yield _refused(node, gpu, policy, lacking, measure)


def _refused(node: Node, gpu: Gpu, policy: CardPolicy, lacking: str, measure: str) -> Diagnostic:
    by_id = gpu.pci is not None and gpu.pci.id == policy.id
    told = policy.name if by_id else f"{gpu.name or 'no name'}, by its name or facts a {policy.name}"
    return Diagnostic(
        "benchmark-missing",
        f"card {spot(node.name, gpu.index)} ({told}) is enabled, but a {policy.name} needs a benchmark with a power "
        f"reading first: {lacking}",
        node.place("gpus", gpu.position),
        hint=f"set `disabled: true`; on the machine run: {measure}; "
        f"commit what it writes to {MODELS_FILE} together with the card",
        related=(Related(platform_place("cards", policy.id, on="key"), "the policy of this card type"),),
    )
