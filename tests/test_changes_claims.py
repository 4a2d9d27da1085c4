"""What two pull requests cannot both have: what each newly takes, and who is told of whom."""

from __future__ import annotations

from knaster.changes.claims import Claim, claims, competing
from knaster.pipeline import evaluate
from knaster.planned import Planned
from tests.repo import PVE44
from tests.test_changes import P, R, fleet


def planned(*edits: tuple[str, str, str], **more: str) -> Planned:
    """The small fleet with these edits, planned."""
    found = evaluate(fleet(*edits, **more)).planned
    assert found is not None
    return found


def sharer(mode: str) -> tuple[str, str, str]:
    """A role that shares the card of general."""
    needs = "    needs: {engine: llamacpp, min_vram_gb: 1}\n    kinds: [llm]\n"
    return (R, "  speech:", f"  tuning:\n    share_with: general\n    share_mode: {mode}\n{needs}  speech:")


def test_what_is_newly_taken() -> None:
    assert claims(planned(), planned()) == frozenset()
    second = {"inventory/pve46.yaml": PVE44.replace("pve44", "pve46")}
    assert claims(planned(), planned(**second)) == {
        Claim("VM id", "246", "gpu-pve46"),
        Claim("address", "192.168.100.226", "gpu-pve46"),
    }
    assert claims(planned(**second), planned()) == frozenset()
    moved = planned((P, "vmid: 101", "vmid: 111"), (P, "100.221", "100.222"))
    assert claims(planned(), moved) == {
        Claim("VM id", "111", "infra"),
        Claim("address", "192.168.100.222", "infra"),
    }


def test_a_card_is_claimed_by_the_role_that_takes_it() -> None:
    small = (R, "min_vram_gb: 2}", "min_vram_gb: 8}")
    assert claims(planned(), planned(small)) == {Claim("card", "GODE-PC-05/0", "embedding")}


def test_roles_that_take_turns_on_a_card_claim_nothing_and_those_beside_each_other_do() -> None:
    assert claims(planned(), planned(sharer("alternating"))) == frozenset()
    assert claims(planned(), planned(sharer("concurrent"))) == {Claim("card", "GODE-PC-05/0", "tuning")}


def test_a_side_without_a_plan_claims_nothing() -> None:
    assert claims(None, planned()) == claims(planned(), None) == frozenset()


def test_each_of_two_is_told_what_the_other_wants_and_for_what() -> None:
    wanted = {
        7: frozenset({Claim("card", "pve46/1", "rerank"), Claim("VM id", "246", "gpu-pve46")}),
        9: frozenset({Claim("card", "pve46/1", "chat"), Claim("card", "pve46/1", "audio"), Claim("VM id", "246", "x")}),
        8: frozenset({Claim("address", "10.0.0.1", "a"), Claim("card", "pve48/1", "rerank")}),
    }
    assert competing(wanted) == {
        7: (
            "pull request #9 wants VM id 246 too, for x",
            "pull request #9 wants card pve46/1 too, for audio, chat",
        ),
        9: (
            "pull request #7 wants VM id 246 too, for gpu-pve46",
            "pull request #7 wants card pve46/1 too, for rerank",
        ),
        8: (),
    }


def test_two_that_want_the_same_thing_for_the_same_user_do_not_compete() -> None:
    """The one pull request is part of the other: both make the same guest and move the same role."""
    same = frozenset({Claim("card", "pve46/1", "rerank"), Claim("address", "10.0.0.1", "a")})
    assert competing({1: same, 2: same}) == {1: (), 2: ()}


def test_the_same_name_of_another_kind_is_another_thing() -> None:
    assert competing({1: frozenset({Claim("VM id", "5", "a")}), 2: frozenset({Claim("card", "5", "b")})}) == {
        1: (),
        2: (),
    }
