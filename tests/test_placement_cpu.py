"""Rule 3 of placement: roles on a CPU. One case for each sentence."""

from __future__ import annotations

from typing import Any

import pytest

from knaster.cluster import Node, Role
from knaster.inventory import plan
from knaster.placement import Assignment, PlacementPlan
from tests.builders import catalog, engine, gpu, lxc, node, platform, role, roles
from tests.test_placement_gpu import reasons

PIPER = engine("piper", gpu="none")


def spots(answer: PlacementPlan) -> dict[str, tuple[str, str | None]]:
    """Role to the node and guest whose CPU it got."""
    return {one.role: (one.node, one.guest) for one in answer.assignments if one.gpu_index is None}


def cpu(name: str = "tts", **more: Any) -> Role:
    """A CPU role on piper."""
    return role(name, engine="piper", gpu=False, kinds=("tts",), **more)


def test_cpu_nodes_are_all_nodes_gpu_nodes_included() -> None:
    assert spots(plan([node("n", gpu())], roles(cpu()), catalog(PIPER))) == {"tts": ("n", None)}


def test_most_room_wins_then_the_name() -> None:
    nodes = [node("a", memory_gb=32), node("c", memory_gb=64), node("b", memory_gb=64)]
    assert spots(plan(nodes, roles(cpu()), catalog(PIPER))) == {"tts": ("b", None)}


def test_every_role_placed_there_uses_up_its_memory_gpu_roles_too() -> None:
    nodes = [node("a", gpu(), memory_gb=64), node("b", memory_gb=40)]
    wanted = roles(role(min_memory_gb=30), cpu("x", min_memory_gb=4), cpu("y", min_memory_gb=4))
    assert spots(plan(nodes, wanted, catalog(PIPER))) == {"x": ("b", None), "y": ("b", None)}
    wanted = roles(role(min_memory_gb=30), cpu("x", min_memory_gb=7), cpu("y", min_memory_gb=4))
    assert spots(plan(nodes, wanted, catalog(PIPER))) == {"x": ("b", None), "y": ("a", None)}


def test_room_may_be_used_to_the_last_byte_and_no_further() -> None:
    wanted = roles(*(cpu(f"r{n}", min_memory_gb=0.1) for n in range(10)))
    assert len(spots(plan([node("n", memory_gb=1)], wanted, catalog(PIPER)))) == 10
    wanted["s"] = cpu("s", min_memory_gb=0.1)
    assert reasons(plan([node("n", memory_gb=1)], wanted, catalog(PIPER))) == {
        "s": "0/1 nodes fit: 1 with less than 0.1 GB of room"
    }


CAUSES: list[tuple[str, Node, dict[str, Any], str]] = [
    ("cpu_roles: false", node("n", cpu_roles=False), {}, "1 without CPU roles"),
    ("down", node("n", state="down"), {}, "1 down"),
    ("cordoned", node("n", state="cordoned"), {}, "1 cordoned"),
    ("pin", node("n"), {"pin": "m"}, "1 outside pin m"),
    ("engine OS", node("n", os="windows"), {}, "1 on windows (piper runs on linux)"),
    ("memory not known", node("n", memory_gb=None), {}, "1 of unknown memory"),
    ("room", node("n", memory_gb=8), {"min_memory_gb": 9}, "1 with less than 9 GB of room"),
]


@pytest.mark.parametrize(("where", "more", "cause"), [case[1:] for case in CAUSES], ids=[case[0] for case in CAUSES])
def test_why_a_node_does_not_serve(where: Node, more: dict[str, Any], cause: str) -> None:
    assert reasons(plan([where], roles(cpu(**more)), catalog(PIPER))) == {"tts": f"0/1 nodes fit: {cause}"}


@pytest.mark.parametrize(
    ("pinned", "told"),
    [
        (node("b", state="down"), "1 down, 1 outside pin b (that node is down)"),
        (node("b", cpu_roles=False), "1 without CPU roles, 1 outside pin b (that node takes no CPU roles)"),
        (node("b", os="windows"), "1 outside pin b, 1 on windows (piper runs on linux)"),
    ],
)
def test_what_is_wrong_with_the_pinned_node_is_said(pinned: Node, told: str) -> None:
    answer = plan([node("a"), pinned], roles(cpu(pin="b")), catalog(PIPER))
    assert reasons(answer) == {"tts": f"0/2 nodes fit: {told}"}


def test_a_pin_to_a_card_means_its_node() -> None:
    assert spots(plan([node("a"), node("b")], roles(cpu(pin="b/0")), catalog(PIPER))) == {"tts": ("b", None)}


