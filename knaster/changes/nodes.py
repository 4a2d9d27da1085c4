"""Changes of nodes: what they are for now (down, cordoned), what they have, and who comes and goes."""

from __future__ import annotations

from collections.abc import Iterator

from knaster.changes.objects import PROXMOX, Delta
from knaster.changes.result import Change, Effect, Field, Object
from knaster.changes.scene import Scene
from knaster.changes.words import gib, listed, value

_ORDER = tuple(Effect)
_MEMORY = {"total_mib": "memory", "reserve_mib": "memory kept for the host"}


def states(scene: Scene) -> Iterator[Change]:
    """What a node of the Proxmox cluster is told besides its guests and what they use of its memory."""
    for name, delta in scene.of(PROXMOX, "nodes").items():
        facts = [fact for field in delta.fields if (fact := _fact(delta, field))]
        if delta.only_changed and facts:
            effect = min((effect for effect, _ in facts), key=_ORDER.index)
            cause = (scene.new.nodes[name].reason or "") if delta.changed("state") else ""
            text = "; ".join(text for _, text in facts)
            yield Change("node", name, effect, text, cause=cause, covers=(_object(name),))


def nodes(scene: Scene) -> Iterator[Change]:
    """Nodes of the Proxmox cluster that come or go."""
    for name, delta in scene.of(PROXMOX, "nodes").items():
        if not delta.only_changed:
            effect = Effect.CREATE if delta.after else Effect.UPDATE
            summary = "joins the Proxmox cluster" if delta.after else "leaves the Proxmox cluster; it carried no guest"
            yield Change("node", name, effect, summary, covers=(_object(name),))


def _object(name: str) -> Object:
    return Object(PROXMOX, "nodes", name)


def _fact(delta: Delta, field: Field) -> tuple[Effect, str] | None:
    match field.path:
        case ("state",):
            return _state(delta)
        case ("source",):
            return Effect.RECORD, f"its facts are {value(field.after)} now, {value(field.before)} before"
        case ("memory", str(key)) if key in _MEMORY:
            return Effect.RECORD, f"{_MEMORY[key]} {gib(field.before)} → {gib(field.after)} GiB"
    return None


def _state(delta: Delta) -> tuple[Effect, str]:
    """Of a node that is down OpenTofu can read nothing, so its guests are in ``down.exclude``."""
    old, new = delta.before["state"], delta.after["state"]
    if new == "down":
        guests = delta.after["guests"]
        return Effect.UPDATE, f"is down{f'; plans leave out {listed(guests)}' if guests else ''}"
    if old == "down":
        rest = f"; plans take in {listed(delta.after['guests'])} again" if delta.after["guests"] else ""
        return Effect.UPDATE, f"is {new} again{rest}"
    return Effect.RECORD, f"is {new} now"
