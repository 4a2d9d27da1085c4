"""The placement in force, on histories of every shape; each expected place follows from design: what landed stays."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from knaster import renderers
from knaster.diagnostics import WorldError
from knaster.files import Files
from knaster.in_force.mainline import Mainline
from knaster.loader.loading import load
from knaster.pipeline import evaluate
from knaster.placement.result import PlacementPlan
from tests.history import Commits
from tests.repo import PVE44, ROLES, files

TWIN = PVE44.replace("pve44", "pve46")
ONE = files()
TWO = {**ONE, "inventory/pve46.yaml": TWIN}
"""A second node with an equal card: the role stays where it is."""
ONLY_46 = {path: text for path, text in TWO.items() if path != "inventory/pve44.yaml"} | {
    "catalog/platform.yaml": files()["catalog/platform.yaml"].replace("node: pve44", "node: pve46")
}
BROKEN = {**TWO, "catalog/roles.yaml": "roles: [\n"}
REFUSED = {**TWO, "catalog/roles.yaml": ROLES.replace("min_vram_gb: 2}", "min_vram_gb: 99}\n    required: true")}


def home(plan: PlacementPlan | None) -> str | None:
    """The node of the role embedding."""
    return None if plan is None else next(one.node for one in plan.assignments if one.role == "embedding")


def in_force(commits: Commits, rev: str, inputs: Files) -> str | None:
    """Where the placement in force for `inputs` on top of `rev` has the role embedding."""
    return home(Mainline(commits, rev).in_force(load(inputs)))


def moved() -> Commits:
    """main where the role went to pve46 and pve44 came back: it stays on pve46, though pve44 sorts first."""
    commits = Commits()
    commits.add(ONLY_46)
    commits.land()
    return commits


def test_the_fixtures_differ_only_in_memory() -> None:
    assert home(planned(evaluate(TWO))) == "pve44"
    assert home(planned(evaluate(ONLY_46))) == "pve46"
    assert not evaluate(BROKEN).ok
    assert not evaluate(REFUSED).ok


def planned(evaluation: object) -> PlacementPlan | None:
    """The plan of an evaluation."""
    found = getattr(evaluation, "planned", None)
    return found.plan if found is not None else None


def test_a_landed_placement_is_in_force_for_other_inputs() -> None:
    commits = moved()
    assert in_force(commits, "c01", TWO) == "pve46"


def test_nothing_landed_nothing_in_force() -> None:
    commits = Commits()
    commits.add(ONE, {})
    commits.add(ONLY_46)
    assert in_force(commits, "c01", TWO) is None


def test_the_very_inputs_at_the_end_are_passed_over() -> None:
    commits = moved()
    commits.add(TWO)
    commits.land(PlacementPlan())  # somebody landed a tie that knaster would not: on pve44
    assert home(planned(evaluate(TWO, PlacementPlan()))) == "pve44"
    assert in_force(commits, "c03", TWO) == "pve46"
    assert in_force(commits, "c03", ONE) == "pve44"  # for other inputs it is what landed last


def test_a_commit_that_did_not_land_is_planned_on_top() -> None:
    commits = moved()
    commits.add(TWO)
    three = {**TWO, "inventory/pve48.yaml": PVE44.replace("pve44", "pve48")}
    assert in_force(commits, "c02", three) == "pve46"
    commits.add(ONE)  # pve46 is gone: the role must go to pve44
    assert in_force(commits, "c03", three) == "pve44"
    commits.add(TWO)
    assert in_force(commits, "c04", three) == "pve44"


@pytest.mark.parametrize("bad", [BROKEN, REFUSED])
def test_a_commit_that_render_refuses_passes_it_through(bad: Files) -> None:
    commits = moved()
    commits.add(bad)
    assert in_force(commits, "c02", TWO) == "pve46"
    assert in_force(commits, "c02", bad) == "pve46"


def test_a_revert_restores_the_latest_placement_of_the_same_inputs() -> None:
    commits = moved()
    commits.add(TWO)
    commits.land(planned(evaluate(ONLY_46)))  # TWO landed with the role on pve46
    commits.add(ONE)
    commits.land()  # on pve44
    assert in_force(commits, "c05", TWO) == "pve46"
    commits.add(TWO)  # the revert itself, not landed yet
    assert in_force(commits, "c06", TWO) == "pve46"
    commits.land(planned(evaluate(ONLY_46)))
    assert in_force(commits, "c07", TWO) == "pve46"  # and verify finds the same as land did


def test_a_revert_among_the_commits_that_did_not_land_is_restored_too() -> None:
    commits = moved()
    commits.add(TWO)
    commits.land(planned(evaluate(ONLY_46)))
    commits.add(ONE)
    commits.land()
    commits.add(TWO)  # a revert that never landed
    three = {**TWO, "inventory/pve48.yaml": PVE44.replace("pve44", "pve48")}
    assert in_force(commits, "c06", three) == "pve46"


def test_generated_files_that_do_not_match_did_not_land() -> None:
    commits = moved()
    texts = dict(evaluate(TWO, PlacementPlan()).generated)
    texts["registry.yaml"] += "# a note\n"
    commits.add(TWO, texts)
    assert in_force(commits, "c02", ONE) == "pve46"
    del texts["registry.yaml"]
    commits.add(TWO, texts)
    assert in_force(commits, "c03", ONE) == "pve46"


def test_a_manifest_of_other_inputs_did_not_land() -> None:
    commits = moved()
    commits.add(TWO, evaluate(ONE).generated)
    assert in_force(commits, "c02", ONE) == "pve46"


def test_a_forged_tie_below_later_inputs_is_accepted() -> None:
    """Consumers follow commits that `verify` reproduces; what main moved on from is history."""
    commits = moved()
    commits.add(TWO)
    texts = dict(evaluate(TWO, PlacementPlan()).generated)
    assert renderers.record(texts["manifest.json"]) is not None
    commits.add(TWO, texts)
    three = {**TWO, "inventory/pve48.yaml": PVE44.replace("pve44", "pve48")}
    assert in_force(commits, "c03", three) == "pve44"


def test_the_tip_evaluates_on_top_of_its_own_line() -> None:
    commits = moved()
    commits.add(TWO)
    assert home(planned(Mainline(commits, "c02").evaluate())) == "pve46"


def test_what_the_history_raises_passes_through() -> None:
    class Cut(Commits):
        def line(self, rev: str) -> Iterator[str]:
            yield rev
            raise WorldError("cut off", "run: git fetch --unshallow")

    commits = Cut()
    commits.add(ONE, {})
    with pytest.raises(WorldError, match="cut off"):
        Mainline(commits, "c00").in_force(load(TWO))
