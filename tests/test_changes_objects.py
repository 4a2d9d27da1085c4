"""Documents taken apart, and what differs inside one object."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knaster.changes import compare
from knaster.changes.fields import fields
from knaster.changes.objects import apart, differences
from knaster.changes.result import Field, Object
from tests.compared import patched
from tests.small_fleet import PLACEMENT, PROXMOX

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([1.0, 2.5, "", "a", "__b", "1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "__b", "c"]), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.sampled_from(["a", "__b", "c", "d"]), JSON, max_size=4)


def same(one: Any, other: Any) -> bool:
    """Equal as a file would be: 1 is neither 1.0 nor true, and the order of keys counts."""
    return json.dumps(one) == json.dumps(other)


def without_null(value: Any) -> Any:
    """Generated documents hold no null: a key whose value is unknown is not there."""
    if isinstance(value, dict):
        return {key: without_null(item) for key, item in value.items() if item is not None}
    return [without_null(item) for item in value if item is not None] if isinstance(value, list) else value


@given(OBJECTS.map(without_null), OBJECTS.map(without_null))
def test_the_fields_that_differ_make_one_object_of_the_other(before: Any, after: Any) -> None:
    found = fields(before, after)
    if same(before, after):
        assert found == (Field((), before, after),)
    else:
        assert patched(before, found) == after


def test_a_list_is_one_value_and_a_mapping_is_entered() -> None:
    before = {"driver": {"branch": "R580", "version": "1"}, "dns": ["a", "b"], "cores": 4}
    after = {"driver": {"branch": "R580", "version": "2"}, "dns": ["b", "a"], "cores": 4}
    assert fields(before, after) == (Field(("driver", "version"), "1", "2"), Field(("dns",), ["a", "b"], ["b", "a"]))


@pytest.mark.parametrize(("before", "after"), [(1, 1.0), (1, True), ({"a": 1, "b": 2}, {"b": 2, "a": 1})])
def test_what_python_takes_for_equal_but_a_file_does_not_differs(before: Any, after: Any) -> None:
    one, other = ({"new.yaml": {"setting": value}} for value in (before, after))
    assert list(differences(one, other)) == [Object("new.yaml", "setting", "setting")]
    guests = ({"proxmox.yaml": {"nodes": {}, "guests": {"g": {"x": value}}}} for value in (before, after))
    assert list(differences(*guests)) == [Object("proxmox.yaml", "guests", "g")]


def test_a_document_that_nobody_knows_is_compared_by_its_keys() -> None:
    found = differences({"a.yaml": {"x": 1, "y": 2}}, {"a.yaml": {"x": 1, "y": 3, "z": 4}, "b.yaml": {"q": []}})
    assert {one.name: (delta.before, delta.after) for one, delta in found.items()} == {
        "y": (2, 3),
        "z": (None, 4),
        "q": (None, []),
    }


def test_an_empty_collection_is_not_a_missing_one() -> None:
    found = differences({"registry.yaml": {"slots": {}, "external": {}}}, {"registry.yaml": {"slots": {}}})
    assert list(found) == [Object("registry.yaml", "setting", "external")]


def test_names_tell_one_thing_from_the_next() -> None:
    assert sorted(apart("placement.yaml", PLACEMENT)["assignments"]) == [
        "embedding pve44/1",
        "gpu-flex GODE-PC-05/0",
        "tts-de pve44",
    ]
    assert sorted(apart("placement.yaml", PLACEMENT)["disabled_gpus"]) == ["pve44/0"]
    assert sorted(apart("proxmox.yaml", PROXMOX)["mappings"]) == ["pve44/gpu-m4000-pve44", "pve44/gpu-p2000-pve44"]


def test_two_things_of_one_name_are_two() -> None:
    twice = {"assignments": [], "unplaced": [{"role": "a", "reason": "x"}, {"role": "a", "reason": "y"}]}
    assert apart("placement.yaml", twice)["unplaced"] == {
        "a": {"role": "a", "reason": "x"},
        "a#2": {"role": "a", "reason": "y"},
    }


def test_what_no_rule_knows_is_told_as_it_is() -> None:
    from dataclasses import replace

    from knaster.pipeline import evaluate
    from tests.repo import files

    before = evaluate(files())
    tofu = {**before.documents["tofu/knaster.auto.tfvars.json"], "zones": ["a"]}
    after = replace(before, documents={**before.documents, "tofu/knaster.auto.tfvars.json": tofu})
    (change,) = compare(before, after).changes
    assert (change.kind, change.effect.value, change.name) == (
        "setting",
        "update",
        "tofu/knaster.auto.tfvars.json: zones",
    )
    assert change.summary == "nothing → a"
