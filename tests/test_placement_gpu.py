"""Rules 1 and 2 of placement: cards, filters, order. One case for each sentence; expectations come from the rules."""

from __future__ import annotations

from typing import Any

import pytest

from knaster.cluster import Node, Role
from knaster.inventory import plan
from knaster.placement import DisabledGpu, PlacementPlan
from tests.builders import catalog, engine, gpu, node, pci, platform, policy, role, roles

Seats = dict[str, list[str]]


def seats(answer: PlacementPlan) -> Seats:
    """Role to the cards it got."""
    found: Seats = {}
    for one in answer.assignments:
        found.setdefault(one.role, []).append(f"{one.node}/{one.gpu_index}")
    return found


def reasons(answer: PlacementPlan) -> dict[str, str]:
    """Role to its reason."""
    return {one.role: one.reason for one in answer.unplaced}


A, B = node("a", gpu(0, 8, 7.5)), node("b", gpu(0, 24, 8.6))


ORDER: list[tuple[str, list[Node], list[Role], Seats]] = [
    ("all nodes form one list", [A, B], [role(min_vram_gb=24)], {"chat": ["b/0"]}),
    ("smallest_fitting is the default", [A, B], [role()], {"chat": ["a/0"]}),
    ("largest takes the most VRAM", [A, B], [role(prefer="largest")], {"chat": ["b/0"]}),
    (
        "a lower priority number is served first",
        [A, B],
        [role("late", priority=20, prefer="largest"), role("soon", priority=10, prefer="largest")],
        {"soon": ["b/0"], "late": ["a/0"]},
    ),
    (
        "equal priority: by name",
        [A, B],
        [role("y", prefer="largest"), role("x", prefer="largest")],
        {"x": ["b/0"], "y": ["a/0"]},
    ),
    ("priority defaults to 100", [A], [role("a", priority=101), role("b")], {"b": ["a/0"]}),
    (
        "among equal VRAM smallest_fitting prefers the lower compute capability",
        [node("n", gpu(0, 24, 8.9), gpu(1, 24, 8.6))],
        [role()],
        {"chat": ["n/1"]},
    ),
    (
        "among equal VRAM largest prefers the higher compute capability",
        [node("n", gpu(0, 24, 8.6), gpu(1, 24, 8.9))],
        [role(prefer="largest")],
        {"chat": ["n/1"]},
    ),
    (
        "compute capability 12.0 is above 8.9",
        [node("n", gpu(0, 24, 8.9), gpu(1, 24, 12.0))],
        [role(prefer="largest")],
        {"chat": ["n/1"]},
    ),
    (
        "VRAM before compute capability",
        [node("n", gpu(0, 24, 7.0), gpu(1, 16, 9.0))],
        [role(prefer="largest")],
        {"chat": ["n/0"]},
    ),
    (
        "then node name by code point: upper case before lower",
        [node("b", gpu()), node("a", gpu()), node("Z", gpu())],
        [role()],
        {"chat": ["Z/0"]},
    ),
    ("node names are not numbers", [node("n9", gpu()), node("n10", gpu())], [role()], {"chat": ["n10/0"]}),
    (
        "then index, by number",
        [node("n", *(gpu(index) for index in range(10, 1, -1)))],
        [role()],
        {"chat": ["n/2"]},
    ),
    ("count takes as many cards", [node("n", gpu(0), gpu(1), gpu(2))], [role(count=2)], {"chat": ["n/0", "n/1"]}),
    ("one assignment per card", [node("n", gpu(0))], [role("a"), role("b")], {"a": ["n/0"]}),
    ("min_vram_gb equal to the card is enough", [A], [role(min_vram_gb=8)], {"chat": ["a/0"]}),
    ("min_vram_gb a hair above is not", [A], [role(min_vram_gb=8.001)], {}),
    ("min_cc equal is enough", [A], [role(min_cc=7.5)], {"chat": ["a/0"]}),
    ("max_cc equal is enough", [A], [role(max_cc=7.5)], {"chat": ["a/0"]}),
    ("a pin to a node filters", [A, B], [role(pin="b")], {"chat": ["b/0"]}),
    ("a pin to a card filters", [node("n", gpu(0), gpu(1))], [role(pin="n/1")], {"chat": ["n/1"]}),
    (
        "a pin does not reserve",
        [A],
        [role("pinned", pin="a/0", priority=20), role("free", priority=10)],
        {"free": ["a/0"]},
    ),
    (
        "a pin names the driver's index, not the place in the list",
        [node("n", gpu(3))],
        [role(pin="n/3")],
        {"chat": ["n/3"]},
    ),
]


