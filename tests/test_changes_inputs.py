"""What people edited: by names, with the line, and never for what is no value."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knaster.changes import InputChange, compare
from knaster.pipeline import evaluate
from tests.mutations import get, routes
from tests.repo import files
from tests.test_changes import N44, PC, M, P, R, diff, fleet
from tests.test_determinism import inputs
from tests.test_loader import reordered

FEW = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def edited(*edits: tuple[str, str, str]) -> list[tuple[str, Any, Any, str, int, bool]]:
    """What, before, after, file, line, removed."""
    return [_told(one) for one in diff(fleet(), fleet(*edits)).inputs]


def _told(one: InputChange) -> tuple[str, Any, Any, str, int, bool]:
    return one.what, one.before, one.after, one.place.file, one.place.line, one.removed


def line(path: str, text: str, *edits: tuple[str, str, str]) -> int:
    """Where a text stands in a file, counted from 1."""
    lines = fleet(*edits)[path].splitlines()
    return next(number for number, one in enumerate(lines, 1) if text in one)


@pytest.mark.parametrize(
    ("edit", "what", "before", "after", "at"),
    [
        ((M, "vram_gb: 10.5", "vram_gb: 12"), "models.qwen3-14b.vram_gb", 10.5, 12, "vram_gb: 12"),
        ((N44, "memory_gb: 5", "memory_gb: 6"), "pve44/1.memory_gb", 5, 6, "memory_gb: 6"),
        ((N44, "size_gb: 512", "size_gb: 500"), "pve44.disks.sda.size_gb", 512, 500, "size_gb: 500"),
        ((R, "min_vram_gb: 2", "min_vram_gb: 3"), "roles.embedding.needs.min_vram_gb", 2, 3, "min_vram_gb: 3"),
        ((P, "vmid: 101", "vmid: 102"), "guests.infra.vmid", 101, 102, "vmid: 102"),
        (
            (R, "fallback: [tier0]", "fallback: [embed, tier0]"),
            "roles.general.slots.tier1.fallback",
            ["tier0"],
            ["embed", "tier0"],
            "fallback: [embed",
        ),
        ((P, "[piper]", "[piper, redis]"), "guests.infra.services", ["piper"], ["piper", "redis"], "[piper, redis]"),
    ],
)
def test_a_value_is_named_by_where_it_stands(
    edit: tuple[str, str, str], what: str, before: Any, after: Any, at: str
) -> None:
    assert edited(edit) == [(what, before, after, edit[0], line(edit[0], at, edit), False)]


def test_a_new_key_and_a_removed_one() -> None:
    off = (N44, "  - index: 1\n", "  - index: 1\n    disabled: true\n")
    at = line(N44, "index: 1") + 1
    assert edited(off) == [("pve44/1.disabled", None, True, N44, at, False)]
    found = [_told(one) for one in diff(fleet(off), fleet()).inputs]
    assert found == [("pve44/1.disabled", True, None, N44, at, True)]


def test_a_whole_model_or_node_is_one_edit() -> None:
    more = (M, "  piper-de:", "  phi: {kind: llm, vram_gb: 9, engines: [llamacpp]}\n  piper-de:")
    data = {"kind": "llm", "vram_gb": 9, "engines": ["llamacpp"]}
    assert edited(more) == [("models.phi", None, data, M, line(M, "phi:", more), False)]
    without = fleet()
    del without[PC]
    ((what, before, after, file, _, removed),) = (_told(one) for one in diff(fleet(), without).inputs)
    assert (what, before["name"], after, file, removed) == ("GODE-PC-05", "GODE-PC-05", None, PC, True)


def test_cards_are_matched_by_identity_and_not_by_position() -> None:
    uuid = (N44, "  - index: 1\n", "  - index: 1\n    uuid: GPU-7f9c2b1e-3d44-4c5a-9a1b-0c2d3e4f5a6b\n")
    shifted = (N44, "  - index: 1\n", "  - index: 3\n    uuid: GPU-7f9c2b1e-3d44-4c5a-9a1b-0c2d3e4f5a6b\n")
    assert [_told(one)[:3] for one in diff(fleet(uuid), fleet(shifted)).inputs] == [("pve44/3.index", 1, 3)]
    assert [_told(one)[:3] for one in diff(fleet(), fleet(shifted)).inputs] == [
        ("pve44/3.index", 1, 3),
        ("pve44/3.uuid", None, "GPU-7f9c2b1e-3d44-4c5a-9a1b-0c2d3e4f5a6b"),
    ]


def test_a_slot_may_be_written_as_its_name_alone() -> None:
    assert edited((R, "slots: [embed]", "slots: [{name: embed}]")) == []
    assert [one[:3] for one in edited((R, "slots: [embed]", "slots: [{name: embed, port: 9}]"))] == [
        ("roles.embedding.slots.embed.port", None, 9)
    ]


def test_the_order_of_what_is_no_list_of_steps_means_nothing() -> None:
    assert edited((M, "os: [linux, windows]", "os: [windows, linux]")) == []
    two = (R, "fallback: [tier0]", "fallback: [embed, tier0]")
    turned = (R, "fallback: [tier0]", "fallback: [tier0, embed]")
    assert len(diff(fleet(two), fleet(turned)).inputs) == 1


def test_a_file_that_does_not_load_has_no_edits_and_others_have() -> None:
    broken = fleet((P, "bridge: vmbr0", "bridge: [vmbr0"), (M, "vram_gb: 10.5", "vram_gb: 12"))
    found = compare(evaluate(fleet()), evaluate(broken)).inputs
    assert [one.what for one in found] == ["models.qwen3-14b.vram_gb"]


@FEW
@given(st.integers())
def test_shuffled_files_keys_and_lists_are_no_change_at_all(seed: int) -> None:
    dice = random.Random(seed)
    texts = list(inputs().items())
    dice.shuffle(texts)
    before = evaluate(inputs())
    assert before.planned is not None
    again = evaluate({path: reordered(text, dice) for path, text in texts}, before.planned.plan)
    comparison = compare(before, again)
    assert (comparison.inputs, comparison.changes) == ((), ())
    assert (comparison.new, comparison.fixed) == ((), ())


def _scalars(data: Any) -> Iterator[tuple[str | int, ...]]:
    yield from (route for route in routes(data) if route and not isinstance(get(data, route), dict | list))


@FEW
@given(st.sampled_from(sorted(files())), st.data())
def test_one_value_that_is_another_is_one_edit_of_that_value(path: str, data: st.DataObject) -> None:
    old = yaml.safe_load(files()[path])
    route = data.draw(st.sampled_from(list(_scalars(old))))
    new = copy.deepcopy(old)
    value = get(old, route)
    get(new, route[:-1])[route[-1]] = not value if isinstance(value, bool) else _other(value)
    dump = {**files(), path: yaml.safe_dump(new, sort_keys=False)}
    before = evaluate({**files(), path: yaml.safe_dump(old, sort_keys=False)})
    after = evaluate(dump, like=before)
    comparison = compare(before, after)
    loads = after.parts[path].data is not None
    assert bool(comparison.inputs) == (loads and before.digest != after.digest)
    assert {one.place.file for one in comparison.inputs} <= {path}


def _other(value: Any) -> Any:
    return value + 1 if isinstance(value, int | float) else f"{value}x"


@FEW
@given(st.sampled_from(sorted(files())), st.data())
def test_an_evaluation_like_another_is_what_it_would_be_alone(path: str, data: st.DataObject) -> None:
    """Files of equal text are taken from the earlier evaluation: it must not show."""
    lines = files()[path].splitlines(keepends=True)
    at = data.draw(st.integers(0, len(lines) - 1))
    less = {**files(), path: "".join((*lines[:at], *lines[at + 1 :]))}
    for one, other in ((files(), less), (less, files())):
        alone, like = evaluate(other), evaluate(other, like=evaluate(one))
        assert (alone.digest, alone.diagnostics, alone.documents, alone.cluster) == (
            like.digest,
            like.diagnostics,
            like.documents,
            like.cluster,
        )


def test_places_found_before_are_used_again_and_those_of_an_edited_file_are_not() -> None:
    both = {name: f"{fleet()[name]}source: assumed\n" for name in (N44, PC)}
    before = evaluate({**fleet(), **both})
    after = evaluate({**fleet(), N44: f"# one more\n{both[N44]}", PC: both[PC]}, like=before)
    lines = {one.place.file: one.place.line for one in after.diagnostics if one.code == "assumed" and one.place}
    assert lines == {N44: both[N44].count("\n") + 1, PC: both[PC].count("\n")}
