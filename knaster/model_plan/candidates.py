"""Every way a model could run on the fleet, best first, and the reason for every combination that is absent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from knaster.cluster import Figure
from knaster.cluster.architecture import Architecture
from knaster.fit.memory.serving import EngineName
from knaster.model_plan.attempts import Ask, Fit, Short, Try, in_room, on_cards
from knaster.model_plan.engines import PLAIN, TITLES, Planning, build, order, refused, refused_on
from knaster.model_plan.pools import CardClass, Hardware, Room, rank
from knaster.model_plan.shapes import Shape, Shelf, Spread, shelf

ENGINES: tuple[EngineName, ...] = ("vllm", "llamacpp")


@dataclass(frozen=True, slots=True)
class Model:
    """The model to plan. ``files``: what the header of each GGUF file says, by the precision that the file is.

    ``only_files``: nothing else was published (a GGUF file, a repository of them), so no other precision exists.
    """

    architecture: Architecture
    files: Mapping[str, Architecture] = field(default_factory=dict)
    only_files: bool = False

    def refused(self, kind: EngineName, precision: str) -> str | None:
        """Why an engine never serves a precision of this model, whatever the card."""
        if kind == "llamacpp" and precision in self.files:
            return None
        if self.only_files:
            there = ", ".join(sorted(self.files, key=order)) or "none that could be read"
            own = f"no GGUF file of {precision} was published; there is: {there}"
            return "vLLM is never planned with GGUF files" if kind == "vllm" else own
        return refused(kind, precision, self.architecture)

    def tried(self, planning: Planning, precision: str, ask: Ask) -> Try:
        """The try of a precision: under llama.cpp by the file itself, where there is one."""
        file = self.files.get(precision) if planning.kind == "llamacpp" else None
        return Try(file or self.architecture, planning, precision, ask, file is not None)


@dataclass(frozen=True, slots=True)
class OnRecord:
    """A figure, and the model of the catalog that has it."""

    model: str
    figure: Figure


@dataclass(frozen=True, slots=True)
class Row:
    """One way to run the model. ``spreads`` (or ``rooms``) are the places; ``spare``: fewer cards would do.

    ``figures`` is what `knaster.model_plan.on_record` found.
    """

    fit: Fit
    spreads: tuple[Spread, ...] = ()
    rooms: tuple[Room, ...] = ()
    build: str = ""
    spare: bool = False
    figures: tuple[OnRecord, ...] = ()

    @property
    def where(self) -> str:
        """What it runs on: the label of the shape, or ``CPU``."""
        return self.fit.shape.label if self.fit.shape else "CPU"


@dataclass(frozen=True, slots=True)
class Absent:
    """A combination without a row: where, precision, engine (as people write it), and why."""

    where: str
    precision: str
    engine: str
    reason: str
    missing: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """All rows, best first, and all that is absent, in the order of engines, precisions and shapes."""

    rows: tuple[Row, ...]
    absent: tuple[Absent, ...]


def plan(
    model: Model,
    fleet: Hardware,
    engines: Mapping[EngineName, Planning],
    precisions: Iterable[str],
    ask: Ask,
    *,
    few: bool = False,
) -> Outcome:
    """Try every precision under every engine on every shape and room of the fleet.

    `few` looks at some of the shapes alone, for a question that is asked many times over.
    """
    shapes = shelf(fleet, few=few)
    found = [
        one
        for precision in sorted(dict.fromkeys(precisions), key=order)
        for kind in ENGINES
        for one in _tried(model, fleet, shapes, engines.get(kind), kind, _Want(precision, ask))
    ]
    rows = [one for one in found if isinstance(one, Row)]
    rows.sort(key=lambda row: best_first(row, model.architecture))
    return Outcome(tuple(_marked(rows)), tuple(one for one in found if isinstance(one, Absent)))


def best_first(row: Row, model: Architecture) -> tuple[object, ...]:
    """Fewest cards, then the smallest card, then the highest precision; rows without a card last.

    What a quantised repository is stored as is its highest precision, whatever others are called. Of engines that
    serve one precision vLLM comes first, for encoders llama.cpp.
    """
    fit = row.fit
    own = fit.tried.precision == model.stored and model.stored not in PLAIN
    each = fit.shape.each if fit.shape else ()
    cards = (max(rank(kind) for kind in each), sum(kind.total for kind in each) * _nodes(fit)) if each else ()
    first = "llamacpp" if model.encoder else "vllm"
    return (
        not each,
        fit.cards,
        cards,
        (-1, "") if own else order(fit.tried.precision),
        fit.tried.planning.kind != first,
        _nodes(fit),
        row.where,
    )


@dataclass(frozen=True, slots=True)
class _Want:
    precision: str
    ask: Ask


def _tried(
    model: Model, fleet: Hardware, shapes: Shelf, planning: Planning | None, kind: EngineName, want: _Want
) -> Iterator[Row | Absent]:
    """Every row and every absence of one precision under one engine."""
    precision = want.precision
    reason = model.refused(kind, precision)
    if reason is None and planning is None:
        reason = f"the catalog has no engine {kind}"
    if reason is not None or planning is None:
        yield Absent("anywhere", precision, TITLES[kind], reason or "")
        return
    tried = model.tried(planning, precision, want.ask)
    refusals = {card: refused_on(planning, precision, card, want.ask.kv_precision) for card in shapes.classes}
    yield from (_absent(tried, card.name, why) for card, why in refusals.items() if why)
    usable = {card for card, why in refusals.items() if not why}
    yield from _on_shapes(tried, shapes, usable)
    if kind == "vllm":
        yield _absent(tried, "CPU", "vLLM needs a GPU")
    else:
        yield _in_rooms(tried, fleet.rooms)


def _on_shapes(tried: Try, shapes: Shelf, usable: set[CardClass]) -> Iterator[Row | Absent]:
    several = {**shapes.like, **(shapes.spanning if tried.planning.kind == "vllm" else {})}
    for shape, spreads in several.items():
        if usable.issuperset(shape.each):
            yield _one(tried, shape, spreads)
    mixes = {shape: some for shape, some in shapes.unlike.items() if usable.issuperset(shape.each)}
    if tried.planning.kind == "vllm":
        yield from (_absent(tried, shape.label, "a tensor-parallel group needs like cards") for shape in mixes)
        yield from (
            _absent(tried, f"{one.name} across nodes", why) for one, why in shapes.apart.items() if one in usable
        )
        return
    for label in dict.fromkeys(shape.label for shape in shapes.spanning if usable.issuperset(shape.each)):
        yield _absent(tried, label, "llama.cpp is split over the cards of one node")
    yield from _minimal_mixes(tried, mixes, tuple(shape for shape in shapes.like if shape.each[0] in usable))


def _minimal_mixes(tried: Try, mixes: Mapping[Shape, list[Spread]], alike: Iterable[Shape]) -> Iterator[Row | Absent]:
    """Unlike cards, as long as no smaller set of them does it: a card that is not needed only slows a split."""
    enough = [shape for shape in alike if isinstance(on_cards(tried, shape), Fit)]
    for shape, spreads in mixes.items():
        if any(_within(one, shape) for one in enough):
            continue
        found = _one(tried, shape, spreads)
        yield found
        if isinstance(found, Row):
            enough.append(shape)


def _within(small: Shape, large: Shape) -> bool:
    return all(small.each.count(kind) <= large.each.count(kind) for kind in set(small.each))


def _one(tried: Try, shape: Shape, spreads: list[Spread]) -> Row | Absent:
    found = on_cards(tried, shape)
    if isinstance(found, Short):
        return _absent(tried, shape.label, found.reason, found.missing)
    return Row(found, tuple(spreads), build=build(tried.planning.kind, shape.each))


def _in_rooms(tried: Try, rooms: tuple[Room, ...]) -> Row | Absent:
    engine = tried.planning.engine
    if engine.gpu == "required":
        return _absent(tried, "CPU", f"{engine.name} needs a GPU, says the catalog")
    if not rooms:
        return _absent(tried, "CPU", "no node has room for a model without a card")
    found = in_room(tried, max(room.size for room in rooms))
    if isinstance(found, Short):
        return _absent(tried, "CPU", found.reason, found.missing)
    enough = tuple(room for room in rooms if room.size >= found.demand[0])
    return Row(replace(found, offer=(min(room.size for room in enough),)), rooms=enough)


def _absent(tried: Try, where: str, reason: str, missing: int = 0) -> Absent:
    return Absent(where, tried.precision, tried.planning.title, reason, missing)


def _marked(rows: list[Row]) -> Iterator[Row]:
    """Rows that another one beats with fewer cards of the class, or fewer nodes, are spare."""
    for row in rows:
        beaten = any(_beats(other, row) for other in rows)
        yield replace(row, spare=True) if beaten else row


def _beats(one: Row, other: Row) -> bool:
    a, b = one.fit, other.fit
    if a.shape is None or b.shape is None or _kind(a) != _kind(b):
        return False
    if not a.shape.like or not b.shape.like or a.shape.each[0] != b.shape.each[0]:
        return False
    return a.cards <= b.cards and _nodes(a) <= _nodes(b) and (a.cards, _nodes(a)) != (b.cards, _nodes(b))


def _kind(fit: Fit) -> tuple[str, str]:
    return (fit.tried.precision, fit.tried.planning.kind)


def _nodes(fit: Fit) -> int:
    return fit.shape.nodes if fit.shape else 0