@pytest.mark.parametrize(("nodes", "wanted", "expected"), [case[1:] for case in ORDER], ids=[case[0] for case in ORDER])
def test_order(nodes: list[Node], wanted: list[Role], expected: Seats) -> None:
    assert seats(plan(nodes, roles(*wanted), catalog())) == expected


FAILS: list[tuple[str, list[Node], Role, str]] = [
    ("disabled", [node("n", gpu(disabled=True))], role(), "0/1 GPUs fit: 1 disabled"),
    ("down", [node("n", gpu(), state="down")], role(), "0/1 GPUs fit: 1 down"),
    ("cordoned takes nothing new", [node("n", gpu(), state="cordoned")], role(), "0/1 GPUs fit: 1 cordoned"),
    ("pin", [A, B], role(pin="c"), "0/2 GPUs fit: 2 outside pin c"),
    (
        "pin to a disabled card",
        [A, node("b", gpu(0, disabled=True), gpu(1))],
        role(pin="b/0"),
        "0/3 GPUs fit: 1 disabled, 2 outside pin b/0 (that card is disabled)",
    ),
    (
        "pin to a node whose cards are disabled",
        [A, node("b", gpu(0, disabled=True), gpu(1, disabled=True))],
        role(pin="b"),
        "0/3 GPUs fit: 2 disabled, 1 outside pin b (all of its cards are disabled)",
    ),
    (
        "pin to a node that is down",
        [A, node("b", gpu(), state="down")],
        role(pin="b/0"),
        "0/2 GPUs fit: 1 down, 1 outside pin b/0 (that node is down)",
    ),
    (
        "pin to a card that is too small: its own count tells it",
        [A, node("b", gpu(0, 24))],
        role(pin="a/0", min_vram_gb=16),
        "0/2 GPUs fit: 1 outside pin a/0, 1 with less than 16 GB",
    ),
    (
        "OS: engines run on linux by default",
        [node("n", gpu(), os="windows")],
        role(),
        "0/1 GPUs fit: 1 on windows (vllm runs on linux)",
    ),
    ("VRAM unknown never fits", [node("n", gpu(memory_gb=None))], role(), "0/1 GPUs fit: 1 of unknown VRAM"),
    ("VRAM too small", [A], role(min_vram_gb=16), "0/1 GPUs fit: 1 with less than 16 GB"),
    (
        "compute capability unknown never fits",
        [node("n", gpu(compute_cap=None))],
        role(),
        "0/1 GPUs fit: 1 of unknown compute capability",
    ),
    ("compute capability below", [A], role(min_cc=8), "0/1 GPUs fit: 1 below compute capability 8.0"),
    ("compute capability above", [B], role(max_cc=8.0), "0/1 GPUs fit: 1 above compute capability 8.0"),
    ("no GPU at all", [node("n")], role(), "0/0 GPUs fit: there is none"),
]


@pytest.mark.parametrize(("nodes", "wanted", "reason"), [case[1:] for case in FAILS], ids=[case[0] for case in FAILS])
def test_first_failing_cause(nodes: list[Node], wanted: Role, reason: str) -> None:
    assert reasons(plan(nodes, roles(wanted), catalog())) == {"chat": reason}


def test_every_gpu_counts_once_under_its_first_failing_cause_in_order() -> None:
    nodes = [
        node("n1", gpu(0, 4, 5.2, disabled=True), os="windows", state="down"),
        node("n2", gpu(0, None, None), os="windows", state="down"),
        node("n3", gpu(0, None, None), os="windows"),
        node("n4", gpu(0, None, None), gpu(1, 4, None), gpu(2, 24, None), gpu(3, 24, 5.2), gpu(4, 24, 9.0)),
        node("n5", gpu(0, 24, 8.0, pci=pci(id="10de:13f1")), gpu(1, 24, 8.0)),
    ]
    wanted = roles(
        role("other", priority=1, min_vram_gb=24, min_cc=7.5, max_cc=8.0),
        role("chat", min_vram_gb=8, min_cc=7.5, max_cc=8.9),
    )
    answer = plan(nodes, wanted, catalog(), platform=platform(cards={"10de:13f1": policy("10de:13f1", "llamacpp")}))
    assert seats(answer) == {"other": ["n5/1"]}
    assert reasons(answer)["chat"] == (
        "0/10 GPUs fit: 1 disabled, 1 down, 1 on windows (vllm runs on linux), 1 of unknown VRAM, "
        "1 with less than 8 GB, 1 of unknown compute capability, 1 below compute capability 7.5, "
        "1 above compute capability 8.9, 1 not open to vllm by card policy, 1 taken by other"
    )


