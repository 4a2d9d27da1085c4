"""Which single failures the fleet survives, and what each other one drops."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from knaster.placement.survival import Failures, Survival
from knaster.reports.page.pairs import natural


@dataclass(frozen=True, slots=True)
class FailureRow:
    """The loss of one node (or card), and the roles that lose a place by it."""

    name: str
    kind: str
    roles: tuple[str, ...]

    @property
    def tags(self) -> tuple[str, ...]:
        """What the filter of the page knows it by."""
        return ("attention",)


def failure_rows(found: Failures) -> dict[str, FailureRow]:
    """Every failure that drops a role, by name; the others are survived."""
    rows = {name: FailureRow(name, "node", roles) for name, roles in found.nodes.drops.items()}
    rows |= {name: FailureRow(name, "card", roles) for name, roles in found.cards.drops.items()}
    return rows


def sentence(one: Survival, noun: str) -> str:
    """``survives 1 of 7 node failures``."""
    return f"survives {one.survived} of {one.total} {noun} failures"


def survived(places: Iterable[str], one: Survival) -> tuple[str, ...]:
    """The places (nodes, or cards) whose loss drops nothing."""
    return tuple(sorted(set(places) - one.drops.keys(), key=natural))
