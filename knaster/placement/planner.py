"""`plan`: inventory, roles and catalog to a placement, with the placement in force kept where it is still as good."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from knaster.cluster import Catalog, Node, Platform, Role
from knaster.placement.assemble import assemble
from knaster.placement.board import Fleet, Held
from knaster.placement.inputs import inputs
from knaster.placement.passes import run
from knaster.placement.rearrange import arrange, tries
from knaster.placement.result import PlacementPlan

ARRANGEMENTS = 20
"""Roles without a place for which an arrangement is searched; beyond that a fleet has another problem."""


def plan(
    nodes: Iterable[Node | Mapping[str, Any]],
    roles: Mapping[str, Any] | Iterable[Role],
    models: Catalog | Mapping[str, Any],
    *,
    platform: Platform | Mapping[str, Any] | None = None,
    current: PlacementPlan | None = None,
) -> PlacementPlan:
    """Place roles on cards and CPUs; pure and deterministic.

    `nodes` are node profiles, `roles` is the content of ``roles.yaml``, `models` that of ``models.yaml`` (engines
    included), `platform` that of ``platform.yaml``; each as parsed mappings or as the dataclasses of `knaster.cluster`.
    `current` is the placement in force: among equally good cards a role keeps its own.

    Raises `ValueError` with every problem if a mapping does not meet its schema. Data that meets it always gives a
    plan: what cannot be placed is in ``unplaced`` with its reason.
    """
    given = inputs(nodes, roles, models, platform)
    return place(Fleet.of(given.nodes, given.catalog, given.platform), given.roles, current)


def place(fleet: Fleet, wanted: Mapping[str, Role], current: PlacementPlan | None) -> PlacementPlan:
    """The plan of a fleet that is indexed already."""
    board = run(fleet, wanted, Held.of(current, fleet.cards))
    reasons = dict(board.reasons)
    left = tries(board, wanted)
    for name in sorted(reasons, key=lambda name: (wanted[name].priority, name))[:ARRANGEMENTS]:
        moves = arrange(board, wanted, name, left)
        if moves:
            reasons[name] = replace(reasons[name], moves=moves)
    return assemble(board, wanted, reasons)
