"""How many failures the fleet survives: values by hand, and the quick way against planning everything again."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knaster.cluster import Cluster
from knaster.pipeline import evaluate
from knaster.placement import PlacementPlan, plan
from knaster.placement.failure import after, compare
from knaster.placement.survival import Failures, Survival, failures
from tests import crowded_fleets
from tests.builders import catalog, cluster, engine, gpu, lxc, node, platform, role, roles
from tests.fleets import Fleet, fleets, tight_fleets
from tests.repo import PVE44, files


def planned(texts: dict[str, str]) -> Failures:
    """The failures of a repository."""
    found = evaluate(texts).planned
    assert found is not None
    return failures(found.cluster, found.plan)


def test_every_node_and_card_is_counted_and_only_losses_are_told() -> None:
    """Speech runs in a container on pve44; embedding comes before general and takes its card."""
    assert planned(files()) == Failures(
        Survival(2, 0, {"GODE-PC-05": ("general",), "pve44": ("general", "speech")}),
        Survival(3, 1, {"GODE-PC-05/0": ("general",), "pve44/1": ("general",)}),
    )


def test_a_twin_takes_over_and_an_idle_node_is_not_missed() -> None:
    two = {**files(), "inventory/pve46.yaml": PVE44.replace("pve44", "pve46")}
    assert planned(two) == Failures(
        Survival(3, 1, {"GODE-PC-05": ("general",), "pve44": ("speech",)}),
        Survival(5, 4, {"GODE-PC-05/0": ("general",)}),
    )


def test_a_role_that_keeps_some_of_its_places_is_dropped_all_the_same() -> None:
    fleet = Fleet((node("a", gpu(0)), node("b", gpu(0))), roles(role("twice", count=2)), catalog(), None)
    assert failures(*solved(fleet)) == Failures(
        Survival(2, 0, {"a": ("twice",), "b": ("twice",)}), Survival(2, 0, {"a/0": ("twice",), "b/0": ("twice",)})
    )


def test_a_container_is_lost_with_its_node_and_not_with_a_card() -> None:
    fleet = Fleet(
        (node("pve44", gpu(0), platform="proxmox"), node("spare")),
        roles(role("speech", engine="piper", gpu=False, guest="infra", min_memory_gb=1)),
        catalog(engine("piper", gpu="none")),
        platform(lxc("infra", "pve44")),
    )
    assert failures(*solved(fleet)) == Failures(Survival(2, 1, {"pve44": ("speech",)}), Survival(1, 1, {}))


def test_room_that_a_failure_frees_goes_to_a_role_without_a_place_before_a_later_one() -> None:
    """4 of 5 GB belong to the role on the card; when that is gone, `first` takes all 5 and `second` has none left."""
    fleet = Fleet(
        (node("x", gpu(0), memory_gb=5),),
        roles(
            role("card", min_memory_gb=4),
            role("first", engine="piper", gpu=False, min_memory_gb=5, priority=1),
            role("second", engine="piper", gpu=False, min_memory_gb=1, priority=2),
        ),
        catalog(engine("piper", gpu="none")),
        None,
    )
    assert failures(*solved(fleet)).cards == Survival(1, 0, {"x/0": ("card", "second")})


def test_room_that_a_sharer_frees_goes_to_a_sharer_without_a_place_before_a_later_one() -> None:
    fleet = Fleet(
        (node("x", gpu(0), memory_gb=5),),
        roles(
            role("card"),
            role("nowhere", min_cc=99),
            role("beside", share_with="card", min_memory_gb=4, priority=1),
            role("first", engine="any", share_with="nowhere", cpu_fallback=True, min_memory_gb=5, priority=2),
            role("second", engine="any", share_with="nowhere", cpu_fallback=True, min_memory_gb=1, priority=3),
        ),
        catalog(engine("any", gpu="optional")),
        None,
    )
    assert failures(*solved(fleet)).cards == Survival(1, 0, {"x/0": ("beside", "card", "second")})


def test_a_fleet_without_roles_survives_everything() -> None:
    assert failures(cluster(node("a", gpu(0), gpu(1))), PlacementPlan()) == Failures(
        Survival(1, 1, {}), Survival(2, 2, {})
    )


def solved(fleet: Fleet) -> tuple[Cluster, PlacementPlan]:
    """A fleet and its plan, which continues itself."""
    inputs = (fleet.nodes, fleet.roles, fleet.models)
    answer = plan(*inputs, platform=fleet.platform)
    answer = plan(*inputs, platform=fleet.platform, current=answer)
    return cluster(*fleet.nodes, roles=fleet.roles, catalog=fleet.models, platform=fleet.platform), answer


def literally(whole: Cluster, answer: PlacementPlan) -> Failures:
    """Everything taken out once, and the whole fleet planned again each time."""

    def drops(node: str, index: int | None = None) -> tuple[str, ...]:
        changes = compare(answer, after(whole, answer, node, index))
        return tuple(sorted(change.role for change in changes if change.what in ("lost", "reduced")))

    nodes = {one.name: drops(one.name) for one in whole.nodes}
    cards = {f"{one.name}/{card.index}": drops(one.name, card.index) for one in whole.nodes for card in one.gpus}

    def survival(found: dict[str, tuple[str, ...]]) -> Survival:
        some = {name: roles for name, roles in sorted(found.items()) if roles}
        return Survival(len(found), len(found) - len(some), some)

    return Failures(survival(nodes), survival(cards))


FLEETS = st.one_of(
    fleets(), tight_fleets(), crowded_fleets.contending(), crowded_fleets.sharing(), crowded_fleets.full_rooms()
)
SLOW = settings(
    max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@SLOW
@given(FLEETS)
def test_the_quick_way_is_the_literal_one(fleet: Fleet) -> None:
    whole, answer = solved(fleet)
    assert failures(whole, answer) == literally(whole, answer)


@SLOW
@given(FLEETS)
def test_what_nobody_uses_is_not_missed(fleet: Fleet) -> None:
    whole, answer = solved(fleet)
    used = {one.node for one in answer.assignments}
    cards = {(one.node, one.gpu_index) for one in answer.assignments}
    for one in whole.nodes:
        if one.name not in used:
            assert compare(answer, after(whole, answer, one.name)) == ()
        for card in one.gpus:
            if (one.name, card.index) not in cards:
                assert compare(answer, after(whole, answer, one.name, card.index)) == ()


@pytest.mark.parametrize(
    "useless",
    [{"state": "down"}, {"cpu_roles": False}, {"os": "windows"}, {"memory_gb": 4}, {"memory_gb": None}],
    ids=lambda facts: next(iter(facts)),
)
def test_machines_that_serve_nobody_are_no_spares(useless: dict[str, Any]) -> None:
    """Many of them come first by name; those that would serve must not be cut off behind them."""
    first = (node(f"a{at:02}", **{"memory_gb": 8, **useless}) for at in range(20))
    fleet = Fleet(
        (*first, node("home", memory_gb=128), *(node(f"z{at:02}", memory_gb=8) for at in range(20))),
        roles(*(role(name, engine="piper", gpu=False, min_memory_gb=6) for name in "abc")),
        catalog(engine("piper", gpu="none")),
        None,
    )
    whole, answer = solved(fleet)
    assert failures(whole, answer) == literally(whole, answer) == Failures(Survival(41, 41, {}), Survival(0, 0, {}))


def test_the_node_of_a_container_is_no_spare_among_others() -> None:
    """The role leaves its card for a container, which is on the last of many equal machines."""
    fleet = Fleet(
        (node("card", gpu(0)), *(node(f"n{at:03}", platform="proxmox", memory_gb=8) for at in range(40))),
        roles(role("chat", engine="any", cpu_fallback=True, guest="infra", min_memory_gb=1)),
        catalog(engine("any", gpu="optional")),
        platform(lxc("infra", "n039", memory_gb=4)),
    )
    whole, answer = solved(fleet)
    assert [(one.node, one.gpu_index) for one in answer.assignments] == [("card", 0)]
    assert failures(whole, answer) == literally(whole, answer) == Failures(Survival(41, 41, {}), Survival(1, 1, {}))


def test_spares_of_one_kind_beyond_the_number_of_places_are_not_needed() -> None:
    """Many equal machines, so that the spares are cut off: three CPU roles on one node, which is lost."""
    fleet = Fleet(
        (node("home", memory_gb=128), *(node(f"n{at:03}", memory_gb=8) for at in range(40))),
        roles(*(role(name, engine="piper", gpu=False, min_memory_gb=6) for name in "abc")),
        catalog(engine("piper", gpu="none")),
        None,
    )
    whole, answer = solved(fleet)
    assert failures(whole, answer) == literally(whole, answer) == Failures(Survival(41, 41, {}), Survival(0, 0, {}))
