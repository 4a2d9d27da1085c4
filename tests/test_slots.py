"""Slots: what serves them, with which models, behind which address, and what they exclude (design §4.4, §4.5, §5)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from knaster.cluster import Role, VramShare, Worker
from knaster.guests import expand
from knaster.placement.result import Assignment, PlacementPlan, Reason, Unplaced
from knaster.planned import Planned
from knaster.slots import Endpoint, SlotView, slot_views
from tests.builders import catalog, cluster, engine, gpu, lxc, model, node, platform, role, roles, slot


def planned(*some: Role, assignments: tuple[Assignment, ...] = (), **more: Any) -> Planned:
    """A fleet of two nodes (pve44 on Proxmox with two cards, ws05 as a Windows worker) with these roles and places."""
    unplaced = more.pop("unplaced", ())
    pve44 = node("pve44", gpu(0), gpu(1), platform="proxmox")
    ws05 = node("ws05", gpu(0), platform="workstation", os="windows", address="192.168.100.205")
    bare = node("bare1", gpu(0), gpu(1), address="192.168.100.50")
    nodes = (bare, pve44, ws05)
    plat = platform(lxc("infra", "pve44"), workers={"ws05": Worker("ws05", "LocalLLMWorker.ps1")})
    more.setdefault("catalog", catalog(engine("vllm", port=8000), model("big", 8), model("even", 8), model("small", 2)))
    whole = cluster(*nodes, roles=roles(*some), platform=plat, **more)
    plan = PlacementPlan(assignments, tuple(Unplaced(name, reason, Reason()) for name, reason in unplaced))
    return Planned(whole, expand(nodes, plat), plan)


def at(role: str, place: str, *fitting: str, slots: tuple[str, ...] = (), guest: str | None = None) -> Assignment:
    """An assignment to ``node/index``, or to a node's CPU."""
    name, _, index = place.partition("/")
    if name == "pve44" and guest is None:
        guest = "gpu-pve44"
    return Assignment(role, name, int(index) if index else None, fitting, guest=guest, slots=slots)


def view(fleet: Planned, name: str) -> SlotView:
    """The view of one slot."""
    return {view.name: view for view in slot_views(fleet)}[name]


def test_one_view_per_declared_slot_sorted_by_name() -> None:
    fleet = planned(role("a", slots=(slot("zeta"), slot("beta"))), role("b", slots=(slot("alpha"),)), role("job"))
    assert [(v.name, v.role) for v in slot_views(fleet)] == [("alpha", "b"), ("beta", "a"), ("zeta", "a")]


def test_one_slot_is_served_by_all_cards_of_its_role() -> None:
    fleet = planned(
        role("chat", count=3, slots=(slot("chat", 8081),)),
        assignments=(at("chat", "bare1/0"), at("chat", "bare1/1"), at("chat", "pve44/1")),
    )
    assert view(fleet, "chat").endpoints == (
        Endpoint("bare1", (0, 1), None, "192.168.100.50", 8081, worker=False),
        Endpoint("pve44", (1,), "gpu-pve44", "192.168.100.224", 8081, worker=False),
    )


def test_with_several_slots_each_assignment_names_its_own() -> None:
    fleet = planned(
        role("chat", count=2, slots=(slot("one", 8081), slot("two", 8082))),
        assignments=(at("chat", "bare1/0", slots=("two",)), at("chat", "bare1/1", slots=("one",))),
    )
    assert [(e.gpu_indices, e.port) for e in view(fleet, "one").endpoints] == [((1,), 8081)]
    assert [(e.gpu_indices, e.port) for e in view(fleet, "two").endpoints] == [((0,), 8082)]


def test_cards_of_one_guest_are_one_endpoint_whatever_their_order() -> None:
    fleet = planned(
        role("chat", count=2, slots=(slot("chat"),)), assignments=(at("chat", "pve44/1"), at("chat", "pve44/0"))
    )
    (endpoint,) = view(fleet, "chat").endpoints
    assert (endpoint.guest, endpoint.gpu_indices) == ("gpu-pve44", (0, 1))


def test_a_cpu_role_answers_at_its_container() -> None:
    speech = role("tts-de", gpu=False, kinds=("tts",), slots=(slot("tts-de", 5000),))
    found = view(planned(speech, assignments=(at("tts-de", "pve44", guest="infra"),)), "tts-de")
    assert found.endpoints == (Endpoint("pve44", (), "infra", "192.168.100.221", 5000, worker=False),)
    assert (found.processor, found.kinds) == ("cpu", ("tts",))


def test_a_worker_is_a_node_that_the_platform_lists() -> None:
    fleet = planned(role("chat", slots=(slot("chat", 8080),)), assignments=(at("chat", "ws05/0"),))
    assert view(fleet, "chat").endpoints == (Endpoint("ws05", (0,), None, "192.168.100.205", 8080, worker=True),)


