"""What nobody confirmed, and what nobody knows."""

from __future__ import annotations

from collections.abc import Iterator

from knaster.cards.drivers import nvidia
from knaster.checks.common import distinct
from knaster.cluster import PLATFORM_FILE, Cluster, Gpu, Node, platform_place
from knaster.diagnostics import Diagnostic, Severity
from knaster.names import spot

_COLLECT = "run `knaster inventory collect` on the machine, or fill it in"


def assumed_nodes(cluster: Cluster) -> Iterator[Diagnostic]:
    """One warning per node profile that was not collected."""
    for node in distinct(cluster):
        if node.source == "assumed":
            message = f"the profile of {node.name} is assumed: nothing in it was read from the machine"
            hint = "run `knaster inventory collect` on the machine"
            yield Diagnostic("assumed", message, node.place("source"), Severity.WARNING, hint)


def assumed_values(cluster: Cluster) -> Iterator[Diagnostic]:
    """One warning per assumption of the platform."""
    for at, one in enumerate(cluster.platform.assumptions if cluster.platform else ()):
        message = f"not confirmed yet: {one.about}: {one.assumed}"
        hint = f"confirm or correct it, then remove it from assumptions in {PLATFORM_FILE}"
        yield Diagnostic("assumed", message, platform_place("assumptions", at), Severity.WARNING, hint)


def unknown_facts(cluster: Cluster) -> Iterator[Diagnostic]:
    """One warning per unknown fact that placement needs: a node's memory, a card's VRAM and compute capability."""
    for node in distinct(cluster):
        if node.memory_gb is None:
            message = f"the memory of {node.name} is not known: its budget cannot be checked"
            yield Diagnostic("unknown-fact", message, node.place("memory_gb"), Severity.WARNING, _COLLECT)
        for gpu in node.gpus:
            if not gpu.disabled:
                yield from _unknown_card(node, gpu)


def _unknown_card(node: Node, gpu: Gpu) -> Iterator[Diagnostic]:
    facts = [("memory_gb", "VRAM")] if gpu.memory_gb is None else []
    if gpu.compute_cap is None and nvidia(gpu):  # other makers have no compute capability
        facts.append(("compute_cap", "compute capability"))
    for key, what in facts:
        message = f"the {what} of card {spot(node.name, gpu.index)} is not known: no role is placed on it"
        place = node.place("gpus", gpu.position, key)
        yield Diagnostic("unknown-fact", message, place, Severity.WARNING, _COLLECT)
