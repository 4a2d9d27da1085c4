"""Rule 4 of placement: sharers. One case for each sentence."""

from __future__ import annotations

from typing import Any

import pytest

from knaster.cluster import Role
from knaster.inventory import plan
from knaster.placement import Assignment, PlacementPlan
from knaster.placement.on_card import OnCard
from tests.builders import catalog, engine, gpu, lxc, node, platform, role, roles
from tests.test_placement_cpu import spots
from tests.test_placement_gpu import reasons, seats

N = node("n", gpu(0, 20), gpu(1, 20))


def sharer(name: str = "train", target: str = "chat", **more: Any) -> Role:
    """A role that shares with chat."""
    return role(name, share_with=target, **more)


def test_a_sharer_joins_its_target_s_card() -> None:
    answer = plan([N], roles(role(), sharer()), catalog())
    assert seats(answer) == {"chat": ["n/0"], "train": ["n/0"]}


def test_it_comes_after_its_target_whatever_its_priority() -> None:
    answer = plan([N], roles(role(pin="n/1"), sharer(priority=1)), catalog())
    assert seats(answer) == {"chat": ["n/1"], "train": ["n/1"]}


def test_it_takes_the_first_by_node_and_index_of_the_target_s_cards_that_meet_its_needs() -> None:
    nodes = [node("b", gpu(0, 24)), node("a", gpu(0, 24, 7.0), gpu(1, 24))]
    answer = plan(nodes, roles(role(count=3), sharer(min_cc=8)), catalog())
    assert seats(answer)["train"] == ["a/1"]


def test_or_the_one_it_holds_in_the_placement_in_force() -> None:
    nodes = [node("a", gpu()), node("b", gpu())]
    current = PlacementPlan((Assignment("train", "b", 0, (), "index:0"),))
    assert seats(plan(nodes, roles(role(count=2), sharer()), catalog(), current=current))["train"] == ["b/0"]


def test_chains_are_placed_in_order() -> None:
    wanted = roles(role("a", pin="n/1"), sharer("b", "c"), sharer("c", "d"), sharer("d", "a"))
    assert seats(plan([N], wanted, catalog())) == {name: ["n/1"] for name in "abcd"}


def test_a_cycle_is_told_for_every_role_in_it_or_behind_it() -> None:
    wanted = roles(sharer("a", "b"), sharer("b", "a"), sharer("c", "b"))
    assert reasons(plan([N], wanted, catalog())) == {
        "a": "share_with b leads into a cycle",
        "b": "share_with a leads into a cycle",
        "c": "share_with b leads into a cycle",
    }


def test_an_unplaced_target_has_no_card_to_share() -> None:
    answer = plan([N], roles(role(min_vram_gb=80), sharer()), catalog())
    assert reasons(answer)["train"] == "0/0 GPUs of chat fit: chat holds no card"


def test_a_cpu_target_has_no_card_to_share() -> None:
    wanted = roles(role(engine="piper", gpu=False), sharer())
    assert reasons(plan([N], wanted, catalog(engine("piper", gpu="none")))) == {
        "train": "0/0 GPUs of chat fit: chat holds no card"
    }


def test_an_unplaced_target_has_no_node_to_share() -> None:
    answer = plan([N], roles(role(min_vram_gb=80), sharer(gpu=False)), catalog(engine("vllm", gpu="optional")))
    assert reasons(answer)["train"] == "0/0 nodes of chat fit: chat has no place"


def test_an_unknown_target_is_told() -> None:
    assert reasons(plan([N], roles(sharer()), catalog())) == {"train": "share_with chat is no role"}


def test_the_reason_speaks_of_the_target_s_cards_only() -> None:
    nodes = [N, node("w", gpu(0, 48), os="windows")]
    models = catalog(engine("vllm", os=("linux", "windows")), engine("qwen-tts"))
    wanted = roles(role(prefer="largest"), sharer(engine="qwen-tts"))
    assert reasons(plan(nodes, wanted, models)) == {
        "train": "0/1 GPUs of chat fit: 1 on windows (qwen-tts runs on linux)"
    }


def test_sharers_do_not_take_the_card_from_each_other() -> None:
    answer = plan([N], roles(role(), sharer("x"), sharer("y")), catalog())
    assert seats(answer) == {"chat": ["n/0"], "x": ["n/0"], "y": ["n/0"]}


