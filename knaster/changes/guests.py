"""Changes of guests: what is created, changed in place, restarted, replaced, destroyed; and of their mappings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from knaster.changes.effects import ORDER, effect, phrase
from knaster.changes.objects import PLACEMENT, PROXMOX, REGISTRY, TFVARS, Delta
from knaster.changes.result import Change, Effect, Field, Object
from knaster.changes.scene import Scene, Side, rows
from knaster.cluster import Node
from knaster.guests import OPENTOFU, Guest
from knaster.names import spot
from knaster.provider import Kind
from knaster.units import show

_ORDER = tuple(Effect)
_LISTS = ((PROXMOX, "guests"), (TFVARS, "vms"), (TFVARS, "containers"))
_VERBS = {
    Effect.REPLACE: "is destroyed and created anew",
    Effect.REFUSE: "cannot be changed like this",
    Effect.RESTART: "restarts",
    Effect.UPDATE: "changes in place",
    Effect.RECORD: "changes in place",
}
_TWICE = (
    "no plan does that to a container, so OpenTofu's gate will refuse: it takes two merges, out of the fleet and under "
    "`retire` first, then in again"
)
_CARRIER = "it carries OpenTofu, so the gate asks for an apply from another machine"
_SAID = (
    ("replication", "replicates"),
    ("replication", "moves"),
    ("replicates", "moves"),
    ("storage", "storage_type"),
    ("template", "os_type"),
)
"""A field, and another that only repeats it."""


def guests(scene: Scene) -> Iterator[Change]:
    """One change for each guest that is new, gone, or differs in more than the roles that it carries."""
    found: dict[str, dict[Object, Delta]] = {}
    for file, collection in _LISTS:
        for name, delta in scene.of(file, collection).items():
            found.setdefault(name, {})[Object(file, collection, name)] = delta
    slots = _slots_of(scene)
    for name, mine in sorted(found.items()):
        old, new = scene.old.guests.get(name), scene.new.guests.get(name)
        change = _whole(scene, name, mine) if old is None or new is None else _changed(scene, name, old, new, mine)
        if change is not None:
            yield replace(change, covers=(*change.covers, *slots.get(name, ())))


def _slots_of(scene: Scene) -> dict[str, list[Object]]:
    """For each guest the slots that are served from it: their labels and addresses follow the guest's."""
    found: dict[str, list[Object]] = {}
    for name, delta in scene.of(REGISTRY, "slots").items():
        for guest in {one.get("guest") for row in rows(delta) for one in row["endpoints"]} - {None}:
            found.setdefault(guest, []).append(Object(REGISTRY, "slots", name))
    return found


def _whole(scene: Scene, name: str, mine: dict[Object, Delta]) -> Change:
    """A guest that is created or destroyed, with the cards and the node that come or go with it."""
    born = name in scene.new.guests
    guest = (scene.new if born else scene.old).guests[name]
    side, other = (scene.new, scene.old) if born else (scene.old, scene.new)
    cards = f", {len(guest.cards)} card{'s' * (len(guest.cards) != 1)}" if guest.cards else ""
    number = "" if guest.vmid is None else f" {guest.vmid}"
    what = f"{'VM' if guest.kind == 'vm' else 'container'}{number} on {guest.node}"
    size = f"{show(guest.memory_gb)} GiB of memory, {guest.disk_gib} GiB of disk on {guest.storage}{cards}"
    verb = ("is adopted" if guest.exists else "is created") if born else "is destroyed with its data"
    return Change(
        "guest",
        name,
        Effect.CREATE if born else Effect.DESTROY,
        f"{verb}: {what}, {size}",
        None if born else what,
        what if born else None,
        _why(side, other, guest, born=born) + (_off(side, guest) if born else _refused(scene, name)),
        covers=(*mine, *_with_it(scene, guest, other)),
    )


def _refused(scene: Scene, name: str) -> str:
    """What OpenTofu will say of a guest that goes without the permission to destroy it."""
    platform = scene.new.planned.cluster.platform
    retired = platform is not None and name in platform.retire
    return "" if retired else "; not in `retire`, so OpenTofu's gate will refuse"


def _off(side: Side, guest: Guest) -> str:
    """What OpenTofu's gate will say of the image for a VM on a node that is down from the start."""
    node = side.nodes.get(guest.node)
    down = guest.kind == "vm" and not guest.exists and node is not None and node.state == "down"
    return f"; {guest.node} is down, so OpenTofu's gate will refuse to make its image" if down else ""


