"""Filters: which card a role may use, and the first cause why not.

Each filter takes what the role asks and a card class and returns a phrase, or None to let it pass. `CAUSES` is the
order in which a card is counted: once, under its first failing cause.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from knaster.cluster import Engine, Number, Role
from knaster.placement.cards import CardClass
from knaster.units import exact, show, show_cc

TAKEN_OUT = "taken out"
"""What is said of the card or node that a planned failure takes."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What a role asks of a card: its needs joined with the floors of its engine."""

    role: Role
    engine: Engine
    min_cc: Number
    max_cc: Number | None

    @classmethod
    def of(cls, role: Role, engine: Engine) -> Ask:
        """The higher floor and the lower ceiling of role and engine."""
        ceilings = [cc for cc in (role.needs.max_cc, engine.max_cc) if cc is not None]
        return cls(role, engine, max(role.needs.min_cc, engine.min_cc), min(ceilings, default=None))


@dataclass(frozen=True, slots=True)
class Spot:
    """How a card (or a class of them) stands to the role: whether the role holds it, whether a pin leaves it out."""

    held: bool = False
    outside_pin: bool = False


Filter = Callable[[Ask, CardClass, Spot], str | None]


def disabled(_ask: Ask, card: CardClass, _spot: Spot) -> str | None:
    """A card that people switched off."""
    return "disabled" if card.disabled else None


def state(_ask: Ask, card: CardClass, spot: Spot) -> str | None:
    """A node that is down holds nothing; a cordoned one keeps what it has and takes nothing new."""
    if card.state == "lost":
        return TAKEN_OUT
    if card.state == "down":
        return "down"
    return "cordoned" if card.state == "cordoned" and not spot.held else None


def pin(ask: Ask, _card: CardClass, spot: Spot) -> str | None:
    """A pin filters, it does not reserve."""
    return f"outside pin {ask.role.pin}" if spot.outside_pin else None


def system(ask: Ask, card: CardClass, _spot: Spot) -> str | None:
    """The engine has to run on the OS that the role would see."""
    if card.os in ask.engine.os:
        return None
    return f"on {card.os} ({ask.engine.name} runs on {' and '.join(ask.engine.os)})"


def vram_unknown(_ask: Ask, card: CardClass, _spot: Spot) -> str | None:
    """What is not known is not assumed."""
    return "of unknown VRAM" if card.memory_gb is None else None


def vram(ask: Ask, card: CardClass, _spot: Spot) -> str | None:
    """Nominal VRAM against the role's floor."""
    need = ask.role.needs.min_vram_gb
    if card.memory_gb is not None and exact(card.memory_gb) >= exact(need):
        return None
    return f"with less than {show(need)} GB"


def capability_unknown(_ask: Ask, card: CardClass, _spot: Spot) -> str | None:
    """What is not known is not assumed."""
    return "of unknown compute capability" if card.compute_cap is None else None


def capability_below(ask: Ask, card: CardClass, _spot: Spot) -> str | None:
    """The higher floor of role and engine."""
    below = card.compute_cap is not None and card.compute_cap < ask.min_cc
    return f"below compute capability {show_cc(ask.min_cc)}" if below else None


def capability_above(ask: Ask, card: CardClass, _spot: Spot) -> str | None:
    """The lower ceiling of role and engine."""
    if ask.max_cc is None or card.compute_cap is None or card.compute_cap <= ask.max_cc:
        return None
    return f"above compute capability {show_cc(ask.max_cc)}"


def policy(ask: Ask, card: CardClass, _spot: Spot) -> str | None:
    """The platform's policy for the card type."""
    if card.engines is None or ask.engine.name in card.engines:
        return None
    return f"not open to {ask.engine.name} by card policy"


FILTERS: tuple[tuple[str, Filter], ...] = (
    ("disabled", disabled),
    ("state", state),
    ("pin", pin),
    ("os", system),
    ("vram-unknown", vram_unknown),
    ("vram", vram),
    ("compute-cap-unknown", capability_unknown),
    ("compute-cap-below", capability_below),
    ("compute-cap-above", capability_above),
    ("policy", policy),
)

CAUSES = (*(cause for cause, _ in FILTERS), "taken", "beside")
"""All causes in the order they are counted and told."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The first filter that a card fails, and the phrase for people."""

    cause: str
    text: str


def first_failure(ask: Ask, card: CardClass, spot: Spot) -> Failure | None:
    """The first failing cause, or None if the card serves the role."""
    for cause, check in FILTERS:
        text = check(ask, card, spot)
        if text is not None:
            return Failure(cause, text)
    return None


def pin_of(role: Role) -> tuple[str, int | None] | None:
    """A pin as node and index: ``pve44/1`` is (pve44, 1), ``pve44`` is (pve44, None)."""
    if role.pin is None:
        return None
    node, slash, index = role.pin.partition("/")
    return node, int(index) if slash and index.isdecimal() else None
