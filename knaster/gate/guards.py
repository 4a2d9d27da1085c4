"""What forbids an apply, or wants a person's eye, because of where and how it happens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from knaster.cluster import PLATFORM_FILE
from knaster.diagnostics import Diagnostic, Severity
from knaster.gate.plan import Change
from knaster.gate.telling import IMAGE, KINDS, effect_of
from knaster.names import listed

_ENDS = {"destroy": "destroys", "replace": "destroys", "restart": "restarts"}


def own_guest(changes: Iterable[Change], carriers: frozenset[str], *, elsewhere: bool) -> Iterator[Diagnostic]:
    """A guest that carries OpenTofu itself: with it the apply dies, and the state of what it did last is lost."""
    for change in changes:
        verb = _ENDS.get(effect_of(change)) if change.kind in KINDS and change.name in carriers else None
        if verb is not None and not elsewhere:
            hint = (
                "make the same change on its node first (pct set, pct reboot), then no plan has it any more; or leave "
                "it out with -exclude, and apply it from another machine, where the gate is told so by --elsewhere"
            )
            message = (
                f"guest {change.name} carries OpenTofu, and this apply {verb} it: run there, it would end half way"
            )
            yield Diagnostic("gate-own-guest", message, hint=hint)


def powered_off(changes: Iterable[Change], down: frozenset[str]) -> Iterator[Diagnostic]:
    """What would be done on a node that is down; a failed image keeps OpenTofu from all VMs of all nodes."""
    hint = "plan again with -refresh=false -exclude-file=down.exclude, see docs/opentofu.md"
    for change in changes:
        node = _node(change)
        if node not in down or "forget" in change.actions:
            continue
        if change.kind == IMAGE:
            message = (
                f"the image on {node} would be {_made(change)}, but {node} is down: no VM of any node would follow"
            )
            new = (
                f"plan with -refresh=false; another image in {PLATFORM_FILE} waits until {node} is on; if it was never "
                "applied, take it out of inventory/ till then"
            )
            yield Diagnostic("gate-down", message, hint=new)
        else:
            message = f"guest {change.name} would be {_made(change)} on {node}, which is down"
            yield Diagnostic("gate-down", message, hint=hint)


def _made(change: Change) -> str:
    return "destroyed" if change.destroys else "created" if "create" in change.actions else "changed"


def _node(change: Change) -> str:
    """Where it happens; "" for what belongs to the whole cluster."""
    if change.kind != IMAGE and change.kind not in KINDS:
        return ""
    found = (change.before or change.after).get("node_name")
    return found if isinstance(found, str) else change.name if change.kind == IMAGE else ""


def without_keys(changes: Iterable[Change], variables: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Guests that are made without an ssh key: keys that come later are not given to them."""
    tables = [table for name in ("vms", "containers") if isinstance(table := variables.get(name), dict)]
    made = {one.name for one in changes if one.kind in KINDS and "create" in one.actions}
    bare = {name for table in tables for name, guest in table.items() if name in made and not _keys(guest)}
    if bare:
        message = f"made without an ssh key, so that nobody can log in: {listed(bare)}"
        hint = f"write access.ssh_keys in {PLATFORM_FILE} first; later keys are not given to a guest that exists"
        yield Diagnostic("gate-no-keys", message, severity=Severity.WARNING, hint=hint)


def _keys(guest: Any) -> bool:
    return not isinstance(guest, dict) or guest.get("ssh_keys") != []
