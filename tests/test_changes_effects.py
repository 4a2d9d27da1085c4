"""What each field of a guest does, row by row: written down from the provider's attributes, not from our table."""

from __future__ import annotations

from typing import Any

import pytest

from knaster.changes import Effect, Field
from knaster.changes.effects import GuestKind, effect, phrase
from tests.test_changes import N44, P, diff, fleet, only, two_nodes

REPLACE, RESTART, UPDATE, RECORD = Effect.REPLACE, Effect.RESTART, Effect.UPDATE, Effect.RECORD


@pytest.mark.parametrize(
    ("key", "vm", "container"),
    [
        ("kind", REPLACE, REPLACE),
        ("vmid", REPLACE, REPLACE),  # vm_id: ForceNew
        ("node", REPLACE, REPLACE),  # node_name: ForceNew unless migrate
        ("template", UPDATE, UPDATE),  # operating_system: ForceNew, but ignored by the module after creation
        ("os_type", UPDATE, UPDATE),
        ("unprivileged", REPLACE, REPLACE),  # ForceNew
        ("mount_points", REPLACE, REPLACE),  # mount_point: ForceNew
        ("storage", RESTART, REPLACE),  # a VM's disk moves, a container's disk.datastore_id is ForceNew
        ("hostpci", RESTART, RESTART),
        ("machine", RESTART, RESTART),
        ("bios", RESTART, RESTART),
        ("memory_mib", RESTART, RESTART),
        ("cores", RESTART, UPDATE),
        ("address", RESTART, RESTART),
        ("gateway", RESTART, RESTART),
        ("bridge", RESTART, RESTART),
        ("dns", RESTART, RESTART),
        ("driver", RESTART, UPDATE),  # nothing may use the cards while their module is exchanged
        ("image", UPDATE, UPDATE),  # disk.import_from: ignored after creation
        ("user", UPDATE, UPDATE),  # initialization.user_account: ignored by the module after creation
        ("ssh_keys", UPDATE, UPDATE),
        ("exists", UPDATE, UPDATE),
        ("replicates", UPDATE, UPDATE),  # another address in the state, by `moved`
        ("moves", UPDATE, UPDATE),
        ("storage_type", RECORD, RECORD),
        ("tags", UPDATE, UPDATE),
        ("description", UPDATE, UPDATE),
        ("services", UPDATE, UPDATE),
        ("replication", UPDATE, UPDATE),
        ("roles", RECORD, RECORD),
        ("something_new", UPDATE, UPDATE),
    ],
)
def test_what_a_field_does(key: str, vm: Effect, container: Effect) -> None:
    field = Field((key,), "a", "b")
    assert (effect(field, "vm"), effect(field, "lxc")) == (vm, container)


@pytest.mark.parametrize("kind", ["vm", "lxc"])
def test_a_disk_grows_in_place_and_shrinks_by_being_made_anew(kind: GuestKind) -> None:
    assert effect(Field(("disk_gib",), 60, 61), kind) is UPDATE
    assert effect(Field(("disk_gib",), 60, 59), kind) is REPLACE
    assert effect(Field(("disk_gib",), None, 60), kind) is UPDATE


@pytest.mark.parametrize(
    ("field", "kind", "expected"),
    [
        (Field(("memory_mib",), 12288, 12800), "vm", "memory 12 → 12.5 GiB"),
        (Field(("memory_mib",), None, 12288), "vm", "memory nothing → 12 GiB"),
        (Field(("dns",), ["a", "b"], ["b", "c"]), "vm", "DNS +c, -a"),
        (Field(("dns",), ["a", "b"], ["b", "a"]), "vm", "DNS a, b → b, a"),
        (Field(("driver", "branch"), "R580", "R595"), "vm", "driver branch R580 → R595"),
        (Field(("driver",), None, {"branch": "R580"}), "vm", "driver nothing → branch R580"),
        (Field(("replication",), [], [{"target": "n2", "schedule": "*/15"}]), "lxc", "replication +n2 (*/15)"),
        (Field(("exists",), False, True), "lxc", "exists false → true"),
        (Field(("new", "key"), 1, 2), "lxc", "new.key 1 → 2"),
        (Field(("image",), {"url": "a"}, {"url": "b"}), "vm", "image (of VMs made from now on)"),
    ],
)
def test_how_a_field_is_told(field: Field, kind: Any, expected: str) -> None:
    assert phrase(field, kind) == expected


