"""What no machine can be; what is assumed or not known; a fleet without guests."""

from __future__ import annotations

import pytest

from knaster.checks import assumptions, guests, hardware
from knaster.cluster import Assumption, Cpu, Platform
from knaster.diagnostics import Severity
from tests.builders import cluster, gpu, gpu_vm, lxc, node, platform
from tests.checking import of_guests, only, p2000, proxmox, route, said


@pytest.mark.parametrize(
    ("cores", "threads", "fine"),
    [(6, 12, True), (6, 6, True), (24, 32, True), (None, 4, True), (8, None, True), (16, 8, False), (1, 0, False)],
)
def test_a_core_has_a_thread(cores: int | None, threads: int | None, fine: bool) -> None:
    found = list(hardware.processors(cluster(node("a", cpu=Cpu("x", cores, threads)))))
    message = f"a has {cores} cores but {threads} threads; every core has at least one"
    assert said(found) == ([] if fine else [("impossible-hardware", message)])
    assert [route(one) for one in found] == ([] if fine else [("inventory/a.yaml", ("cpu", "threads"), "value")])


@pytest.mark.parametrize(
    ("memory_gb", "memory_mib"),
    [
        (5, 5120),
        (5, 5059),
        (8, 8126),
        (20, 20475),
        (24, 23034),
        (24, 24564),
        (48, 46068),
        (12, 11441),
        (288, 275040),
        (1, 512),
    ],
)
def test_sizes_that_drivers_report_for_real_cards(memory_gb: float, memory_mib: int) -> None:
    fleet = cluster(node("a", gpu(0, memory_gb, memory_mib=memory_mib)))
    assert said(hardware.card_memories(fleet)) == []


def test_a_card_has_one_size() -> None:
    fleet = cluster(node("a", gpu(0), gpu(2, 20, memory_mib=8192, position=1)))
    found = only(hardware.card_memories(fleet))
    message = "card a/2 cannot have both 20 GB and 8192 MiB (8 GiB)"
    assert (found.code, found.message) == ("impossible-hardware", message)
    assert route(found) == ("inventory/a.yaml", ("gpus", 1, "memory_mib"), "value")


def test_shared_memory_has_no_size_of_its_own() -> None:
    fleet = cluster(node("gb10", gpu(0, 128, memory_mib=8192, memory_kind="unified")))
    assert said(hardware.card_memories(fleet)) == []


def test_one_warning_per_assumed_node() -> None:
    found = only(assumptions.assumed_nodes(cluster(node("a", source="assumed"), node("b"))))
    assert (found.code, found.severity) == ("assumed", Severity.WARNING)
    assert found.message == "the profile of a is assumed: nothing in it was read from the machine"
    assert route(found) == ("inventory/a.yaml", ("source",), "value")


def test_one_warning_per_assumption() -> None:
    declared = platform(
        assumptions=(Assumption("network.guest_range", ".220 to .239"), Assumption("vm", "one per node"))
    )
    found = list(assumptions.assumed_values(cluster(platform=declared)))
    assert [one.message for one in found] == [
        "not confirmed yet: network.guest_range: .220 to .239",
        "not confirmed yet: vm: one per node",
    ]
    assert [route(one)[1] for one in found] == [("assumptions", 0), ("assumptions", 1)]
    assert {one.severity for one in found} == {Severity.WARNING}


def test_one_warning_per_unknown_fact_that_is_needed() -> None:
    cards = (
        gpu(0, None, None),
        gpu(1, 8, None, vendor="nvidia"),
        gpu(2, 16, None, vendor="amd"),  # no maker but NVIDIA has compute capabilities
        gpu(3, None, None, disabled=True),
        gpu(4, 8, 6.1, name=None, driver=None),
    )
    found = list(assumptions.unknown_facts(cluster(node("a", *cards, memory_gb=None, cpu=Cpu(None, None, None)))))
    assert [one.message for one in found] == [
        "the memory of a is not known: its budget cannot be checked",
        "the VRAM of card a/0 is not known: no role is placed on it",
        "the compute capability of card a/0 is not known: no role is placed on it",
        "the compute capability of card a/1 is not known: no role is placed on it",
    ]
    assert {(one.code, one.severity) for one in found} == {("unknown-fact", Severity.WARNING)}
    assert route(found[1]) == ("inventory/a.yaml", ("gpus", 0, "memory_gb"), "value")


EMPTY = platform(gpu_vm=None)


def test_a_proxmox_node_without_any_guest() -> None:
    found = only(of_guests(guests.no_guests, cluster(proxmox("pve46"), proxmox("pve44"), platform=EMPTY)))
    message = "no guest is declared for pve44, pve46: to OpenTofu that means 'destroy everything'"
    assert (found.code, found.severity, found.message) == ("no-guests", Severity.ERROR, message)
    assert route(found) == ("catalog/platform.yaml", ("guests",), "key")


@pytest.mark.parametrize("declared", [platform(lxc(), gpu_vm=None), platform(gpu_vm=gpu_vm())])
def test_one_guest_is_enough(declared: Platform) -> None:
    assert said(of_guests(guests.no_guests, cluster(proxmox("pve44", p2000()), platform=declared))) == []


def test_a_fleet_without_proxmox_needs_no_guests() -> None:
    assert said(of_guests(guests.no_guests, cluster(node("PC5", gpu()), platform=EMPTY))) == []


def test_a_file_that_did_not_load_may_hold_the_guests() -> None:
    broken = cluster(proxmox("pve46"), platform=EMPTY, broken=frozenset({"inventory/pve44.yaml"}))
    assert said(of_guests(guests.no_guests, broken)) == []
