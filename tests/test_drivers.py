"""The driver of a VM from its oldest card, by what NVIDIA says of its branches.

R470 is the last branch for Kepler (3.5, 3.7), R580 the last for Maxwell (5.x), Pascal (6.x) and Volta (7.0); R590
begins at Turing (7.5): NVIDIA's "CUDA, driver and GPU support" notes and the table of GPUs in each README.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knaster.cards.drivers import generation, serves
from knaster.checks import drivers as rules
from knaster.cluster import Driver, Gpu, VmOverride
from knaster.guests import expand
from tests.builders import cluster, gpu, gpu_vm, node, pci, platform
from tests.checking import Said, of_guests, only, p2000, proxmox, route, said
from tests.consumer_fleets import evaluated

R470 = Driver("kepler", "R470", "470.256.02", 3.5, 8.6)
R580 = Driver("legacy", "R580", "580.95.05", 5.0, 12.1)
R595 = Driver("current", "R595", "595.45.04", 7.5, 12.1)
BRANCHES = {driver.generation: driver for driver in (R595, R470, R580)}
KEPLER, MAXWELL, PASCAL, TURING, ADA, BLACKWELL = 3.7, 5.2, 6.1, 7.5, 8.9, 12.0


def cards(*capabilities: float | None) -> tuple[Gpu, ...]:
    return tuple(gpu(at, 8, capability) for at, capability in enumerate(capabilities))


@pytest.mark.parametrize(
    ("capabilities", "expected"),
    [
        ((ADA,), "current"),
        ((BLACKWELL, TURING), "current"),
        ((ADA, PASCAL), "legacy"),
        ((MAXWELL, PASCAL, ADA, BLACKWELL), "legacy"),
        ((KEPLER, MAXWELL), "kepler"),
        ((KEPLER, ADA), None),  # R470 ends at 8.6
        ((2.1,), None),
        ((), None),
        ((ADA, None), None),  # could be a Kepler
    ],
)
def test_the_oldest_card_decides(capabilities: tuple[float | None, ...], expected: str | None) -> None:
    assert generation(cards(*capabilities), BRANCHES) == expected


def test_a_disabled_card_decides_too_and_one_of_another_maker_does_not() -> None:
    old = gpu(1, 8, MAXWELL, disabled=True)
    assert generation([gpu(0, 20, ADA), old], BRANCHES) == "legacy"
    assert generation([gpu(0, 20, ADA), gpu(1, 16, None, vendor="amd")], BRANCHES) == "current"
    assert generation([gpu(0, 16, None, vendor="amd")], BRANCHES) is None


def test_newer_is_a_number_and_not_a_word() -> None:
    """580.105.08 came after 580.95.05."""
    two = {"a": Driver("a", "R580", "580.105.08", 5.0), "b": Driver("b", "R580", "580.95.05", 5.0)}
    assert generation(cards(PASCAL), two) == "a"


CAPABILITIES = st.sampled_from([2.1, KEPLER, MAXWELL, PASCAL, TURING, ADA, BLACKWELL])


@given(st.lists(CAPABILITIES, min_size=1, max_size=6))
def test_what_is_found_serves_every_card_whatever_their_order(found: list[float]) -> None:
    mine = cards(*found)
    chosen = generation(mine, BRANCHES)
    assert generation(tuple(reversed(mine)), dict(reversed(BRANCHES.items()))) == chosen
    fitting = [name for name, driver in BRANCHES.items() if all(serves(driver, one) for one in mine)]
    assert (chosen in fitting) if fitting else (chosen is None)


def test_a_name_goes_before_the_oldest_card() -> None:
    overrides = {"pve46": VmOverride(driver_generation="legacy")}
    nodes = [proxmox(name, gpu(0, 20, ADA, pci=pci())) for name in ("pve44", "pve46")]
    free = platform(drivers=BRANCHES, gpu_vm=gpu_vm(driver_generation=None, overrides=overrides))
    assert [guest.driver_generation for guest in expand(nodes, free)] == ["current", "legacy"]
    fixed = platform(drivers=BRANCHES, gpu_vm=gpu_vm(driver_generation="legacy"))
    assert [guest.driver_generation for guest in expand(nodes, fixed)] == ["legacy", "legacy"]


@pytest.mark.parametrize(
    ("fleet", "expected"),
    [
        (
            "own",
            {"gpu-pve44": "580.95.05", "gpu-pve46": "580.95.05", "gpu-pve48": "580.95.05", "gpu-pve52": "580.95.05"},
        ),
        (
            "in the cluster",
            {f"gpu-pve{number}": "580.95.05" for number in (44, 46, 48, 52)}
            | {"gpu-pve49": "595.45.04", "gpu-pve50": "595.45.04"},
        ),
        ("mixed generations", {"gpu-pve1": "580.95.05"}),
        ("two makers", {"gpu-pve2": "595.45.04"}),
        ("twins and quadruplets", {"gpu-pve1": "595.45.04", "gpu-pve2": "580.95.05"}),
    ],
)
def test_the_fleets_have_the_driver_of_their_oldest_cards(fleet: str, expected: dict[str, str]) -> None:
    """Wherever a driver is told: pve52's only card is a Maxwell that is disabled."""
    documents = evaluated(fleet).documents
    vms = {name: guest for name, guest in documents["proxmox.yaml"]["guests"].items() if guest["kind"] == "vm"}
    hosts = documents["ansible/hosts.yaml"]["all"]["hosts"]
    assert {name: guest["driver"]["version"] for name, guest in vms.items() if "driver" in guest} == expected
    told = {name: hosts[name]["knaster_driver"]["version"] for name in vms if "knaster_driver" in hosts[name]}
    assert told == expected


