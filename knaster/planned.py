"""A fleet with its answer: what checks of a plan and renderers read."""

from __future__ import annotations

from dataclasses import dataclass

from knaster.cluster import Cluster
from knaster.guests import Guest
from knaster.placement.result import PlacementPlan


@dataclass(frozen=True, slots=True)
class Planned:
    """All inputs, the guests expanded from them, the plan, and the placement in force that the plan continues."""

    cluster: Cluster
    guests: tuple[Guest, ...]
    plan: PlacementPlan
    current: PlacementPlan | None = None
