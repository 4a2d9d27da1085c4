"""The rules. One small pure function each, in plain tuples: `CHECKS` read a cluster, `PLAN_CHECKS` a planned one.

Adding a rule is a function, a line here, an entry in `knaster.codes` and a folder in ``tests/cases``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from knaster.checks import (
    assumptions,
    bounds,
    drivers,
    duplicates,
    guests,
    hardware,
    model_sizes,
    naming,
    network,
    plan,
    plan_slots,
    platform_references,
    readmission,
    references,
    roles,
    secrets,
    sharing,
)
from knaster.checks.scene import Scene, scene
from knaster.cluster import Cluster
from knaster.diagnostics import Diagnostic
from knaster.planned import Planned

__all__ = ["CHECKS", "GUEST_CHECKS", "PLAN_CHECKS"]

GUEST_CHECKS: tuple[Callable[[Scene], Iterable[Diagnostic]], ...] = (
    duplicates.guest_names,
    duplicates.mapping_names,
    duplicates.vmids,
    naming.guests,
    network.ranges,
    network.addresses,
    guests.no_guests,
    guests.hosts,
    guests.replication,
    guests.retired,
    guests.keys,
    guests.overrides,
    guests.role_guests,
    guests.identities,
    hardware.memory_budgets,
    hardware.processor_budgets,
    hardware.passthrough_facts,
    drivers.named,
    drivers.derived,
)
"""Rules of guests, which share one expansion of platform and nodes."""


def check_guests(cluster: Cluster) -> Iterator[Diagnostic]:
    """All of `GUEST_CHECKS`; nothing without a platform."""
    view = scene(cluster)
    if view is not None:
        for check in GUEST_CHECKS:
            yield from check(view)


CHECKS: tuple[Callable[[Cluster], Iterable[Diagnostic]], ...] = (
    duplicates.node_names,
    duplicates.slot_names,
    duplicates.role_names,
    duplicates.card_uuids,
    duplicates.card_slots,
    naming.nodes,
    naming.groups,
    references.role_engines,
    references.model_engines,
    references.policy_engines,
    references.share_targets,
    references.pins,
    references.role_guests,
    references.slot_models,
    references.fallbacks,
    platform_references.nodes,
    platform_references.drivers,
    platform_references.storages,
    bounds.crowds,
    bounds.chains,
    sharing.share_cycles,
    sharing.vram_shares,
    sharing.fallback_cycles,
    sharing.fallback_ends,
    sharing.fallback_kinds,
    roles.counts,
    roles.own_share,
    roles.processors,
    roles.slot_counts,
    roles.capability_ranges,
    roles.card_pins,
    check_guests,
    hardware.processors,
    hardware.card_memories,
    readmission.benchmarks,
    references.histories,
    secrets.literal_secrets,
    model_sizes.stray_records,
    model_sizes.understated,
    assumptions.assumed_nodes,
    assumptions.assumed_values,
    assumptions.unknown_facts,
)
"""Rules before planning, over whatever loaded: where a part is missing, a rule that needs it says nothing."""

PLAN_CHECKS: tuple[Callable[[Planned], Iterable[Diagnostic]], ...] = (
    plan.required_roles,
    plan.guest_memories,
    plan.pins,
    plan_slots.slots,
)
"""Rules of the plan."""
