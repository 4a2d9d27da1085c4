"""What no other change tells of the files that consumers read: one short change for each owner."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass

from knaster.changes.following import only_port
from knaster.changes.objects import (
    EXCLUDE,
    HOSTS,
    LITELLM,
    MOVED,
    PROXMOX,
    REGISTRY,
    SLOTS,
    TARGETS,
    TFVARS,
    Delta,
)
from knaster.changes.result import Change, Effect, Field, Kind, Object
from knaster.changes.scene import Scene
from knaster.changes.taking import unnumbered
from knaster.changes.words import differing, short, value

_ORDER = tuple(Effect)
_RECORDED = frozenset({"vram_gb", "startup_timeout", "source", "precision"})
"""Facts of a model that change neither what is started nor how it is called."""


@dataclass(frozen=True, slots=True)
class _Fact:
    """What one object tells, and of whom."""

    kind: Kind
    name: str
    effect: Effect
    text: str


@dataclass(frozen=True, slots=True)
class _Item:
    """One object that nothing tells."""

    scene: Scene
    one: Object
    delta: Delta

    @property
    def plain(self) -> str:
        """Its name without a number."""
        return unnumbered(self.one.name)


def consumers(scene: Scene, covered: Collection[Object], collections: Iterable[tuple[str, str]]) -> Iterator[Change]:
    """One change for each owner of objects of these collections that nothing covers."""
    found: dict[tuple[Kind, str], list[tuple[_Fact, Object]]] = {}
    for file, collection in collections:
        tell = _TELLING[file, collection]
        for name, delta in scene.of(file, collection).items():
            if (one := Object(file, collection, name)) not in covered:
                fact = tell(_Item(scene, one, delta))
                found.setdefault((fact.kind, fact.name), []).append((fact, one))
    for (kind, owner), told in found.items():
        effect = min((fact.effect for fact, _ in told), key=_ORDER.index)
        yield Change(kind, owner, effect, _joined(fact for fact, _ in told), covers=tuple(one for _, one in told))


def _joined(facts: Iterable[_Fact]) -> str:
    return short("; ".join(dict.fromkeys(fact.text for fact in facts)))


def _host_kind(scene: Scene, name: str) -> Kind:
    return "guest" if name in scene.new.guests or name in scene.old.guests else "node"


def _slot_kind(scene: Scene, name: str) -> Kind:
    sides = (scene.old.planned.cluster.platform, scene.new.planned.cluster.platform)
    return "external" if any(side and name in side.external for side in sides) else "slot"


def _deployment(of: _Item) -> _Fact:
    slot, _, host = of.plain.partition("@")
    text = f"LiteLLM calls {host or slot} with {differing(of.delta.fields)}"
    if not of.delta.only_changed:
        text = f"LiteLLM {'also calls' if of.delta.after else 'no longer calls'} {host or slot}"
    return _Fact(_slot_kind(of.scene, slot), slot, Effect.UPDATE, text)


def _alias(of: _Item) -> _Fact:
    text = f"LiteLLM answers with {value(of.delta.after)} instead of {value(of.delta.before)}"
    return _Fact("slot", of.one.name, Effect.UPDATE, text)


def _fallbacks(of: _Item) -> _Fact:
    name = of.plain
    old, new = (", then ".join((side or {}).get(name, ())) or "nothing" for side in (of.delta.before, of.delta.after))
    return _Fact("slot", name, Effect.UPDATE, f"LiteLLM falls back to {new} instead of {old}")


def _model(of: _Item) -> _Fact:
    if not of.delta.only_changed:
        return _Fact("model", of.one.name, Effect.RECORD, f"is {_in(of.delta)} the registry")
    return _Fact("model", of.one.name, *facts(of.delta.fields))


def facts(fields: Collection[Field]) -> tuple[Effect, str]:
    """What differing facts of a model come to."""
    recorded = all(field.path and field.path[0] in _RECORDED for field in fields)
    return Effect.RECORD if recorded else Effect.UPDATE, differing(fields)


def _in(delta: Delta) -> str:
    return "no longer in" if delta.after is None else "in"


def _node(of: _Item) -> _Fact:
    return _Fact("node", of.one.name, Effect.RECORD, f"is told other facts: {differing(of.delta.fields)}")


def _tofu_node(of: _Item) -> _Fact:
    return _Fact("node", of.plain, Effect.RECORD, f"is {_in(of.delta)} OpenTofu's list of nodes")


def _moved(of: _Item) -> _Fact:
    """Only of a guest that is under `retire` and gone on both sides nothing else tells."""
    name = of.plain
    if _host_kind(of.scene, name) == "guest" or of.delta.only_changed:
        return _Fact("guest", name, Effect.UPDATE, "is called otherwise in OpenTofu's state")
    if of.delta.after is None:
        return _Fact("guest", name, Effect.RECORD, "is no longer under `retire`")
    return _Fact(
        "guest", name, Effect.DESTROY, "is under `retire` now: if it still exists, it is destroyed with its data"
    )


def _excluded(of: _Item) -> _Fact:
    text = "plans take it in again" if of.delta.after is None else "plans leave it out, its node is down"
    return _Fact("guest", of.plain, Effect.UPDATE, text)


_FACTS = {"ansible_host": "address", "knaster_state": "state", "knaster_os": "OS", "knaster_kind": "platform"}


def _machine(of: _Item) -> _Fact:
    kind = _host_kind(of.scene, of.one.name)
    if of.delta.only_changed:
        recorded = all(field.path[:1] == ("knaster_roles",) for field in of.delta.fields)
        effect = Effect.RECORD if recorded else Effect.UPDATE
        return _Fact(kind, of.one.name, effect, differing(of.delta.fields, _FACTS))
    if kind == "guest":
        return _Fact(kind, of.one.name, Effect.UPDATE, f"is {_in(of.delta)} Ansible's inventory")
    effect = Effect.UPDATE if of.delta.after is None else Effect.CREATE
    return _Fact(kind, of.one.name, effect, f"{'leaves' if of.delta.after is None else 'joins'} the fleet")


def _member(of: _Item) -> _Fact:
    group, _, host = of.plain.partition("/")
    verb = "leaves" if of.delta.after is None else "joins"
    return _Fact(_host_kind(of.scene, host), host, Effect.UPDATE, f"{verb} Ansible's group {group}")


def _group(of: _Item) -> _Fact:
    text = f"is {'gone' if of.delta.after is None else 'new'}"
    if of.delta.only_changed:
        old, new = (value(side.get("vars", {}).get("ansible_user")) for side in (of.delta.before, of.delta.after))
        text = (
            f"Ansible logs in as {new} instead of {old}; VMs that exist keep {old}, and know no {new} until it is made"
        )
        text = text if old != new else differing(of.delta.fields)
    return _Fact("setting", f"{HOSTS}: {of.one.name}", Effect.UPDATE, text)


def _target(of: _Item) -> _Fact:
    if only_port(of.delta) and of.one.file != SLOTS:  # a port of `exporters`: one line for the fleet, not one per host
        return _Fact("setting", of.one.file, Effect.UPDATE, _port(of.delta))
    slot, _, host = of.plain.rpartition("@")
    kind: Kind = "slot" if slot else _host_kind(of.scene, host)
    return _Fact(kind, slot or host, Effect.UPDATE, _asked(of.one, of.delta))


def _port(delta: Delta) -> str:
    old, new = (side["targets"][0].rpartition(":")[2] for side in (delta.before, delta.after))
    return f"asks for metrics on port {new} instead of {old}"


def _asked(one: Object, delta: Delta) -> str:
    job = one.file.rpartition("/")[2].removesuffix(".json")
    if not delta.only_changed:
        return f"is {'no longer' if delta.after is None else 'now'} among Prometheus' {job}"
    if only_port(delta):
        return _port(delta)
    if one.file == SLOTS and {field.path for field in delta.fields} == {("labels", "__metrics_path__")}:
        field = delta.fields[0]
        return f"shows its metrics at {value(field.after)} instead of {value(field.before)}"
    return f"Prometheus' {job}: {differing(delta.fields)}"


_TELLING: dict[tuple[str, str], Callable[[_Item], _Fact]] = {
    (PROXMOX, "nodes"): _node,
    (TFVARS, "nodes"): _tofu_node,
    (MOVED, "moved"): _moved,
    (EXCLUDE, "addresses"): _excluded,
    (REGISTRY, "models"): _model,
    (LITELLM, "model_list"): _deployment,
    (LITELLM, "model_group_alias"): _alias,
    (LITELLM, "fallbacks"): _fallbacks,
    (HOSTS, "hosts"): _machine,
    (HOSTS, "members"): _member,
    (HOSTS, "children"): _group,
    **{(file, "groups"): _target for file in TARGETS},
}

STAGES = (
    ((PROXMOX, "nodes"), (REGISTRY, "models"), (HOSTS, "hosts")),
    ((HOSTS, "members"),),
    tuple(_TELLING),
)
"""The collections, those from which others follow first."""
