"""May this OpenTofu plan be applied? A plan and the fleet it should be of -> what happens, and what forbids it."""

from knaster.gate.judge import Fleet, Verdict, judge
from knaster.gate.plan import Change, Plan, read_plan
from knaster.gate.telling import Told

__all__ = ["Change", "Fleet", "Plan", "Told", "Verdict", "judge", "read_plan"]
