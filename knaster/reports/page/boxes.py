"""What a node's box on the page holds: plain data, compared to find what changed."""

from __future__ import annotations

from dataclasses import dataclass, field

from knaster.reports.page.budget import Budget


@dataclass(frozen=True, slots=True)
class Tenant:
    """One assignment: a role, the slots it serves here with their models, the other models that fit, and with whom
    it shares the place (``mode``)."""

    role: str
    slots: tuple[str, ...]
    serves: tuple[str, ...]
    fits: tuple[str, ...]
    mode: str
    share: str


@dataclass(frozen=True, slots=True)
class CardBox:
    """One card with what runs on it. ``loses`` are the roles that lose a place with it: said of it, no part of it."""

    spot: str
    index: int
    name: str
    facts: str
    out: str
    reason: str
    tenants: tuple[Tenant, ...]
    loses: tuple[str, ...] = field(compare=False)

    def has(self, role: str) -> bool:
        """Whether the role is on it."""
        return any(one.role == role for one in self.tenants)


@dataclass(frozen=True, slots=True)
class GuestBox:
    """A VM or container on the node, and the roles in it."""

    name: str
    kind: str
    facts: str
    services: tuple[str, ...]
    roles: tuple[str, ...]
    replicas: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NodeBox:
    """One machine. ``tenants`` are the roles on its CPU; ``loses`` is said of it as of a card."""

    name: str
    kind: str
    facts: tuple[str, ...]
    state: str
    reason: str
    assumed: bool
    cpu_roles: bool
    warnings: tuple[str, ...]
    cards: tuple[CardBox, ...]
    tenants: tuple[Tenant, ...]
    guests: tuple[GuestBox, ...]
    budget: Budget
    loses: tuple[str, ...] = field(compare=False)

    def card(self, spot: str) -> CardBox | None:
        """Its card of that name."""
        return next((one for one in self.cards if one.spot == spot), None)

    def guest(self, name: str) -> GuestBox | None:
        """Its guest of that name."""
        return next((one for one in self.guests if one.name == name), None)

    def has(self, role: str) -> bool:
        """Whether the role is on its CPU."""
        return any(one.role == role for one in self.tenants)

    @property
    def tags(self) -> tuple[str, ...]:
        """What the filter of the page knows it by."""
        over = self.budget.free is not None and self.budget.free < 0
        busy = self.tenants or any(card.tenants for card in self.cards)
        found = {
            "attention": self.state != "active" or over or bool(self.warnings),
            "assumed": self.assumed,
            "used": bool(busy),
            "idle": any(not card.tenants and not card.out for card in self.cards),
            "disabled": any(card.out == "disabled" for card in self.cards),
        }
        return tuple(name for name, true in found.items() if true)
