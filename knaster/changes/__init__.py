"""What differs between two evaluations of a fleet: changes of the domain with their causes, inputs, diagnostics."""

from knaster.changes.comparing import compare
from knaster.changes.result import DESTRUCTIVE, Change, Comparison, Effect, Field, InputChange, Object

__all__ = ["DESTRUCTIVE", "Change", "Comparison", "Effect", "Field", "InputChange", "Object", "compare"]