def test_a_container_on_another_node_or_storage_is_made_anew() -> None:
    away = two_nodes((P, "  infra:\n    node: pve44", "  infra:\n    node: pve46"))
    comparison = diff(two_nodes(), away)
    change = only(comparison, "guest")
    assert not [one for one in comparison.changes if one.kind == "node"]
    assert (change.effect, change.summary) == (
        REPLACE,
        "is destroyed and created anew: node pve44 → pve46; its data on local-lvm is lost",
    )
    both = (P, "  local-lvm: {type: lvmthin}\n", "  local-lvm: {type: lvmthin}\n  tank: {type: zfspool}\n")
    moved = fleet(both, (P, "storage: local-lvm\n    template", "storage: tank\n    template"))
    change = only(diff(fleet(both), moved), "guest")
    assert (change.name, change.effect, change.summary) == (
        "infra",
        REPLACE,
        "is destroyed and created anew: storage local-lvm → tank; its data on local-lvm is lost",
    )
    vms = fleet(both, (P, "storage: local-lvm\n  image", "storage: tank\n  image"))
    change = only(diff(fleet(both), vms), "guest")
    assert (change.name, change.effect, change.summary) == (
        "gpu-pve44",
        RESTART,
        "restarts: storage local-lvm → tank",
    )


def test_the_gravest_field_decides_and_is_told_first() -> None:
    edits = ((P, "memory_gb: 8\n", "memory_gb: 10\n"), (P, "vmid: 101", "vmid: 111"), (P, "[piper]", "[piper, redis]"))
    change = only(diff(fleet(), fleet(*edits)), "guest")
    assert (change.effect, change.summary) == (
        REPLACE,
        "is destroyed and created anew: VM id 101 → 111, memory 8 → 10 GiB, services +redis; "
        "its data on local-lvm is lost",
    )


def test_a_guest_that_is_given_up_with_permission_is_not_said_to_be_refused() -> None:
    block = fleet()[P][fleet()[P].index("  infra:\n") : fleet()[P].index("storage:\n  local-lvm")]
    gone = (
        P,
        block,
        '  other: {node: pve44, vmid: 102, address: "192.168.100.222", memory_gb: 8, cores: 4, '
        'disk_gb: 60, storage: local-lvm, template: "local:vztmpl/x.tar.zst"}\n',
    )
    for retire, cause in (
        ("", "guests.infra is gone in catalog/platform.yaml; not in `retire`, so OpenTofu's gate will refuse"),
        ("retire: [infra]\n", "guests.infra is gone in catalog/platform.yaml"),
        (
            "retire: [other]\n",
            "guests.infra is gone in catalog/platform.yaml; not in `retire`, so OpenTofu's gate will refuse",
        ),
    ):
        after = fleet(
            gone,
            ("catalog/roles.yaml", "    guest: infra\n", ""),
            (P, "storage:\n  local", f"{retire}storage:\n  local"),
        )
        (change,) = (one for one in diff(fleet(), after).destructive if one.name == "infra")
        assert (change.effect, change.cause) == (Effect.DESTROY, cause)


def test_a_card_that_leaves_the_node_while_it_was_disabled_is_gone() -> None:
    card = fleet()[N44][fleet()[N44].index("  - index: 0") : fleet()[N44].index("  - index: 1")]
    found = [one for one in diff(fleet(), fleet((N44, card, ""))).changes if one.kind == "node"]
    assert [(one.name, one.effect, one.summary, one.cause) for one in found] == [
        ("pve44/0", RECORD, "is gone: Quadro M4000, which was disabled", "")
    ]


