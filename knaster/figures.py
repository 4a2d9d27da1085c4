"""Which figures of a model are shown: what was measured in place of what was estimated, one card type at a time."""

from __future__ import annotations

from collections.abc import Iterable

from knaster.cards.types import slug
from knaster.cluster import Figure
from knaster.units import show

_BOUNDS = ("_low", "_high")
"""Ends of an estimated range: ``generation_rate_low`` and ``generation_rate_high`` are estimates of one figure."""


def shown(figures: Iterable[Figure]) -> tuple[Figure, ...]:
    """The figures to show, in their order: the newest measured one for each metric, card type and voice, and estimates
    of what nobody measured on that card type.

    A figure of one card type says nothing about another, so nothing is compared across them.
    """
    kept = tuple(figures)
    measured = [figure for figure in kept if figure.kind == "measured"]
    known = {subject(figure) for figure in measured}
    newest = {(*subject(figure), figure.voice): figure for figure in sorted(measured, key=_age)}
    return tuple(
        figure
        for figure in kept
        if (subject(figure) not in known if figure.kind == "estimated" else figure in newest.values())
    )


def _age(figure: Figure) -> tuple[bool, str]:
    """A run that was cut counts less than any whole one."""
    return not figure.partial, figure.date or ""


def subject(figure: Figure) -> tuple[str, str]:
    """What a figure is about: the metric, and the slug of the card type (``""``: the CPU)."""
    metric = figure.metric
    for bound in _BOUNDS:
        metric = metric.removesuffix(bound)
    return metric, slug(figure.card or "")


def told(figure: Figure) -> str:
    """A figure in words that say which it is: ``power on Quadro M4000 96.4 W (measured 2026-11-29)``."""
    where = f" on {figure.card}" if figure.card else ""
    voice = f" with {figure.voice}" if figure.voice else ""
    return f"{figure.metric}{where}{voice} {amount(figure)}"


def amount(figure: Figure) -> str:
    """How much, and how that is known: ``96.4 W (measured 2026-11-29)``, ``120 W (estimated)``."""
    how = " ".join(word for word in (figure.kind, figure.date) if word)
    part = ", of a run that was cut" if figure.partial else ""
    return f"{quantity(figure)} ({how}{part})"


def quantity(figure: Figure) -> str:
    """``96.4 W``, ``31.2 ± 0.4 token/s``."""
    spread = f" ± {show(figure.spread, 3)}" if figure.spread else ""
    return f"{show(figure.value, 3)}{spread} {figure.unit}"
