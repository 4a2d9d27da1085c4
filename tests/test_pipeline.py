"""The spine: one evaluation from files, total and pure."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

import knaster
from knaster import renderers, schema
from knaster.checks.guest_list import vanished
from knaster.diagnostics import Diagnostic, Place, Related, Severity
from knaster.document.locating import locate
from knaster.files import Entry
from knaster.in_force.landed import recorded_placement
from knaster.pipeline import arranged, evaluate
from knaster.placement.result import PlacementPlan
from tests.repo import PVE44, ROLES, files

WHERE = {("embedding", "pve44", 1), ("general", "GODE-PC-05", 0), ("speech", "pve44", None)}


def where(plan: PlacementPlan) -> set[tuple[str, str, int | None]]:
    """Role, node and card of every assignment."""
    return {(item.role, item.node, item.gpu_index) for item in plan.assignments}


def test_a_valid_repository_is_planned_and_rendered() -> None:
    evaluation = evaluate(files())
    assert evaluation.diagnostics == ()
    assert evaluation.ok
    assert evaluation.planned is not None
    assert where(evaluation.planned.plan) == WHERE
    assert [guest.name for guest in evaluation.planned.guests] == ["gpu-pve44", "infra"]
    assert {"manifest.json", "tofu/main.tf", *evaluation.documents} < set(evaluation.generated)
    assert set(evaluation.documents) == {path for path, _ in renderers.RENDERERS}


def test_generated_files_are_what_the_documents_say() -> None:
    evaluation = evaluate(files())
    for path, data in evaluation.documents.items():
        text = evaluation.generated[path]
        if renderers.KINDS[path] == "targets":
            assert json.loads(text) == data["groups"]
        elif renderers.KINDS[path] == "exclude":
            assert [line for line in text.splitlines() if not line.startswith("#")] == data["addresses"]
        else:
            assert (json.loads(text) if path.endswith(".json") else yaml.safe_load(text)) == data
    manifest = json.loads(evaluation.generated["manifest.json"])
    assert schema.check("manifest", "generated/manifest.json", manifest) == ()
    assert manifest["input_digest"] == evaluation.digest
    assert manifest["tool_version"] == knaster.__version__


def test_a_file_that_does_not_load_stops_the_plan_and_says_so() -> None:
    evaluation = evaluate(files(roles="roles: ["))
    assert evaluation.planned is None
    assert evaluation.documents == {}
    assert evaluation.generated == {}
    assert {item.code for item in evaluation.diagnostics if item.severity is Severity.NOTE} == {"check-skipped"}
    assert not evaluation.ok


def test_an_error_of_a_check_still_gives_a_plan_but_no_files() -> None:
    evaluation = evaluate(files(roles=ROLES.replace("tier0", "tier9")))
    assert [item.code for item in evaluation.diagnostics if item.severity is Severity.ERROR] == ["unknown-fallback"]
    assert evaluation.planned is not None
    assert where(evaluation.planned.plan) == WHERE
    assert evaluation.generated == {}


def test_diagnostics_are_located_and_sorted() -> None:
    evaluation = evaluate(
        files(roles=ROLES.replace("tier0", "tier9"), pve44=PVE44.replace("name: pve44", "name: pve45"))
    )
    places = [item.place for item in evaluation.diagnostics if item.place]
    assert places == sorted(places, key=lambda place: (place.file, place.line, place.column))
    mismatch = next(item.place for item in evaluation.diagnostics if item.code == "name-mismatch")
    assert mismatch is not None
    assert (mismatch.file, mismatch.line, mismatch.column) == ("inventory/pve44.yaml", 2, 7)


def test_related_places_are_located_in_their_own_files() -> None:
    texts = {"a": "x: 1\ny: 2\n", "b": "\nz: 3\n"}
    given = Diagnostic(
        "c", "m", Place("a", ("y",)), related=(Related(Place("b", ("z",)), "see"), Related(Place("c", ("q",)), "no"))
    )
    (found,) = locate(texts, [given])
    assert found.place is not None
    assert (found.place.line, found.place.column) == (2, 4)
    assert [(item.place.line, item.place.column) for item in found.related] == [(2, 4), (0, 0)]


def test_the_same_diagnostic_is_reported_once() -> None:
    one = Diagnostic("c", "m", Place("inventory/a.yaml"))
    assert arranged({}, [one, one]) == (one,)


def test_an_output_that_does_not_match_its_schema_is_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        renderers, "RENDERERS", (("registry.yaml", lambda _planned: {"slots": 1}), *renderers.RENDERERS[:1])
    )
    evaluation = evaluate(files())
    bugs = [item for item in evaluation.diagnostics if item.code == "internal-output"]
    assert bugs
    assert all(item.message.startswith("This is a bug in knaster.") for item in bugs)
    assert all(item.place is not None and item.place.file == "generated/registry.yaml" for item in bugs)
    assert not evaluation.ok


def test_a_plan_is_a_fixed_point() -> None:
    first = evaluate(files())
    current, problems = recorded_placement(first.generated["placement.yaml"])
    assert problems == ()
    assert current is not None
    again = evaluate(files(), current)
    assert again.generated == first.generated


def test_current_keeps_a_tie() -> None:
    twin = PVE44.replace("pve44", "pve46")
    both = {**files(), "inventory/pve46.yaml": twin}
    text = (
        evaluate(files(), None).generated["placement.yaml"].replace("gpu-pve44", "gpu-pve46").replace("pve44", "pve46")
    )
    current, problems = recorded_placement(text)
    assert problems == ()
    free, held = evaluate(both).planned, evaluate(both, current).planned
    assert free is not None
    assert held is not None
    assert ("embedding", "pve44", 1) in where(free.plan)
    assert ("embedding", "pve46", 1) in where(held.plan)


@pytest.mark.parametrize("text", ["", "[", "assignments: 1\n", "a: &x 1\nb: *x\n", "\x00", "<<<<<<< HEAD\n", "\udcff"])
def test_a_current_that_cannot_be_read_is_one_warning(text: str) -> None:
    current, problems = recorded_placement(text)
    assert current is None
    assert [(item.code, item.severity) for item in problems] == [("current-unreadable", Severity.WARNING)]


def test_a_committed_hand_edit_is_not_in_force() -> None:
    """Else the suggested repair, rendering again, would make the edit permanent."""
    generated = evaluate(files()).generated
    edited = generated["placement.yaml"].replace("gpu_index: 1", "gpu_index: 0")
    assert edited != generated["placement.yaml"]
    current, problems = recorded_placement(edited, generated["manifest.json"])
    assert current is None
    assert [item.message for item in problems] == [
        "the placement in force, generated/placement.yaml, was changed by hand (manifest.json records another "
        "content); the plan is made without it"
    ]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_placement_that_its_manifest_records_is_in_force(ending: str) -> None:
    generated = evaluate(files()).generated
    text = generated["placement.yaml"].replace("\n", ending)
    current, problems = recorded_placement(text, generated["manifest.json"])
    assert problems == ()
    assert current is not None


@pytest.mark.parametrize(
    "manifest", ["", "[]", "{}", '{"files": 1}', '{"files": {"placement.yaml": 1}}', "[" * 100_000]
)
def test_a_manifest_that_records_nothing_forbids_nothing(manifest: str) -> None:
    current, problems = recorded_placement(evaluate(files()).generated["placement.yaml"], manifest)
    assert (current is None, problems) == (False, ())


@pytest.mark.parametrize("current", [None, PlacementPlan()])
def test_evaluate_has_no_side_effects(current: PlacementPlan | None) -> None:
    given: dict[str, Entry] = dict(files())
    before = dict(given)
    assert evaluate(given, current).diagnostics == evaluate(given, current).diagnostics
    assert given == before


EMPTY: dict[str, dict[str, Any]] = {
    "proxmox.yaml": {"nodes": {}, "guests": {}},
    "tofu/knaster.auto.tfvars.json": {"vms": {}, "containers": {}},
}
TFVARS = "tofu/knaster.auto.tfvars.json"


@pytest.mark.parametrize(
    "previous",
    [
        {TFVARS: '{"vms": {"gpu-pve44": {}}, "containers": {}}'},
        {TFVARS: '{"vms": {}, "containers": {"infra": {}}}'},
        {TFVARS: "not json"},
        {TFVARS: "[1]", "proxmox.yaml": 'guests:\n  "infra": {}\n'},
        {"proxmox.yaml": 'guests:\n  "infra": {}\n'},
        {TFVARS: "[" * 100_000},
    ],
)
def test_an_empty_guest_list_never_follows_one_that_was_not(previous: dict[str, str]) -> None:
    refusal = vanished(previous, EMPTY)
    assert refusal is not None
    assert (refusal.code, refusal.severity) == ("no-guests", Severity.ERROR)
    full = {**EMPTY, "proxmox.yaml": {"guests": {"infra": {}}}}
    assert vanished(previous, full) is None


@pytest.mark.parametrize("previous", [{}, {TFVARS: '{"vms": {}, "containers": {}}'}, {"proxmox.yaml": "guests: {}\n"}])
def test_an_empty_guest_list_may_follow_an_empty_one(previous: dict[str, str]) -> None:
    assert vanished(previous, EMPTY) is None


def test_the_public_face() -> None:
    assert set(knaster.__all__) == {
        "Diagnostic",
        "Evaluation",
        "Files",
        "WorldError",
        "__version__",
        "evaluate",
        "plan",
        "read",
        "render",
        "validate",
    }
    assert all(getattr(knaster, name) is not None for name in knaster.__all__)
    assert knaster.validate(files()) == ()
    evaluation = knaster.evaluate(files())
    assert knaster.render(evaluation) == evaluation.generated
    with pytest.raises(ValueError, match="has errors"):
        knaster.render(knaster.evaluate({}))
    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = knaster.nothing_like_it  # type: ignore[attr-defined]
    from knaster.inventory import plan

    assert plan is knaster.plan


def test_a_file_that_does_not_load_leaves_no_plan() -> None:
    """A plan without one machine would look right and be wrong."""
    evaluation = evaluate({**files(), "inventory/pve44.yaml": "name: [\n"})
    assert evaluation.planned is None
    assert evaluation.documents == {}
