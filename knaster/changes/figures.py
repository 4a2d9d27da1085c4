"""Figures of models that differ, each in one line that says whether it was measured. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from knaster.changes.consumers import facts
from knaster.changes.objects import REGISTRY
from knaster.changes.result import Change, Effect, Object
from knaster.changes.scene import Scene
from knaster.changes.words import listed, short
from knaster.cluster import Figure
from knaster.figures import amount, subject, told
from knaster.units import show

_KEY = "figures"


def figures(scene: Scene) -> Iterator[Change]:
    """One change for each figure that is new, other or gone of a model that the registry has on both sides.

    And one for other facts of such a model, which would not be told any more.
    """
    for name, delta in scene.of(REGISTRY, "models").items():
        if not delta.only_changed or not delta.changed(_KEY):
            continue
        covers = (Object(REGISTRY, "models", name),)
        if others := [field for field in delta.fields if field.path[:1] != (_KEY,)]:
            yield Change("model", name, *facts(others), covers=covers)
        sides = (tuple(map(_figure, side.get(_KEY, ()))) for side in (delta.before, delta.after))
        for text in _differing(*sides):
            yield Change("model", name, Effect.RECORD, short(text), covers=covers)


def _figure(data: Mapping[str, Any]) -> Figure:
    return Figure(**{**data, "partial": bool(data.get("partial"))})


def _differing(before: Sequence[Figure], after: Sequence[Figure]) -> Iterator[str]:
    for figure in after:
        if figure not in before:
            was = [one for one in before if one not in after and _same(one, figure)]
            yield told(figure) + (f" instead of {_amounts(was)}" if was else "")
    known = {subject(figure) for figure in after}
    for figure in before:
        if figure not in after and subject(figure) not in known:
            yield f"{told(figure)} is gone"


def _same(old: Figure, new: Figure) -> bool:
    """Whether the old one was shown for what the new one is: an estimate is of any voice."""
    voices = old.kind == "estimated" or new.kind == "estimated" or old.voice == new.voice
    return subject(old) == subject(new) and voices


def _amounts(figures: Sequence[Figure]) -> str:
    """``12 to 25 token/s (estimated)`` for the two ends of a range."""
    ends = sorted(figures, key=lambda figure: figure.value)
    if len(ends) == 2 and {figure.metric.rpartition("_")[2] for figure in ends} == {"low", "high"}:
        return f"{show(ends[0].value, 3)} to {amount(ends[1])}"
    return listed(map(amount, figures))