def test_the_sentence_of_the_real_fleet() -> None:
    old = [node(f"pve{n}", gpu(0, 8, 5.2, disabled=True), gpu(1, 5, 6.1), platform="proxmox") for n in (44, 46, 48)]
    last = node("pve52", gpu(0, 8, 5.2, disabled=True), platform="proxmox")
    ada = [node(name, gpu(), os="windows", platform="workstation") for name in ("GODE-PC-05", "GODE-PC-06")]
    answer = plan([*old, last, *ada], roles(role(engine="pytorch")), catalog(engine("pytorch", min_cc=7.5)))
    assert reasons(answer) == {
        "chat": "0/9 GPUs fit: 4 disabled, 2 on windows (pytorch runs on linux), 3 below compute capability 7.5"
    }


@pytest.mark.parametrize(
    ("floors", "needs", "got"),
    [
        ({"min_cc": 7.5}, {"min_cc": 7.0}, False),
        ({"min_cc": 7.0}, {"min_cc": 7.5}, False),
        ({"min_cc": 7.0}, {"min_cc": 7.0}, True),
        ({"max_cc": 7.0}, {"max_cc": 9.0}, True),
        ({"max_cc": 6.1}, {"max_cc": 9.0}, False),
        ({"max_cc": 9.0}, {"max_cc": 6.1}, False),
    ],
)
def test_the_higher_floor_and_the_lower_ceiling_of_role_and_engine_count(
    floors: dict[str, Any], needs: dict[str, Any], *, got: bool
) -> None:
    answer = plan([node("n", gpu(0, 24, 7.0))], roles(role(**needs)), catalog(engine(**floors)))
    assert bool(answer.assignments) is got


def test_disabled_gpus_are_left_out_and_listed() -> None:
    answer = plan([node("n", gpu(0, disabled=True, reason="loud"), gpu(1))], roles(role()), catalog())
    assert answer.disabled_gpus == (DisabledGpu("n", 0, "NVIDIA RTX 4000 Ada Generation", "loud"),)
    assert seats(answer) == {"chat": ["n/1"]}


def test_fewer_cards_than_count_are_taken_and_the_rest_is_told() -> None:
    answer = plan([A, B], roles(role(count=3, min_vram_gb=10)), catalog())
    assert seats(answer) == {"chat": ["b/0"]}
    assert reasons(answer) == {"chat": "1 of 3 placed: 1/2 GPUs fit: 1 with less than 10 GB"}


def test_inside_a_gpu_vm_the_os_is_linux() -> None:
    windows_host = node("n", gpu(), os="windows", platform="proxmox")
    assert seats(plan([windows_host], roles(role()), catalog())) == {"chat": ["n/0"]}


def test_an_engine_for_windows_runs_there() -> None:
    answer = plan([node("n", gpu(), os="windows")], roles(role()), catalog(engine(os=("linux", "windows"))))
    assert seats(answer) == {"chat": ["n/0"]}


def test_a_card_policy_allows_only_its_engines() -> None:
    nodes = [node("n", gpu(pci=pci(id="10de:13f1")))]
    models = catalog(engine("vllm"), engine("llamacpp"))
    rules = platform(cards={"10de:13f1": policy("10de:13f1", "llamacpp")})
    assert seats(plan(nodes, roles(role(engine="llamacpp")), models, platform=rules)) == {"chat": ["n/0"]}
    assert reasons(plan(nodes, roles(role()), models, platform=rules)) == {
        "chat": "0/1 GPUs fit: 1 not open to vllm by card policy"
    }


def test_a_policy_without_engines_allows_all() -> None:
    rules = platform(cards={"10de:27b2": policy("10de:27b2")})
    assert seats(plan([node("n", gpu(pci=pci()))], roles(role()), catalog(), platform=rules)) == {"chat": ["n/0"]}


def test_gpu_roles_need_no_cpu_roles_on_the_node() -> None:
    assert seats(plan([node("n", gpu(), cpu_roles=False)], roles(role()), catalog())) == {"chat": ["n/0"]}


def test_an_unknown_engine_is_a_reason_not_a_crash() -> None:
    assert reasons(plan([A], roles(role(engine="vlmm")), catalog())) == {"chat": "engine vlmm is not in the catalog"}


def test_speech_never_lands_on_old_cards_whatever_the_vram() -> None:
    """Engine floors keep speech (pytorch, 7.5) off Maxwell and Pascal cards, and piper takes no card at all."""
    old = node("pve44", gpu(0, 8, 5.2, name="Quadro M4000"), gpu(1, 5, 6.1, name="Quadro P2000"), platform="proxmox")
    speech = role("tts", engine="pytorch", kinds=("tts",))
    assert reasons(plan([old], roles(speech), catalog(engine("pytorch", min_cc=7.5)))) == {
        "tts": "0/2 GPUs fit: 2 below compute capability 7.5"
    }
