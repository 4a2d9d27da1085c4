"""What forbids an apply, beside what it would do."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from knaster.cluster import PLATFORM_FILE
from knaster.diagnostics import Diagnostic, Severity
from knaster.gate.devices import CONTAINER, VM, detached
from knaster.gate.differing import blocks
from knaster.gate.guards import own_guest, powered_off, without_keys
from knaster.gate.plan import KNOWN, Change, Plan
from knaster.gate.telling import IMAGE, MAPPING, ORDER, Told, told
from knaster.names import listed

_GUESTS = (VM, CONTAINER)
_CONFIGURATION = (".tf", ".tf.json", ".tofu", ".tofu.json", ".tfvars", ".tfvars.json")


@dataclass(frozen=True, slots=True)
class Fleet:
    """What the plan has to be of.

    ``variables`` are the values that the inputs give, ``files`` the digests (hex) of ``generated/tofu/`` by path
    relative to it, ``retire`` the guests that may be destroyed, ``assumed`` the nodes whose facts nobody has read,
    ``down`` those that are off, ``carriers`` the guests that run OpenTofu; ``elsewhere``: the apply is not run in them.
    """

    variables: Mapping[str, Any]
    files: Mapping[str, str]
    retire: frozenset[str]
    assumed: frozenset[str]
    down: frozenset[str] = frozenset()
    carriers: frozenset[str] = frozenset()
    elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """What happens, worst first, and the diagnostics: an error forbids the apply, a warning wants a person's eye."""

    changes: tuple[Told, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def ok(self) -> bool:
        """Whether the plan may be applied."""
        return not any(item.severity is Severity.ERROR for item in self.diagnostics)


def judge(plan: Plan, fleet: Fleet) -> Verdict:
    """Everything that the plan does, and every reason not to apply it."""
    active = [change for change in plan.changes if not change.quiet]
    found = [*_unusable(plan, fleet), *_other_files(plan, fleet)]
    gone = {change.name for change in active if change.kind == MAPPING and change.destroys}
    for change in active:
        found += _refusals(change, fleet)
        found += detached(change, fleet.variables.get("mappings"), gone)
    found += [*own_guest(active, fleet.carriers, elsewhere=fleet.elsewhere), *powered_off(active, fleet.down)]
    found += [*_lost(plan), *_twice(active), *_travelling(active), *without_keys(active, fleet.variables)]
    words = [_told(change, fleet) for change in active]
    changes = sorted(words, key=lambda one: (ORDER.index(one.effect), one.noun, one.name, one.address))
    return Verdict(tuple(changes), tuple(dict.fromkeys(found)))


def _told(change: Change, fleet: Fleet) -> Told:
    """With the permission beside the cause."""
    one = told(change)
    if one.effect not in ("destroy", "replace", "forget") or not _permitted(change, fleet):
        return one
    return replace(one, cause=", ".join(filter(None, (one.cause, "retire allows it"))))


def _permitted(change: Change, fleet: Fleet) -> bool:
    """Whether ``retire`` allows to destroy it. A container is never made anew: the module guards it."""
    if change.kind == CONTAINER and change.replaces:
        return False
    return change.kind in _GUESTS and change.name in fleet.retire


def _unusable(plan: Plan, fleet: Fleet) -> Iterator[Diagnostic]:
    if plan.errored:
        message = "OpenTofu ended this plan with an error, so it cannot be applied"
        yield Diagnostic("gate-plan", message, hint="what follows is what it got to; then make the plan again")
    left_out = _left_out(plan, fleet)
    if (plan.partial or left_out) and not plan.errored:
        what = listed(left_out) if left_out else "something"
        message = f"the plan leaves out {what} (-target or -exclude): what is not told here stays as it is"
        yield Diagnostic("gate-partial", message, severity=Severity.WARNING)


def _left_out(plan: Plan, fleet: Fleet) -> set[str]:
    """Guests of the fleet that the plan says nothing of; a whole plan also names what stays as it is."""
    tables = [fleet.variables.get(name) for name in ("vms", "containers")]
    guests = {name for table in tables if isinstance(table, dict) for name in table}
    return guests - {change.name for change in plan.changes if change.kind in _GUESTS}


def _other_files(plan: Plan, fleet: Fleet) -> Iterator[Diagnostic]:
    """A saved plan carries its own files and values: whatever lies in ``generated/`` now, an apply follows the plan."""
    hint = "make the plan again from the generated/ that is here, without -var"
    other = {name for name, value in fleet.variables.items() if plan.variables.get(name) != value}
    if other := other | (plan.variables.keys() - fleet.variables.keys()):
        message = f"the plan was made with other values than the inputs give: {listed(other)}"
        yield Diagnostic("gate-files", message, hint=hint)
    if plan.files is None:
        # Of a plan with -target or -exclude OpenTofu leaves out all outputs; its values are compared all the same.
        expected = bool(_left_out(plan, fleet)) and not other
        severity = Severity.WARNING if expected else Severity.ERROR
        message = "the plan does not say which files it was made from (output generation is missing)"
        yield Diagnostic("gate-files", message, severity=severity, hint=None if expected else hint)
        return
    if differ := [path for path in plan.files.keys() | fleet.files.keys() if _differs(path, plan, fleet)]:
        message = f"the plan was made from other files than manifest.json records: {listed(differ)}"
        yield Diagnostic("gate-files", message, hint=hint)


def _differs(path: str, plan: Plan, fleet: Fleet) -> bool:
    return path.endswith(_CONFIGURATION) and (plan.files or {}).get(path) != fleet.files.get(path)


def _refusals(change: Change, fleet: Fleet) -> Iterator[Diagnostic]:
    one = told(change)
    what = f"{one.noun} {one.name}"
    because = f": {one.cause}" if one.cause else ""
    if not set(change.actions) <= KNOWN:
        words = ", ".join(change.actions)
        yield Diagnostic("gate-plan", f"{what} has an action that knaster does not know: {words}")
    if change.imported and change.destroys:
        message = f"{what} exists and is to be adopted, but would be destroyed and made anew{because}"
        yield Diagnostic("gate-import", message, hint=f"make {PLATFORM_FILE} say what the guest is")
    elif (change.destroys or "forget" in change.actions) and change.kind not in (MAPPING, IMAGE):
        yield from _destroyed(change, fleet, f"{what} {one.summary}{because}")
    if change.kind in _GUESTS and not change.destroys:
        yield from _shrunk(change)
    if change.kind == MAPPING and not change.destroys and _node(change, fleet) in fleet.assumed:
        node = _node(change, fleet)
        message = f"{what} would be made from assumed facts: nobody has read the cards of {node}"
        yield Diagnostic(
            "gate-assumed", message, hint="run `knaster inventory collect` on it; else its VM may not start"
        )


def _destroyed(change: Change, fleet: Fleet, message: str) -> Iterator[Diagnostic]:
    if _permitted(change, fleet):
        return
    code = "gate-replaces" if change.replaces else "gate-destroys"
    yield Diagnostic(code, message, hint=_way_out(change))


def _way_out(change: Change) -> str:
    if change.kind not in _GUESTS or not change.address.startswith("module."):
        return f"knaster makes no such resource; to keep the thing: tofu state rm {shlex.quote(change.address)}"
    if change.replaces and change.reason == "replace_because_tainted":
        return (
            f"if it is whole: tofu untaint {shlex.quote(change.address)}; else destroy it on its node and "
            "tofu state rm that address, then plan again"
        )
    if change.kind == CONTAINER and change.replaces:
        moved = "undo what the cause names"
        if {path[-1] for path in change.paths} <= {"node_name", "datastore_id"} and change.paths:
            moved += ", or move it on its node (pct migrate, pct move-volume: docs/opentofu.md)"
        return (
            f"{moved}; else back its data up and take two merges, each applied: {change.name} out of "
            f"the fleet and under retire in {PLATFORM_FILE}, then in again and out of retire"
        )
    return f"to allow it, name {change.name} under retire in {PLATFORM_FILE}; else undo what the cause names"


def _shrunk(change: Change) -> Iterator[Diagnostic]:
    """A disk that gets smaller: to the provider an update, to Proxmox an error half way through the apply."""
    old, new = _sizes(change.before), _sizes(change.after)
    for interface in sorted(old.keys() & new.keys()):
        if new[interface] < old[interface]:
            message = f"a disk of guest {change.name} would shrink from {old[interface]} to {new[interface]} GiB"
            hint = f"disks only grow: write disk_gb: {old[interface]} in {PLATFORM_FILE}"
            yield Diagnostic("gate-shrinks", message, hint=hint)


def _sizes(guest: Mapping[str, Any]) -> dict[str, int]:
    """Sizes of the disks in GiB by interface; a container has one, without."""
    return {str(one.get("interface")): one["size"] for one in blocks(guest, "disk") if isinstance(one.get("size"), int)}


def _node(change: Change, fleet: Fleet) -> str | None:
    declared = fleet.variables.get("mappings")
    card = declared.get(change.name) if isinstance(declared, dict) else None
    node = card.get("node") if isinstance(card, dict) else None
    return node if isinstance(node, str) else next((entry["node"] for entry in _entries(change.after)), None)


def _entries(mapping: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The entries of a mapping that name a node."""
    return [entry for entry in blocks(mapping, "map") if isinstance(entry.get("node"), str)]


def _lost(plan: Plan) -> Iterator[Diagnostic]:
    """A guest that a refresh did not find, and that would be made a second time."""
    gone = {change.address: change for change in plan.drift if change.kind in _GUESTS and change.destroys}
    for change in plan.changes:
        if change.address in gone and "create" in change.actions:
            node = gone[change.address].before.get("node_name")
            message = f"guest {change.name} was not found on {node}, and would be made a second time"
            hint = (
                "after a failover it runs elsewhere: `tofu state rm` its address and import NODE/VMID from there; "
                "if it is really gone, restore it first"
            )
            yield Diagnostic("gate-lost", message, hint=hint)


def _twice(changes: Iterable[Change]) -> Iterator[Diagnostic]:
    """A guest under a new name is the same VM id once destroyed and once made: which comes first nobody knows."""
    guests = [change for change in changes if change.kind in _GUESTS]
    going = {_vmid(change.before): change for change in guests if change.destroys and not change.replaces}
    for change in guests:
        old = None if change.destroys else going.get(_vmid(change.after))
        if old is not None and _vmid(old.before) is not None:
            message = f"guest {change.name} has the VM id {_vmid(old.before)} of guest {old.name}, which is destroyed"
            hint = f"a guest cannot be renamed like this; call it {old.name} again, or give it another VM id"
            yield Diagnostic("gate-destroys", message, hint=hint)


def _vmid(guest: Mapping[str, Any]) -> int | None:
    found = guest.get("vm_id")
    return found if isinstance(found, int) else None


def _travelling(changes: Iterable[Change]) -> Iterator[Diagnostic]:
    """A card that leaves one node and comes to another in one plan."""
    some = [change for change in changes if change.kind == MAPPING]
    leaving = {_identity(change.before): change for change in some if change.destroys}
    for change in some:
        left = leaving.get(_identity(change.after)) if "create" in change.actions else None
        if left is not None and _identity(change.after) is not None and left.name != change.name:
            message = f"a card seems to move: {left.name} goes and {change.name} comes"
            hint = "two steps are safer: land and apply the removal, move the card, then collect and land the addition"
            yield Diagnostic("gate-card-moves", message, severity=Severity.WARNING, hint=hint)


def _identity(mapping: Mapping[str, Any]) -> tuple[str, str] | None:
    for entry in _entries(mapping):
        return str(entry.get("id")), str(entry.get("subsystem_id"))
    return None
