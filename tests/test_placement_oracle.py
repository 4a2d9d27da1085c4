"""The planner against a second one that takes the rules literally: same places, reasons, slots and models."""

from __future__ import annotations

from collections import Counter

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knaster.placement import Assignment, PlacementPlan, plan
from knaster.placement.result import Reason
from tests.builders import catalog, gpu, node, role, roles
from tests.crowded_fleets import crowded, states_before, twins
from tests.fleets import Fleet, fleets
from tests.oracle import Answer, Placed, Told, oracle

MANY = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def planned(fleet: Fleet, current: PlacementPlan | None = None) -> PlacementPlan:
    """What the planner says."""
    return plan(fleet.nodes, fleet.roles, fleet.models, platform=fleet.platform, current=current)


def told(reason: Reason | None) -> Told | None:
    """A reason as the oracle gives it: counts by cause, no text, no arrangement."""
    if reason is None:
        return None
    causes: Counter[str] = Counter()
    for one in reason.counts:
        causes[one.text if one.cause == "state" else one.cause] += one.number  # cordoned and down are told apart
    return Told(
        reason.kind,
        reason.total,
        reason.fit,
        tuple(sorted(causes.items())),
        reason.problem is not None,
        told(reason.fallback),
    )


def as_answer(result: PlacementPlan) -> Answer:
    """A plan in the oracle's words."""
    return Answer(
        tuple(
            Placed(one.role, one.node, one.gpu_index, one.card, one.guest, one.slots, one.models_fitting)
            for one in result.assignments
        ),
        tuple((one.role, told(one.detail) or Told()) for one in result.unplaced),
        tuple((one.node, one.gpu_index, one.name, one.reason) for one in result.disabled_gpus),
    )


def agree(fleet: Fleet, current: PlacementPlan | None = None) -> None:
    """Both say the same."""
    ours = as_answer(planned(fleet, current))
    theirs = oracle(fleet.nodes, fleet.roles, fleet.models, fleet.platform, current)
    assert ours.placed == theirs.placed
    assert ours.unplaced == theirs.unplaced
    assert ours.disabled == theirs.disabled


@MANY
@given(fleets())
def test_an_ordinary_fleet(fleet: Fleet) -> None:
    agree(fleet)


@MANY
@given(crowded())
def test_a_crowded_fleet(fleet: Fleet) -> None:
    agree(fleet)


@MANY
@given(st.data(), st.one_of(fleets(), crowded()))
def test_a_fleet_that_was_in_another_state(data: st.DataObject, fleet: Fleet) -> None:
    current = data.draw(states_before(fleet, planned))
    agree(fleet, current)


@MANY
@given(twins())
def test_equal_cards_and_a_placement_in_force(both: tuple[Fleet, PlacementPlan]) -> None:
    fleet, current = both
    agree(fleet, current)


def on(role_name: str, at: str, index: int, card: str) -> Assignment:
    """One line of a placement in force."""
    return Assignment(role_name, at, index, card=card)


def test_an_index_that_now_belongs_to_a_known_card_names_nobody() -> None:
    """Card GPU-X went from index 0 to 1: chat holds it, and nobody knows where the nameless card of first is."""
    current = PlacementPlan((on("first", "n", 1, "index:1"), on("chat", "n", 0, "GPU-X")))
    machine = node("n", gpu(0), gpu(1, uuid="GPU-X"))
    agree(Fleet((machine,), roles(role("first", priority=1), role("chat", priority=2)), catalog(), None), current)


def test_a_pin_away_from_a_held_cordoned_card_is_the_cause() -> None:
    current = PlacementPlan((on("chat", "b", 0, "index:0"),))
    machines = (node("a"), node("b", gpu(), state="cordoned"))
    agree(Fleet(machines, roles(role("chat", pin="a")), catalog(), None), current)
