"""Models that begin or cease to fit where a role runs, with the reason that `fit` gives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from knaster.changes.objects import PLACEMENT, REGISTRY
from knaster.changes.result import Change, Effect, Object
from knaster.changes.scene import Scene
from knaster.changes.shifts import Shift
from knaster.changes.words import listed, spot_of
from knaster.names import spot
from knaster.placement.failure import place_name
from knaster.placement.result import Assignment

Pair = tuple[Assignment, Assignment]


@dataclass(frozen=True, slots=True)
class _Turn:
    """One model that begins (``fits``) or ceases to fit one role, at the places told."""

    model: str
    fits: bool
    shift: Shift
    pairs: tuple[Pair, ...]


def models(scene: Scene) -> Iterator[Change]:
    """One change for each model and direction, whatever number of roles it is about."""
    found: dict[tuple[str, bool], list[_Turn]] = {}
    for shift in scene.shifts.values():
        for turn in _turns(shift):
            found.setdefault((turn.model, turn.fits), []).append(turn)
    slots = _slots(scene)
    for (model, fits), turns in sorted(found.items()):
        objects = (one for turn in turns for one in _covered(scene, turn))
        roles = [_role(turn) for turn in turns]
        text = f"fits {listed(roles)} now" if fits else f"no longer fits {listed(roles)}"
        yield Change(
            "model",
            model,
            Effect.RECORD,
            text,
            None if fits else ", ".join(roles),
            ", ".join(roles) if fits else None,
            _cause(scene, turns),
            covers=tuple(dict.fromkeys((*objects, *slots.get(model, ())))),
        )


def _turns(shift: Shift) -> Iterator[_Turn]:
    """What began or ceased to fit; of a role that moved, the places it left against those it took, in their order."""
    found: dict[tuple[str, bool], list[Pair]] = {}
    for pair in (*shift.kept, *zip(shift.left, shift.taken, strict=False)):
        old, new = (frozenset(one.models_fitting) for one in pair)
        for model in old ^ new:
            found.setdefault((model, model in new), []).append(pair)
    for (model, fits), pairs in sorted(found.items()):
        yield _Turn(model, fits, shift, tuple(pairs))


def _role(turn: _Turn) -> str:
    """The role, with its places where only some of several are meant."""
    places = [place_name(new) for _, new in turn.pairs]
    return turn.shift.role if len(places) == len(turn.shift.after) else f"{turn.shift.role} on {listed(places)}"


def _covered(scene: Scene, turn: _Turn) -> Iterable[Object]:
    for pair in turn.pairs:
        for one in pair:
            found = Object(PLACEMENT, "assignments", f"{one.role} {spot(*spot_of(one))}")
            if found in scene.deltas:
                yield found


def _cause(scene: Scene, turns: list[_Turn]) -> str:
    """The first two reasons that differ: one model may fail one role by its size and another by its engine."""
    causes = dict.fromkeys(text for turn in turns if (text := _why(scene, turn)))
    return "; ".join(list(causes)[:2])


def _why(scene: Scene, turn: _Turn) -> str:
    model, (old, new) = turn.model, turn.pairs[0]
    if model not in scene.old.models:
        return "it is new in the catalog"
    if model not in scene.new.models:
        return "it is no longer in the catalog"
    if turn.fits:
        reason = scene.before.why_not(turn.shift.role, spot_of(old), model)
        reason = reason and f"until now {_past(reason)}"
    else:
        reason = scene.after.why_not(turn.shift.role, spot_of(new), model)
    moved = place_name(old) != place_name(new)
    return f"{turn.shift.role} moves to {place_name(new)}" if moved and not reason else reason or ""


def _past(reason: str) -> str:
    """``it needs 22 GiB, 19.5 GiB are there`` as it was."""
    for present, past in (("needs ", "needed "), (" are there", " were there"), (" does not run", " did not run")):
        reason = reason.replace(present, past)
    return reason


def _slots(scene: Scene) -> dict[str, list[Object]]:
    """For each model the slots whose list of models has it on one side alone."""
    found: dict[str, list[Object]] = {}
    for name, delta in scene.of(REGISTRY, "slots").items():
        if delta.only_changed:
            for model in {*delta.before.get("models", ())} ^ {*delta.after.get("models", ())}:
                found.setdefault(model, []).append(Object(REGISTRY, "slots", name))
    return found
