"""Placement: which role runs on which card or CPU, and why every other one does not."""

from knaster.placement.planner import plan
from knaster.placement.result import Assignment, DisabledGpu, PlacementPlan, Unplaced

__all__ = ["Assignment", "DisabledGpu", "PlacementPlan", "Unplaced", "plan"]
