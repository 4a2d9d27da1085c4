"""Changes of roles: placed, moved, lost, reduced, added, removed. One line tells everything that follows from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from knaster.changes.causes import cause
from knaster.changes.objects import PROXMOX, REGISTRY, Delta
from knaster.changes.result import Change, Effect, Object
from knaster.changes.scene import Scene, rows
from knaster.changes.shifts import Shift, What
from knaster.changes.words import NEW, listed
from knaster.placement.failure import place_name

_EFFECTS: Mapping[What, Effect] = {
    "removed": Effect.LOSE,
    "lost": Effect.LOSE,
    "reduced": Effect.LOSE,
    "moved": Effect.MOVE,
    "placed": Effect.CREATE,
    "gained": Effect.CREATE,
    "added": Effect.CREATE,
    "renumbered": Effect.UPDATE,
    "kept": Effect.UPDATE,
}


def roles(scene: Scene) -> Iterator[Change]:
    """One change for each role whose places, card, guest, slots or reason differ."""
    slots, guests = _slots_of(scene), _guests_of(scene)
    for shift in scene.shifts.values():
        mine = scene.own.get(shift.role, {})
        if shift.what == "kept" and not any(_told(delta) for delta in mine.values()):
            continue
        covers = (*mine, *slots.get(shift.role, ()), *guests.get(shift.role, ()))
        yield _change(scene, shift, mine, covers)


def _change(scene: Scene, shift: Shift, mine: Mapping[Object, Delta], covers: tuple[Object, ...]) -> Change:
    before, after = (", ".join(places) or None for places in (shift.before, shift.after))
    effect, summary = _EFFECTS[shift.what], _summary(shift)
    why = cause(scene, shift)
    if shift.what == "kept":
        effect, summary = _kept(shift, mine)
        why = _reason_changed(scene, shift.role)
    elif shift.what in ("removed", "added") and not (before or after):
        effect = Effect.RECORD
    return Change("role", shift.role, effect, summary, before, after, why, covers=covers)


def _summary(shift: Shift) -> str:
    left, taken = (listed(map(place_name, places)) for places in (shift.left, shift.taken))
    match shift.what:
        case "removed":
            return f"is removed; it ran on {listed(shift.before)}" if shift.before else "is removed; it had no place"
        case "added":
            return f"{NEW} and runs on {listed(shift.after)}" if shift.after else f"{NEW} and has no place"
        case "lost":
            return f"loses its place on {left}"
        case "placed":
            return f"gets a place on {taken}"
        case "renumbered":
            return f"keeps its card, which is {listed(shift.after)} now"
    if not left or not taken:
        return f"also runs on {taken}" if taken else f"no longer runs on {left}; it keeps {listed(shift.after)}"
    fewer = {"reduced": f", on {len(shift.after)} instead of {len(shift.before)} places"}.get(shift.what, "")
    return f"moves from {left} to {taken}{fewer}"


def _told(delta: Delta) -> bool:
    """Whether more than the list of fitting models differs, which `models` tells."""
    return not delta.only_changed or any(field.path[:1] != ("models_fitting",) for field in delta.fields)


def _kept(shift: Shift, mine: Mapping[Object, Delta]) -> tuple[Effect, str]:
    """A role that stays where it is: what is different about its place, the gravest first."""
    deltas = list(mine.values())
    guests = listed(sorted({new.guest or "no guest" for old, new in shift.kept if old.guest != new.guest}))
    for key, effect, text in (
        ("guest", Effect.UPDATE, f"stays on its card, now in {guests}"),
        ("slots", Effect.UPDATE, "stays on its cards, which serve other slots of it"),
        ("card", Effect.RECORD, "stays where it is; its card is known by another name"),
    ):
        if any(delta.changed(key) for delta in deltas):
            return effect, text
    reasons = [delta for delta in deltas if "reason" in rows(delta)[0]]
    if any(not delta.only_changed for delta in reasons):
        gone = any(delta.after is None for delta in reasons)
        return Effect.RECORD, "has all places that it wants" if gone else "has fewer places than it wants"
    return Effect.RECORD, "still has no place, for another reason"


def _reason_changed(scene: Scene, role: str) -> str:
    new = scene.new.reasons.get(role, "")
    return new if new != scene.old.reasons.get(role, "") else ""


def _slots_of(scene: Scene) -> dict[str, list[Object]]:
    """For each role the slots whose difference may follow from its places."""
    found: dict[str, list[Object]] = {}
    for name, delta in scene.of(REGISTRY, "slots").items():
        for role in {row["role"] for row in rows(delta)}:
            found.setdefault(role, []).append(Object(REGISTRY, "slots", name))
    return found


def _guests_of(scene: Scene) -> dict[str, list[Object]]:
    """For each role the guests that begin or cease to carry it."""
    found: dict[str, list[Object]] = {}
    for name, delta in scene.of(PROXMOX, "guests").items():
        old, new = ((side or {}).get("roles", ()) for side in (delta.before, delta.after))
        for role in {*old} ^ {*new}:
            found.setdefault(role, []).append(Object(PROXMOX, "guests", name))
    return found
