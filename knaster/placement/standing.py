"""A finished plan seen again from single places: why a role is or is not there, which model fits there and why not.

`explain` plans the whole fleet for every question. Here the board is set up from the plan, for the nodes in question
alone, so that a question about one card costs as much in a fleet of ten thousand nodes as in one of seven.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from knaster.cluster import Catalog, Cluster, Role
from knaster.fit import why_not
from knaster.placement import sharing
from knaster.placement.assemble import Seat, device
from knaster.placement.board import Board, Fleet, Held
from knaster.placement.cards import Card
from knaster.placement.cpu_roles import room_of
from knaster.placement.explain import Line, card_line, node_line
from knaster.placement.filters import Ask
from knaster.placement.result import Assignment, PlacementPlan

Spot = tuple[str, int | None]
"""A node and a card's index, None for the node's CPU."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The board of a plan, of a few nodes; what is asked of others has no answer (None)."""

    board: Board
    roles: Mapping[str, Role]

    @classmethod
    def of(cls, cluster: Cluster, plan: PlacementPlan, current: PlacementPlan | None, nodes: Iterable[str]) -> Standing:
        """`plan` was made from `cluster`, continuing `current`."""
        names = frozenset(nodes)
        some = (node for node in cluster.nodes if node.name in names)
        fleet = Fleet.of(some, cluster.catalog or Catalog(), cluster.platform)
        roles = cluster.roles or {}
        board = Board(fleet, Held.of(current, fleet.cards))
        turn = {role.name: at for at, role in enumerate(sharing.in_order(roles)[0])}  # each after its target
        for one in sorted(plan.assignments, key=lambda one: turn.get(one.role, -1)):
            if one.node in names and one.role in roles:
                _seat(board, roles[one.role], one)
        return cls(board, roles)

    def line(self, role: str, spot: Spot) -> Line | None:
        """The line of `explain` for this place; None for a place, a role or an engine that is not there."""
        wanted = self.roles.get(role)
        engine = self.board.fleet.catalog.engines.get(wanted.needs.engine) if wanted else None
        if wanted is None or engine is None:
            return None
        ask = Ask.of(wanted, engine)
        if spot[1] is None:
            node = self.board.fleet.nodes.get(spot[0])
            return node_line(self.board, ask, node) if node else None
        card = self.card(spot)
        return card_line(self.board, ask, card) if card else None

    def card(self, spot: Spot) -> Card | None:
        """The card at this place."""
        cards = self.board.fleet.cards.by_node.get(spot[0], ())
        return next((card for card in cards if card.gpu.index == spot[1]), None)

    def why_not(self, role: str, spot: Spot, model: str) -> str | None:
        """Why a model does not fit where this role runs; None where it does, or where nothing can be said."""
        catalog, wanted = self.board.fleet.catalog, self.roles.get(role)
        node, card = self.board.fleet.nodes.get(spot[0]), self.card(spot)
        if wanted is None or node is None or (card is None and spot[1] is not None):
            return None
        if model not in catalog.models:
            return "it is not in the catalog"
        kind, engine = catalog.models[model].kind, catalog.engines.get(wanted.needs.engine)
        if kind not in wanted.kinds:
            return f"it is of kind {kind}, the role serves {' and '.join(wanted.kinds)}"
        if engine is None:
            return f"the catalog has no engine {wanted.needs.engine}"
        there, share = device(self.board, wanted, Seat(node, card))
        return why_not(catalog.models[model], there, engine, share)


def _seat(board: Board, role: Role, one: Assignment) -> None:
    """Put one assignment on the board, as the run that made the plan did."""
    node = board.fleet.nodes[one.node]
    if one.gpu_index is None:
        board.put_on_node(role, node, room_of(board.fleet, role, node)[0])
        return
    for card in board.fleet.cards.by_node[one.node]:
        if card.gpu.index == one.gpu_index:
            if not role.share_with:
                board.taken[card.key] = role.name
            board.put_on_card(role, card)
            return
