"""What consumers read (LiteLLM, Ansible, Prometheus, OpenTofu) follows from objects of which a change tells already.

Each function says for one object of such a file which changes may tell it: groups of leads, the closest first. A lead
is an object that a change covers, or kind and name of a change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from knaster.changes.objects import (
    EXCLUDE,
    GPUS,
    GUESTS,
    HOSTS,
    LITELLM,
    MOVED,
    NODES,
    PLACEMENT,
    PROXMOX,
    REGISTRY,
    SLOTS,
    TFVARS,
    Delta,
)
from knaster.changes.result import Change, Object
from knaster.changes.scene import Scene, rows
from knaster.changes.taking import unnumbered

Lead = Object | tuple[str, str]
Leads = Iterator[Iterable[Lead]]


@dataclass(frozen=True)
class _Trail:
    """A scene, and where its slots answer."""

    scene: Scene

    @cached_property
    def slots_at(self) -> Mapping[str, list[str]]:
        """Host to the slots that differ and have an endpoint there on some side."""
        found: dict[str, list[str]] = {}
        for name, delta in self.scene.of(REGISTRY, "slots").items():
            for host in {_host(one) for row in rows(delta) for one in row["endpoints"]}:
                found.setdefault(host, []).append(name)
        return found

    @cached_property
    def slots_of(self) -> Mapping[str, list[str]]:
        """Model to the slots that differ and name it on some side."""
        found: dict[str, list[str]] = {}
        for name, delta in self.scene.of(REGISTRY, "slots").items():
            for model in {one for row in rows(delta) for one in (*row["models"], row.get("model"))}:
                found.setdefault(model, []).append(name)
        return found

    def places_at(self, node: str) -> list[Lead]:
        """What differs of the placement on a node."""
        assignments = self.scene.of(PLACEMENT, "assignments").items()
        mine: list[Lead] = [
            Object(PLACEMENT, "assignments", name)
            for name, delta in assignments
            if any(row["node"] == node for row in rows(delta))
        ]
        cards = self.scene.of(PLACEMENT, "disabled_gpus")
        return [*mine, *(Object(PLACEMENT, "disabled_gpus", name) for name in cards if name.startswith(f"{node}/"))]


@dataclass(frozen=True, slots=True)
class _Item:
    """One object that differs, with its name as it was before it was numbered."""

    trail: _Trail
    name: str
    delta: Delta


def followed(scene: Scene, changes: Iterable[Change]) -> list[Change]:
    """The changes, each with the objects that follow from what it tells."""
    found = list(changes)
    trail, index = _Trail(scene), _index(found)
    more: dict[int, list[Object]] = {}
    for (file, collection), leads in FOLLOWING.items():
        for name, delta in scene.of(file, collection).items():
            one = Object(file, collection, name)
            tellers = set() if one in index else _tellers(index, leads(_Item(trail, unnumbered(name), delta)))
            for at in tellers:
                more.setdefault(at, []).append(one)
            if tellers:
                index[one] = tellers
    return [_covering(change, more.get(at, ())) for at, change in enumerate(found)]


def _index(changes: Iterable[Change]) -> dict[Lead, set[int]]:
    index: dict[Lead, set[int]] = {}
    for at, change in enumerate(changes):
        leads: tuple[Lead, ...] = ((change.kind, change.name), *change.covers)
        for lead in leads:
            index.setdefault(lead, set()).add(at)
    return index


def _tellers(index: Mapping[Lead, set[int]], leads: Leads) -> set[int]:
    for group in leads:
        if found := set().union(*(index.get(lead, ()) for lead in group)):
            return found
    return set()


def _covering(change: Change, more: Iterable[Object]) -> Change:
    return replace(change, covers=tuple(sorted({*change.covers, *more}))) if more else change


def _node(of: _Item) -> Leads:
    """A node's list of guests, and what they use of its memory."""
    yield [("guest", guest) for row in rows(of.delta) for guest in row["guests"]]


def _node_name(of: _Item) -> Leads:
    yield [Object(PROXMOX, "nodes", of.name)]


def _moved(of: _Item) -> Leads:
    yield [("guest", of.name)]


def _excluded(of: _Item) -> Leads:
    """Whether plans leave a guest out: because its node is down, or because of what the guest is."""
    scene = of.trail.scene
    nodes = {side[of.name].node for side in (scene.old.guests, scene.new.guests) if of.name in side}
    told = scene.of(PROXMOX, "nodes")
    yield [("node", node) for node in nodes if node in told and told[node].changed("state")]
    yield [("guest", of.name)]


