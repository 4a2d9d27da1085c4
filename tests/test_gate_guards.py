"""The gate on where and how an apply happens: OpenTofu's own guest, nodes that are down, no keys, `retire`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from knaster.changes import compare
from knaster.gate import Fleet, Plan, Verdict, judge, read_plan
from knaster.pipeline import evaluate
from tests.test_changes_effects import block
from tests.test_gate import FLEET, IMAGE, LXC, VM, change, codes, plan
from tests.test_tofu_gate import PLATFORM, PVE46, Case
from tests.tofu_fleets import BASE, edited, real
from tests.tofu_lab import TOOL, Lab, needs_tofu, rendered

OPS = replace(FLEET, carriers=frozenset({"ops"}))
DOWN = replace(FLEET, down=frozenset({"pve46"}))
SERVICES = (PLATFORM, "    exists: true\n", "    exists: true\n    services: [ansible, opentofu]\n")


def judged(fleet: Fleet, *changes: dict[str, Any]) -> Verdict:
    """The verdict of a plan with these changes."""
    found = read_plan(json.dumps(plan(*changes)))
    assert isinstance(found, Plan)
    return judge(found, fleet)


def lxc(name: str, sides: Any, *actions: str, **more: Any) -> dict[str, Any]:
    """A container of which something differs."""
    return change(LXC, name, *actions, before=sides[0], after=sides[1], **more)


MEMORY = block("memory", "dedicated", 4096, 8192)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (lxc("ops", MEMORY, "update"), [("gate-own-guest", "error")]),
        (lxc("ops", block("memory", "swap", 512, 0), "update", importing={"id": "x"}), [("gate-own-guest", "error")]),
        (lxc("ops", block("cpu", "cores", 1, 2), "update"), []),
        (lxc("ops", block("disk", "size", 32, 40), "update"), []),
        (lxc("infra", MEMORY, "update"), []),
        (change(LXC, "ops", "no-op", importing={"id": "x"}), []),
    ],
)
def test_a_restart_of_the_guest_that_carries_opentofu(entry: dict[str, Any], expected: Any) -> None:
    assert codes(judged(OPS, entry)) == expected
    assert codes(judged(replace(OPS, elsewhere=True), entry)) == []


def test_its_destruction_too_even_where_retire_allows_it() -> None:
    gone = change(LXC, "ops", "delete")
    allowed = replace(OPS, retire=frozenset({"ops"}))
    assert codes(judged(allowed, gone)) == [("gate-own-guest", "error")]
    assert codes(judged(replace(allowed, elsewhere=True), gone)) == []


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            change(IMAGE, "pve46", "create", after={"node_name": "pve46"}),
            "the image on pve46 would be created, but pve46 is down: no VM of any node would follow",
        ),
        (
            change(IMAGE, "pve46", "delete", "create", before={"node_name": "pve46"}),
            "the image on pve46 would be destroyed, but pve46 is down: no VM of any node would follow",
        ),
        (change(VM, "v", "create", after={"node_name": "pve46"}), "guest v would be created on pve46, which is down"),
        (
            change(VM, "v", "update", before={"node_name": "pve46", "tags": ["a"]}, after={"tags": ["b"]}),
            "guest v would be changed on pve46, which is down",
        ),
        (change(VM, "v", "create", after={"node_name": "pve44"}), None),
        (change(VM, "v", "no-op", before={"node_name": "pve46"}), None),
        (change("proxmox_hardware_mapping_pci", "m", "create", after={"map": [{"node": "pve44"}]}), None),
    ],
)
def test_nothing_is_done_on_a_node_that_is_down(entry: dict[str, Any], message: str | None) -> None:
    found = [one.message for one in judged(DOWN, entry).diagnostics if one.code == "gate-down"]
    assert found == ([message] if message else [])


def test_a_guest_that_is_made_without_a_key_is_a_warning() -> None:
    tables = {"vms": {"a": {"ssh_keys": []}, "b": {"ssh_keys": ["k"]}}, "containers": {"c": {"ssh_keys": []}}}
    fleet = replace(FLEET, variables={**FLEET.variables, **tables})
    some = [change(VM, "a", "create"), change(VM, "b", "create"), change(LXC, "c", "no-op")]
    found = [one for one in judged(fleet, *some).diagnostics if one.code == "gate-no-keys"]
    assert [(one.message, str(one.severity)) for one in found] == [
        ("made without an ssh key, so that nobody can log in: a", "warning")
    ]


@pytest.mark.parametrize(
    ("kind", "retired", "ok", "hint"),
    [
        (VM, True, True, ""),
        (VM, False, False, "to allow it, name x under retire in catalog/platform.yaml; else undo what the cause names"),
        (LXC, True, False, "undo what the cause names; else back its data up and take two merges, each applied: x out "
                           "of the fleet and under retire in catalog/platform.yaml, then in again and out of retire"),
    ],
)  # fmt: skip
def test_retire_of_a_guest_that_stays(kind: str, retired: bool, ok: bool, hint: str) -> None:
    """It lets a plan make a VM anew. A container is guarded by the module, so that this would be an empty promise."""
    fleet = replace(FLEET, retire=frozenset({"x"} if retired else ()))
    sides: dict[str, Any] = {"before": {"vm_id": 1}, "after": {"vm_id": 2}, "replace_paths": [["vm_id"]]}
    verdict = judged(fleet, change(kind, "x", "delete", "create", **sides))
    assert verdict.ok is ok
    assert [(one.code, one.hint) for one in verdict.diagnostics] == ([("gate-replaces", hint)] if not ok else [])
    assert ("retire allows it" in verdict.changes[0].cause) is ok


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """The base fleet, applied."""
    found = Lab(tmp_path_factory.mktemp("guards"), rendered(BASE))
    found.plan()
    found.apply()
    return found


@needs_tofu
def test_more_memory_for_ops_is_applied_from_elsewhere(
    lab: Lab, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = Case(lab, edited(SERVICES, (PLATFORM, "memory_gb: 4\n", "memory_gb: 6\n")), tmp_path)
    case.plan("-refresh=false")
    status, text = case.gate(capsys)
    assert status == 1
    assert "guest ops carries OpenTofu, and this apply restarts it: run there, it would end half way" in text
    assert case.gate(capsys, "--elsewhere")[0] == 0
    case.plan("-refresh=false", '-exclude=module.fleet.proxmox_virtual_environment_container.fixed["ops"]')
    assert case.gate(capsys)[0] == (0 if str(TOOL).endswith("tofu") else 1)


@needs_tofu
def test_a_container_is_made_anew_in_two_merges(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What the hint and `explain gate-replaces` say, done: refused, then destroyed, then made with the new VM id."""
    lab = Lab(tmp_path / "lab", rendered(BASE))
    lab.plan()
    lab.apply()
    renumbered = edited((PLATFORM, "vmid: 101", "vmid: 111"))
    case = Case(lab, renumbered, tmp_path / "refused")
    assert case.plan("-refresh=false").status == 1  # prevent_destroy
    status, text = case.gate(capsys)
    assert (status, "[gate-replaces]" in text) == (1, True)
    standing = edited((PLATFORM, "workers:", "retire: [infra]\nworkers:"), files=renumbered)
    case = Case(lab, standing, tmp_path / "still refused")
    assert case.plan("-refresh=false").status == 1
    assert case.gate(capsys)[0] == 1
    text = str(BASE[PLATFORM])
    entry = text[text.index("  infra:\n") : text.index("  ops:\n")]
    gone = edited(
        (PLATFORM, entry, ""),
        (PLATFORM, "workers:", "retire: [infra]\nworkers:"),
        ("catalog/roles.yaml", "    guest: infra\n", ""),
    )
    case = Case(lab, gone, tmp_path / "gone")
    assert case.plan("-refresh=false").changes == {"lxc infra": "delete"}
    assert case.gate(capsys)[0] == 0
    lab.apply()
    case = Case(lab, renumbered, tmp_path / "again")
    assert case.plan("-refresh=false").changes == {"lxc infra": "create"}
    assert case.gate(capsys)[0] == 0
    lab.apply()