class TestConcurrent:
    """`concurrent` sums the floors of all concurrent users against the card; `alternating` does not."""

    def test_exactly_full_fits(self) -> None:
        wanted = roles(role(min_vram_gb=11), sharer(min_vram_gb=9, share_mode="concurrent"))
        assert seats(plan([node("n", gpu(0, 20))], wanted, catalog()))["train"] == ["n/0"]

    def test_a_hair_more_does_not(self) -> None:
        wanted = roles(role(min_vram_gb=11), sharer(min_vram_gb=9.1, share_mode="concurrent"))
        assert reasons(plan([node("n", gpu(0, 20))], wanted, catalog())) == {
            "train": "0/1 GPUs of chat fit: 1 too small beside chat (together 20.1 GB, the card has 20 GB)"
        }

    def test_alternating_ignores_the_sum(self) -> None:
        wanted = roles(role(min_vram_gb=20), sharer(min_vram_gb=20))
        assert seats(plan([node("n", gpu(0, 20))], wanted, catalog()))["train"] == ["n/0"]

    def test_decimal_floors_add_up_exactly(self) -> None:
        """0.1 + 0.2 > 0.3 in binary floats."""
        wanted = roles(role(min_vram_gb=0.1), sharer(min_vram_gb=0.2, share_mode="concurrent"))
        assert seats(plan([node("n", gpu(0, 0.3))], wanted, catalog()))["train"] == ["n/0"]

    def test_three_concurrent_users_are_summed(self) -> None:
        beside_chat = [sharer(name, min_vram_gb=6, share_mode="concurrent") for name in ("x", "y")]
        answer = plan([node("n", gpu(0, 20))], roles(role(min_vram_gb=10), *beside_chat), catalog())
        assert reasons(answer) == {
            "y": "0/1 GPUs of chat fit: 1 too small beside chat, x (together 22 GB, the card has 20 GB)"
        }

    def test_an_alternating_role_is_no_concurrent_user(self) -> None:
        wanted = roles(
            role(min_vram_gb=11), sharer("a", min_vram_gb=20), sharer("b", min_vram_gb=9, share_mode="concurrent")
        )
        assert seats(plan([node("n", gpu(0, 20))], wanted, catalog())) == {"chat": ["n/0"], "a": ["n/0"], "b": ["n/0"]}

    def test_beside_an_alternating_role_only_that_role_counts(self) -> None:
        """c runs beside b, and b runs only while chat does not."""
        wanted = roles(
            role(min_vram_gb=20), sharer("b", min_vram_gb=12), sharer("c", "b", min_vram_gb=8, share_mode="concurrent")
        )
        assert seats(plan([node("n", gpu(0, 20))], wanted, catalog()))["c"] == ["n/0"]

    def test_the_next_card_of_the_target_may_have_room(self) -> None:
        nodes = [node("n", gpu(0, 16), gpu(1, 24))]
        wanted = roles(role(count=2, min_vram_gb=10), sharer(min_vram_gb=10, share_mode="concurrent"))
        assert seats(plan(nodes, wanted, catalog()))["train"] == ["n/1"]


@pytest.mark.parametrize(
    ("who", "expected"),
    [
        ("flex", ["tts"]),
        ("tts", ["flex"]),
        ("training", []),
        ("probe", ["probe2"]),
        ("probe2", ["probe"]),
    ],
)
def test_roles_that_run_at_the_same_time(who: str, expected: list[str]) -> None:
    """One alternating step between two roles makes them exclusive: training excludes both of the card's other users."""
    on_card = roles(
        role("flex"),
        sharer("tts", "flex", share_mode="concurrent"),
        sharer("training", "flex"),
        sharer("probe", "flex"),
        sharer("probe2", "probe", share_mode="concurrent"),
    )
    assert [one.name for one in OnCard.of(on_card.values()).beside(on_card[who])] == expected


class TestOnNodes:
    """A sharer with `gpu: false` shares a node."""

    piper = engine("piper", gpu="none")

    def tts(self, **more: Any) -> Role:
        return sharer("tts", engine="piper", gpu=False, kinds=("tts",), **more)

    def test_it_goes_where_its_target_is(self) -> None:
        nodes = [node("a", memory_gb=512), node("b", gpu())]
        assert spots(plan(nodes, roles(role(), self.tts()), catalog(self.piper))) == {"tts": ("b", None)}

    def test_it_shares_the_node_of_a_cpu_role(self) -> None:
        nodes = [node("a", memory_gb=512), node("b")]
        wanted = roles(role(engine="piper", gpu=False, pin="b"), self.tts())
        assert spots(plan(nodes, wanted, catalog(self.piper))) == {"chat": ("b", None), "tts": ("b", None)}

    def test_first_by_name_not_by_room(self) -> None:
        nodes = [node("a", gpu(), memory_gb=8), node("b", gpu(), memory_gb=512)]
        assert spots(plan(nodes, roles(role(count=2), self.tts()), catalog(self.piper))) == {"tts": ("a", None)}

    def test_needs_room_there(self) -> None:
        answer = plan([node("a", gpu(), memory_gb=8)], roles(role(), self.tts(min_memory_gb=9)), catalog(self.piper))
        assert reasons(answer) == {"tts": "0/1 nodes of chat fit: 1 with less than 9 GB of room"}

    def test_cpu_roles_false_holds_whatever_share_with_says(self) -> None:
        answer = plan([node("a", gpu(), cpu_roles=False)], roles(role(), self.tts()), catalog(self.piper))
        assert reasons(answer) == {"tts": "0/1 nodes of chat fit: 1 without CPU roles"}
        assert seats(answer) == {"chat": ["a/0"]}


class TestFallback:
    """A sharer with `cpu_fallback` whose target's cards do not serve is placed by rule 3."""

    models = catalog(engine("llamacpp", gpu="optional"))

    def test_it_runs_on_any_cpu_then(self) -> None:
        nodes = [node("a", gpu(), memory_gb=8), node("b", memory_gb=64)]
        wanted = roles(role(), sharer(engine="llamacpp", min_vram_gb=40, cpu_fallback=True))
        assert spots(plan(nodes, wanted, self.models)) == {"train": ("b", None)}

    def test_a_card_comes_first(self) -> None:
        wanted = roles(role(), sharer(engine="llamacpp", cpu_fallback=True))
        assert seats(plan([N], wanted, self.models))["train"] == ["n/0"]

    def test_its_memory_is_booked_in_its_guest(self) -> None:
        pve = node("pve44", gpu(), platform="proxmox", memory_gb=32)
        wanted = roles(role(), sharer(engine="llamacpp", min_vram_gb=40, cpu_fallback=True, guest="infra"))
        answer = plan([pve], wanted, self.models, platform=platform(lxc()))
        assert spots(answer) == {"train": ("pve44", "infra")}
