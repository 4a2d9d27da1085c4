"""Pairs of fleets for comparisons, and the way from what `compare` says back to the documents."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from knaster import renderers
from knaster.changes.result import Field
from knaster.cluster import (
    Access,
    Cluster,
    Driver,
    Exporters,
    External,
    Gpu,
    Replication,
    Role,
    VmOverride,
    Worker,
)
from knaster.guests import expand
from knaster.pipeline import Evaluation
from knaster.placement import PlacementPlan, plan
from knaster.planned import Planned
from tests.builders import gpu_vm, lxc, platform
from tests.fleets import Fleet, fleets, mostly


def evaluated(fleet: Fleet, current: PlacementPlan | None = None) -> Evaluation:
    """The evaluation of a fleet that was never text."""
    answer = plan(fleet.nodes, fleet.roles, fleet.models, platform=fleet.platform, current=current)
    cluster = Cluster(tuple(sorted(fleet.nodes, key=lambda one: one.name)), fleet.models, fleet.roles, fleet.platform)
    planned = Planned(cluster, expand(cluster.nodes, fleet.platform), answer, current)
    return Evaluation(cluster, "", (), planned, renderers.documents(planned))


def _plan(evaluation: Evaluation) -> PlacementPlan:
    assert evaluation.planned is not None
    return evaluation.planned.plan


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Evaluation, Evaluation]:
    """An evaluation, and that of an edited fleet which continues its plan (mostly)."""
    before = draw(fleets())
    if draw(st.integers(0, 9)) == 0:
        after = draw(fleets())
    else:
        after = before
        for _ in range(draw(st.integers(1, 3))):
            after = draw(edits(after))
    old = evaluated(before, draw(st.sampled_from([None, PlacementPlan()])))
    return old, evaluated(after, _plan(old) if draw(mostly(True, False)) else None)


@st.composite
def edits(draw: st.DrawFn, fleet: Fleet) -> Fleet:
    """The fleet after one edit of a person."""
    edit = draw(st.sampled_from([_of_node, _of_card, _of_role, _of_model, _of_platform, _of_consumers]))
    return draw(edit(fleet))


@st.composite
def _of_node(draw: st.DrawFn, fleet: Fleet) -> Fleet:
    nodes = list(fleet.nodes)
    at = draw(st.integers(0, len(nodes) - 1))
    what = draw(st.sampled_from(["gone", "renamed", "down", "cordoned", "active", "platform", "address"]))
    if what == "gone":
        del nodes[at]
        return replace(fleet, nodes=tuple(nodes)) if nodes else fleet
    change: dict[str, Any] = {"state": what} if what in ("down", "cordoned", "active") else {}
    change |= {"name": "k9", "file": "inventory/k9.yaml"} if what == "renamed" else {}
    change |= {"platform": draw(st.sampled_from(["bare", "proxmox"]))} if what == "platform" else {}
    change |= {"address": "192.168.100.77"} if what == "address" else {}
    names = {one.name for number, one in enumerate(nodes) if number != at}
    if change.get("name") in names:
        return fleet
    nodes[at] = replace(nodes[at], **change)
    return replace(fleet, nodes=tuple(nodes))


@st.composite
def _of_card(draw: st.DrawFn, fleet: Fleet) -> Fleet:
    nodes = list(fleet.nodes)
    at = draw(st.integers(0, len(nodes) - 1))
    cards = list(nodes[at].gpus)
    if not cards:
        return fleet
    which = draw(st.integers(0, len(cards) - 1))
    nodes[at] = replace(nodes[at], gpus=tuple(_card(draw(st.integers(0, 5)), cards, which)))
    return replace(fleet, nodes=tuple(nodes))


def _card(edit: int, cards: list[Gpu], at: int) -> list[Gpu]:
    card = cards[at]
    new = {
        0: replace(card, disabled=not card.disabled, reason="why"),
        1: replace(card, memory_gb=48),
        2: replace(card, name="Tesla T4"),
        3: replace(card, uuid="GPU-new"),
        4: replace(card, index=card.index + 7),
        5: None,
    }[edit]
    return [*cards[:at], *([new] if new else []), *cards[at + 1 :]]


@st.composite
def _of_role(draw: st.DrawFn, fleet: Fleet) -> Fleet:
    if not fleet.roles:
        return fleet
    roles = dict(fleet.roles)
    name = draw(st.sampled_from(sorted(roles)))
    what = draw(st.sampled_from(["gone", "renamed", "priority", "vram", "count", "slots", "fallback", "kinds", "port"]))
    if what in ("gone", "renamed"):
        role = roles.pop(name)
        return replace(fleet, roles={**roles, "w9": replace(role, name="w9")} if what == "renamed" else roles)
    roles[name] = _role(what, roles[name])
    return replace(fleet, roles=roles)


def _role(what: str, role: Role) -> Role:
    match what:
        case "priority":
            return replace(role, priority=0)
        case "vram":
            return replace(role, needs=replace(role.needs, min_vram_gb=9))
        case "count":
            return replace(role, count=2 if role.count == 1 and not role.share_with and role.needs.gpu else 1)
        case "slots":
            return replace(role, slots=role.slots[:-1])
        case "fallback":
            return replace(role, slots=tuple(replace(slot, fallback=("x", "y")) for slot in role.slots))
        case "port":
            return replace(role, slots=tuple(replace(slot, port=(slot.port or 8080) + 1000) for slot in role.slots))
    return replace(role, kinds=("tts",) if role.kinds == ("llm",) else ("llm",))


@st.composite
def _of_model(draw: st.DrawFn, fleet: Fleet) -> Fleet:
    models = dict(fleet.models.models)
    name = draw(st.sampled_from(sorted(models))) if models else None
    if name is None:
        return fleet
    if draw(st.booleans()):
        models[name] = replace(models[name], vram_gb=draw(st.sampled_from([0.5, 4.3, 12, 40])))
    else:
        del models[name]
    return replace(fleet, models=replace(fleet.models, models=models))


@st.composite
def _of_platform(draw: st.DrawFn, fleet: Fleet) -> Fleet:
    if fleet.platform is None:
        return replace(fleet, platform=platform(lxc("infra", fleet.nodes[0].name)))
    infra = fleet.platform.guests.get("infra", lxc("infra", fleet.nodes[0].name))
    return replace(
        fleet,
        platform=draw(
            st.sampled_from(
                [
                    None,
                    replace(fleet.platform, gpu_vm=gpu_vm(name="vm-{node}")),
                    replace(fleet.platform, gpu_vm=gpu_vm(memory_gb=20, vmid_base=700)),
                    replace(fleet.platform, guests={}),
                    replace(fleet.platform, guests={"infra": replace(infra, vmid=150, storage="local-lvm")}),
                    replace(fleet.platform, guests={"infra": replace(infra, node=fleet.nodes[-1].name)}),
                    replace(fleet.platform, vram_reserve_gb={"linux": 3}),
                ]
            )
        ),
    )


@st.composite
def _of_consumers(draw: st.DrawFn, fleet: Fleet) -> Fleet:
    """What changes no place of a role: drivers, log-ins, ports of exporters, workers, copies, guests given up."""
    if fleet.platform is None:
        return replace(fleet, platform=platform(lxc("infra", fleet.nodes[0].name)))
    before = fleet.platform
    infra = before.guests.get("infra", lxc("infra", fleet.nodes[0].name))
    names = [one.name for one in fleet.nodes]
    some = draw(st.lists(st.sampled_from(names), unique=True))
    template = before.gpu_vm or gpu_vm()
    legacy = Driver("legacy", "R580", "580.95.05", 5.0, None)
    newer = Driver("current", "R595", "595.45.04", 7.5, None)
    changes: dict[str, Any] = {
        "retire": {
            "retire": tuple(draw(st.sets(st.sampled_from(["infra", "gone", *(f"gpu-{one}" for one in names)]))))
        },
        "retired": {"retire": ("infra",), "guests": {}},
        "version": {"drivers": {**before.drivers, "legacy": replace(legacy, version="580.105.08")}},
        "branches": {"drivers": {"legacy": legacy, "current": newer}},
        "derived": {"gpu_vm": replace(template, driver_generation=None)},
        "one driver": {
            "gpu_vm": replace(template, overrides={one: VmOverride(driver_generation="current") for one in some})
        },
        "exporters": {"exporters": Exporters(**{draw(st.sampled_from(["node", "windows", "gpu"])): 9999})},
        "access": {"access": Access("knaster", ("ssh-ed25519 AAAA one",))},
        "user": {"access": Access("root")},
        "workers": {"workers": {one: Worker(one, draw(st.sampled_from(["A.ps1", "B.ps1"]))) for one in some}},
        "replication": {
            "guests": {"infra": replace(infra, replication=tuple(Replication(one, "*/15") for one in sorted(some)))}
        },
        "schedule": {
            "guests": {
                "infra": replace(infra, replication=tuple(Replication(job.target, "*/5") for job in infra.replication))
            }
        },
        "exists": {"guests": {"infra": replace(infra, exists=not infra.exists)}},
        "services": {"guests": {"infra": replace(infra, services=("piper", "redis"))}},
        "another": {"guests": {**before.guests, "ops": lxc("ops", names[-1], 102, address="192.168.100.222")}},
        "network": {"network": replace(before.network, gateway="192.168.100.2", dns=())},
        "external": {"external": {"tier0": External("tier0", "https://tier0.example.org/v1", "TIER0", draw(_MAY))}},
    }
    return replace(fleet, platform=replace(before, **changes[draw(st.sampled_from(sorted(changes)))]))


_MAY = st.sampled_from([None, "m0"])


def patched(value: Any, fields: tuple[Field, ...]) -> Any:
    """An object with the newer values of these fields in it; the fields of a comparison make the newer object."""
    again = copy.deepcopy(value)
    for field in fields:
        if not field.path:
            return field.after
        place = again
        for step in field.path[:-1]:
            place = place[step]
        if field.after is None:
            del place[field.path[-1]]
        else:
            place[field.path[-1]] = field.after
    return again


def together(objects: Mapping[str, Mapping[str, Any]], file: str) -> dict[str, Any]:
    """The document that was taken apart, put together by the schemas' own words."""
    document = copy.deepcopy(dict(objects["setting"]))
    for name in objects.keys() - {"setting", "members"}:
        _put(document, file, name, copy.deepcopy(objects[name]))
    for name, facts in objects.get("members", {}).items():
        group, _, host = name.partition("/")
        document["all"]["children"][group]["hosts"][host] = facts
    if file == "proxmox.yaml":
        for name, item in objects["mappings"].items():
            document["nodes"][name.rpartition("/")[0]]["mappings"].append(item)
    return document


INSIDE = {"hosts": "all", "children": "all", "model_group_alias": "router_settings", "fallbacks": "router_settings"}
LISTS = {"assignments", "unplaced", "disabled_gpus", "model_list", "fallbacks", "groups", "moved", "addresses"}


def _put(document: dict[str, Any], file: str, name: str, objects: Mapping[str, Any]) -> None:
    """One collection where the schema wants it."""
    if (file, name) == ("proxmox.yaml", "mappings"):
        return
    place = document[INSIDE[name]] if name in INSIDE else document
    listed = name in LISTS or (name == "nodes" and file.endswith(".tfvars.json"))
    place[name] = list(objects.values()) if listed else dict(objects)
