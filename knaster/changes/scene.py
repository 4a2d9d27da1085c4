"""Both sides of a comparison with what all rules of it look up, worked out once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from knaster.changes.objects import PLACEMENT, Delta
from knaster.changes.result import Object
from knaster.changes.shifts import Shift, shifts
from knaster.cluster import Model, Node, Role
from knaster.guests import Guest
from knaster.placement.standing import Standing
from knaster.planned import Planned

_WORDS = re.compile(r"[^\W\d_]+|\S+( \S+)+")
"""One word, or several; anything else shows by itself that it is a name."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side's parts by name."""

    planned: Planned
    nodes: Mapping[str, Node]
    roles: Mapping[str, Role]
    models: Mapping[str, Model]
    guests: Mapping[str, Guest]
    reasons: Mapping[str, str]

    @classmethod
    def of(cls, planned: Planned) -> Side:
        """Index a planned fleet."""
        cluster = planned.cluster
        return cls(
            planned,
            {node.name: node for node in cluster.nodes},
            cluster.roles or {},
            cluster.catalog.models if cluster.catalog else {},
            {guest.name: guest for guest in planned.guests},
            {one.role: one.reason for one in planned.plan.unplaced},
        )

    def names(self) -> Iterator[str]:
        """What sentences about this side may name."""
        catalog, platform = self.planned.cluster.catalog, self.planned.cluster.platform
        for some in (self.nodes, self.roles, self.models, self.guests, catalog and catalog.engines):
            yield from some or ()
        yield from (*platform.external, *platform.storage) if platform else ()
        yield from {group for node in self.nodes.values() for group in node.groups}
        yield from (slot.name for role in self.roles.values() for slot in role.slots)
        yield from {gpu.name for node in self.nodes.values() for gpu in node.gpus if gpu.name}


@dataclass(frozen=True)
class Scene:
    """The older and the newer side, and every object of ``generated/`` that differs between them."""

    old: Side
    new: Side
    deltas: Mapping[Object, Delta]

    def of(self, file: str, collection: str) -> dict[str, Delta]:
        """The objects of one collection that differ, by name."""
        return self._grouped.get((file, collection), {})

    @cached_property
    def _grouped(self) -> dict[tuple[str, str], dict[str, Delta]]:
        found: dict[tuple[str, str], dict[str, Delta]] = {}
        for one, delta in self.deltas.items():
            found.setdefault((one.file, one.collection), {})[one.name] = delta
        return found

    @cached_property
    def shifts(self) -> Mapping[str, Shift]:
        """Roles whose places differ, or that are new, removed, or without a place for another reason."""
        wanted = self.own.keys() | (self.old.roles.keys() ^ self.new.roles.keys())
        found = shifts(self.old.planned, self.new.planned, wanted)
        return {shift.role: shift for shift in found}

    @cached_property
    def names(self) -> frozenset[str]:
        """Names of either side that nothing but knowing them tells from the words of a sentence."""
        return frozenset(name for side in (self.old, self.new) for name in side.names() if _WORDS.fullmatch(name))

    @cached_property
    def own(self) -> Mapping[str, dict[Object, Delta]]:
        """The objects of ``placement.yaml`` about each role."""
        found: dict[str, dict[Object, Delta]] = {}
        for collection in ("assignments", "unplaced"):
            for name, delta in self.of(PLACEMENT, collection).items():
                found.setdefault(rows(delta)[0]["role"], {})[Object(PLACEMENT, collection, name)] = delta
        return found

    @cached_property
    def before(self) -> Standing:
        """The older plan seen from the places that changed."""
        return self._standing(self.old.planned)

    @cached_property
    def after(self) -> Standing:
        """The newer plan seen from the places that changed."""
        return self._standing(self.new.planned)

    def _standing(self, planned: Planned) -> Standing:
        deltas = self.of(PLACEMENT, "assignments").values()
        nodes = {row["node"] for delta in deltas for row in rows(delta)}
        return Standing.of(planned.cluster, planned.plan, planned.current, nodes)


def rows(delta: Delta) -> tuple[Any, ...]:
    """The sides of an object that exist."""
    return tuple(side for side in (delta.before, delta.after) if side is not None)
