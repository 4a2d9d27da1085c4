"""Changes of mappings, disabled cards and external endpoints, and of whatever has no rule of its own."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
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
from knaster.changes.result import Change, Effect, Kind, Object
from knaster.changes.scene import Scene, Side
from knaster.changes.words import differing
from knaster.cluster import Gpu
from knaster.placement.result import card_identity


def mappings(scene: Scene) -> Iterator[Change]:
    """Resource mappings: the names by which VMs get their cards."""
    found: dict[str, dict[Object, Delta]] = {}
    for file in (TFVARS, PROXMOX):
        for name, delta in scene.of(file, "mappings").items():
            found.setdefault(name.rpartition("/")[2], {})[Object(file, "mappings", name)] = delta
    for name, mine in sorted(found.items()):
        delta = next(iter(mine.values()))
        effect, summary = _mapping(delta)
        yield Change("mapping", name, effect, summary, covers=tuple(mine))


def _mapping(delta: Delta) -> tuple[Effect, str]:
    row = delta.after or delta.before
    card = f"{row['id']} at {row['path']}"
    if delta.only_changed:
        return Effect.UPDATE, f"changes in place: {differing(delta.fields)}"
    return (Effect.CREATE, f"is created: {card}") if delta.after else (Effect.LOSE, f"is removed: {card}")


def cards(scene: Scene) -> Iterator[Change]:
    """Cards that people switch off or on again; one whose number alone differs stays what it was."""
    for name, delta in scene.of(PLACEMENT, "disabled_gpus").items():
        row = delta.after or delta.before
        card = row.get("name") or "a card"
        why = f" ({row['reason']})" if row.get("reason") else ""
        effect, summary, cause = Effect.UPDATE, f"is disabled: {card}{why}", ""
        if delta.only_changed:
            effect, summary = Effect.RECORD, f"stays disabled: {differing(delta.fields)}"
        elif delta.after is None:
            effect, summary, cause = _enabled(scene, row, card)
        elif (was := _same(row, scene.new, scene.old)) and was.disabled:
            effect, summary = Effect.RECORD, f"stays disabled: {card}, which was {row['node']}/{was.index}"
        yield Change("node", name, effect, summary, cause=cause, covers=(_card_object(name),))


def _enabled(scene: Scene, row: Mapping[str, Any], card: str) -> tuple[Effect, str, str]:
    now = _same(row, scene.old, scene.new)
    if now and now.disabled:
        return Effect.RECORD, f"stays disabled: {card}, which is {row['node']}/{now.index} now", ""
    if now:
        return Effect.UPDATE, f"is enabled: {card}{_vm(scene, row['node'])}", ""
    cause = "" if row["node"] in scene.new.nodes else f"{row['node']} is gone"
    return Effect.RECORD, f"is gone: {card}, which was disabled", cause


def _same(row: Mapping[str, Any], side: Side, other: Side) -> Gpu | None:
    """The card of a row of `side` on the other side: by what it is, else (in another slot) by number and name."""
    here, there = (one.nodes[row["node"]].gpus if row["node"] in one.nodes else () for one in (side, other))
    card = next((gpu for gpu in here if gpu.index == row["gpu_index"]), None)
    if card is None:
        return None
    known = {card_identity(gpu) for gpu in here}
    for gpu in there:
        if card_identity(gpu) == card_identity(card):
            return gpu
    new = (gpu for gpu in there if card_identity(gpu) not in known)
    return next((gpu for gpu in new if (gpu.index, gpu.name) == (card.index, card.name)), None)


def _vm(scene: Scene, node: str) -> str:
    """Whether the VM with the card stays what it was: a disabled card is in it too. Which roles it has is no part."""
    vms = [one.name for one in scene.new.guests.values() if one.node == node and one.kind == "vm"]
    guests = scene.of(PROXMOX, "guests").items()
    differ = {name for name, delta in guests if not delta.only_changed or _besides(delta, "roles")}
    differ |= scene.of(TFVARS, "vms").keys()
    return "".join(f"; {name} stays as it is" for name in vms if name not in differ)


def _besides(delta: Delta, key: str) -> bool:
    return any(field.path[:1] != (key,) for field in delta.fields)


def _card_object(name: str) -> Object:
    return Object(PLACEMENT, "disabled_gpus", name)


def externals(scene: Scene) -> Iterator[Change]:
    """Endpoints outside the fleet, where fallback chains end."""
    for name, delta in scene.of(REGISTRY, "external").items():
        if delta.only_changed:
            effect, summary = Effect.UPDATE, f"changes: {differing(delta.fields)}"
        else:
            row = delta.after or delta.before
            effect = Effect.CREATE if delta.after else Effect.LOSE
            summary = f"is {'new' if delta.after else 'removed'}: {row.get('url')}"
        yield Change("external", name, effect, summary, covers=(Object(REGISTRY, "external", name),))


_KINDS: Mapping[tuple[str, str], Kind] = {
    (PLACEMENT, "assignments"): "role",
    (PLACEMENT, "unplaced"): "role",
    (REGISTRY, "slots"): "slot",
    (PROXMOX, "guests"): "guest",
    (TFVARS, "vms"): "guest",
    (TFVARS, "containers"): "guest",
    (TFVARS, "mappings"): "mapping",
    (PROXMOX, "mappings"): "mapping",
    (PLACEMENT, "disabled_gpus"): "node",
    (PROXMOX, "nodes"): "node",
    (REGISTRY, "external"): "external",
    (REGISTRY, "models"): "model",
    (TFVARS, "nodes"): "node",
    (MOVED, "moved"): "guest",
    (EXCLUDE, "addresses"): "guest",
    (LITELLM, "model_list"): "slot",
    (LITELLM, "model_group_alias"): "slot",
    (LITELLM, "fallbacks"): "slot",
    (HOSTS, "hosts"): "guest",
    (HOSTS, "members"): "node",
    (NODES, "groups"): "node",
    (GUESTS, "groups"): "guest",
    (GPUS, "groups"): "guest",
    (SLOTS, "groups"): "slot",
}


def kind_of(one: Object) -> Kind:
    """What an object is about."""
    return _KINDS.get((one.file, one.collection), "setting")


def settings(deltas: Mapping[Object, Delta], covered: Collection[Object]) -> Iterator[Change]:
    """Every object that no other change covers: what differs, without an interpretation."""
    for one, delta in deltas.items():
        if one not in covered:
            kind = kind_of(one)
            name = one.name if kind != "setting" else f"{one.file}: {one.name}"
            yield Change(kind, name, Effect.UPDATE, differing(delta.fields), covers=(one,))
