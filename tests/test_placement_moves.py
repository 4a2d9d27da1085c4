"""Arrangements: at most three other unpinned roles that could move, claimed only when the planner confirms them."""

from __future__ import annotations

from dataclasses import replace

from knaster.cluster import Node, Role
from knaster.inventory import plan
from knaster.placement.result import Move
from tests.builders import catalog, engine, gpu, node, role, roles
from tests.test_placement_gpu import reasons, seats


def moves(nodes: list[Node], wanted: dict[str, Role], name: str) -> tuple[Move, ...]:
    """The arrangement that the reason of a role names."""
    (found,) = [one.detail.moves for one in plan(nodes, wanted, catalog()).unplaced if one.role == name]
    return found


def test_one_move_makes_room() -> None:
    nodes = [node("n", gpu(0, 20, 8.0), gpu(1, 20, 8.9))]
    wanted = roles(role("first", priority=1), role("picky", max_cc=8.0))
    answer = plan(nodes, wanted, catalog())
    assert seats(answer) == {"first": ["n/0"]}
    assert reasons(answer) == {
        "picky": "0/2 GPUs fit: 1 above compute capability 8.0, 1 taken by first; "
        "moving first from n/0 to n/1 would make room (pin first: n/1)"
    }
    wanted["first"] = replace(wanted["first"], pin="n/1")
    assert seats(plan(nodes, wanted, catalog())) == {"first": ["n/1"], "picky": ["n/0"]}


def chain(length: int) -> tuple[list[Node], dict[str, Role]]:
    """A picky role that needs `length` moves: each role can use its own card's class and the next one up."""
    nodes = [node("n", *(gpu(at, 20, 7.0 + at) for at in range(length + 1)))]
    movers = [role(f"r{at}", priority=at, min_cc=7.0 + at, max_cc=8.0 + at) for at in range(length)]
    return nodes, roles(*movers, role("picky", max_cc=7.0))


def test_three_moves_in_a_chain() -> None:
    nodes, wanted = chain(3)
    assert [(move.role, move.target) for move in moves(nodes, wanted, "picky")] == [
        ("r0", "n/1"),
        ("r1", "n/2"),
        ("r2", "n/3"),
    ]


def test_four_moves_are_too_many() -> None:
    assert moves(*chain(4), "picky") == ()


def test_a_pinned_role_does_not_move() -> None:
    nodes, wanted = chain(1)
    wanted["r0"] = replace(wanted["r0"], pin="n/0")
    assert moves(nodes, wanted, "picky") == ()


def test_none_found_none_claimed() -> None:
    nodes = [node("n", gpu())]
    wanted = roles(role("first", priority=1), role("second"))
    assert reasons(plan(nodes, wanted, catalog())) == {"second": "0/1 GPUs fit: 1 taken by first"}


def test_a_partly_placed_role_is_told_too() -> None:
    nodes = [node("n", gpu(0, 20, 8.0), gpu(1, 20, 8.0), gpu(2, 20, 8.9))]
    wanted = roles(role("first", priority=1), role("picky", count=2, max_cc=8.0))
    assert moves(nodes, wanted, "picky") == (Move("first", "n/0", "n/2"),)


def test_a_role_on_a_cpu_may_move_to_make_room() -> None:
    nodes = [node("big", memory_gb=16), node("small", memory_gb=8)]
    piper = engine("piper", gpu="none")
    wanted = roles(
        role("first", engine="piper", gpu=False, min_memory_gb=8, priority=1),
        role("large", engine="piper", gpu=False, min_memory_gb=16),
    )
    assert reasons(plan(nodes, wanted, catalog(piper))) == {
        "large": "0/2 nodes fit: 2 with less than 16 GB of room; "
        "moving first from big to small would make room (pin first: small)"
    }
