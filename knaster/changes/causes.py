"""Why a role left one place and took another: read off both plans, never guessed."""

from __future__ import annotations

from collections.abc import Iterable

from knaster.changes.scene import Scene, Side
from knaster.changes.shifts import Shift
from knaster.changes.words import spot_of
from knaster.names import spot
from knaster.placement.explain import Line
from knaster.placement.result import Assignment
from knaster.placement.standing import Standing
from knaster.units import exact, show, show_cc

_SILENT = frozenset({"chosen", "fits"})


def cause(scene: Scene, shift: Shift) -> str:
    """The cause of a role's shift in one sentence without a full stop; "" where nothing more is known."""
    role = shift.role
    if shift.what == "added":
        return scene.new.reasons.get(role, "") if not shift.after else ""
    if shift.what == "removed":
        return "it is no longer in catalog/roles.yaml"
    if shift.what == "kept":
        return ""
    old, new = scene.old.roles[role].count, scene.new.roles[role].count
    if old != new and shift.what in ("reduced", "gained"):
        return f"count {old} → {new}"
    reason = scene.new.reasons.get(role, "") if shift.what in ("lost", "reduced") else ""
    away = _joined(_leaving(scene, role, one, reason) for one in shift.left)
    if shift.what in ("lost", "reduced"):
        return _joined((away, reason))
    return away or _joined((*(_coming(scene, role, one) for one in shift.taken), _better(scene, shift)))


def _joined(parts: Iterable[str]) -> str:
    return "; ".join(list(dict.fromkeys(part for part in parts if part))[:2])


def _leaving(scene: Scene, role: str, one: Assignment, reason: str) -> str:
    """Why the newer plan does not use a place of the older one; `reason` is told as well, and need not be repeated."""
    return gone(scene.new, one, "gone") or _words(scene.new, scene.after, role, one, reason)


def _coming(scene: Scene, role: str, one: Assignment) -> str:
    """What kept the older plan from a place of the newer one."""
    place = spot(*spot_of(one))
    appeared = gone(scene.old, one, "new")
    if appeared:
        return appeared
    line = scene.before.line(role, spot_of(one))
    if line is None or line.verdict in _SILENT:
        return ""
    if line.verdict == "disabled":
        return f"{place} is no longer disabled"
    if line.verdict == "state":
        return f"{one.node} is no longer {scene.old.nodes[one.node].state}"
    if line.verdict == "taken":
        return _overtakes(scene, role, line.text.removeprefix("taken by "), place)
    if line.verdict == "target":
        return f"{scene.new.roles[role].share_with} is on {place} now"
    return f"until now {place} was {_phrase(scene.old, scene.before, role, one, line)}"


def gone(side: Side, one: Assignment, word: str) -> str:
    """That a side does not have the place (``gone``, ``new``); "" where it has."""
    node = side.nodes.get(one.node)
    if node is None:
        return f"{one.node} is {word}"
    if one.gpu_index is None:
        missing = one.guest is not None and one.guest not in side.guests
        return f"the guest {one.guest} is {word}" if missing else ""
    return "" if any(gpu.index == one.gpu_index for gpu in node.gpus) else f"the card {spot(*spot_of(one))} is {word}"


def _words(side: Side, standing: Standing, role: str, one: Assignment, reason: str) -> str:
    line = standing.line(role, spot_of(one))
    if line is None or line.verdict in _SILENT:
        return ""
    place = spot(*spot_of(one))
    if line.verdict == "taken":
        return _taken(side, line.text.removeprefix("taken by "), role, place)
    if line.verdict == "target":
        return f"{side.roles[role].share_with} is not on {place}"
    if line.verdict == "state":
        return f"{one.node} is {line.text}"
    if line.verdict == "guest" and one.guest is not None and one.guest in side.guests:
        return f"the guest {one.guest} is on {side.guests[one.guest].node} now"
    card = standing.card(spot_of(one))
    if (
        line.verdict == "vram"
        and card is not None
        and f"less than {show(side.roles[role].needs.min_vram_gb)} GB" in reason
    ):
        return f"{place} has {show(card.gpu.memory_gb or 0)} GB"
    return f"{place} is {_phrase(side, standing, role, one, line)}"


def _taken(side: Side, holder: str, role: str, place: str) -> str:
    """That another role took a place; "" where that one is served later, and so took only what was left to it."""
    if not _precedes(side, holder, role):
        return ""
    one, other = side.roles[holder].priority, side.roles[role].priority
    return f"{holder} takes {place}" + (f" (priority {one} comes before {other})" if one != other else "")


def _overtakes(scene: Scene, role: str, holder: str, place: str) -> str:
    """Why the earlier holder of a place is not there any more: it went, or it is served later now."""
    if _precedes(scene.old, holder, role) and _precedes(scene.new, role, holder):
        one, other = (scene.new.roles[name].priority for name in (role, holder))
        return f"{role} comes before {holder} now (priority {one}, {other})"
    return f"{holder} leaves {place}"


def _precedes(side: Side, one: str, other: str) -> bool:
    """Whether a role is served before another."""
    roles = side.roles
    return one in roles and other in roles and (roles[one].priority, one) < (roles[other].priority, other)


def _phrase(side: Side, standing: Standing, role: str, one: Assignment, line: Line) -> str:
    """The line's cause as what the place is: need against have."""
    wanted, card = side.roles[role], standing.card(spot_of(one))
    engine = (side.planned.cluster.catalog.engines if side.planned.cluster.catalog else {}).get(wanted.needs.engine)
    if line.verdict == "vram" and card is not None:
        return f"too small: {role} needs {show(wanted.needs.min_vram_gb)} GB, it has {show(card.gpu.memory_gb or 0)} GB"
    if line.verdict.startswith("compute-cap-") and card is not None and card.gpu.compute_cap is not None and engine:
        return f"{line.text}: it has {show_cc(card.gpu.compute_cap)}"
    if line.verdict == "room" and line.room is not None:
        need = show(wanted.needs.min_memory_gb)
        return f"too full: {role} needs {need} GB, {show(line.room.left / 1024)} GB are left"
    return line.text


def _better(scene: Scene, shift: Shift) -> str:
    """That the card taken ranks before the card left, which would still serve."""
    if not shift.left or not shift.taken:
        return ""
    old, new = (scene.after.card(spot_of(one)) for one in (shift.left[0], shift.taken[0]))
    if old is None or new is None:
        return ""
    sizes = (exact(new.gpu.memory_gb or 0), exact(old.gpu.memory_gb or 0))
    if sizes[0] != sizes[1]:
        word = "larger" if sizes[0] > sizes[1] else "smaller"
        return f"a {word} card that fits: {show(sizes[0])} GB instead of {show(sizes[1])} GB"
    if new.gpu.compute_cap != old.gpu.compute_cap and new.gpu.compute_cap and old.gpu.compute_cap:
        return f"compute capability {show_cc(new.gpu.compute_cap)} instead of {show_cc(old.gpu.compute_cap)}"
    return f"both would serve; {new.name} comes first in order"
