"""Roles without a place: why, what they ask for, and what their callers get instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from knaster.cluster import Role
from knaster.placement.filters import Ask
from knaster.planned import Planned
from knaster.reports.page.slots import SlotRow
from knaster.units import show, show_cc


@dataclass(frozen=True, slots=True)
class UnplacedRow:
    """A role with fewer places than it wants; ``instead`` says for each of its slots what answers."""

    role: str
    about: str
    reason: str
    asks: str
    required: bool
    instead: tuple[str, ...]

    @property
    def tags(self) -> tuple[str, ...]:
        """What the filter of the page knows it by."""
        return ("attention",)


def unplaced(planned: Planned, rows: Mapping[str, SlotRow]) -> dict[str, UnplacedRow]:
    """By role. `rows` are the slots of the same side."""
    catalog, roles = planned.cluster.catalog, planned.cluster.roles or {}
    engines = catalog.engines if catalog else {}
    found = {}
    for one in planned.plan.unplaced:
        role = roles.get(one.role)
        engine = engines.get(role.needs.engine) if role else None
        found[one.role] = UnplacedRow(
            one.role,
            role.description or "" if role else "",
            one.reason,
            asks(role, Ask.of(role, engine) if engine else None) if role else "",
            role.required if role else False,
            tuple(_instead(rows[slot.name]) for slot in role.slots if slot.name in rows) if role else (),
        )
    return found


def asks(role: Role, ask: Ask | None) -> str:
    """``1 card for pytorch, 8 GB or more, compute capability 8.0 or more, 4 GB of RAM``."""
    needs = role.needs
    what = f"{role.count} card{'s' if role.count > 1 else ''}" if needs.gpu else "a CPU"
    parts = [f"{what} for {needs.engine}"]
    if role.share_with:
        parts.append(f"shared with {role.share_with}")
    if needs.gpu and needs.min_vram_gb:
        parts.append(f"{show(needs.min_vram_gb)} GB or more")
    floor = ask.min_cc if ask else needs.min_cc
    if needs.gpu and floor:
        parts.append(f"compute capability {show_cc(floor)} or more")
    ceiling = ask.max_cc if ask else needs.max_cc
    if needs.gpu and ceiling is not None:
        parts.append(f"at most {show_cc(ceiling)}")
    if needs.min_memory_gb:
        parts.append(f"{show(needs.min_memory_gb)} GB of RAM")
    return ", ".join(parts)


def _instead(row: SlotRow) -> str:
    """What a caller of the slot gets now."""
    if row.available:
        return f"{row.name} is served by the places that the role has"
    first = next((hop for hop in row.chain if hop.answers), None)
    if first is None:
        return f"{row.name}: nothing answers instead"
    return f"{row.name} falls back to {first.name}{' (external)' if first.kind == 'external' else ''}"