def _with_it(scene: Scene, guest: Guest, other: Side) -> Iterator[Object]:
    """What says the same: the node's list of guests, the guest's mappings, and a node's disabled cards."""
    objects = [Object(PROXMOX, "nodes", guest.node)]
    for card in guest.cards:
        objects += [
            Object(PROXMOX, "mappings", f"{guest.node}/{card.mapping}"),
            Object(TFVARS, "mappings", card.mapping),
        ]
        if guest.node not in other.nodes:
            objects.append(Object(PLACEMENT, "disabled_gpus", spot(guest.node, card.gpu.index)))
    yield from (one for one in objects if one in scene.deltas)


def _why(side: Side, other: Side, guest: Guest, *, born: bool) -> str:
    """Why a guest is there on one `side` alone."""
    if guest.kind == "lxc":
        return f"guests.{guest.name} is {'new' if born else 'gone'} in catalog/platform.yaml"
    node = side.nodes.get(guest.node)
    if guest.node not in other.nodes:
        twin = next((name for name, one in other.nodes.items() if name not in side.nodes and _alike(one, node)), None)
        if twin is not None:
            return f"{twin} is now called {guest.node}" if born else f"{guest.node} is now called {twin}"
        return f"{guest.node} is {'new' if born else 'gone'}"
    there = other.nodes[guest.node]
    if node is not None and not there.gpus:
        return f"{guest.node} {'has cards now' if born else 'has no card any more'}"
    if node is not None and there.platform != node.platform:
        return f"{guest.node} {'is a Proxmox node now' if born else 'is no Proxmox node any more'}"
    platform = other.planned.cluster.platform
    if platform is None or platform.gpu_vm is None:
        return f"gpu_vm is {'new' if born else 'gone'} in catalog/platform.yaml"
    return "GPU VMs have another name (gpu_vm.name in catalog/platform.yaml)"


def _alike(one: Node, other: Node | None) -> bool:
    """Whether two nodes differ in nothing but their names."""
    return other is not None and replace(one, name="", file="") == replace(other, name="", file="")


def _changed(scene: Scene, name: str, old: Guest, new: Guest, mine: dict[Object, Delta]) -> Change | None:
    kind: Kind = new.kind
    roams = kind == "lxc" and bool(new.replication)
    does = partial(effect, kind=kind, roams=roams)
    fields = sorted(_merged(mine), key=lambda field: (_ORDER.index(does(field)), _position(field)))
    if not fields:
        return None
    worst = does(fields[0])
    summary = f"{_VERBS[worst]}: {', '.join(phrase(field, kind, roams=roams) for field in fields)}"
    driver = any(field.path[0] == "driver" and does(field) is Effect.RESTART for field in fields)
    if worst is Effect.REPLACE:
        summary += f"; its data on {old.storage} is lost"
    elif driver:
        summary += "; by Ansible, VM by VM, behind a snapshot"
    cause = _replaced(scene, new) if worst is Effect.REPLACE else ""
    if worst in (Effect.REPLACE, Effect.RESTART) and OPENTOFU in (*old.services, *new.services):
        cause = "; ".join(filter(None, (cause, _CARRIER)))
    return Change("guest", name, worst, summary, cause=cause, covers=(*mine, *_lists(scene, old, new)))


def _replaced(scene: Scene, guest: Guest) -> str:
    """What OpenTofu's gate will say of a guest that is made anew."""
    if guest.kind == "lxc":
        return _TWICE
    return _refused(scene, guest.name).removeprefix("; ") or "`retire` allows it"


def _lists(scene: Scene, old: Guest, new: Guest) -> Iterator[Object]:
    """The nodes that begin or cease to carry a guest."""
    for node in {old.node} ^ {new.node}:
        if (found := Object(PROXMOX, "nodes", node)) in scene.deltas:
            yield found


def _merged(mine: dict[Object, Delta]) -> list[Field]:
    """What differs in either file, each field once; without what `roles` tells, or another field says as well."""
    found = {field.path: field for _, delta in sorted(mine.items()) for field in delta.fields if field.path}
    for said, echo in _SAID:
        if (said,) in found:
            found.pop((echo,), None)
    found.pop(("roles",), None)
    return list(found.values())


def _position(field: Field) -> tuple[int, str]:
    key = str(field.path[0])
    return (ORDER.index(key) if key in ORDER else len(ORDER), str(field.path))
