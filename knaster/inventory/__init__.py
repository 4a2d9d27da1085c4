"""The public inventory package: node profiles, and the planner that reads them."""

from knaster.placement.planner import plan

__all__ = ["plan"]
