"""The report of `placement plan --without`: roles, guests and slots after the loss of a node or a card."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from knaster.files import Files
from knaster.guests import Guest
from knaster.pipeline import Evaluation
from knaster.placement.failure import Change, compare
from knaster.planned import Planned
from knaster.reports.blocks import Items, Line, Report, Table
from knaster.reports.placement import closing, head, tail
from knaster.slots import slot_views


def report(
    evaluation: Evaluation, before: Planned, after: Planned, target: str, files: Files, *, verbose: bool
) -> Report:
    """What the loss of `target` would do. Survived means that every placed role stays placed.

    JSON: ``{command, ok, without, survived, changes, guests, slots, diagnostics}``; a change is ``{role, change,
    before, after, reason}``, a lost guest ``{guest, kind, services, replicas}``, a slot that nobody serves any more
    ``{slot, role, falls_back_to}`` (null: nothing).
    """
    changes = compare(before.plan, after.plan)
    down = {node.name for node in before.cluster.nodes if node.state == "down"}
    guests = [guest for guest in before.guests if guest.node == target and target not in down]
    slots = _slots(before, after)
    survived = not _names(changes, "lost")
    data = {
        **head(evaluation),
        "without": target,
        "survived": survived,
        "changes": [_change(item) for item in changes],
        "guests": [_guest_data(guest, before) for guest in guests],
        "slots": [{"slot": slot, "role": role, "falls_back_to": there} for slot, role, there in slots],
        **tail(evaluation),
    }
    rows = tuple((item.role, item.what, ", ".join(item.before), ", ".join(item.after)) for item in changes)
    blocks = (
        Line(_verdict(target, changes, guests), "good" if survived else "bad"),
        Table(("ROLE", "CHANGE", "BEFORE", "AFTER"), rows),
        Items("why", tuple(f"{item.role}: {item.reason}" for item in changes if item.reason)),
        Items("guests lost", tuple(_guest(guest, before) for guest in guests)),
        Items("slots lost", tuple(_falls_back(slot, there) for slot, _, there in slots)),
        *closing(evaluation, files, verbose=verbose),
    )
    return Report(data, blocks)


def _change(item: Change) -> dict[str, Any]:
    return {
        "role": item.role,
        "change": item.what,
        "before": item.before,
        "after": item.after,
        "reason": item.reason,
    }


def _guest_data(guest: Guest, planned: Planned) -> dict[str, Any]:
    replicas = _replicas(guest, planned)
    return {"guest": guest.name, "kind": guest.kind, "services": guest.services, "replicas": replicas}


def _verdict(target: str, changes: tuple[Change, ...], guests: list[Guest]) -> str:
    if not changes:
        what = "no role moves" if guests else "nothing changes"
        return f"without {target} {what}: every placed role stays where it is"
    dropped = _names(changes, "lost")
    if not dropped:
        return f"without {target} every placed role stays placed"
    return f"without {target} the fleet drops {', '.join(dropped)}"


def _names(changes: Iterable[Change], what: str) -> list[str]:
    return [item.role for item in changes if item.what == what]


def _replicas(guest: Guest, planned: Planned) -> list[str]:
    """The nodes that hold a copy of the guest and run."""
    up = {node.name for node in planned.cluster.nodes if node.state != "down"}
    return sorted({job.target for job in guest.replication} & up - {guest.node})


def _guest(guest: Guest, planned: Planned) -> str:
    services = f" ({', '.join(guest.services)})" if guest.services else ""
    replicas = _replicas(guest, planned)
    way_out = f": can be started from its replica on {', '.join(replicas)}" if replicas else ""
    return f"{guest.name}{services}{way_out}"


def _slots(before: Planned, after: Planned) -> list[tuple[str, str, str | None]]:
    """Slots that nobody serves any more, and the first name of their chain that answers then."""
    platform = before.cluster.platform
    views = slot_views(after)
    answering = {view.name for view in views if view.state == "available"} | set(platform.external if platform else ())
    served = {(view.name, view.role) for view in slot_views(before) if view.state == "available"}
    return [
        (view.name, view.role, next((name for name in view.fallback if name in answering), None))
        for view in views
        if view.state != "available" and (view.name, view.role) in served
    ]


def _falls_back(slot: str, there: str | None) -> str:
    return f"{slot} falls back to {there}" if there else f"{slot} has no fallback"
