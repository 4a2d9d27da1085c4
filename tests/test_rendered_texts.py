"""The texts of the generated files: what holds for all of them, the manifest, and the placement that comes back."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knaster import document, schema
from knaster.document.emitter import dump
from knaster.placement.result import Assignment, DisabledGpu, PlacementPlan, Reason, Unplaced
from knaster.renderers import KINDS, RENDERERS, TEXTS, documents, placement_from, render
from knaster.renderers.known import HEAD
from knaster.renderers.placement import placement
from tests.builders import gpu, gpu_vm, node
from tests.small_fleet import PLACEMENT, TFVARS, fleet, ground, plan

DIGEST = "sha256:" + "a" * 64
VARIABLES = "tofu/knaster.auto.tfvars.json"


def texts(**more: Any) -> dict[str, str]:
    """All files of a fleet."""
    return render(documents(fleet(**more)), input_digest=DIGEST, version="0.1.0")


def every(value: Any) -> list[Any]:
    """The value and everything in it."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [value, *(deep for one in inner for deep in every(one))]


def test_the_files() -> None:
    assert list(texts()) == sorted({*KINDS, *(path for some in TEXTS for path in some())})
    assert {"manifest.json", "placement.yaml", "proxmox.yaml", "registry.yaml", VARIABLES} < set(texts())
    assert {path for path, _ in RENDERERS} | {"manifest.json"} == set(KINDS)


def test_nothing_is_null_even_where_facts_are_unknown() -> None:
    unknown = (
        node("pve-x", gpu(0, None, None, name=None), platform="proxmox"),
        node("ws", gpu(0, None, None, name=None, disabled=True), platform="workstation", memory_gb=None),
    )
    answer = PlacementPlan(
        assignments=(Assignment("tts-de", "ws"), Assignment("gpu-flex", "pve-x", 0, guest="gpu-pve-x")),
        disabled_gpus=(DisabledGpu("ws", 0, None, None),),
    )
    found = documents(fleet(*unknown, plan=answer))
    assert not [path for path, data in found.items() if None in every(data)]
    assert "vmid" not in found[VARIABLES]["vms"]["gpu-pve-x"]
    assert found["placement.yaml"]["disabled_gpus"] == [{"node": "ws", "gpu_index": 0}]


@pytest.mark.parametrize("path", [path for path, _ in RENDERERS])
def test_each_file_is_accepted_by_its_schema(path: str) -> None:
    assert schema.check(KINDS[path], path, documents(fleet())[path]) == ()


def test_the_manifest_is_accepted_by_its_schema() -> None:
    assert schema.check("manifest", "manifest.json", json.loads(texts()["manifest.json"])) == ()


def in_order(value: Any, rules: Any) -> bool:
    """Whether the keys of every mapping in `value` stand in the order of the schema."""
    if isinstance(value, list):
        return all(in_order(one, rules["items"]) for one in value)
    if not isinstance(value, dict):
        return True
    named = rules.get("properties", {})
    known = [key for key in named if key in value]
    own = list(value)[len(known) :]
    return (
        list(value)[: len(known)] == known
        and not set(own) & set(named)
        and all(in_order(value[key], named[key]) for key in known)
        and all(in_order(value[key], rules["additionalProperties"]) for key in own)
    )


@pytest.mark.parametrize("path", list(KINDS))
def test_keys_stand_in_the_order_of_the_schema(path: str) -> None:
    data = json.loads(texts()[path]) if path == "manifest.json" else documents(fleet())[path]
    assert in_order(data, schema.schema(KINDS[path]))


def test_text_is_quoted_and_nothing_else_is() -> None:
    """A value after ``key: `` or ``- `` is a quoted text, a number, a boolean, or an empty list or mapping."""
    plain = re.compile(r'"(?:[^"\\]|\\.)*"|true|false|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?|\[\]|\{\}')
    values = []
    for path in ("placement.yaml", "proxmox.yaml", "registry.yaml"):
        for line in texts()[path].splitlines():
            value = re.sub(r'^(?:#.*|\s*(?:- )*(?:(?:"[^"]*"|[A-Za-z0-9_.-]+):(?: |$))?)', "", line)
            values += [value] if value else []
    assert [value for value in values if not plain.fullmatch(value)] == []
    assert {'"pve44"', "244", "0.55", "[]"} <= set(values)


def test_each_text_reads_back_as_its_data() -> None:
    found = documents(fleet())
    for path, text in texts().items():
        if path.endswith(".yaml") and path in found:
            parsed, problems = document.parse(path, text)
            assert parsed is not None
            assert (parsed.data, problems) == (found[path], ())
    assert json.loads(texts()[VARIABLES]) == TFVARS
    for path, kind in KINDS.items():
        if kind == "targets":
            assert json.loads(texts()[path]) == found[path]["groups"]


