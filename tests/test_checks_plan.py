"""What only the plan shows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from knaster.checks import plan as rules
from knaster.checks import plan_slots
from knaster.cluster import Cluster, Model, Role, Worker
from knaster.diagnostics import Severity
from knaster.guests import expand
from knaster.placement import plan
from knaster.placement.result import Assignment, PlacementPlan
from knaster.planned import Planned
from knaster.slots import slot_views
from tests.builders import catalog, cluster, engine, gpu, lxc, model, node, pci, platform, role, roles, slot
from tests.checking import only, p2000, proxmox, route, said

ROLES = "catalog/roles.yaml"


PC5 = node("PC5", gpu(), address="10.0.0.5")
SMALL = node("n", gpu(0, 5, 6.1), address="10.0.0.5")


def planned(fleet: Cluster, current: PlacementPlan | None = None) -> Planned:
    """The fleet with its plan."""
    assert fleet.catalog is not None
    assert fleet.roles is not None
    answer = plan(fleet.nodes, fleet.roles, fleet.catalog, platform=fleet.platform, current=current)
    return Planned(fleet, expand(fleet.nodes, fleet.platform), answer, current)


def test_a_required_role_without_a_place() -> None:
    fleet = cluster(
        node("a", gpu(0, 8)), roles=roles(role("chat", min_vram_gb=24, required=True), role("x", min_vram_gb=24))
    )
    found = only(rules.required_roles(planned(fleet)))
    assert found.code == "required-unplaced"
    assert found.message == "role chat is required but not placed: 0/1 GPUs fit: 1 with less than 24 GB"
    assert route(found) == (ROLES, ("roles", "chat", "required"), "value")


def test_required_means_all_places() -> None:
    fleet = cluster(node("a", gpu(0)), roles=roles(role("chat", count=2, required=True)))
    found = only(rules.required_roles(planned(fleet)))
    assert found.message.startswith("role chat is required but only 1 of 2 placed: ")
    both = cluster(node("a", gpu(0), gpu(1)), roles=roles(role("chat", count=2, required=True)))
    assert said(rules.required_roles(planned(both))) == []


def memory(*needs: float, **more: object) -> Planned:
    """Roles that need so much memory, each on its own card of one Proxmox node whose VM has 12 GB."""
    cards = [p2000(at, at + 1) for at in range(len(needs))]
    declared = roles(*(role(f"r{at}", min_memory_gb=need) for at, need in enumerate(needs)))
    return planned(cluster(proxmox("pve44", *cards), roles=declared, platform=platform(**more)))


def test_roles_fit_the_memory_of_their_guest() -> None:
    assert said(rules.guest_memories(memory(4, 4, 4))) == []
    found = only(rules.guest_memories(memory(4, 4, 4.5)))
    message = "gpu-pve44 has 12 GiB for roles, those on it need 12.5: r0 4, r1 4, r2 4.5"
    assert (found.code, found.message) == ("guest-memory", message)
    assert route(found) == (ROLES, ("roles", "r2", "needs", "min_memory_gb"), "value")
    assert [one.place.route[1] for one in found.related] == ["r0", "r1"]


def test_outside_proxmox_the_host_keeps_its_reserve() -> None:
    fleet = cluster(
        node("PC5", gpu(), memory_gb=64), roles=roles(role("a", min_memory_gb=61)), platform=platform(host_reserve_gb=4)
    )
    message = "PC5 has 60 GiB for roles, those on it need 61: a 61"
    assert said(rules.guest_memories(planned(fleet))) == [("guest-memory", message)]
    assert said(rules.guest_memories(planned(replace(fleet, platform=platform(host_reserve_gb=3))))) == []
    unknown = replace(fleet, nodes=(node("PC5", gpu(), memory_gb=None),))
    assert said(rules.guest_memories(planned(unknown))) == []


UUIDS = [f"GPU-0000000{at}-0000-0000-0000-000000000000" for at in range(3)]


def held(pin: str, card: str | None, nodes: tuple[object, ...]) -> Planned:
    """Role chat, pinned, and held by the placement in force on ``a/0`` as `card`."""
    current = PlacementPlan((Assignment("chat", "a", 0, card=card),))
    fleet = cluster(*nodes, roles=roles(role("chat", pin=pin)))  # type: ignore[arg-type]
    return planned(fleet, current)


def test_a_pin_that_names_another_card() -> None:
    swapped = (node("a", gpu(0, uuid=UUIDS[1]), gpu(1, uuid=UUIDS[0])),)
    found = only(rules.pins(held("a/0", UUIDS[0], swapped)))
    assert found.code == "pin-moved"
    assert found.message == (
        f"role chat is pinned to a/0, where it holds card {UUIDS[0]}; that card is a/1 now, and a/0 is {UUIDS[1]}"
    )
    assert (
        found.hint == "write pin: a/1 to stay on the card; to take the other one, land a change without the pin first"
    )
    assert route(found) == (ROLES, ("roles", "chat", "pin"), "value")
    assert [one.place.route for one in found.related] == [("gpus", 0), ("gpus", 1)]


def test_a_card_that_moved_to_another_node() -> None:
    nodes = (node("a", gpu(0, uuid=UUIDS[1])), node("b", gpu(2, uuid=UUIDS[0])))
    found = only(rules.pins(held("a/0", UUIDS[0], nodes)))
    assert "that card is b/2 now" in found.message


@pytest.mark.parametrize(
    ("pin", "card", "nodes"),
    [
        ("a/0", UUIDS[0], (node("a", gpu(0, uuid=UUIDS[0])),)),
        ("a/0", None, (node("a", gpu(0, uuid=UUIDS[1])),)),
        # the card is gone: an ordinary replacement
        ("a/0", UUIDS[0], (node("a", gpu(0, uuid=UUIDS[1])),)),
        # only the node is pinned, or another card than the one it holds
        ("a", UUIDS[0], (node("a", gpu(0, uuid=UUIDS[1]), gpu(1, uuid=UUIDS[0])),)),
        ("a/1", UUIDS[0], (node("a", gpu(0, uuid=UUIDS[1]), gpu(1, uuid=UUIDS[0])),)),
        # the uuid became known since
        ("a/0", "index:0", (node("a", gpu(0, uuid=UUIDS[0])),)),
        ("a/0", "pci:0000:01:00.0/10de:27b2", (node("a", gpu(0, uuid=UUIDS[0], pci=pci())),)),
        # a PCI address means something within its machine only
        ("a/0", "pci:0000:01:00.0/10de:27b2", (node("a", gpu(0)), node("b", gpu(0, pci=pci())))),
    ],
)
def test_a_pin_that_still_names_its_card(pin: str, card: str | None, nodes: tuple[object, ...]) -> None:
    assert said(rules.pins(held(pin, card, nodes))) == []


def test_a_pci_card_that_was_renumbered() -> None:
    nodes = (node("a", gpu(0, pci=pci("0000:02:00.0")), gpu(1, pci=pci("0000:01:00.0"))),)
    found = only(rules.pins(held("a/0", "pci:0000:01:00.0/10de:27b2", nodes)))
    assert "that card is a/1 now, and a/0 is pci:0000:02:00.0/10de:27b2" in found.message


def two(first: int | None, second: int | None, engine_port: int | None = None) -> Planned:
    """Two roles with a slot each on the two cards of one Proxmox node."""
    declared = roles(
        role("a", slots=(slot("sa", first),)),
        role("b", slots=(slot("sb", second),)),
    )
    known = catalog(engine("vllm", port=engine_port))
    return planned(
        cluster(proxmox("pve44", p2000(0, 1), p2000(1, 2)), roles=declared, catalog=known, platform=platform())
    )


def test_a_port_answers_for_one_slot_of_a_guest() -> None:
    assert said(plan_slots.slots(two(8081, 8082))) == []
    found = only(plan_slots.slots(two(8081, 8081)))
    assert (found.code, found.message) == ("duplicate-port", "slots sa and sb both answer on port 8081 of gpu-pve44")
    assert found.hint == "give one of them another port"
    assert route(found) == (ROLES, ("roles", "b", "slots", 0, "port"), "value")
    assert [one.place.route for one in found.related] == [("roles", "a", "slots", 0, "port")]


def test_the_port_of_the_engine_counts() -> None:
    found = only(plan_slots.slots(two(None, None, engine_port=8000)))
    assert found.message == "slots sa and sb both answer on port 8000 of gpu-pve44"
    assert found.hint == "give one of them another port; without one, a slot has that of its engine (vllm)"


def test_one_slot_on_two_cards_of_a_guest_is_no_collision() -> None:
    fleet = cluster(
        proxmox("pve44", p2000(0, 1), p2000(1, 2)),
        roles=roles(role("a", count=2, slots=(slot("sa", 8081),))),
        platform=platform(),
    )
    assert said(plan_slots.slots(planned(fleet))) == []


def test_the_same_port_on_two_machines_is_fine() -> None:
    fleet = cluster(
        PC5,
        node("PC6", gpu(), address="10.0.0.6"),
        roles=roles(role("a", slots=(slot("sa"),)), role("b", slots=(slot("sb"),))),
    )
    assert said(plan_slots.slots(planned(fleet))) == []


def test_a_slot_that_is_served_has_a_port() -> None:
    found = only(plan_slots.slots(two(8081, None)))
    assert (found.code, found.message) == ("slot-port", "slot sb has no port, and its engine vllm has no default one")
    assert route(found) == (ROLES, ("roles", "b", "slots", 0), "value")


def test_a_worker_program_chooses_its_port() -> None:
    declared = roles(role("a", slots=(slot("sa", None),)))
    workers = platform(workers={"PC5": Worker("PC5", "w.ps1")})
    assert said(plan_slots.slots(planned(cluster(PC5, roles=declared, platform=workers)))) == []
    assert [one.code for one in plan_slots.slots(planned(cluster(PC5, roles=declared)))] == ["slot-port"]


def named(chosen: Model, *others: Model | Role, **more: object) -> Planned:
    """Role a on a 5 GB card (compute capability 6.1), its slot naming `chosen`."""
    subject = role("a", engine="vllm", slots=(slot("sa", model=chosen.name),), **more)
    models = [one for one in others if isinstance(one, Model)]
    sharers = [one for one in others if isinstance(one, Role)]
    return planned(
        cluster(
            SMALL,
            roles=roles(subject, *sharers),
            catalog=catalog(chosen, *models),
        )
    )


@pytest.mark.parametrize(
    ("chosen", "why"),
    [
        (model("big", 8), "it needs 8 GiB, 5 GiB are there"),
        (model("new", 2, min_cc=7.5), "it needs compute capability 7.5, the card has 6.1"),
        (model("other", 2, engines=("llamacpp",)), "it does not run on vllm (it runs on llamacpp)"),
        (model("voice", 2, kind="tts"), "it is of kind tts, and role a serves llm"),
    ],
)
def test_the_model_of_a_slot_fits(chosen: Model, why: str) -> None:
    found = only(plan_slots.slots(named(chosen, model("small", 1), model("tiny", 0.5))))
    assert (found.code, found.hint) == ("slot-model", "models that fit: small, tiny")
    assert found.message == f"slot sa names the model {chosen.name}, which does not fit on n/0: {why}"
    assert route(found) == (ROLES, ("roles", "a", "slots", 0, "model"), "value")


def test_a_model_that_fits_or_is_unknown_or_whose_role_has_no_place() -> None:
    assert said(plan_slots.slots(named(model("small", 4)))) == []
    assert said(plan_slots.slots(named(model("big", 8), min_vram_gb=48))) == []
    unknown = cluster(node("n", gpu(), address="10.0.0.5"), roles=roles(role("a", slots=(slot("sa", model="x"),))))
    assert said(plan_slots.slots(planned(unknown))) == []


def test_a_model_that_fits_alone_but_not_beside_others() -> None:
    beside = role("b", engine="vllm", share_with="a", share_mode="concurrent", min_vram_gb=2)
    found = only(plan_slots.slots(named(model("big", 4), beside, min_vram_gb=3)))
    assert found.message == (
        "slot sa names the model big, which does not fit on n/0: the roles that share the card leave too little"
    )
    assert found.hint == "no model of the catalog fits there"


def test_a_model_on_a_cpu() -> None:
    fleet = cluster(
        proxmox("pve44"),
        roles=roles(
            role("tts", engine="piper", gpu=False, guest="infra", kinds=("tts",), slots=(slot("s", model="huge"),))
        ),
        catalog=catalog(engine("piper", gpu="none"), model("huge", 40, kind="tts", engines=("piper",))),
        platform=platform(lxc(memory_gb=8)),
    )
    found = only(plan_slots.slots(planned(fleet)))
    assert found.message == (
        "slot s names the model huge, which does not fit on pve44: it needs 40 GiB, more than other roles leave there"
    )


def test_a_slot_needs_an_address_to_answer_on() -> None:
    served = roles(role("a", slots=(slot("sa"),)), role("b", slots=(slot("sb", 8081),)))
    fleet = cluster(node("n", gpu(0), gpu(1)), roles=served, catalog=catalog(model("m", 4)))
    found = only(plan_slots.slots(planned(fleet)))
    assert (found.code, found.severity) == ("unknown-fact", Severity.WARNING)
    assert found.message == "the address of n is not known, so nobody can call sa, sb there"
    assert {view.state for view in slot_views(planned(fleet))} == {"unavailable"}
