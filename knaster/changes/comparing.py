"""`compare`: two evaluations to everything that differs between them. Pure and total."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from knaster.changes.consumers import STAGES, consumers
from knaster.changes.figures import figures
from knaster.changes.following import followed
from knaster.changes.guests import guests
from knaster.changes.inputs import input_changes
from knaster.changes.models import models
from knaster.changes.nodes import nodes, states
from knaster.changes.objects import Delta, differences
from knaster.changes.others import cards, externals, kind_of, mappings, settings
from knaster.changes.result import Change, Comparison, Effect, Field, Object
from knaster.changes.roles import roles
from knaster.changes.scene import Scene, Side
from knaster.changes.slots import slots
from knaster.diagnostics import Diagnostic, Severity, order
from knaster.pipeline import Evaluation

RULES: tuple[Callable[[Scene], Iterable[Change]], ...] = (roles, models, figures, slots, guests, states, externals)
"""Each tells its own part, whatever the others cover."""

ECHOES: tuple[Callable[[Scene], Iterable[Change]], ...] = (mappings, cards, nodes)
"""These are silent where an earlier change covers all that they would: a VM goes with its cards."""

_EFFECTS = tuple(Effect)


def compare(before: Evaluation, after: Evaluation) -> Comparison:
    """Everything that differs. Never raises; a side that did not load leaves the changes out (``complete`` False)."""
    new, fixed = _diagnostics(before, after)
    inputs = input_changes(before.parts, after.parts)
    if before.planned is None or after.planned is None:
        return Comparison(inputs, (), new, fixed, complete=False)
    deltas = differences(before.documents, after.documents)
    if not deltas:
        return Comparison(inputs, (), new, fixed)
    scene = Scene(Side.of(before.planned), Side.of(after.planned), deltas)
    changes = _with_fields(sorted(_changes(scene), key=_order), deltas)
    counts = Counter(change.effect for change in changes)
    told = {effect: counts[effect] for effect in Effect if counts[effect]}
    return Comparison(inputs, changes, new, fixed, counts=told, names=scene.names)


def _changes(scene: Scene) -> list[Change]:
    """What the rules tell, with what consumers read of it; then what of that nothing tells, and the rest."""
    found = followed(scene, _ruled(scene))
    for stage in STAGES:
        found = followed(scene, (*found, *consumers(scene, _covered(found), stage)))
    return [*found, *settings(scene.deltas, _covered(found))]


def _covered(changes: Iterable[Change]) -> frozenset[Object]:
    return frozenset(one for change in changes for one in change.covers)


def _ruled(scene: Scene) -> Iterator[Change]:
    covered: set[Object] = set()
    for rule in (*RULES, *ECHOES):
        for change in rule(scene):
            if rule in ECHOES and covered.issuperset(change.covers):
                continue
            covered.update(change.covers)
            yield replace(change, covers=tuple(sorted(change.covers)))


def _with_fields(changes: list[Change], deltas: Mapping[Object, Delta]) -> tuple[Change, ...]:
    """Each object's fields go to the first change that covers it and is about its kind, else to the first one."""
    holder: dict[Object, int] = {}
    for own in (True, False):
        for at, change in enumerate(changes):
            for one in change.covers:
                if (change.kind == kind_of(one)) >= own:
                    holder.setdefault(one, at)
    fields: dict[int, list[Field]] = {}
    for one, at in sorted(holder.items()):
        start = (one.file, one.collection, one.name)
        fields.setdefault(at, []).extend(
            Field((*start, *field.path), field.before, field.after) for field in deltas[one].fields
        )
    return tuple(replace(change, fields=tuple(fields.get(at, ()))) for at, change in enumerate(changes))


def _order(change: Change) -> tuple[int, str, str, str]:
    return _EFFECTS.index(change.effect), change.kind, change.name, change.summary


def _diagnostics(before: Evaluation, after: Evaluation) -> tuple[tuple[Diagnostic, ...], tuple[Diagnostic, ...]]:
    """Those of one side alone; one that only changed its line is on both.

    A side that did not load was not looked at whole: what it does not show is not fixed, and of what only the other
    shows nobody knows whether it is new, unless it is an error.
    """
    old, new = _keyed(before.diagnostics), _keyed(after.diagnostics)
    appeared = [new[key] for key in new.keys() - old.keys()]
    if before.planned is None and after.planned is not None:
        appeared = [one for one in appeared if one.severity is Severity.ERROR]
    gone = [] if after.planned is None else [old[key] for key in old.keys() - new.keys()]
    return tuple(sorted(appeared, key=order)), tuple(sorted(gone, key=order))


def _keyed(diagnostics: Iterable[Diagnostic]) -> dict[tuple[object, ...], Diagnostic]:
    """By what makes a problem the same one; the second of two equal ones is another."""
    found: dict[tuple[object, ...], Diagnostic] = {}
    seen: Counter[tuple[object, ...]] = Counter()
    for one in diagnostics:
        key = (one.code, one.severity, one.place.file if one.place else "", one.message)
        seen[key] += 1
        found[(*key, seen[key])] = one
    return found
