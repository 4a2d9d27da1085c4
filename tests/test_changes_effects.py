"""What each field of a guest does, row by row: written down from the provider's attributes, not from our table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from knaster.changes import Effect, Field
from knaster.changes.effects import ORDER, effect, phrase
from knaster.gate import Change
from knaster.gate.devices import CONTAINER, VM
from knaster.gate.telling import effect_of
from knaster.provider import IGNORED, Kind, does
from knaster.renderers.module import module_texts
from tests.test_changes import N44, P, diff, fleet, only, two_nodes
from tests.tofu_stub.table import read

REPLACE, REFUSE, RESTART = Effect.REPLACE, Effect.REFUSE, Effect.RESTART
UPDATE, RECORD = Effect.UPDATE, Effect.RECORD


def block(name: str, key: str, before: Any, after: Any) -> tuple[Any, Any]:
    """Both sides of a resource of which one attribute in a block differs."""
    return {name: [{key: before, "same": 1}]}, {name: [{key: after, "same": 1}]}


def initialization(key: str, before: Any, after: Any) -> tuple[Any, Any]:
    """The same in a block inside of ``initialization``."""
    return block("initialization", key, [{"value": before}], [{"value": after}])


def disk(key: str, before: Any, after: Any) -> tuple[Any, Any]:
    """The same of a disk."""
    return block("disk", key, before, after)


NOTHING = None
"""The module ignores it (`ignore_changes`) or OpenTofu does not know it: a plan shows no difference."""
ROWS: tuple[tuple[str, Any, Any, Any, Effect, Any, Effect], ...] = (
    # field, both values; VM: both sides of the resource, what is done; container: the same.
    # vm_id: ForceNewIf in both (vm.go 1767, container.go 1172)
    ("vmid", 1, 2, ({"vm_id": 1}, {"vm_id": 2}), REPLACE, ({"vm_id": 1}, {"vm_id": 2}), REPLACE),
    # node_name: ForceNew, of a VM unless migrate (vm.go 1781, container.go 991)
    ("node", 1, 2, ({"node_name": 1}, {"node_name": 2}), REPLACE, ({"node_name": 1}, {"node_name": 2}), REPLACE),
    # disk.datastore_id: a VM is shut down and its disk moved (vm.go 7266), ForceNew of a container (container.go 412)
    ("storage", "a", "b", disk("datastore_id", "a", "b"), RESTART, disk("datastore_id", "a", "b"), REPLACE),
    # disk.size grows: resize while it runs, "disk" is among the default hotplug (vm.go 7082; container.go 3670)
    ("disk_gib", 60, 61, disk("size", 60, 61), UPDATE, disk("size", 60, 61), UPDATE),
    # disk.size shrinks: planned as an update by both, and an error in the apply (vm.go 7326 "Cannot shrink";
    # container.go "new disk size has to be greater": ForceNew on the block does not reach its attributes)
    ("disk_gib", 61, 60, disk("size", 61, 60), REFUSE, disk("size", 61, 60), REFUSE),
    # memory: rebootRequired in both; "memory" is not among the default hotplug (vm.go 6811, container.go 3885)
    ("memory_mib", 1, 2, block("memory", "dedicated", 1, 2), RESTART, block("memory", "dedicated", 1, 2), RESTART),
    # cpu: rebootRequired of a VM (vm.go 6477), not of a container (container.go 3602-3634)
    ("cores", 1, 2, block("cpu", "cores", 1, 2), RESTART, block("cpu", "cores", 1, 2), UPDATE),
    # initialization.ip_config: cloud-init (vm.go 6683); net0 of a container (container.go 4049)
    ("address", 1, 2, initialization("ip_config", "a", "b"), RESTART, initialization("ip_config", "a", "b"), RESTART),
    ("gateway", 1, 2, initialization("ip_config", "a", "b"), RESTART, initialization("ip_config", "a", "b"), RESTART),
    # initialization.dns: cloud-init; container.go 3845
    ("dns", ["a"], ["b"], initialization("dns", "a", "b"), RESTART, initialization("dns", "a", "b"), RESTART),
    # "Network devices can be hotplugged, no reboot required" (vm.go 6866); container.go 4049
    (
        "bridge", "a", "b",
        block("network_device", "bridge", "a", "b"), UPDATE,
        block("network_interface", "bridge", "a", "b"), RESTART,
    ),
    # tags: sent, no more (vm.go 6217, container.go 4095)
    ("tags", ["a"], ["b"], ({"tags": ["a"]}, {"tags": ["b"]}), UPDATE, ({"tags": ["a"]}, {"tags": ["b"]}), UPDATE),
    # hostpci: vm.go 6720. A container has none.
    ("hostpci", [], [], block("hostpci", "mapping", "a", "b"), RESTART, NOTHING, RESTART),
    # unprivileged: ForceNew (container.go 1156). A VM has none.
    ("unprivileged", True, False, NOTHING, RESTART, ({"unprivileged": True}, {"unprivileged": False}), REPLACE),
    # ignore_changes
    ("template", "a", "b", NOTHING, UPDATE, NOTHING, UPDATE),
    ("os_type", "a", "b", NOTHING, UPDATE, NOTHING, UPDATE),
    ("image", "a", "b", NOTHING, UPDATE, NOTHING, UPDATE),
    ("user", "a", "b", NOTHING, UPDATE, NOTHING, UPDATE),
    ("ssh_keys", ["a"], ["b"], NOTHING, UPDATE, NOTHING, UPDATE),
    # Not OpenTofu's. Nothing may use the cards while their kernel module is exchanged.
    ("driver", "a", "b", NOTHING, RESTART, NOTHING, UPDATE),
    ("kind", "vm", "lxc", NOTHING, REPLACE, NOTHING, REPLACE),
    ("exists", False, True, NOTHING, UPDATE, NOTHING, UPDATE),
    ("replicates", False, True, NOTHING, UPDATE, NOTHING, UPDATE),
    ("moves", False, True, NOTHING, UPDATE, NOTHING, UPDATE),
    ("services", ["a"], ["b"], NOTHING, UPDATE, NOTHING, UPDATE),
    ("replication", [], [], NOTHING, UPDATE, NOTHING, UPDATE),
    ("storage_type", "a", "b", NOTHING, RECORD, NOTHING, RECORD),
    ("roles", ["a"], ["b"], NOTHING, RECORD, NOTHING, RECORD),
    ("something_new", "a", "b", NOTHING, UPDATE, NOTHING, UPDATE),
)  # fmt: skip


@pytest.mark.parametrize("kind", ["vm", "lxc"])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} {row[1]}")
def test_the_diff_and_the_gate_say_what_the_provider_does(row: Any, kind: Kind) -> None:
    key, before, after, *rest = row
    sides, expected = rest[:2] if kind == "vm" else rest[2:]
    assert effect(Field((key,), before, after), kind) is expected
    if sides is not NOTHING:
        actions = ("delete", "create") if expected is REPLACE else ("update",)
        resource = VM if kind == "vm" else CONTAINER
        told = effect_of(Change("module.fleet.x", resource, "x", actions, before=sides[0], after=sides[1]))
        assert told == expected.value


def test_every_field_has_a_row() -> None:
    assert set(ORDER) <= {row[0] for row in ROWS}


@pytest.mark.parametrize(
    ("kind", "sides", "expected"),
    [
        (CONTAINER, block("memory", "swap", 512, 0), "restart"),  # container.go 3885: what `ops` meets when adopted
        (CONTAINER, block("features", "nesting", False, True), "update"),  # container.go 3727: no reboot
        (CONTAINER, block("network_interface", "firewall", True, False), "restart"),
        (CONTAINER, block("initialization", "hostname", "a", "b"), "restart"),
        (CONTAINER, block("console", "tty_count", 1, 2), "restart"),
        (CONTAINER, block("disk", "mount_options", ["a"], ["b"]), "restart"),
        (CONTAINER, ({"started": True}, {"started": False}), "restart"),  # it stops
        (CONTAINER, ({"started": False}, {"started": True}), "update"),
        (CONTAINER, ({"start_on_boot": False}, {"start_on_boot": True}), "update"),
        (CONTAINER, ({"description": "a"}, {"description": "b"}), "update"),
        (VM, block("disk", "aio", "a", "b"), "restart"),  # disk.go 676
        (VM, block("disk", "ssd", False, True), "update"),
        (VM, block("efi_disk", "datastore_id", "a", "b"), "restart"),
        (VM, block("initialization", "datastore_id", "a", "b"), "restart"),
        (VM, ({"machine": "a"}, {"machine": "b"}), "restart"),
        (VM, ({"bios": "a"}, {"bios": "b"}), "restart"),
        (VM, ({"boot_order": ["a"]}, {"boot_order": ["b"]}), "restart"),
        (VM, ({"name": "a"}, {"name": "b"}), "update"),
        (VM, ({"protection": False}, {"protection": True}), "update"),
        (VM, ({"timeout_create": 1}, {"timeout_create": 2}), "update"),
        (VM, ({"what_nobody_knows": 1}, {"what_nobody_knows": 2}), "restart"),
        (VM, ({"hostpci": [{"device": "hostpci0"}]}, {"hostpci": []}), "restart"),
    ],
)
def test_what_the_gate_says_of_what_people_changed_by_hand(kind: str, sides: Any, expected: str) -> None:
    change = Change("module.fleet.x", kind, "x", ("update",), before=sides[0], after=sides[1])
    assert effect_of(change) == expected


@pytest.mark.parametrize(("kind", "resource"), [("vm", VM), ("lxc", CONTAINER)])
def test_what_replaces_is_what_the_schema_says(kind: Kind, resource: str) -> None:
    """``replaces`` in ``schema.txt`` is ForceNew, read off the provider."""

    def walk(part: Any, path: tuple[str, ...], inherited: bool) -> Iterator[tuple[tuple[str, ...], bool]]:
        for one in part.parts:
            forced = inherited or "replaces" in one.flags
            yield (*path, one.name), forced
            yield from walk(one, (*path, one.name), forced)

    found = dict(walk(read()[resource], (), False))
    assert found
    wrong = [path for path, forced in found.items() if forced and does(kind, path) != "replace"]
    assert wrong == []
    more = [path for path, forced in found.items() if not forced and does(kind, path) == "replace"]
    assert {path[0] for path in more} <= {
        "clone",
        "efi_disk",
        "tpm_state",
        "initialization",
        "operating_system",
        "disk",
    }


def test_what_is_ignored_is_what_the_module_ignores() -> None:
    texts = {path.rpartition("/")[2]: text for path, text in module_texts().items()}
    for kind, names in (("vm", ("vms.tf",)), ("lxc", ("containers.tf", "replicated.tf"))):
        for name in names:
            (listed,) = re.findall(r"(?s)ignore_changes\s*= \[(.*)\]\n", texts[name])
            said = [re.sub(r"\[\d+\]", "", one) for one in re.split(r",\s*", listed.strip(" \n,"))]
            assert tuple(one for one in said if one != "node_name") == IGNORED[kind]  # type: ignore[index]
            assert ("node_name" in said) == (name == "replicated.tf")


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


REFUSED = "not in `retire`, so OpenTofu's gate will refuse"
TWICE = (
    "no plan does that to a container, so OpenTofu's gate will refuse: it takes two merges, out of the fleet and under "
    "`retire` first, then in again"
)
CARRIER = "it carries OpenTofu, so the gate asks for an apply from another machine"
RETIRE = (P, "storage:\n  local", "retire: [gpu-pve44, infra]\nstorage:\n  local")
CARRIES = (P, "[piper]", "[piper, opentofu]")


@pytest.mark.parametrize(
    ("both", "edit", "guest", "expected", "cause"),
    [
        ((), (P, "vmid_base: 200", "vmid_base: 300"), "gpu-pve44", REPLACE, REFUSED),
        ((RETIRE,), (P, "vmid_base: 200", "vmid_base: 300"), "gpu-pve44", REPLACE, "`retire` allows it"),
        ((), (P, "vmid: 101", "vmid: 111"), "infra", REPLACE, TWICE),
        ((RETIRE,), (P, "vmid: 101", "vmid: 111"), "infra", REPLACE, TWICE),
        ((CARRIES,), (P, "vmid: 101", "vmid: 111"), "infra", REPLACE, f"{TWICE}; {CARRIER}"),
        ((CARRIES,), (P, "memory_gb: 8\n", "memory_gb: 10\n"), "infra", RESTART, CARRIER),
        ((CARRIES,), (P, "cores: 4", "cores: 3"), "infra", UPDATE, ""),
        ((), (P, "memory_gb: 8\n", "memory_gb: 10\n"), "infra", RESTART, ""),
    ],
)
def test_what_the_gate_will_say_is_said_before(
    both: tuple[tuple[str, str, str], ...], edit: tuple[str, str, str], guest: str, expected: Effect, cause: str
) -> None:
    (change,) = (one for one in diff(fleet(*both), fleet(*both, edit)).changes if one.name == guest)
    assert (change.effect, change.cause) == (expected, cause)


def test_a_card_that_leaves_the_node_while_it_was_disabled_is_gone() -> None:
    card = fleet()[N44][fleet()[N44].index("  - index: 0") : fleet()[N44].index("  - index: 1")]
    found = [one for one in diff(fleet(), fleet((N44, card, ""))).changes if one.kind == "node"]
    assert [(one.name, one.effect, one.summary, one.cause) for one in found] == [
        ("pve44/0", RECORD, "is gone: Quadro M4000, which was disabled", "")
    ]


def numbered(text: str) -> list[tuple[str, Effect, str]]:
    """What is said of cards when pve44's file becomes this."""
    found = diff(fleet(), {**fleet(), N44: text}).changes
    return [(one.name, one.effect, one.summary) for one in found if one.kind == "node"]


