"""The gate on plans written by hand: what happens in words, what is refused, and that no text makes it fall over."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knaster.diagnostics import Diagnostic
from knaster.gate import Fleet, Plan, Verdict, judge, read_plan
from knaster.reports.blocks import Style
from knaster.reports.gate import report
from knaster.reports.text import render

VM, LXC = "proxmox_virtual_environment_vm", "proxmox_virtual_environment_container"
MAPPING, IMAGE = "proxmox_hardware_mapping_pci", "proxmox_download_file"
FILES = {"main.tf": "aa", "knaster.auto.tfvars.json": "bb"}
VARIABLES: dict[str, Any] = {"mappings": {"gpu-p2000-pve44": {"node": "pve44"}, "gpu-p2000-pve46": {"node": "pve46"}}}
FLEET = Fleet(
    VARIABLES, FILES | {".terraform.lock.hcl": "cc", "down.exclude": "dd"}, frozenset({"old"}), frozenset({"pve46"})
)


def change(kind: str, name: str, *actions: str, **more: Any) -> dict[str, Any]:
    """One entry of ``resource_changes``."""
    inner = {
        key: more.pop(key) for key in ("before", "after", "replace_paths", "importing", "after_unknown") if key in more
    }
    entry = {"address": f'module.fleet.{kind}.x["{name}"]', "type": kind, "index": name, "mode": "managed"}
    return {**entry, "change": {"actions": list(actions), "before": None, "after": None, **inner}, **more}


def plan(*changes: dict[str, Any], **more: Any) -> dict[str, Any]:
    """What ``show -json`` prints."""
    return {
        "format_version": "1.2",
        "variables": {name: {"value": value} for name, value in VARIABLES.items()},
        "planned_values": {"outputs": {"generation": {"sensitive": False, "value": FILES}}},
        "resource_changes": list(changes),
        "complete": True,
        "errored": False,
        **more,
    }


def made_of(files: dict[str, str]) -> dict[str, Any]:
    """The part of a plan that says so."""
    return {"planned_values": {"outputs": {"generation": {"value": files}}}}


def judged(*changes: dict[str, Any], **more: Any) -> Verdict:
    """The verdict on a plan."""
    found = read_plan(json.dumps(plan(*changes, **more)))
    assert isinstance(found, Plan), found
    return judge(found, FLEET)


def codes(verdict: Verdict) -> list[tuple[str, str]]:
    """Code and severity of each diagnostic."""
    return [(one.code, str(one.severity)) for one in verdict.diagnostics]


def words(verdict: Verdict) -> list[str]:
    """The lines that people read."""
    return [line.strip() for line in render(report(verdict), Style()).splitlines()]


def test_nothing_to_do() -> None:
    verdict = judged(change(VM, "gpu-pve44", "no-op"), change(IMAGE, "pve44", "read"))
    assert (verdict.ok, verdict.changes) == (True, ())
    assert words(verdict) == ["nothing to do: the plan may be applied"]


def test_a_plan_that_cannot_be_read_is_not_nothing_to_do() -> None:
    unread = Verdict((), (Diagnostic("gate-plan", "README.md cannot be used: it is no JSON"),))
    assert words(unread)[-1] == "the plan must not be applied"


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        (change(VM, "gpu-pve44", "create"), "+ guest gpu-pve44 is created"),
        (
            change(VM, "v", "update", before={"memory": [{"dedicated": 1}]}, after={"memory": [{"dedicated": 2}]}),
            "~! guest v is changed and restarts: memory.dedicated 1 -> 2",
        ),
        (
            change(VM, "v", "update", before={"tags": ["a"]}, after={"tags": ["b"]}),
            "~ guest v is changed in place: tags +b, -a",
        ),
        (
            change(LXC, "l", "update", before={"cpu": [{"cores": 1}]}, after={"cpu": [{"cores": 2}]}),
            "~ guest l is changed in place: cpu.cores 1 -> 2",
        ),
        (change(LXC, "l", "no-op", importing={"id": "pve46/100"}), "< guest l is adopted as it is"),
        (
            change(LXC, "l", "update", importing={"id": "x"}, before={"started": False}, after={"started": True}),
            "< guest l is adopted and changed in place: started false -> true",
        ),
        (change(MAPPING, "gpu-p2000-pve44", "create"), "+ mapping gpu-p2000-pve44 is created"),
        (change(MAPPING, "gpu-p2000-pve46", "delete"), "- mapping gpu-p2000-pve46 is destroyed"),
        (change(IMAGE, "pve44", "delete", "create"), "-/+ image on pve44 is destroyed and made anew"),
        (
            change(LXC, "old", "delete", action_reason="delete_because_each_key"),
            "- guest old is destroyed: it is no longer among the guests, retire allows it",
        ),
    ],
)
def test_what_is_allowed_in_words(entry: dict[str, Any], line: str) -> None:
    verdict = judged(entry)
    assert (verdict.ok, codes(verdict)) == (True, [])
    assert words(verdict)[1] == line


@pytest.mark.parametrize(
    ("entry", "code", "message"),
    [
        (
            change(LXC, "infra", "delete", action_reason="delete_because_each_key"),
            "gate-destroys",
            "guest infra is destroyed: it is no longer among the guests",
        ),
        (
            change(LXC, "infra", "delete", action_reason="delete_because_no_resource_config"),
            "gate-destroys",
            "guest infra is destroyed: the module no longer has its resource",
        ),
        (
            change(VM, "v", "delete", "create", replace_paths=[["vm_id"]], before={"vm_id": 244}, after={"vm_id": 344}),
            "gate-replaces",
            "guest v is destroyed and made anew: vm_id 244 -> 344",
        ),
        (
            change(VM, "v", "create", "delete", action_reason="replace_because_tainted"),
            "gate-replaces",
            "guest v is destroyed and made anew: making it failed half way",
        ),
        (
            change(
                LXC,
                "infra",
                "delete",
                "create",
                replace_paths=[["mount_point"]],
                before={"mount_point": [{"size": "10G"}]},
                after={"mount_point": [{"size": "20G"}]},
            ),
            "gate-replaces",
            "guest infra is destroyed and made anew: mount_point changes",
        ),
        (
            change(
                LXC,
                "infra",
                "delete",
                "create",
                replace_paths=[["disk", 0, "datastore_id"]],
                before={"disk": [{"datastore_id": "local-lvm"}]},
                after={"disk": [{"datastore_id": "tank"}]},
            ),
            "gate-replaces",
            "guest infra is destroyed and made anew: disk.datastore_id local-lvm -> tank",
        ),
        (
            change(VM, "v", "delete", deposed="abc"),
            "gate-destroys",
            "guest v is destroyed: a leftover of an earlier replacement",
        ),
        (
            change(VM, "v", "forget"),
            "gate-destroys",
            "guest v is forgotten: it stays, and OpenTofu no longer knows it",
        ),
        (
            change(LXC, "ops", "delete", "create", importing={"id": "pve46/100"}, replace_paths=[["unprivileged"]],
                   before={"unprivileged": False}, after={"unprivileged": True}),
            "gate-import",
            "guest ops exists and is to be adopted, but would be destroyed and made anew: unprivileged false -> true",
        ),
        (
            change(LXC, "old", "delete", "create", importing={"id": "pve46/100"}),
            "gate-import",
            "guest old exists and is to be adopted, but would be destroyed and made anew",
        ),
        (
            change(MAPPING, "gpu-p2000-pve46", "create"),
            "gate-assumed",
            "mapping gpu-p2000-pve46 would be made from assumed facts: nobody has read the cards of pve46",
        ),
        (
            change(MAPPING, "gpu-p2000-pve46", "update"),
            "gate-assumed",
            "mapping gpu-p2000-pve46 would be made from assumed facts: nobody has read the cards of pve46",
        ),
        (
            change(MAPPING, "other", "create", after={"map": [{"node": "pve46"}]}),
            "gate-assumed",
            "mapping other would be made from assumed facts: nobody has read the cards of pve46",
        ),
        (
            change(LXC, "l", "update", before={"disk": [{"size": 60}]}, after={"disk": [{"size": 50}]}),
            "gate-shrinks",
            "a disk of guest l would shrink from 60 to 50 GiB",
        ),
        (change("aws_instance", "x", "delete"), "gate-destroys", "aws_instance x is destroyed"),
        (change(VM, "v", "explode"), "gate-plan", "guest v has an action that knaster does not know: explode"),
    ],
)  # fmt: skip
def test_what_is_refused(entry: dict[str, Any], code: str, message: str) -> None:
    verdict = judged(entry)
    assert [(one.code, one.message) for one in verdict.diagnostics] == [(code, message)]
    assert not verdict.ok


def test_a_guest_under_a_new_name_is_refused_even_under_retire() -> None:
    verdict = judged(
        change(LXC, "old", "delete", before={"vm_id": 101}), change(LXC, "new", "create", after={"vm_id": 101})
    )
    assert [one.message for one in verdict.diagnostics] == [
        "guest new has the VM id 101 of guest old, which is destroyed"
    ]


def test_a_guest_that_failed_over_is_not_made_a_second_time() -> None:
    gone = change(LXC, "infra", "delete", before={"vm_id": 101, "node_name": "pve52"})
    verdict = judged(change(LXC, "infra", "create", after={"vm_id": 101}), resource_drift=[gone])
    assert [(one.code, one.message) for one in verdict.diagnostics] == [
        ("gate-lost", "guest infra was not found on pve52, and would be made a second time")
    ]


def test_a_card_that_travels_is_a_warning() -> None:
    entry = {"id": "10de:1c30", "subsystem_id": "10de:11b3"}
    verdict = judged(
        change(MAPPING, "gpu-p2000-pve46", "delete", before={"map": [{**entry, "node": "pve46"}]}),
        change(MAPPING, "gpu-p2000-pve44", "create", after={"map": [{**entry, "node": "pve44"}]}),
    )
    assert (verdict.ok, codes(verdict)) == (True, [("gate-card-moves", "warning")])


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"errored": True}, [("gate-plan", "error")]),
        ({"complete": False}, [("gate-partial", "warning")]),
        ({"complete": False, "errored": True}, [("gate-plan", "error")]),
        ({"planned_values": {}}, [("gate-files", "error")]),
        (made_of({**FILES, "main.tf": "ab"}), [("gate-files", "error")]),
        (made_of({**FILES, "x_override.tf": "1"}), [("gate-files", "error")]),
        (made_of({"main.tf": "aa"}), [("gate-files", "error")]),
        ({"variables": {"mappings": {"value": {}}}}, [("gate-files", "error")]),
        ({"variables": {**plan()["variables"], "extra": {"value": 1}}}, [("gate-files", "error")]),
        ({"variables": {}}, [("gate-files", "error")]),
    ],
)  # fmt: skip
def test_a_plan_of_something_else_is_refused(more: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert codes(judged(**more)) == expected


def test_the_worst_comes_first() -> None:
    verdict = judged(
        change(VM, "b", "create"),
        change(VM, "a", "create"),
        change(LXC, "z", "delete"),
        change(LXC, "y", "delete", "create"),
    )
    assert [(one.effect, one.name) for one in verdict.changes] == [
        ("destroy", "z"),
        ("replace", "y"),
        ("create", "a"),
        ("create", "b"),
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is no JSON"),
        ("PK\x03\x04", "it is a plan file; write it as JSON first"),
        ('{"@level":"info"}\n{"@level":"info"}', "it is the log of `plan -json`; show the plan file instead"),
        ("[]", "it is no plan: format_version is not 1.x"),
        ('{"format_version": "2.0", "resource_changes": []}', "it is no plan: format_version is not 1.x"),
        (
            '{"format_version": "1.0", "values": {}}',
            "it is no plan: it has neither planned_values nor resource_changes (is it a state?)",
        ),
        ('{"format_version": "1.2", "resource_changes": {"a": 1}}', "it is no plan: resource_changes is no list"),
        (
            '{"format_version": "1.2", "resource_changes": [1, {"address": "x"}]}',
            "it is no plan: 2 of its changes cannot be read",
        ),
        ("[" * 100_000, "it is no JSON"),
        ('{"format_version": ' + "9" * 5000 + "}", "it is no JSON"),
    ],
)  # fmt: skip
def test_what_is_no_plan(text: str, why: str) -> None:
    assert read_plan(text) == why


WORDS = st.text() | st.sampled_from(["delete", "create", "pve46", "vm_id", "map", "node", "disk", "size"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


@given(st.data())
def test_no_plan_makes_it_fall_over(data: st.DataObject) -> None:
    """Any value in any place: an answer, never an exception."""
    some = [
        change(VM, "v", "delete", "create", before={"vm_id": 1}, after={"vm_id": 2}, replace_paths=[["vm_id"]]),
        change(MAPPING, "m", "delete", before={"map": [{"node": "a"}]}),
        change(MAPPING, "n", "create", after={"map": [{"node": "b"}]}),
    ]
    whole = json.loads(json.dumps(plan(*some, resource_drift=[change(LXC, "l", "delete")])))
    places: list[tuple[Any, Any]] = []
    waiting: list[Any] = [whole]
    while waiting:
        one = waiting.pop()
        for key, value in list(one.items() if isinstance(one, dict) else enumerate(one)):
            places.append((one, key))
            waiting += [value] if isinstance(value, dict | list) else []
    for _ in range(data.draw(st.integers(1, 3))):
        holder, key = data.draw(st.sampled_from(places))
        holder[key] = data.draw(JSON)
    found = read_plan(json.dumps(whole))
    if isinstance(found, Plan):
        verdict = judge(found, FLEET)
        assert "\x1b" not in render(report(verdict), Style())
        assert json.loads(json.dumps(report(verdict).data))["ok"] is verdict.ok


@given(st.text() | st.binary().map(lambda data: data.decode("utf-8", "replace")))
def test_no_text_makes_it_fall_over(text: str) -> None:
    assert isinstance(read_plan(text), str)


def test_what_a_plan_says_reaches_no_terminal_as_it_is() -> None:
    text = render(report(judged(change(VM, "v\x1b[2J\u202e\n@all", "delete"))), Style())
    assert "\x1b" not in text
    assert "\u202e" not in text
