"""The roles on one card, in groups that run at the same time. Kept as they come, so that a thousand sharers cost a
thousand steps and not a million; `knaster.placement.share_tree` says what makes two roles concurrent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from knaster.cluster import Role
from knaster.units import Exact, exact


@dataclass(slots=True)
class OnCard:
    """One card's roles. A sharer comes after its target, as the planner places them."""

    _tops: dict[str, str] = field(default_factory=dict)
    _groups: defaultdict[str, list[Role]] = field(default_factory=lambda: defaultdict(list))
    _floors: defaultdict[str, Exact] = field(default_factory=lambda: defaultdict(int))

    @classmethod
    def of(cls, roles: Iterable[Role]) -> OnCard:
        """A card with these roles on it, in the order in which they came."""
        card = cls()
        for role in roles:
            card.put(role)
        return card

    def put(self, role: Role) -> None:
        """One more role on the card."""
        top = self._top(role)
        self._tops[role.name] = top
        self._groups[top].append(role)
        self._floors[top] += exact(role.needs.min_vram_gb)

    def beside(self, role: Role) -> tuple[Role, ...]:
        """The roles that run at the same time as `role`, by name, without it; it need not be on the card yet."""
        group = self._groups.get(self._top(role), ())
        return tuple(sorted((one for one in group if one.name != role.name), key=lambda one: one.name))

    def floors_beside(self, role: Role) -> Exact:
        """GiB that those roles ask for together (``min_vram_gb``)."""
        together = self._floors.get(self._top(role), 0)
        return together - exact(role.needs.min_vram_gb) if role.name in self._tops else together

    def _top(self, role: Role) -> str:
        """The topmost role over ``concurrent`` steps on this card (see `share_tree.concurrent_top`)."""
        if role.share_with is None or role.share_mode != "concurrent":
            return role.name
        return self._tops.get(role.share_with, role.name)