def test_why_a_gpu_vm_comes_and_goes() -> None:
    bare = fleet()[N44][: fleet()[N44].index("gpus:")] + "gpus: []\n"
    found = only(diff({**fleet(), N44: bare}, fleet()), "guest")
    assert (found.name, found.effect, found.cause) == ("gpu-pve44", Effect.CREATE, "pve44 has cards now")
    gone = next(one for one in diff(fleet(), {**fleet(), N44: bare}).changes if one.name == "gpu-pve44")
    assert gone.cause == "pve44 has no card any more; not in `retire`, so OpenTofu's gate will refuse"
    spare = {**fleet(), "inventory/pve46.yaml": fleet()[N44].replace("pve44", "pve46").replace("proxmox", "bare")}
    joined = next(one for one in diff(spare, two_nodes()).changes if one.name == "gpu-pve46")
    assert (joined.effect, joined.cause) == (Effect.CREATE, "pve46 is a Proxmox node now")


def test_a_guest_that_is_there_already_is_adopted() -> None:
    more = (
        "  old: {node: pve44, vmid: 102, address: '192.168.100.222', memory_gb: 2, cores: 1, disk_gb: 8, "
        "storage: local-lvm, template: 'local:vztmpl/x.tar.zst', exists: %s}\nstorage:\n  local"
    )
    for exists, verb in (("true", "is adopted"), ("false", "is created")):
        change = only(diff(fleet(), fleet((P, "storage:\n  local", more % exists))), "guest")
        assert change.summary == f"{verb}: container 102 on pve44, 2 GiB of memory, 8 GiB of disk on local-lvm"
        assert change.cause == "guests.old is new in catalog/platform.yaml"


def test_another_driver_generation_is_told_once() -> None:
    drivers = (P, "drivers:\n", "drivers:\n  next: {branch: R595, version: '595.45.04', min_cc: 5.0}\n")
    change = only(
        diff(fleet(drivers), fleet(drivers, (P, "driver_generation: legacy", "driver_generation: next"))), "guest"
    )
    assert (change.effect, change.summary) == (
        RESTART,
        "restarts: driver branch R580 → R595, driver generation legacy → next, driver version 580.95.05 → 595.45.04; "
        "by Ansible, VM by VM, behind a snapshot",
    )


def test_a_disabled_card_goes_with_its_node() -> None:
    """Outside of Proxmox no guest tells it."""
    spare = "name: spare\nplatform: bare\ncpu: {model: x, cores: 4, threads: 8}\nmemory_gb: 8\ndisks: []\ngpus:\n"
    card = "  - {index: 0, name: Tesla T4, memory_gb: 16, compute_cap: 7.5, driver: '580.95.05', disabled: true}\n"
    before = {**fleet(), "inventory/spare.yaml": spare + card}
    found = [(one.kind, one.name, one.effect, one.summary, one.cause) for one in diff(before, fleet()).changes]
    assert found == [("node", "spare/0", RECORD, "is gone: Tesla T4, which was disabled", "spare is gone")]
    on = {**before, "inventory/spare.yaml": before["inventory/spare.yaml"].replace("disabled: true", "disabled: false")}
    (change,) = (one for one in diff(before, on).changes if one.name == "spare/0")
    assert (change.effect, change.summary, change.cause) == (UPDATE, "is enabled: Tesla T4", "")


def test_an_external_endpoint_and_a_mapping_that_are_gone_were_lost() -> None:
    more = (P, "external:\n", "external:\n  tier9: {url: 'https://t9.example.org/v1', credential: {env: T9}}\n")
    for before, after, effect_, summary in (
        (fleet(), fleet(more), Effect.CREATE, "is new: https://t9.example.org/v1"),
        (fleet(more), fleet(), Effect.LOSE, "is removed: https://t9.example.org/v1"),
    ):
        (change,) = diff(before, after).changes
        assert (change.kind, change.name, change.effect, change.summary) == ("external", "tier9", effect_, summary)
    card = fleet()[N44][fleet()[N44].index("  - index: 0") : fleet()[N44].index("  - index: 1")]
    change = only(diff(fleet(), fleet((N44, card, ""))), "mapping")
    assert (change.name, change.effect, change.summary) == (
        "gpu-m4000-pve44",
        Effect.LOSE,
        "is removed: 10de:13f1 at 0000:01:00",
    )
