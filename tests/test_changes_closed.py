"""Nothing differs unseen: what always holds of a comparison, for any two fleets."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from knaster.adapters import files
from knaster.changes import Comparison, Effect, compare
from knaster.changes.objects import apart, differences
from knaster.changes.others import kind_of
from knaster.changes.result import Change, Field, Object
from knaster.pipeline import Evaluation, evaluate
from knaster.placement.standing import Standing
from knaster.renderers import render
from tests.compared import evaluated, pairs, patched, together
from tests.fleets import Fleet, fleets
from tests.test_cases import CASES, NAMES, laid

MANY = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
Pair = tuple[Evaluation, Evaluation]


def texts(evaluation: Evaluation) -> dict[str, str]:
    """The bytes of everything but the manifest, which holds digests of the others."""
    made = render(evaluation.documents, input_digest="", version="")
    return {path: text for path, text in made.items() if path != "manifest.json"}


@MANY
@given(pairs())
def test_every_object_that_differs_is_in_some_change_and_no_other_is(both: Pair) -> None:
    covered = {one for change in compare(*both).changes for one in change.covers}
    assert covered == set(differences(both[0].documents, both[1].documents))


@MANY
@given(pairs())
def test_the_newer_documents_can_be_made_from_the_older_ones_and_what_is_told(both: Pair) -> None:
    """Nothing but the fields of the changes is used; a field that were wrong, missing or told twice would show."""
    before, after = both
    told = [field for change in compare(*both).changes for field in change.fields]
    assert len({field.path for field in told}) == len(told)
    objects = {file: apart(file, document) for file, document in before.documents.items()}
    for (file, collection, name), fields in _by_object(told).items():
        made = patched(objects[file].get(collection, {}).get(name), fields)
        objects[file][collection] = {**objects[file].get(collection, {}), name: made}
        if made is None:
            del objects[file][collection][name]
    assert objects == {file: apart(file, document) for file, document in after.documents.items()}


@MANY
@given(pairs())
def test_each_field_that_differs_is_told_by_a_change_that_covers_its_object_and_where_there_is_one_of_its_kind(
    both: Pair,
) -> None:
    changes = compare(*both).changes
    deltas = differences(both[0].documents, both[1].documents)
    for change in changes:
        for (file, collection, name), fields in _by_object(change.fields).items():
            one = Object(file, collection, name)
            assert one in change.covers
            assert fields == deltas[one].fields
            kinds = {other.kind for other in changes if one in other.covers}
            assert change.kind == kind_of(one) or kind_of(one) not in kinds
    assert sum(len(change.fields) for change in changes) == sum(len(delta.fields) for delta in deltas.values())


def _by_object(fields: Iterable[Field]) -> dict[tuple[str, str, str], tuple[Field, ...]]:
    """Fields by file, collection and name, with the paths inside the object."""
    found: dict[tuple[str, str, str], tuple[Field, ...]] = {}
    for one in fields:
        file, collection, name = (str(step) for step in one.path[:3])
        inner = Field(one.path[3:], one.before, one.after)
        found[file, collection, name] = (*found.get((file, collection, name), ()), inner)
    return found


@MANY
@given(pairs())
def test_a_port_that_callers_must_use_now_is_told_in_words_wherever_the_role_went(both: Pair) -> None:
    old, new = (side.documents["registry.yaml"]["slots"] for side in both)
    told = {one.name: one.summary for one in compare(*both).changes if one.kind == "slot"}
    for name in old.keys() & new.keys():
        if old[name]["state"] == new[name]["state"]:
            ports = [{one.get("port") for one in slot["endpoints"]} for slot in (old[name], new[name])]
            if ports[0] and ports[1]:
                assert all(str(port) in told[name] for port in ports[1] - ports[0] if port is not None)


@MANY
@given(pairs())
def test_no_change_means_the_same_bytes_and_the_same_bytes_mean_no_change(both: Pair) -> None:
    assert (not compare(*both).changes) == (texts(both[0]) == texts(both[1]))


@pytest.mark.parametrize("case", NAMES)
def test_fleets_with_errors_are_compared_all_the_same(case: str, tmp_path: Path) -> None:
    sound = evaluate(files.read(CASES / "base"))
    wrong = evaluate(files.read(laid(case, tmp_path)), like=sound)
    for one, other in ((sound, wrong), (wrong, sound)):
        comparison = compare(one, other)
        assert comparison.complete == (wrong.planned is not None)
        if comparison.complete:
            covered = {each for change in comparison.changes for each in change.covers}
            assert covered == set(differences(one.documents, other.documents))


@MANY
@given(fleets())
def test_a_fleet_does_not_differ_from_itself(fleet: Fleet) -> None:
    one, other = evaluated(fleet), evaluated(fleet)
    assert compare(one, other) == Comparison()


@MANY
@given(fleets())
def test_documents_come_apart_without_loss(fleet: Fleet) -> None:
    for file, document in evaluated(fleet).documents.items():
        assert together(apart(file, document), file) == document


@MANY
@given(pairs())
def test_changes_are_told_once_worst_first_with_their_numbers(both: Pair) -> None:
    comparison = compare(*both)
    effects = list(Effect)
    ranks = [effects.index(change.effect) for change in comparison.changes]
    assert ranks == sorted(ranks)
    told = [(change.kind, change.name, change.summary) for change in comparison.changes]
    assert len(told) == len(set(told))
    assert comparison.counts == {effect: ranks.count(at) for at, effect in enumerate(effects) if at in ranks}
    assert [one for one in comparison.changes if one in comparison.destructive] == list(comparison.destructive)


@MANY
@given(pairs())
def test_a_guest_that_is_there_on_one_side_alone_is_created_or_destroyed(both: Pair) -> None:
    """And one that is given up without being there: nobody knows whether it still exists."""
    old, new = map(_guests, both)
    found = _named(compare(*both), "guest", Effect.CREATE), _named(compare(*both), "guest", Effect.DESTROY)
    assert found == (new - old, (old - new) | _given_up(*both))


@MANY
@given(pairs())
def test_a_role_loses_its_place_exactly_where_its_places_become_fewer(both: Pair) -> None:
    old, new = (_places(side) for side in both)
    fewer = {role for role in old if old[role] > new.get(role, 0)}
    assert _named(compare(*both), "role", Effect.LOSE) == fewer


@MANY
@given(pairs())
def test_looking_the_other_way_what_was_created_is_destroyed(both: Pair) -> None:
    there, back = compare(*both), compare(both[1], both[0])
    for kind in ("guest", "external"):
        assert _named(there, kind, Effect.CREATE) == {
            *_named(back, kind, Effect.DESTROY),
            *_named(back, kind, Effect.LOSE),
        } - _named(back, kind, Effect.REPLACE) - _given_up(both[1], both[0])


@MANY
@given(pairs())
def test_one_place_is_explained_as_the_whole_fleet_explains_it(both: Pair) -> None:
    after = both[1]
    assert after.planned is not None
    planned = after.planned
    for name in planned.cluster.roles or {}:
        for line in after.explain(name):
            others = {one.node for one in planned.plan.assignments if one.role == name}
            standing = Standing.of(planned.cluster, planned.plan, planned.current, {line.node, *others})
            assert standing.line(name, (line.node, line.gpu_index)) == line


@MANY
@given(pairs())
def test_a_model_fits_where_no_reason_is_told_against_it(both: Pair) -> None:
    planned = both[1].planned
    assert planned is not None
    assert planned.cluster.catalog is not None
    for one in planned.plan.assignments:
        standing = Standing.of(planned.cluster, planned.plan, planned.current, {one.node})
        for model in planned.cluster.catalog.models:
            reason = standing.why_not(one.role, (one.node, one.gpu_index), model)
            assert (reason is None) == (model in one.models_fitting), (reason, model)


def _guests(evaluation: Evaluation) -> set[str]:
    return {name for key in ("vms", "containers") for name in _tofu(evaluation, key)}


def _given_up(old: Evaluation, new: Evaluation) -> set[str]:
    """Who is under `retire` since the newer side, and on no side a guest."""
    before, after = (side.cluster.platform for side in (old, new))
    fresh = set(after.retire if after else ()) - set(before.retire if before else ())
    return fresh - _guests(old) - _guests(new)


def _tofu(evaluation: Evaluation, key: str) -> dict[str, object]:
    return dict(evaluation.documents["tofu/knaster.auto.tfvars.json"][key])


def _places(evaluation: Evaluation) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in evaluation.documents["placement.yaml"]["assignments"]:
        found[one["role"]] = found.get(one["role"], 0) + 1
    return found


def _named(comparison: Comparison, kind: str, effect: Effect) -> set[str]:
    return {one.name for one in comparison.changes if _is(one, kind, effect)}


def _is(change: Change, kind: str, effect: Effect) -> bool:
    return change.kind == kind and change.effect is effect
