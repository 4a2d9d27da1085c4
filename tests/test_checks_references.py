"""Unknown names, each with the way out."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from knaster.checks import platform_references, references
from knaster.cluster import Cluster, External, Platform, Replication, VmOverride, Worker
from knaster.names import Names
from tests.builders import catalog, cluster, engine, gpu, gpu_vm, lxc, model, node, platform, policy, role, roles, slot
from tests.checking import only, p2000, proxmox, route


def suggestion(name: str, known: Sequence[str], noun: str, apart: Sequence[str] = ()) -> str:
    """What is said of the first mistake."""
    return Names(known, noun).suggestion(name, apart)


def test_a_near_miss_is_suggested_else_what_there_is() -> None:
    assert suggestion("vlmm", ["vllm", "llamacpp"], "engines") == 'did you mean "vllm"?'
    assert suggestion("PVE44", ["pve44", "pve46"], "nodes") == 'did you mean "pve44"?'
    assert suggestion("piper", ["vllm", "llamacpp"], "engines") == "known engines: llamacpp, vllm"
    many = [f"node{number:02}" for number in range(12)]
    shown = "node00, node01, node02, node03, node04, node05, node06, node07 and 4 more"
    assert suggestion("xyz", many, "nodes") == f"known nodes: {shown}"
    assert suggestion("x", [], "models") == "there are no models yet"
    assert (
        suggestion("pvex-10000", [f"pve-{number}" for number in range(10000, 11000)], "nodes")[:13] == "did you mean "
    )


def test_what_it_cannot_be_is_not_suggested() -> None:
    assert suggestion("pve44", ["pve46", "pve48"], "nodes") == "known nodes: pve46, pve48"
    assert suggestion("qwen", ["qwen3"], "models") == 'did you mean "qwen3"?'
    assert suggestion("chta", ["chat", "char"], "slots", ("chat",)) == 'did you mean "char"?'
    assert suggestion("chta", ["chat"], "slots", ("chat", "chta")) == "there are no other slots"
    own = roles(role("chat", share_with="chatt"))
    assert only(references.share_targets(cluster(roles=own))).hint == "there are no other roles"
    listed = (slot("a", fallback=("chat", "chatt")), slot("chat", position=1))
    found = only(references.fallbacks(cluster(roles=roles(role("r", slots=listed)), platform=platform())))
    assert found.hint == "there are no other slots and endpoints"


ROLES_FILE, PLATFORM_FILE = "catalog/roles.yaml", "catalog/platform.yaml"

UNKNOWN = [
    (
        references.role_engines,
        cluster(roles=roles(role("chat", engine="vlmm"))),
        "unknown-engine",
        'role chat needs the engine "vlmm", which catalog/models.yaml does not have',
        (ROLES_FILE, ("roles", "chat", "needs", "engine"), "value"),
        'did you mean "vllm"?',
    ),
    (
        references.model_engines,
        cluster(catalog=catalog(model("m", engines=("llama", "vllm")))),
        "unknown-engine",
        'model m names the engine "llama", which catalog/models.yaml does not have',
        ("catalog/models.yaml", ("models", "m", "engines"), "value"),
        "there are no other engines",
    ),
    (
        references.policy_engines,
        cluster(platform=platform(cards={"10de:1c30": policy("10de:1c30", "llamacpp")})),
        "unknown-engine",
        'the policy for card 10de:1c30 names the engine "llamacpp", which catalog/models.yaml does not have',
        (PLATFORM_FILE, ("cards", "10de:1c30", "engines"), "value"),
        "known engines: vllm",
    ),
    (
        references.share_targets,
        cluster(roles=roles(role("tts", share_with="flux"), role("flex"))),
        "unknown-role",
        'role tts shares with "flux", which catalog/roles.yaml does not have',
        (ROLES_FILE, ("roles", "tts", "share_with"), "value"),
        'did you mean "flex"?',
    ),
    (
        references.pins,
        cluster(node("pve44"), roles=roles(role("chat", pin="pve4"))),
        "unknown-node",
        'role chat is pinned to the node "pve4", which has no file in inventory/',
        (ROLES_FILE, ("roles", "chat", "pin"), "value"),
        "known nodes: pve44",
    ),
    (
        references.pins,
        cluster(node("pve44", gpu(0), gpu(2)), roles=roles(role("chat", pin="pve44/1"))),
        "unknown-card",
        "role chat is pinned to pve44/1, but pve44 has no card 1",
        (ROLES_FILE, ("roles", "chat", "pin"), "value"),
        "cards of pve44: pve44/0, pve44/2",
    ),
    (
        references.pins,
        cluster(node("pve61"), roles=roles(role("chat", pin="pve61/0"))),
        "unknown-card",
        "role chat is pinned to pve61/0, but pve61 has no card 0",
        (ROLES_FILE, ("roles", "chat", "pin"), "value"),
        "pve61 has no cards: pin another node",
    ),
    (
        references.role_guests,
        cluster(roles=roles(role("tts", gpu=False, guest="infa")), platform=platform(lxc("infra"))),
        "unknown-guest",
        'role tts runs in the guest "infa", which catalog/platform.yaml does not have',
        (ROLES_FILE, ("roles", "tts", "guest"), "value"),
        'did you mean "infra"?',
    ),
    (
        references.slot_models,
        cluster(
            roles=roles(role("chat", slots=(slot("a", model="qwen", position=1),))), catalog=catalog(model("qwen3"))
        ),
        "unknown-model",
        'slot a names the model "qwen", which catalog/models.yaml does not have',
        (ROLES_FILE, ("roles", "chat", "slots", 1, "model"), "value"),
        'did you mean "qwen3"?',
    ),
    (
        references.fallbacks,
        cluster(roles=roles(role("chat", slots=(slot("a", fallback=("teir1",)),))), platform=platform()),
        "unknown-fallback",
        'slot a falls back to "teir1", which is neither a slot nor an external endpoint',
        (ROLES_FILE, ("roles", "chat", "slots", 0, "fallback", 0), "value"),
        'did you mean "tier1"?',
    ),
    (
        platform_references.nodes,
        cluster(node("pve44"), platform=platform(lxc(node="pve4"))),
        "unknown-node",
        'guest infra runs on the node "pve4", which has no file in inventory/',
        (PLATFORM_FILE, ("guests", "infra", "node"), "value"),
        "known nodes: pve44",
    ),
    (
        platform_references.nodes,
        cluster(node("pve44"), platform=platform(lxc(replication=(Replication("pve4", position=3),)))),
        "unknown-node",
        'guest infra is replicated to the node "pve4", which has no file in inventory/',
        (PLATFORM_FILE, ("guests", "infra", "replication", 3, "target"), "value"),
        "there are no other nodes",
    ),
    (
        platform_references.nodes,
        cluster(node("PC5"), platform=platform(workers={"PC6": Worker("PC6", "w.ps1")})),
        "unknown-node",
        'workers names the node "PC6", which has no file in inventory/',
        (PLATFORM_FILE, ("workers", "PC6"), "key"),
        "known nodes: PC5",
    ),
    (
        platform_references.nodes,
        cluster(node("pve44"), platform=platform(gpu_vm=gpu_vm(overrides={"pve99": VmOverride(vmid=299)}))),
        "unknown-node",
        'gpu_vm.overrides names the node "pve99", which has no file in inventory/',
        (PLATFORM_FILE, ("gpu_vm", "overrides", "pve99"), "key"),
        "known nodes: pve44",
    ),
    (
        platform_references.drivers,
        cluster(platform=platform(gpu_vm=gpu_vm(driver_generation="current"))),
        "unknown-driver",
        'GPU VMs want the driver generation "current", which drivers in catalog/platform.yaml does not have',
        (PLATFORM_FILE, ("gpu_vm", "driver_generation"), "value"),
        "known driver generations: legacy",
    ),
    (
        platform_references.storages,
        cluster(platform=platform(lxc(storage="tnak"))),
        "unknown-storage",
        'guest infra lies on the storage "tnak", which storage in catalog/platform.yaml does not have',
        (PLATFORM_FILE, ("guests", "infra", "storage"), "value"),
        'did you mean "tank"?',
    ),
    (
        platform_references.storages,
        cluster(platform=platform(gpu_vm=gpu_vm(overrides={"pve44": VmOverride(storage="local")}))),
        "unknown-storage",
        'the GPU VM of pve44 lies on the storage "local", which storage in catalog/platform.yaml does not have',
        (PLATFORM_FILE, ("gpu_vm", "overrides", "pve44", "storage"), "value"),
        'did you mean "local-lvm"?',
    ),
    (
        platform_references.storages,
        cluster(platform=platform(gpu_vm=gpu_vm(storage="ceph"))),
        "unknown-storage",
        'GPU VMs lie on the storage "ceph", which storage in catalog/platform.yaml does not have',
        (PLATFORM_FILE, ("gpu_vm", "storage"), "value"),
        "known storages: local-lvm, tank",
    ),
]


RULES = tuple(dict.fromkeys(case[0] for case in UNKNOWN))


@pytest.mark.parametrize(("rule", "fleet", "code", "message", "place", "hint"), UNKNOWN)
def test_unknown_names(rule, fleet, code, message, place, hint) -> None:  # type: ignore[no-untyped-def]
    if code == "unknown-fallback":
        fleet.platform.external["tier1"] = External("tier1", "https://example.org")
    found = only(rule(fleet))
    assert (found.code, found.message, route(found), found.hint) == (code, message, place, hint)


def known() -> Cluster:
    """A fleet in which every reference leads somewhere."""
    declared: Platform = platform(
        lxc(replication=(Replication("pve46"),)),
        cards={"10de:1c30": policy("10de:1c30", "vllm")},
        external={"tier0": External("tier0", "https://example.org")},
        workers={"PC5": Worker("PC5", "w.ps1")},
        gpu_vm=gpu_vm(overrides={"pve44": VmOverride(storage="tank")}),
    )
    chat = role("chat", pin="pve44/0", slots=(slot("a", model="m", fallback=("b", "tier0")),))
    return cluster(
        proxmox("pve44", p2000()),
        proxmox("pve46"),
        node("PC5"),
        catalog=catalog(engine(), model("m")),
        roles=roles(chat, role("tts", gpu=False, guest="infra", pin="pve44", slots=(slot("b"),), share_with="chat")),
        platform=declared,
    )


@pytest.mark.parametrize("rule", RULES)
def test_known_names(rule) -> None:  # type: ignore[no-untyped-def]
    assert list(rule(known())) == []


@pytest.mark.parametrize("rule", RULES)
def test_a_part_that_did_not_load_is_no_mistake(rule) -> None:  # type: ignore[no-untyped-def]
    """A node whose file is broken is known by name; a missing catalog makes nothing unknown."""
    whole = known()
    broken = frozenset({"inventory/pve46.yaml", "inventory/PC5.yaml", "inventory/pve44.yaml", "catalog/models.yaml"})
    assert list(rule(Cluster((), None, whole.roles, whole.platform, broken))) == []
    assert list(rule(Cluster((), whole.catalog, whole.roles, whole.platform, frozenset({"inventory/"})))) == []
    assert list(rule(Cluster(whole.nodes, None, None, None, frozenset({"catalog/roles.yaml"})))) == []
