"""Changes of slots: what callers notice. Where only the endpoint follows a role that moves, the role tells it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from knaster.changes.objects import REGISTRY, Delta
from knaster.changes.result import Change, Effect, Object
from knaster.changes.scene import Scene
from knaster.changes.shifts import Shift
from knaster.changes.words import changed, listed, value

_ORDER = tuple(Effect)
_TOLD_BY_OTHERS = frozenset({"models", "processor", "reason"})
"""What `roles` and `models` tell."""
_OWN_WORDS = frozenset({"state", "model", "endpoints", "fallback"})


@dataclass(frozen=True, slots=True)
class _Fact:
    """One thing about a slot that differs: the field it is about, what that does, and how it is told."""

    key: str
    effect: Effect
    text: str


def slots(scene: Scene) -> Iterator[Change]:
    """One change for each slot that callers would see differ."""
    for name, delta in scene.of(REGISTRY, "slots").items():
        facts = tuple(_whole(delta) if not delta.only_changed else _facts(scene, delta.before, delta.after))
        if facts:
            before, after = _ends(delta)
            yield Change(
                "slot",
                name,
                min((fact.effect for fact in facts), key=_ORDER.index),
                "; ".join(fact.text for fact in facts),
                before,
                after,
                _cause(scene, delta, name, frozenset(fact.key for fact in facts)),
                covers=(Object(REGISTRY, "slots", name),),
            )


def _whole(delta: Delta) -> Iterator[_Fact]:
    """A slot that is new or gone."""
    slot, born = delta.after or delta.before, delta.after is not None
    if slot["state"] != "available":
        text = "is new, and not available" if born else "is removed; it was not available"
        yield _Fact("", Effect.RECORD, text)
    elif born:
        yield _Fact("", Effect.CREATE, f"is new: {value(slot.get('model'))} at {listed(_addresses(slot))}")
    else:
        yield _Fact("", Effect.LOSE, "is removed")


def _facts(scene: Scene, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[_Fact]:
    yield from _state(old, new)
    same = old["state"] == new["state"]
    if same and old.get("model") != new.get("model"):
        verb = "serves" if new["state"] == "available" else "is meant for"
        text = f"{verb} {value(new.get('model'))} instead of {value(old.get('model'))}"
        yield _Fact("model", Effect.UPDATE, text)
    if same:
        yield from _endpoints(old, new, moves=_moves(scene, new["role"]) is not None)
    if old["fallback"] != new["fallback"]:
        yield _Fact("fallback", Effect.UPDATE, f"falls back to {_chain(new)} instead of {_chain(old)}")
    for key in dict.fromkeys((*old, *new)):
        if key not in _OWN_WORDS | _TOLD_BY_OTHERS and old.get(key) != new.get(key):
            yield _Fact(key, Effect.UPDATE, f"{key.replace('_', ' ')} {changed(old.get(key), new.get(key))}")


def _endpoints(old: Mapping[str, Any], new: Mapping[str, Any], *, moves: bool) -> Iterator[_Fact]:
    """Other addresses, or something else that answers there.

    Of a role that `moves` the new places say where it answers, but neither on which port nor what answers; and a place
    that it keeps may have another address.
    """
    stay = _spots(old) & _spots(new) if moves else _spots(old) | _spots(new)
    was, now = _addresses(old, stay), _addresses(new, stay)
    ports = [sorted({one["port"] for one in slot["endpoints"] if "port" in one}) for slot in (old, new)]
    if was != now:
        yield _Fact("endpoints", Effect.UPDATE, f"answers at {listed(now)} instead of {listed(was)}")
    elif ports[0] != ports[1]:
        texts = [listed(map(str, some)) or "no known port" for some in ports]
        yield _Fact("endpoints", Effect.UPDATE, f"port {texts[0]} → {texts[1]}")
    behind = [sorted({one["backend"] for one in slot["endpoints"]}) for slot in (old, new)]
    if behind[0] != behind[1]:
        yield _Fact("endpoints", Effect.UPDATE, f"backend {listed(behind[0])} → {listed(behind[1])}")
    programs = [_programs(slot, stay) for slot in (old, new)]
    if all(programs) and programs[0] != programs[1]:
        yield _Fact("endpoints", Effect.UPDATE, f"worker program {listed(programs[0])} → {listed(programs[1])}")


def _state(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[_Fact]:
    if old["state"] == new["state"]:
        return
    if new["state"] == "available":
        text = f"becomes available: {value(new.get('model'))} at {listed(_addresses(new))}"
        yield _Fact("state", Effect.CREATE, text)
        return
    rest = f"calls fall back to {_chain(new)}" if new["fallback"] else "it has no fallback"
    yield _Fact("state", Effect.LOSE, f"becomes unavailable; {rest}")


def _chain(slot: Mapping[str, Any]) -> str:
    return ", then ".join(slot["fallback"]) or "nothing"


_Spots = frozenset[tuple[str, str | None]]


def _spots(slot: Mapping[str, Any]) -> _Spots:
    return frozenset((one["node"], one.get("guest")) for one in slot["endpoints"])


def _addresses(slot: Mapping[str, Any], of: _Spots | None = None) -> list[str]:
    """``host:port`` of the endpoints, or of those at some spots alone."""
    return [
        f"{one.get('host', one['node'])}:{one.get('port', '?')}"
        for one in slot["endpoints"]
        if of is None or (one["node"], one.get("guest")) in of
    ]


def _programs(slot: Mapping[str, Any], at: _Spots) -> list[str]:
    """What serves as a worker at these spots."""
    endpoints = (one for one in slot["endpoints"] if (one["node"], one.get("guest")) in at)
    return sorted({one["program"] for one in endpoints if "program" in one})


def _ends(delta: Delta) -> tuple[str | None, str | None]:
    """State, or where both serve, the model."""
    states = [None if side is None else side["state"] for side in (delta.before, delta.after)]
    if states[0] == states[1] and delta.changed("model"):
        return delta.before.get("model"), delta.after.get("model")
    return states[0], states[1]


def _moves(scene: Scene, role: str) -> Shift | None:
    shift = scene.shifts.get(role)
    return shift if shift and shift.placed else None


_VERBS = {
    "removed": "is removed",
    "added": "is new",
    "placed": "gets a place",
    "lost": "loses its place",
    "reduced": "loses a place",
    "gained": "gets one more place",
    "moved": "moves",
    "renumbered": "keeps its card under another index",
}


def _cause(scene: Scene, delta: Delta, name: str, told: frozenset[str]) -> str:
    """Why: its role moves, the model that it served no longer fits, nobody declares it any more."""
    role = (delta.after or delta.before)["role"]
    shift = scene.shifts.get(role)
    if not delta.only_changed and (shift is None or shift.what not in ("added", "removed")):
        return f"{role} {'declares' if delta.after else 'no longer declares'} it in catalog/roles.yaml"
    if delta.only_changed and not told & {"state", "model"}:
        return ""
    if shift is not None and shift.what in _VERBS:
        return f"because {role} {_VERBS[shift.what]}"
    return _model_cause(scene, delta, name)


def _model_cause(scene: Scene, delta: Delta, name: str) -> str:
    old, new = delta.before.get("model"), delta.after.get("model")
    role = scene.new.roles.get(delta.after["role"])
    named = next((slot.model for slot in role.slots if slot.name == name), None) if role else None
    if named is not None and named == new and old != new:
        return "named in catalog/roles.yaml"
    if old is not None and old not in delta.after["models"]:
        return f"{old} no longer fits" if old in scene.new.models else f"{old} is no longer in the catalog"
    if delta.changed("state"):
        return str(delta.after.get("reason", ""))
    return f"{new} is the largest that fits" if new is not None else ""