def test_a_vm_without_nvidia_cards_has_no_driver_even_where_one_is_named_for_all() -> None:
    radeon = gpu(0, 16, None, vendor="amd", pci=pci(id="1002:744c"))
    (guest,) = expand([proxmox("pve44", radeon)], platform(drivers=BRANCHES))
    assert guest.driver_generation is None


# -- what is said where nothing is found


def of(*nodes: object, **more: object) -> list[tuple[str, str]]:
    given_ = {"drivers": BRANCHES, "gpu_vm": gpu_vm(driver_generation=None), **more}
    return said(of_guests(rules.derived, cluster(*nodes, platform=platform(**given_))))  # type: ignore[arg-type]


def test_an_unknown_capability_is_an_error_and_not_a_guess() -> None:
    unknown = gpu(1, 8, None, pci=pci("0000:02:00.0"), disabled=True)
    fleet = cluster(
        proxmox("pve44", p2000(), unknown), platform=platform(drivers=BRANCHES, gpu_vm=gpu_vm(driver_generation=None))
    )
    found = only(of_guests(rules.derived, fleet))
    assert (found.code, found.severity) == ("driver-unknown", "error")
    assert found.message == (
        "the driver of GPU VM gpu-pve44 follows from its oldest card, but nobody knows the compute capability of "
        "card pve44/1"
    )
    assert route(found) == ("inventory/pve44.yaml", ("gpus", 1, "compute_cap"), "value")
    assert found.hint == (
        "collect the node again, fill compute_cap in, or name one under gpu_vm.overrides.pve44.driver_generation in "
        "catalog/platform.yaml"
    )
    named = gpu_vm(driver_generation=None, overrides={"pve44": VmOverride(driver_generation="legacy")})
    assert of(proxmox("pve44", p2000(), unknown), gpu_vm=named) == []


def test_cards_that_no_branch_serves_together() -> None:
    both = proxmox("pve44", gpu(0, 20, ADA, pci=pci()), gpu(1, 12, KEPLER, pci=pci("0000:02:00.0")))
    message = "no driver generation serves all cards of GPU VM gpu-pve44: their compute capabilities are 3.7, 8.9"
    assert of(both) == [("driver-branch", message)]
    assert of(proxmox("pve44", p2000()), drivers={}) == [
        (
            "driver-branch",
            "no driver generation serves all cards of GPU VM gpu-pve44: their compute capabilities are 6.1",
        )
    ]


def test_what_needs_no_driver_is_not_asked_for_one() -> None:
    assert of(proxmox("pve61"), node("PC5", gpu(0, 20, None))) == []
    assert of(proxmox("pve44", p2000())) == []
    assert of(proxmox("pve44", gpu(0, 16, None, vendor="amd", pci=pci(id="1002:744c")))) == []


@pytest.mark.parametrize(
    ("driver", "expected"),
    [
        (R580, None),
        (Driver("legacy", "R580", "580.95.05", 6.1, 6.1), None),
        (Driver("legacy", "R595", "595.45.04", 7.5, None), "R595 (legacy), which serves compute capability 7.5 on"),
        (Driver("legacy", "R390", "390.157", 2.0, 6.0), "R390 (legacy), which serves compute capability 2.0 to 6.0"),
    ],
)
def test_a_named_driver_serves_all_cards_of_its_vm(driver: Driver, expected: str | None) -> None:
    mine = (p2000(disabled=True), gpu(1, None, None, pci=pci("0000:02:00.0")))
    fleet = cluster(proxmox("pve44", *mine), node("PC5", gpu(0, 20, 99)), platform=platform(drivers={"legacy": driver}))
    found = of_guests(rules.named, fleet)
    message = f"GPU VMs get driver {expected}, but not 1 of their cards: 1 with 6.1"
    wanted: Said = [("driver-branch", message)] if expected else []
    assert said(found) == wanted
    assert [route(one)[1] for one in found] == [("gpu_vm", "driver_generation")] * len(wanted)


def test_a_driver_branch_is_told_once_for_all_cards() -> None:
    both = {"current": R595, "legacy": R580}
    old = gpu(1, 8, MAXWELL, pci=pci("0000:02:00.0"))
    nodes = proxmox("pve44", p2000(), old), proxmox("pve46", p2000(), gpu(1, pci=pci("0000:02:00.0")))
    declared = platform(drivers=both, gpu_vm=gpu_vm(driver_generation="current"))
    found = only(of_guests(rules.named, cluster(*nodes, platform=declared)))
    assert found.message == (
        "GPU VMs get driver R595 (current), which serves compute capability 7.5 to 12.1, "
        "but not 3 of their cards: 1 with 5.2, 2 with 6.1"
    )
    assert found.hint == "without driver_generation the oldest card of each decides, here for legacy"
    assert [(one.place.route, one.message) for one in found.related] == [
        (("drivers", "current"), "current is declared here"),
        (("gpus", 0, "compute_cap"), "card pve44/0 has 6.1"),
        (("gpus", 1, "compute_cap"), "card pve44/1 has 5.2"),
        (("gpus", 0, "compute_cap"), "card pve46/0 has 6.1"),
    ]
    alone = platform(drivers={"current": R595}, gpu_vm=gpu_vm(driver_generation="current"))
    hint = only(of_guests(rules.named, cluster(*nodes, platform=alone))).hint
    assert hint == "declare a generation that serves all cards of each of these VMs, or take the cards out"