@needs_tofu
def test_a_new_node_that_is_off_gets_no_image(lab: Lab, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """OpenTofu leaves out whatever depends on what is excluded: with that image excluded no VM would be planned."""
    if not str(TOOL).endswith("tofu"):
        pytest.skip("terraform has no -exclude-file")
    new = str(BASE[PVE46]).replace("pve46", "pve48") + 'state: down\nreason: "not racked yet"\n'
    more = (PLATFORM, "cores: 6", "cores: 8")
    case = Case(lab, edited(more, files={**BASE, "inventory/pve48.yaml": new}), tmp_path)
    excluded = ("-refresh=false", f"-exclude-file={lab.module}/down.exclude")
    assert case.plan(*excluded).changes["image pve48"] == "create"
    status, text = case.gate(capsys)
    assert status == 1
    assert "the image on pve48 would be created, but pve48 is down" in text
    assert "take it out of inventory/ until it is on" in text
    everything = case.plan(*excluded, '-exclude=module.fleet.proxmox_download_file.image["pve48"]').changes
    assert not [name for name in everything if name.startswith("vm ")]


def test_the_fleet_of_this_repository_has_no_keys_yet_and_says_so() -> None:
    (found,) = (one for one in evaluate(real()).diagnostics if one.code == "no-ssh-keys")
    assert found.message == "access.ssh_keys is empty: nobody could log in to a guest that is made"
    assert str(found.hint).endswith("of gpu-pve44, gpu-pve46, gpu-pve48, gpu-pve52, infra")


def test_a_guest_more_without_keys_is_no_other_problem() -> None:
    """The page "Add a node": its VM joins those that the warning is about, and main had that warning."""
    before = real()
    added = str(before["inventory/pve48.yaml"]).replace("pve48", "pve53").replace("192.168.100.48", "192.168.100.53")
    found = compare(evaluate(before), evaluate({**before, "inventory/pve53.yaml": added}))
    assert [one.name for one in found.changes if one.effect == "create" and one.kind == "guest"] == ["gpu-pve53"]
    assert [one.code for one in (*found.new, *found.fixed)] == ["assumed"]  # its profile says so
