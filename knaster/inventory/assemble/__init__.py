"""From a capture to the facts of a node profile, with the fallbacks between its sources."""

from knaster.inventory.assemble.facts import Facts, Partial, impossible, partial, profile

__all__ = ["Facts", "Partial", "impossible", "partial", "profile"]
