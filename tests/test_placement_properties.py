"""What must hold for any fleet, with and without a placement in force."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knaster.cluster import Gpu, Node, Role
from knaster.inventory import plan
from knaster.placement import Assignment, PlacementPlan
from knaster.units import Exact, exact
from tests.builders import gpu, node
from tests.fleets import Fleet, fleets, nodes, tight_fleets

MANY = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def answer_of(fleet: Fleet, current: PlacementPlan | None = None) -> PlacementPlan:
    """The plan of a generated fleet."""
    return plan(fleet.nodes, fleet.roles, fleet.models, platform=fleet.platform, current=current)


def card_of(fleet: Fleet, one: Assignment) -> tuple[Node, Gpu]:
    """The machine and card of an assignment."""
    (machine,) = [each for each in fleet.nodes if each.name == one.node]
    (card,) = [each for each in machine.gpus if each.index == one.gpu_index]
    return machine, card


@st.composite
def planned(draw: st.DrawFn) -> tuple[Fleet, PlacementPlan]:
    """A fleet and its plan, half of them made from the plan of another state of the fleet."""
    fleet = draw(fleets())
    if not draw(st.booleans()):
        return fleet, answer_of(fleet)
    other = replace(fleet, nodes=tuple(replace(one, state="active") for one in fleet.nodes[1:]))
    return fleet, answer_of(fleet, answer_of(other))


@MANY
@given(planned())
def test_every_gpu_is_used_at_most_once_unless_shared(both: tuple[Fleet, PlacementPlan]) -> None:
    fleet, answer = both
    owners = Counter(
        (one.node, one.gpu_index)
        for one in answer.assignments
        if one.gpu_index is not None and not fleet.roles[one.role].share_with
    )
    assert not [card for card, number in owners.items() if number > 1]
    for one in answer.assignments:
        target = fleet.roles[one.role].share_with
        if one.gpu_index is not None and target:
            assert (target, one.node, one.gpu_index) in {(a.role, a.node, a.gpu_index) for a in answer.assignments}


@MANY
@given(planned())
def test_every_role_is_placed_or_has_a_reason_whose_counts_add_up(both: tuple[Fleet, PlacementPlan]) -> None:
    fleet, answer = both
    placed = Counter(one.role for one in answer.assignments)
    told = {one.role: one.detail for one in answer.unplaced}
    cards = sum(len(machine.gpus) for machine in fleet.nodes)
    for name, role in fleet.roles.items():
        assert (placed[name] < role.count) == (name in told)
        detail = told.get(name)
        while detail is not None and detail.problem is None:
            assert detail.fit + sum(count.number for count in detail.counts) == detail.total
            assert all(count.number > 0 for count in detail.counts)
            if not detail.subject:
                assert detail.total == (cards if detail.kind == "GPUs" else len(fleet.nodes))
            elif detail.kind == "GPUs":
                assert detail.total == sum(
                    1 for a in answer.assignments if a.role == role.share_with and a.gpu_index is not None
                )
            detail = detail.fallback


@MANY
@given(planned())
def test_assignments_meet_every_need(both: tuple[Fleet, PlacementPlan]) -> None:
    fleet, answer = both
    for one in answer.assignments:
        role, engine = fleet.roles[one.role], fleet.models.engines[fleet.roles[one.role].needs.engine]
        (machine,) = [each for each in fleet.nodes if each.name == one.node]
        assert machine.state != "down"
        assert ("linux" if machine.platform == "proxmox" else machine.os) in engine.os
        assert role.pin is None or role.pin.split("/")[0] == machine.name
        if one.gpu_index is None:
            assert machine.cpu_roles
            assert not role.needs.gpu or role.cpu_fallback
            continue
        _, card = card_of(fleet, one)
        assert role.pin in (None, machine.name, f"{machine.name}/{card.index}")
        assert not card.disabled
        assert card.memory_gb is not None
        assert card.memory_gb >= role.needs.min_vram_gb
        assert card.compute_cap is not None
        assert max(role.needs.min_cc, engine.min_cc) <= card.compute_cap
        assert card.compute_cap <= min(role.needs.max_cc or 99, engine.max_cc or 99)
        if fleet.platform and card.pci and card.pci.id == "10de:13f1":
            assert role.needs.engine == "llamacpp"


@MANY
@given(planned())
def test_concurrent_users_never_need_more_than_the_card(both: tuple[Fleet, PlacementPlan]) -> None:
    fleet, answer = both
    by_card: dict[tuple[str, int], list[Role]] = {}
    for one in answer.assignments:
        if one.gpu_index is not None:
            by_card.setdefault((one.node, one.gpu_index), []).append(fleet.roles[one.role])
    for (name, index), users in by_card.items():
        owner = next(role for role in users if not role.share_with)
        together = [owner, *(r for r in users if r.share_mode == "concurrent" and r.share_with == owner.name)]
        _, card = card_of(fleet, Assignment(owner.name, name, index))
        assert sum((exact(role.needs.min_vram_gb) for role in together), Fraction(0)) <= exact(card.memory_gb or 0)


@MANY
@given(planned())
def test_memory_is_never_promised_twice(both: tuple[Fleet, PlacementPlan]) -> None:
    """CPU roles fit beside everything placed before them; only GPU roles may exceed a room (a check tells)."""
    fleet, answer = both
    rooms: dict[tuple[str, str | None], list[Assignment]] = {}
    for one in answer.assignments:
        rooms.setdefault((one.node, one.guest), []).append(one)
    for (name, guest), users in rooms.items():
        (machine,) = [each for each in fleet.nodes if each.name == name]
        if any(user.gpu_index is not None for user in users):
            continue
        memory = exact(machine.memory_gb or 0)
        if fleet.platform and guest:
            memory = exact({"infra": 8}.get(guest, 12))
        elif fleet.platform:
            memory -= 4
        assert sum((exact(fleet.roles[user.role].needs.min_memory_gb) for user in users), Fraction(0)) <= memory


@MANY
@given(planned())
def test_a_plan_is_a_fixed_point(both: tuple[Fleet, PlacementPlan]) -> None:
    fleet, answer = both
    again = answer_of(fleet, answer)
    assert again.assignments == answer.assignments
    assert [one.role for one in again.unplaced] == [one.role for one in answer.unplaced]


@MANY
@given(planned(), st.randoms(use_true_random=False))
def test_order_never_matters(both: tuple[Fleet, PlacementPlan], random: object) -> None:
    fleet, _ = both
    shuffle = random.shuffle  # type: ignore[attr-defined]
    machines, names, engines = list(fleet.nodes), list(fleet.roles), list(fleet.models.engines)
    for some in (machines, names, engines):
        shuffle(some)
    mixed = [replace(one, gpus=tuple(reversed(one.gpus))) for one in machines]
    models = replace(fleet.models, engines={name: fleet.models.engines[name] for name in engines})
    answer = plan(mixed, {name: fleet.roles[name] for name in names}, models, platform=fleet.platform)
    assert answer == answer_of(fleet)


@MANY
@given(st.one_of(tight_fleets(), fleets()))
def test_no_arrangement_is_claimed_that_the_planner_does_not_confirm(fleet: Fleet) -> None:
    before = answer_of(fleet)
    for unplaced in before.unplaced:
        moves = unplaced.detail.moves
        if not moves:
            continue
        assert len(moves) <= 3
        assert all(fleet.roles[move.role].pin is None and move.role != unplaced.role for move in moves)
        pinned = {move.role: replace(fleet.roles[move.role], pin=move.target) for move in moves}
        after = plan(fleet.nodes, {**fleet.roles, **pinned}, fleet.models, platform=fleet.platform)
        was, now = Counter(one.role for one in before.assignments), Counter(one.role for one in after.assignments)
        assert now[unplaced.role] > was[unplaced.role]
        assert all(now[name] >= was[name] for name in fleet.roles)


def rank(fleet: Fleet, one: Assignment) -> tuple[Exact, Exact]:
    """How good a card is to its role: lower is better."""
    _, card = card_of(fleet, one)
    sign = -1 if fleet.roles[one.role].prefer == "largest" else 1
    return sign * exact(card.memory_gb or 0), sign * exact(card.compute_cap or 0)


@MANY
@given(fleets(), nodes("idle"))
def test_adding_an_idle_node_moves_a_role_only_to_a_strictly_better_card(fleet: Fleet, idle: Node) -> None:
    before = answer_of(fleet)
    grown = replace(fleet, nodes=(*fleet.nodes, idle))
    after = answer_of(grown, before)
    for name, role in fleet.roles.items():
        was = [one for one in before.assignments if one.role == name]
        now = [one for one in after.assignments if one.role == name]
        if role.share_with:
            continue
        if role.needs.gpu and was and was[0].gpu_index is not None:
            assert len(now) >= len(was)
            gone = [one for one in was if (one.node, one.gpu_index) not in {(n.node, n.gpu_index) for n in now}]
            fresh = [one for one in now if (one.node, one.gpu_index) not in {(w.node, w.gpu_index) for w in was}]
            for old, new in zip(
                sorted(gone, key=lambda one: rank(grown, one)),
                sorted(fresh, key=lambda one: rank(grown, one)),
                strict=False,
            ):
                assert rank(grown, new) < rank(grown, old)


@MANY
@given(fleets(), nodes("idle"))
def test_adding_an_idle_node_without_cards_moves_nothing(fleet: Fleet, idle: Node) -> None:
    before = answer_of(fleet)
    grown = replace(fleet, nodes=(*fleet.nodes, replace(idle, gpus=())))
    after = answer_of(grown, before)
    seats = {(one.role, one.node, one.gpu_index) for one in after.assignments}
    assert {(one.role, one.node, one.gpu_index) for one in before.assignments} <= seats


def known_cards(fleet: Fleet) -> Fleet:
    """The fleet with a uuid on every card and no pin on any role."""
    machines = tuple(
        replace(one, gpus=tuple(replace(card, uuid=f"GPU-{one.name}-{card.index}") for card in one.gpus))
        for one in fleet.nodes
    )
    return replace(fleet, nodes=machines, roles={name: replace(role, pin=None) for name, role in fleet.roles.items()})


@MANY
@given(fleets().map(known_cards))
def test_a_placed_role_survives_a_relabelled_index(fleet: Fleet) -> None:
    """Cards with a uuid keep their role when the driver numbers them the other way round."""
    before = answer_of(fleet)
    turned = tuple(
        replace(machine, gpus=tuple(replace(card, index=len(machine.gpus) - 1 - card.index) for card in machine.gpus))
        for machine in fleet.nodes
    )
    after = answer_of(replace(fleet, nodes=turned), before)
    owners = {(a.role, a.card) for a in before.assignments if a.card and not fleet.roles[a.role].share_with}
    assert owners <= {(one.role, one.card) for one in after.assignments}


def test_builders_make_a_plan() -> None:
    """The generator's parts are real: one card, one role."""
    assert plan([node("n", gpu())], {}, {"engines": {}, "models": {}}) == PlacementPlan()
