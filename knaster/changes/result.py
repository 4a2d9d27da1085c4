"""What differs between two evaluations of a fleet, as data: changes of the domain, each with its cause."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from knaster.diagnostics import Diagnostic, Place

Kind = Literal["role", "model", "slot", "guest", "mapping", "node", "external", "setting"]
"""What a change is about; ``setting`` is whatever has no name of its own."""

Path = tuple[str | int, ...]


class Effect(StrEnum):
    """What a change does to what runs, worst first."""

    DESTROY = "destroy"
    """A guest and its data go away."""
    REPLACE = "replace"
    """A guest is destroyed and created anew."""
    LOSE = "lose"
    """A role, slot, mapping or endpoint that served is gone."""
    REFUSE = "refuse"
    """Nothing can bring it about, and an apply would end half way: a disk that shrinks."""
    RESTART = "restart"
    """A guest reboots, or what runs in it stops while its driver is updated."""
    MOVE = "move"
    """A role runs elsewhere."""
    UPDATE = "update"
    """Changed in place, without a restart of a guest."""
    CREATE = "create"
    """Something new: a guest, a mapping, a slot, a role that found a place."""
    RECORD = "record"
    """Only what is written down changes: a reason, the list of models that would fit."""


DESTRUCTIVE = frozenset({Effect.DESTROY, Effect.REPLACE, Effect.LOSE})
"""What a reviewer must see first."""


@dataclass(frozen=True, slots=True, order=True)
class Object:
    """One thing in ``generated/``, by its identity: the file, the collection in it, and its name."""

    file: str
    collection: str
    name: str


@dataclass(frozen=True, slots=True)
class Field:
    """One value that differs; ``before`` or ``after`` is None where the key does not exist.

    In an object the path begins at its keys; () is the object itself, new or gone.
    """

    path: Path
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class Change:
    """One change of the domain.

    ``before`` and ``after`` are short: a place (``pve44/1``), a state, a model; None where there is none. ``summary``
    is one sentence (``moves from pve44/1 to pve46/1``) without the name, ``cause`` why, "" where nothing more is known.
    ``covers`` names every object of ``generated/`` whose difference this change tells of. ``fields`` are the values
    that differ in those objects; each path begins with the object's file, collection and name. Of an object that
    several changes cover one has the fields: all fields together are exactly what differs, each value once.
    """

    kind: Kind
    name: str
    effect: Effect
    summary: str
    before: str | None = None
    after: str | None = None
    cause: str = ""
    fields: tuple[Field, ...] = ()
    covers: tuple[Object, ...] = ()


@dataclass(frozen=True, slots=True)
class InputChange:
    """One value of ``inventory/`` or ``catalog/`` that differs.

    ``what`` is where it stands, by names (``models.qwen3-14b.vram_gb``, ``pve44/1.disabled``). ``before`` or ``after``
    is None where there is none; a whole role, model or node that is new or gone is one change with its data.
    ``place`` is its spot in the newer files, or in the older ones where it was removed (``removed``).
    """

    what: str
    before: Any
    after: Any
    place: Place
    removed: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that differs. ``changes`` are sorted: effect (worst first), kind, name.

    ``fixed`` are diagnostics of the older side alone, ``new`` of the newer alone; one that only changed its line is in
    neither. ``complete`` is False where one side did not load, so that nothing can be said of roles and guests.
    """

    inputs: tuple[InputChange, ...] = ()
    changes: tuple[Change, ...] = ()
    new: tuple[Diagnostic, ...] = ()
    fixed: tuple[Diagnostic, ...] = ()
    complete: bool = True
    counts: Mapping[Effect, int] = field(default_factory=dict)
    names: frozenset[str] = field(default=frozenset(), compare=False)
    """Names that look like words (``general``) or like several (``Quadro M4000``): a report may set them apart."""

    @property
    def destructive(self) -> tuple[Change, ...]:
        """The changes that take something away."""
        return tuple(change for change in self.changes if change.effect in DESTRUCTIVE)
