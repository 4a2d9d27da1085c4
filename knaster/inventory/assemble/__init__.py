"""From a capture to the facts of a node profile, with the fallbacks between its sources."""

from knaster.inventory.assemble.facts import Facts, Partial, partial, profile

__all__ = ["Facts", "Partial", "partial", "profile"]