def test_the_port_is_the_slots_else_the_engines() -> None:
    fleet = planned(
        role("a", slots=(slot("own", 9000),)),
        role("b", slots=(slot("default", None),)),
        assignments=(at("a", "bare1/0"), at("b", "bare1/1")),
    )
    assert [v.endpoints[0].port for v in slot_views(fleet)] == [8000, 9000]


def test_state_and_reason() -> None:
    reason = "0/5 GPUs fit: 5 on linux (vllm runs on windows)"
    fleet = planned(
        role("chat", slots=(slot("up"),)),
        role("gone", slots=(slot("down"),)),
        assignments=(at("chat", "bare1/0", "small"),),
        unplaced=(("gone", reason),),
    )
    assert [(v.state, v.reason, v.endpoints) for v in slot_views(fleet) if v.name == "down"] == [
        ("unavailable", reason, ())
    ]
    assert (view(fleet, "up").state, view(fleet, "up").reason) == ("available", None)


def test_a_slot_that_is_partly_served_is_available() -> None:
    fleet = planned(
        role("chat", count=2, slots=(slot("chat"),)),
        assignments=(at("chat", "bare1/0", "small"),),
        unplaced=(("chat", "1 of 2 placed: 1/5 GPUs fit"),),
    )
    assert (view(fleet, "chat").state, view(fleet, "chat").reason) == ("available", None)


def test_a_slot_that_no_model_fits_is_unavailable() -> None:
    """Otherwise the router would send requests to an engine that has nothing to load."""
    fleet = planned(role("chat", slots=(slot("chat"),)), assignments=(at("chat", "bare1/0"),))
    found = view(fleet, "chat")
    assert (found.state, found.reason) == ("unavailable", "no model of the catalog fits where the role runs")


def test_models_fit_on_every_card_and_the_largest_is_served() -> None:
    fleet = planned(
        role("chat", count=2, slots=(slot("chat"),)),
        assignments=(at("chat", "bare1/0", "big", "even", "small"), at("chat", "pve44/0", "even", "small")),
    )
    assert (view(fleet, "chat").models, view(fleet, "chat").model) == (("even", "small"), "even")


def test_equally_large_models_are_taken_by_name() -> None:
    fleet = planned(role("chat", slots=(slot("chat"),)), assignments=(at("chat", "bare1/0", "even", "big", "small"),))
    assert (view(fleet, "chat").models, view(fleet, "chat").model) == (("big", "even", "small"), "big")


def test_a_named_model_is_served_though_a_larger_one_fits() -> None:
    fleet = planned(
        role("chat", slots=(slot("chat", model="small"),)), assignments=(at("chat", "bare1/0", "big", "small"),)
    )
    assert view(fleet, "chat").model == "small"


def test_without_a_place_no_model_fits_but_a_named_one_is_still_named() -> None:
    fleet = planned(role("a", slots=(slot("free"),)), role("b", slots=(slot("named", model="big"),)))
    assert [(v.name, v.model, v.models) for v in slot_views(fleet)] == [("free", None, ()), ("named", "big", ())]


@pytest.mark.parametrize(
    ("chains", "expected"),
    [
        ({"a": ()}, ()),
        ({"a": ("tier0",)}, ("tier0",)),
        ({"a": ("b",), "b": ("tier0",)}, ("b", "tier0")),
        ({"a": ("b", "c"), "b": ("tier9",), "c": ("tier0",)}, ("b", "c", "tier0")),
        ({"a": ("b",), "b": ("c",), "c": ("tier0",)}, ("b", "c", "tier0")),
        ({"a": ("b",), "b": ("a",)}, ("b",)),
        ({"a": ("a",)}, ()),
        ({"a": ("b", "c"), "b": (), "c": ("b", "tier0")}, ("b", "c", "tier0")),
    ],
    ids=["none", "external", "slot", "only the last goes on", "three", "cycle", "itself", "not tried twice"],
)
def test_the_fallback_chain_is_expanded(chains: dict[str, tuple[str, ...]], expected: tuple[str, ...]) -> None:
    some = [role(f"role-{name}", slots=(slot(name, fallback=chain),)) for name, chain in chains.items()]
    assert view(planned(*some), "a").fallback == expected


def test_an_embedding_slot_falls_back_to_the_same_model_alone() -> None:
    """Vectors of two models do not compare; nobody knows the model of an endpoint that names none."""
    some = [
        role(name, kinds=("embedding",), slots=(slot(name, model=served, fallback=chain),))
        for name, served, chain in (
            ("a", "even", ("b", "c", "tier0")),
            ("b", "even", ()),
            ("c", "big", ()),
            ("d", None, ("e",)),
            ("e", None, ()),
        )
    ]
    fleet = planned(*some)
    assert [view(fleet, name).fallback for name in ("a", "d")] == [("b",), ()]


def test_vram_share_is_the_roles() -> None:
    fleet = planned(
        role("flex", slots=(slot("flex"),), vram_share=VramShare(0.9, 0.55)), role("b", slots=(slot("other"),))
    )
    assert [v.vram_share for v in slot_views(fleet)] == [VramShare(0.9, 0.55), None]