class TestRoom:
    """Room on Proxmox is that of the guest; elsewhere memory minus reserve; without a platform all of the memory."""

    pve = node("pve44", gpu(), memory_gb=32, platform="proxmox")
    bare_pve = node("pve45", memory_gb=256, platform="proxmox")

    def test_the_role_s_guest_on_that_guest_s_node(self) -> None:
        answer = plan([self.pve, self.bare_pve], roles(cpu(guest="infra")), catalog(PIPER), platform=platform(lxc()))
        assert spots(answer) == {"tts": ("pve44", "infra")}

    def test_the_guest_s_memory_bounds_the_role(self) -> None:
        answer = plan([self.pve], roles(cpu(guest="infra", min_memory_gb=9)), catalog(PIPER), platform=platform(lxc()))
        assert reasons(answer) == {"tts": "0/1 nodes fit: 1 with less than 9 GB of room"}

    def test_other_nodes_do_not_have_the_guest(self) -> None:
        answer = plan([self.bare_pve, node("n")], roles(cpu(guest="infra")), catalog(PIPER), platform=platform(lxc()))
        assert reasons(answer) == {"tts": "0/2 nodes fit: 2 without guest infra"}

    def test_else_the_gpu_vm(self) -> None:
        answer = plan([self.pve], roles(cpu(min_memory_gb=12)), catalog(PIPER), platform=platform())
        assert spots(answer) == {"tts": ("pve44", "gpu-pve44")}
        answer = plan([self.pve], roles(cpu(min_memory_gb=12.5)), catalog(PIPER), platform=platform())
        assert reasons(answer) == {"tts": "0/1 nodes fit: 1 with less than 12.5 GB of room"}

    def test_else_none(self) -> None:
        answer = plan([self.bare_pve], roles(cpu()), catalog(PIPER), platform=platform())
        assert reasons(answer) == {"tts": "0/1 nodes fit: 1 without a guest to run in"}

    def test_other_nodes_have_their_memory_minus_the_reserve(self) -> None:
        wanted = roles(cpu(min_memory_gb=28))
        assert spots(plan([node("n", memory_gb=32)], wanted, catalog(PIPER), platform=platform(host_reserve_gb=4)))
        answer = plan([node("n", memory_gb=31)], wanted, catalog(PIPER), platform=platform(host_reserve_gb=4))
        assert reasons(answer) == {"tts": "0/1 nodes fit: 1 with less than 28 GB of room"}

    def test_without_a_platform_it_is_memory_gb(self) -> None:
        assert spots(plan([self.bare_pve], roles(cpu(guest="infra")), catalog(PIPER))) == {"tts": ("pve45", None)}

    def test_gpu_roles_use_the_room_of_their_vm(self) -> None:
        wanted = roles(role(min_memory_gb=8), cpu(min_memory_gb=5))
        answer = plan([self.pve], wanted, catalog(PIPER), platform=platform())
        assert reasons(answer) == {"tts": "0/1 nodes fit: 1 with less than 5 GB of room"}


class TestFallback:
    """`cpu_fallback` roles that got no card at all join the CPU roles, in the same order."""

    models = catalog(engine("llamacpp", gpu="optional"))

    def chat(self, **more: Any) -> Role:
        return role(engine="llamacpp", cpu_fallback=True, **more)

    def test_a_card_comes_first(self) -> None:
        answer = plan([node("n", gpu())], roles(self.chat()), self.models)
        assert answer.assignments == (Assignment("chat", "n", 0, (), "index:0"),)

    def test_without_a_card_it_runs_on_a_cpu_and_has_no_reason(self) -> None:
        answer = plan([node("n")], roles(self.chat()), self.models)
        assert (spots(answer), reasons(answer)) == ({"chat": ("n", None)}, {})

    def test_one_card_of_two_is_no_reason_to_fall_back(self) -> None:
        answer = plan([node("n", gpu())], roles(self.chat(count=2)), self.models)
        assert spots(answer) == {}
        assert reasons(answer) == {"chat": "1 of 2 placed: 1/1 GPUs fit"}

    def test_neither_card_nor_cpu_tells_both(self) -> None:
        answer = plan([node("n", cpu_roles=False)], roles(self.chat()), self.models)
        assert reasons(answer) == {"chat": "0/0 GPUs fit: there is none; on a CPU 0/1 nodes fit: 1 without CPU roles"}

    def test_fallbacks_and_cpu_roles_take_turns_by_priority(self) -> None:
        wanted = roles(
            self.chat(priority=20, min_memory_gb=5), role("a", engine="llamacpp", gpu=False, min_memory_gb=5)
        )
        answer = plan([node("n", memory_gb=8)], wanted, self.models)
        assert spots(answer) == {"chat": ("n", None)}


def test_the_holder_keeps_a_cpu_role_while_its_node_has_room() -> None:
    small, big = node("small", memory_gb=16), node("big", memory_gb=64)
    current = PlacementPlan((Assignment("tts", "small"),))
    wanted = roles(cpu(min_memory_gb=16))
    assert spots(plan([small, big], wanted, catalog(PIPER), current=current)) == {"tts": ("small", None)}
    wanted = roles(cpu(min_memory_gb=17))
    assert spots(plan([small, big], wanted, catalog(PIPER), current=current)) == {"tts": ("big", None)}


def test_a_cordoned_node_keeps_its_cpu_role() -> None:
    nodes = [node("a", state="cordoned"), node("b")]
    current = PlacementPlan((Assignment("tts", "a"),))
    assert spots(plan(nodes, roles(cpu()), catalog(PIPER), current=current)) == {"tts": ("a", None)}
    assert spots(plan(nodes, roles(cpu()), catalog(PIPER))) == {"tts": ("b", None)}