def test_texts_end_in_one_line_feed_and_hold_no_carriage_return() -> None:
    for text in texts().values():
        assert text.endswith("\n")
        assert not text.endswith("\n\n")
        assert "\r" not in text


def test_yaml_begins_with_a_constant_head_that_names_the_command() -> None:
    head = "".join(f"# {line}\n" for line in HEAD.splitlines())
    assert "`knaster render`" in head
    for path in ("placement.yaml", "proxmox.yaml", "registry.yaml"):
        assert texts()[path].startswith(head)
        assert texts(plan=PlacementPlan())[path].startswith(head)


def test_json_names_the_command_in_the_one_key_that_its_readers_ignore() -> None:
    for path in ("manifest.json", VARIABLES):
        assert next(iter(json.loads(texts()[path]).items())) == ("//", TFVARS["//"])


def test_only_the_manifest_knows_digest_and_version() -> None:
    found = documents(fleet())
    one = render(found, input_digest=DIGEST, version="0.1.0")
    other = render(found, input_digest="sha256:" + "b" * 64, version="0.2.0")
    assert [path for path in one if one[path] != other[path]] == ["manifest.json"]
    assert [path for path in one if "sha256:" in one[path]] == ["manifest.json"]


def test_the_manifest_holds_the_sha256_of_each_other_file() -> None:
    made = texts()
    manifest = json.loads(made.pop("manifest.json"))
    assert manifest == {
        "//": TFVARS["//"],
        "version": 1,
        "tool_version": "0.1.0",
        "input_digest": DIGEST,
        "files": {path: "sha256:" + hashlib.sha256(text.encode()).hexdigest() for path, text in made.items()},
    }


def test_two_changes_of_different_things_never_touch_the_same_line_of_a_file() -> None:
    """One pull request changes a VM, another the plan: what each changes in the other's file is nothing."""
    base, sized, moved = texts(), texts(platform=ground(gpu_vm=gpu_vm(memory_gb=16))), texts(plan=PlacementPlan())
    assert [path for path in base if base[path] != sized[path]] == ["manifest.json", "proxmox.yaml", VARIABLES]
    assert [path for path in base if base[path] != moved[path]] == [
        "ansible/hosts.yaml",
        "litellm.yaml",
        "manifest.json",
        "placement.yaml",
        "proxmox.yaml",
        "registry.yaml",
    ]
    lines = [text["proxmox.yaml"].splitlines() for text in (base, sized)]
    assert [(old.strip(), new.strip()) for old, new in zip(*lines, strict=True) if old != new] == [
        ("guests_mib: 20480", "guests_mib: 24576"),
        ("free_mib: 12288", "free_mib: 8192"),
        ("memory_mib: 12288", "memory_mib: 16384"),
    ]


# -- the placement comes back

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8) | st.sampled_from(
    [
        "NO",
        "y",
        "on",
        "~",
        "null",
        "1e3",
        "08",
        "0x1f",
        "70e4411",
        "2026-1-2",
        "1:30",
        "=",
        "<<",
        "- a",
        "a: b",
        "#",
        '"',
        "é",
    ]
)
NAMES = st.lists(TEXT, unique=True, max_size=3).map(lambda names: tuple(sorted(names)))
INDEX = st.integers(0, 255)
ASSIGNMENTS = st.builds(Assignment, TEXT, TEXT, st.none() | INDEX, NAMES, st.none() | TEXT, st.none() | TEXT, NAMES)
PLANS = st.builds(
    PlacementPlan,
    st.lists(ASSIGNMENTS, max_size=4).map(tuple),
    st.lists(st.builds(Unplaced, TEXT, TEXT, st.just(Reason())), max_size=3).map(tuple),
    st.lists(st.builds(DisabledGpu, TEXT, INDEX, st.none() | TEXT, st.none() | TEXT), max_size=3).map(tuple),
)


@given(PLANS)
def test_render_then_load_is_the_identity(answer: PlacementPlan) -> None:
    parsed, problems = document.parse("placement.yaml", dump(placement(replace(fleet(), plan=answer)), HEAD))
    assert parsed is not None
    assert problems == ()
    assert placement_from(parsed.data) == answer


def test_only_the_detail_of_a_reason_is_not_in_the_file() -> None:
    answer = PlacementPlan(unplaced=(Unplaced("chat", "0/3 GPUs fit", Reason(total=3)),))
    assert placement_from(placement(replace(fleet(), plan=answer))) == PlacementPlan(
        unplaced=(Unplaced("chat", "0/3 GPUs fit", Reason()),)
    )
    assert placement_from(PLACEMENT) == plan()