def _model(of: _Item) -> Leads:
    yield [("model", of.name)]
    if not of.delta.only_changed:
        yield [_slot(slot) for slot in of.trail.slots_of.get(of.name, ())]


def _deployment(of: _Item) -> Leads:
    slot, _, host = of.name.partition("@")
    models = [Object(REGISTRY, "models", model) for model in {_served(row) for row in rows(of.delta)}]
    if of.delta.only_changed and all(field.path[0] == "model_info" for field in of.delta.fields if field.path):
        yield models
    yield [_slot(slot), Object(REGISTRY, "external", slot)]
    yield models
    yield [_slot(other) for other in of.trail.slots_at.get(host, ())]


def _chain(of: _Item) -> Leads:
    """An alias or the fallbacks of a slot; they also change with what is in its chain."""
    yield [_slot(of.name)]
    others = {other for row in rows(of.delta) for other in ([row] if isinstance(row, str) else row[of.name])}
    yield [lead for other in sorted(others) for lead in (_slot(other), Object(REGISTRY, "external", other))]


def _machine(of: _Item) -> Leads:
    """A host of Ansible. Its roles follow the placement; the address of one that stays is told by its slots."""
    yield [("guest", of.name), ("node", of.name)]
    keys = {field.path[0] for field in of.delta.fields if field.path}
    if keys == {"knaster_roles"}:
        yield [Object(PROXMOX, "guests", of.name)]
    if keys == {"ansible_host"}:
        yield [("slot", slot) for slot in of.trail.slots_at.get(of.name, ())]
    if keys == {"knaster_state"} or not of.delta.only_changed:
        yield of.trail.places_at(of.name)


def _member(of: _Item) -> Leads:
    host = of.name.partition("/")[2]
    yield [("guest", host), ("node", host)]
    whole = of.trail.scene.of(HOSTS, "hosts").get(host)
    if whole is not None and not whole.only_changed:
        yield [Object(HOSTS, "hosts", host)]


def _group(of: _Item) -> Leads:
    """A group, or who Ansible logs in as, that comes or goes does so with its members."""
    if not of.delta.only_changed or any(field.path == ("vars",) for field in of.delta.fields):
        mine = (one for one in of.trail.scene.of(HOSTS, "members") if one.startswith(f"{of.name}/"))
        yield [Object(HOSTS, "members", one) for one in mine]


def _target(of: _Item) -> Leads:
    """A target of a host. Another port is one of `exporters`, unless the host has another OS, so another exporter."""
    whole = of.trail.scene.of(HOSTS, "hosts").get(of.name)
    if only_port(of.delta) and not (whole is not None and whole.changed("knaster_os")):
        return
    yield [("guest", of.name), ("node", of.name)]
    if whole is not None and (not whole.only_changed or whole.changed("ansible_host", "knaster_os")):
        yield [Object(HOSTS, "hosts", of.name)]


def _slot_target(of: _Item) -> Leads:
    slot, _, host = of.name.partition("@")
    if any(field.path == ("labels", "__metrics_path__") for field in of.delta.fields):
        yield [("slot", slot)]
    else:
        yield [_slot(slot), ("guest", host), ("node", host)]


def only_port(delta: Delta) -> bool:
    """Whether a target of Prometheus is asked on another port, and nothing else differs."""
    if not delta.only_changed or {field.path for field in delta.fields} != {("targets",)}:
        return False
    one, other = (side["targets"][0].rpartition(":")[0] for side in (delta.before, delta.after))
    return bool(one == other)


def _slot(name: str) -> Object:
    return Object(REGISTRY, "slots", name)


def _host(endpoint: Mapping[str, Any]) -> str:
    return str(endpoint.get("guest") or endpoint["node"])


def _served(row: Mapping[str, Any]) -> str:
    return str(row["litellm_params"]["model"]).partition("/")[2]


FOLLOWING: Mapping[tuple[str, str], Callable[[_Item], Leads]] = {
    (PROXMOX, "nodes"): _node,
    (TFVARS, "nodes"): _node_name,
    (MOVED, "moved"): _moved,
    (EXCLUDE, "addresses"): _excluded,
    (REGISTRY, "models"): _model,
    (LITELLM, "model_list"): _deployment,
    (LITELLM, "model_group_alias"): _chain,
    (LITELLM, "fallbacks"): _chain,
    (HOSTS, "hosts"): _machine,
    (HOSTS, "members"): _member,
    (HOSTS, "children"): _group,
    **{(file, "groups"): _target for file in (NODES, GUESTS, GPUS)},
    (SLOTS, "groups"): _slot_target,
}
"""The collections that consumers read, each after those from which it follows."""
