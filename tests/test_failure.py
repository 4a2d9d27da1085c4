"""What a failure would do."""

from __future__ import annotations

import pytest

from knaster.pipeline import evaluate
from knaster.placement.failure import Change, compare, without
from knaster.placement.result import Assignment, PlacementPlan, Reason, Unplaced
from tests.repo import PVE44, files

TWO = {**files(), "inventory/pve46.yaml": PVE44.replace("pve44", "pve46")}


def lost(
    target: tuple[str, int | None], texts: dict[str, str]
) -> list[tuple[str, str, tuple[str, ...], tuple[str, ...]]]:
    """The changes after the loss of a node or card."""
    planned = evaluate(texts).planned
    assert planned is not None
    changes = without(planned.cluster, planned.plan, *target)
    return [(change.role, change.what, change.before, change.after) for change in changes]


@pytest.mark.parametrize(
    ("target", "texts", "expected"),
    [
        (("pve44", 0), files(), []),
        (("pve44", 1), TWO, [("embedding", "moved", ("pve44/1",), ("pve46/1",))]),
        (("pve46", None), TWO, []),
        (("GODE-PC-05", None), files(), [("general", "lost", ("GODE-PC-05/0",), ())]),
        (
            ("pve44", 1),
            files(),
            [
                ("general", "lost", ("GODE-PC-05/0",), ()),
                ("embedding", "moved", ("pve44/1",), ("GODE-PC-05/0",)),
            ],
        ),
    ],
    ids=["disabled card", "a twin takes over", "idle node", "the only one", "a lower priority number wins the card"],
)
def test_a_loss(
    target: tuple[str, int | None],
    texts: dict[str, str],
    expected: list[tuple[str, str, tuple[str, ...], tuple[str, ...]]],
) -> None:
    assert lost(target, texts) == expected


def test_a_loss_has_a_reason_that_speaks_of_all_cards() -> None:
    planned = evaluate(files()).planned
    assert planned is not None
    (change,) = without(planned.cluster, planned.plan, "GODE-PC-05")
    assert change.reason is not None
    assert change.reason.startswith("0/3 GPUs fit: ")


def test_plans_are_compared_role_by_role() -> None:
    before = PlacementPlan(
        (Assignment("a", "n1", 0), Assignment("b", "n1", 1), Assignment("b", "n2", 0), Assignment("c", "n3"))
    )
    after = PlacementPlan(
        (Assignment("b", "n1", 1), Assignment("c", "n4", guest="infra"), Assignment("d", "n1", 0)),
        (Unplaced("a", "no card", Reason()), Unplaced("b", "1 of 2 placed", Reason())),
    )
    assert compare(before, after) == (
        Change("a", "lost", ("n1/0",), (), "no card"),
        Change("b", "reduced", ("n1/1", "n2/0"), ("n1/1",), "1 of 2 placed"),
        Change("c", "moved", ("n3",), ("n4 (infra)",)),
        Change("d", "gained", (), ("n1/0",)),
    )
    assert compare(before, before) == ()
