"""The placement in force as `current`: like a lock file, what is still equally good stays."""

from __future__ import annotations

from dataclasses import replace

from knaster.inventory import plan
from knaster.placement import Assignment, PlacementPlan
from tests.builders import catalog, gpu, node, pci, role, roles, slot
from tests.test_placement_gpu import reasons, seats

A, B = node("a", gpu()), node("b", gpu())


def held(where: str, index: int | None = 0, card: str | None = "index:0", slots: tuple[str, ...] = ()) -> PlacementPlan:
    """A placement in force with the role chat on one card."""
    return PlacementPlan((Assignment("chat", where, index, card=card, slots=slots),))


def test_a_tie_stays_with_its_holder() -> None:
    assert seats(plan([A, B], roles(role()), catalog())) == {"chat": ["a/0"]}
    assert seats(plan([A, B], roles(role()), catalog(), current=held("b"))) == {"chat": ["b/0"]}


def test_a_worse_card_is_not_kept() -> None:
    better = node("c", gpu(0, 16))
    assert seats(plan([A, B, better], roles(role()), catalog(), current=held("b"))) == {"chat": ["c/0"]}
    bigger = node("c", gpu(0, 48))
    wanted = roles(role(prefer="largest"))
    assert seats(plan([A, B, bigger], wanted, catalog(), current=held("b"))) == {"chat": ["c/0"]}


def test_an_earlier_role_may_take_the_card_all_the_same() -> None:
    wanted = roles(role(), role("urgent", priority=1, pin="b"))
    assert seats(plan([A, B], wanted, catalog(), current=held("b"))) == {"chat": ["a/0"], "urgent": ["b/0"]}


def test_a_uuid_follows_the_card_when_indices_shift() -> None:
    before = node("n", gpu(0, uuid="GPU-1"), gpu(1, uuid="GPU-2"))
    first = plan([before], roles(role()), catalog(), current=held("n", 1, "GPU-2"))
    assert [(one.gpu_index, one.card) for one in first.assignments] == [(1, "GPU-2")]
    after = node("n", gpu(0, uuid="GPU-2"), gpu(1, uuid="GPU-1"))
    second = plan([after], roles(role()), catalog(), current=first)
    assert [(one.gpu_index, one.card) for one in second.assignments] == [(0, "GPU-2")]


def test_pci_facts_follow_the_card_when_indices_shift() -> None:
    near, far = pci("0000:01:00.0"), pci("0000:41:00.0")
    before = node("n", gpu(0, pci=near), gpu(1, pci=far))
    first = plan([before], roles(role(pin="n/1")), catalog())
    assert first.assignments[0].card == "pci:0000:41:00.0/10de:27b2"
    after = node("n", gpu(0, pci=far), gpu(1, pci=near))
    assert seats(plan([after], roles(role()), catalog(), current=first)) == {"chat": ["n/0"]}


def test_a_uuid_follows_the_card_into_another_node() -> None:
    moved = [node("a", gpu(0, uuid="GPU-9")), node("b", gpu(0, uuid="GPU-1"))]
    assert seats(plan(moved, roles(role()), catalog(), current=held("a", 0, "GPU-1"))) == {"chat": ["b/0"]}


def test_a_record_made_before_the_uuid_was_known_still_counts() -> None:
    nodes = [node("a", gpu(0, uuid="GPU-1")), node("b", gpu(0, uuid="GPU-2"))]
    assert seats(plan(nodes, roles(role()), catalog(), current=held("b"))) == {"chat": ["b/0"]}


def test_a_card_that_is_gone_is_forgotten() -> None:
    assert seats(plan([A, B], roles(role()), catalog(), current=held("b", 7, "index:7"))) == {"chat": ["a/0"]}


def test_another_card_at_the_same_index_is_not_the_holder() -> None:
    nodes = [node("a", gpu(0, uuid="GPU-1")), node("b", gpu(0, uuid="GPU-2"))]
    assert seats(plan(nodes, roles(role()), catalog(), current=held("b", 0, "GPU-gone"))) == {"chat": ["a/0"]}


def test_a_cordoned_node_keeps_what_it_has() -> None:
    cordoned = replace(B, state="cordoned")
    wanted = roles(role(), role("later", priority=200, count=2))
    answer = plan([A, cordoned], wanted, catalog(), current=held("b"))
    assert seats(answer) == {"chat": ["b/0"], "later": ["a/0"]}
    assert reasons(answer) == {"later": "1 of 2 placed: 1/2 GPUs fit: 1 cordoned"}


def test_a_node_that_is_down_keeps_nothing() -> None:
    down = replace(B, state="down")
    assert seats(plan([A, down], roles(role()), catalog(), current=held("b"))) == {"chat": ["a/0"]}


def test_a_disabled_card_keeps_nothing() -> None:
    nodes = [A, node("b", gpu(disabled=True))]
    assert seats(plan(nodes, roles(role()), catalog(), current=held("b"))) == {"chat": ["a/0"]}


def test_without_current_the_result_depends_on_inventory_and_catalog_alone() -> None:
    assert plan([A, B], roles(role()), catalog()) == plan([B, A], roles(role()), catalog(), current=PlacementPlan())


class TestSlots:
    """One slot is served by all cards of its role; n slots need `count` n and assignments name theirs."""

    one = role(count=2, slots=(slot("main"),))
    two = role(count=2, slots=(slot("left"), slot("right", 8081)))

    @staticmethod
    def slots(answer: PlacementPlan) -> dict[str, tuple[str, ...]]:
        return {f"{one.node}/{one.gpu_index}": one.slots for one in answer.assignments}

    def test_one_slot(self) -> None:
        assert self.slots(plan([A, B], roles(self.one), catalog())) == {"a/0": ("main",), "b/0": ("main",)}

    def test_two_slots(self) -> None:
        assert self.slots(plan([A, B], roles(self.two), catalog())) == {"a/0": ("left",), "b/0": ("right",)}

    def test_two_slots_and_one_card(self) -> None:
        assert self.slots(plan([A], roles(self.two), catalog())) == {"a/0": ("left",)}

    def test_a_slot_stays_on_its_card(self) -> None:
        answer = plan([B], roles(self.two), catalog(), current=held("b", slots=("right",)))
        assert self.slots(answer) == {"b/0": ("right",)}
        assert self.slots(plan([A, B], roles(self.two), catalog(), current=answer)) == {
            "a/0": ("left",),
            "b/0": ("right",),
        }