def sharers(*modes: tuple[str, str, str], on: str = "bare1/0", unplaced: tuple[str, ...] = ()) -> Planned:
    """Role ``root`` and sharers (name, target, mode), on one card unless unplaced; each has a slot of its name."""
    some = [role("root", slots=(slot("root"),))]
    some += [role(name, share_with=to, share_mode=mode, slots=(slot(name),)) for name, to, mode in modes]
    placed = tuple(at(one.name, on) for one in some if one.name not in unplaced)
    return planned(*some, assignments=placed)


def test_alternating_roles_exclude_each_other() -> None:
    fleet = sharers(("train", "root", "alternating"))
    assert view(fleet, "root").excludes == ("train",)
    assert view(fleet, "train").excludes == ("root",)


def test_concurrent_roles_run_beside_each_other() -> None:
    fleet = sharers(("tts", "root", "concurrent"))
    assert (view(fleet, "root").excludes, view(fleet, "root").concurrent) == ((), ("tts",))
    assert (view(fleet, "tts").excludes, view(fleet, "tts").concurrent) == ((), ("root",))


def test_one_alternating_edge_on_the_path_excludes() -> None:
    """The design's fleet: tts-de-hq runs beside gpu-flex, training excludes both."""
    fleet = sharers(("tts", "root", "concurrent"), ("train", "root", "alternating"))
    assert view(fleet, "train").excludes == ("root", "tts")
    assert (view(fleet, "tts").excludes, view(fleet, "tts").concurrent) == (("train",), ("root",))


def test_chains_of_sharers() -> None:
    fleet = sharers(("a", "root", "concurrent"), ("b", "a", "concurrent"), ("c", "b", "alternating"))
    assert view(fleet, "b").concurrent == ("a", "root")
    assert view(fleet, "c").excludes == ("a", "b", "root")


def test_two_alternating_sharers_exclude_each_other() -> None:
    assert view(sharers(("a", "root", "alternating"), ("b", "root", "alternating")), "a").excludes == ("b", "root")


def test_a_role_without_a_place_excludes_nothing() -> None:
    fleet = sharers(("train", "root", "alternating"), unplaced=("train",))
    assert (view(fleet, "root").excludes, view(fleet, "train").excludes) == ((), ())


def test_only_a_common_card_excludes() -> None:
    some = (
        role("root", count=2, slots=(slot("one"), slot("two"))),
        role("train", share_with="root", slots=(slot("train"),)),
    )
    places = (
        at("root", "bare1/0", slots=("one",)),
        at("root", "bare1/1", slots=("two",)),
        at("train", "bare1/1", slots=("train",)),
    )
    fleet = planned(*some, assignments=places)
    assert [(v.name, v.excludes) for v in slot_views(fleet)] == [("one", ()), ("train", ("two",)), ("two", ("train",))]


def test_a_sharer_that_fell_back_to_a_cpu_excludes_nothing() -> None:
    some = (
        role("root", slots=(slot("root"),)),
        role("tts", share_with="root", cpu_fallback=True, slots=(slot("tts"),)),
    )
    fleet = planned(*some, assignments=(at("root", "bare1/0"), at("tts", "bare1")))
    assert (view(fleet, "root").excludes, view(fleet, "tts").processor) == ((), "cpu")


def test_a_cpu_role_that_shares_a_node_excludes_there() -> None:
    some = (role("root", slots=(slot("root"),)), role("batch", gpu=False, share_with="root", slots=(slot("batch"),)))
    fleet = planned(*some, assignments=(at("root", "bare1/0"), at("batch", "bare1")))
    assert view(fleet, "root").excludes == ("batch",)


def test_cpu_roles_of_one_node_that_do_not_share_exclude_nothing() -> None:
    some = (role("a", gpu=False, slots=(slot("a"),)), role("b", gpu=False, slots=(slot("b"),)))
    fleet = planned(*some, assignments=(at("a", "bare1"), at("b", "bare1")))
    assert [v.excludes for v in slot_views(fleet)] == [(), ()]


def test_a_role_without_slots_excludes_by_its_name() -> None:
    some = (role("root", slots=(slot("root"),)), role("training", share_with="root"))
    fleet = planned(*some, assignments=(at("root", "bare1/0"), at("training", "bare1/0")))
    assert (view(fleet, "root").excludes, view(fleet, "root").excludes_roles) == ((), ("training",))


def test_a_share_cycle_ends() -> None:
    some = (role("a", share_with="b", slots=(slot("a"),)), role("b", share_with="a", slots=(slot("b"),)))
    assert [v.state for v in slot_views(planned(*some))] == ["unavailable", "unavailable"]


def test_without_a_platform_a_node_is_no_worker() -> None:
    fleet = planned(role("chat", slots=(slot("chat"),)), assignments=(at("chat", "ws05/0"),))
    bare = replace(fleet, cluster=replace(fleet.cluster, platform=None), guests=())
    assert [endpoint.worker for endpoint in view(bare, "chat").endpoints] == [False]
