"""Rules are total: whatever a cluster holds, they answer with diagnostics of known codes about files that exist."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from knaster.checks import CHECKS, PLAN_CHECKS
from knaster.cluster import Assumption, Cluster, Cpu, External, Pci, Replication, VmOverride, VramShare, Worker
from knaster.codes import CODES
from knaster.guests import expand
from knaster.placement import plan
from knaster.planned import Planned
from tests.builders import catalog, cluster, engine, gpu, gpu_vm, lxc, model, node, platform, policy, role, slot

NAMES = ["a", "A", "b-1", "c2", "all", "44", "x_y", "n[1:3]", "n" * 64, "ü"]
name = st.sampled_from(NAMES)
maybe = st.one_of(st.none(), name)
amount = st.sampled_from([0.1, 0.55, 1, 4, 12, 99, 10**9])
unknown = st.one_of(st.none(), amount)
address = st.sampled_from(["192.168.100.221", "192.168.100.1", "10.0.0.1", "192.168.100.255", "no", ""])
pcis = st.one_of(st.none(), st.builds(Pci, st.just("0000:01:00.0"), st.sampled_from([None, "10de:1c30"])))
cards = st.builds(
    gpu,
    st.integers(0, 2),
    unknown,
    unknown,
    name=maybe,
    uuid=maybe,
    pci=pcis,
    disabled=st.booleans(),
    memory_mib=st.none(),
)
nodes = st.builds(
    lambda own, gpus, **more: node(own, *gpus, **more),
    name,
    st.lists(cards, max_size=3),
    platform=st.sampled_from(["proxmox", "bare"]),
    memory_gb=unknown,
    address=st.one_of(st.none(), address),
    cpu=st.builds(Cpu, maybe, st.sampled_from([None, 1, 8]), st.sampled_from([None, 1, 8])),
    source=st.sampled_from(["collected", "assumed"]),
    state=st.sampled_from(["active", "down"]),
    groups=st.tuples(name),
)
slots = st.builds(
    slot, name, st.sampled_from([None, 80]), fallback=st.lists(name, max_size=3, unique=True).map(tuple), model=maybe
)
roles = st.builds(
    role,
    name,
    engine=name,
    gpu=st.booleans(),
    min_cc=amount,
    max_cc=unknown,
    min_memory_gb=amount,
    count=st.integers(1, 3),
    slots=st.lists(slots, max_size=2).map(tuple),
    share_with=maybe,
    share_mode=st.sampled_from(["alternating", "concurrent"]),
    vram_share=st.one_of(st.none(), st.builds(VramShare, amount, amount)),
    pin=st.one_of(maybe, name.map("{}/1".format)),
    guest=maybe,
    required=st.booleans(),
    cpu_fallback=st.booleans(),
)
containers = st.builds(
    lxc,
    name,
    name,
    st.integers(100, 102),
    address=address,
    memory_gb=amount,
    storage=name,
    replication=st.lists(st.builds(Replication, name), max_size=2).map(tuple),
)
overrides = st.dictionaries(
    name, st.builds(VmOverride, vmid=st.sampled_from([None, 101]), address=st.just("no")), max_size=2
)
templates = st.builds(gpu_vm, name=st.sampled_from(["gpu-{node}", "gpu", "{node}"]), overrides=overrides, storage=name)
platforms = st.builds(
    lambda guests, out, **more: platform(*guests, external={one: External(one, "https://x") for one in out}, **more),
    st.lists(containers, max_size=3),
    st.sets(name, max_size=2),
    gpu_vm=st.one_of(st.none(), templates),
    cards=st.just({"10de:1c30": policy("10de:1c30", "a", "b-1")}),
    workers=st.dictionaries(name, st.just(Worker("a", "w.ps1")), max_size=1),
    assumptions=st.just((Assumption("a", "b"),)),
)
catalogs = st.builds(
    lambda engines, models: catalog(*engines, *models),
    st.lists(
        st.builds(engine, name, min_cc=amount, max_cc=unknown, gpu=st.sampled_from(["required", "none"])), max_size=3
    ),
    st.lists(st.builds(model, name, amount, engines=st.tuples(name)), max_size=3),
)
clusters = st.builds(
    lambda some, declared, **more: cluster(*some, roles={one.name: one for one in declared}, **more),
    st.lists(nodes, max_size=4),
    st.lists(roles, max_size=4),
    catalog=catalogs,
    platform=st.one_of(st.none(), platforms),
)
FILES = {"catalog/models.yaml", "catalog/roles.yaml", "catalog/platform.yaml"} | {
    f"inventory/{one}.yaml" for one in NAMES
}


@settings(max_examples=200)
@given(clusters)
def test_rules_are_total(fleet: Cluster) -> None:
    assert fleet.catalog is not None
    assert fleet.roles is not None
    answer = plan(fleet.nodes, fleet.roles, fleet.catalog, platform=fleet.platform)
    whole = Planned(fleet, expand(fleet.nodes, fleet.platform), answer, answer)
    found = [one for check in CHECKS for one in check(fleet)]
    found += [one for plan_check in PLAN_CHECKS for one in plan_check(whole)]
    for one in found:
        assert one.code in CODES
        assert one.place is not None
        assert {one.place.file, *(item.place.file for item in one.related)} <= FILES
        assert one.hint


@settings(max_examples=50)
@given(clusters)
def test_a_part_that_is_missing_is_no_mistake(fleet: Cluster) -> None:
    """Each part alone: what the others would have said is not reported as unknown."""
    alone = (
        Cluster(fleet.nodes, None, None, None, frozenset({"catalog/roles.yaml"})),
        Cluster((), fleet.catalog, None, None, frozenset({"inventory/"})),
        Cluster((), None, fleet.roles, None, frozenset({"inventory/"})),
        Cluster((), None, None, fleet.platform, frozenset({"inventory/"})),
    )
    codes = {one.code for part in alone for check in CHECKS for one in check(part)}
    assert {code for code in codes if code.startswith("unknown-")} <= {
        "unknown-fact", "unknown-role", "unknown-engine", "unknown-storage", "unknown-driver"
    }  # fmt: skip