def test_a_card_that_gets_another_number_is_neither_enabled_nor_disabled() -> None:
    """The driver numbers cards as it likes; the PCI address says which is which."""
    text = fleet()[N44]
    swapped = text.replace("index: 0", "index: X").replace("index: 1", "index: 0").replace("index: X", "index: 1")
    assert numbered(swapped) == [
        ("pve44/0", RECORD, "stays disabled: Quadro M4000, which is pve44/1 now"),
        ("pve44/1", RECORD, "stays disabled: Quadro M4000, which was pve44/0"),
    ]
    first = text[text.index("  - index: 0") : text.index("  - index: 1")]
    assert numbered(text.replace(first, "").replace("index: 1", "index: 0")) == [
        ("pve44/0", RECORD, "is gone: Quadro M4000, which was disabled")
    ]
    on = text.replace("disabled: true", "disabled: false")
    assert numbered(on.replace("0000:01:00.0", "0000:07:00.0"))[0][2] == "is enabled: Quadro M4000"
    assert (
        numbered(swapped.replace("disabled: true", "disabled: false"))[0][2]
        == "is enabled: Quadro M4000; gpu-pve44 stays as it is"
    )


def test_why_a_gpu_vm_comes_and_goes() -> None:
    bare = fleet()[N44][: fleet()[N44].index("gpus:")] + "gpus: []\n"
    found = only(diff({**fleet(), N44: bare}, fleet()), "guest")
    assert (found.name, found.effect, found.cause) == ("gpu-pve44", Effect.CREATE, "pve44 has cards now")
    gone = next(one for one in diff(fleet(), {**fleet(), N44: bare}).changes if one.name == "gpu-pve44")
    assert gone.cause == "pve44 has no card any more; not in `retire`, so OpenTofu's gate will refuse"
    spare = {**fleet(), "inventory/pve46.yaml": fleet()[N44].replace("pve44", "pve46").replace("proxmox", "bare")}
    joined = next(one for one in diff(spare, two_nodes()).changes if one.name == "gpu-pve46")
    assert (joined.effect, joined.cause) == (Effect.CREATE, "pve46 is a Proxmox node now")


def test_a_vm_on_a_new_node_that_is_down_waits_for_it() -> None:
    off = {**two_nodes(), "inventory/pve46.yaml": two_nodes()["inventory/pve46.yaml"] + 'state: down\nreason: "x"\n'}
    (change,) = (one for one in diff(fleet(), off).changes if one.name == "gpu-pve46")
    assert (change.effect, change.cause) == (
        Effect.CREATE,
        "pve46 is new; pve46 is down, so OpenTofu's gate will refuse to make its image",
    )


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
