"""Models against cards: each alone on an empty card, yes or the first reason why not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from knaster.cluster import Catalog, Cluster, Engine, Model
from knaster.fit import Device, why_not
from knaster.reports.page.classes import Group, Kind, groups
from knaster.reports.page.pairs import Pair
from knaster.units import MIB_PER_GIB, exact, hundredths, show

Verdict = Literal["yes", "no", "some", "out"]
"""``some``: on some cards of the class; ``out``: the cards are disabled, or their nodes are down."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One model on one class of cards: the verdict, and the engines that serve it or the reason against it.

    ``fits``: on every card of the class, were it in service.
    """

    verdict: Verdict
    text: str
    fits: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """One class of cards, as its head says it."""

    label: str
    name: str
    facts: tuple[str, ...]
    number: int
    out: str


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One model: what is told of it, whether a CPU serves it, and a cell for each class by its label."""

    name: str
    kind: str
    facts: str
    cpu: Cell
    cells: tuple[tuple[str, Cell], ...]

    def cell(self, label: str) -> Cell | None:
        """The cell in the column of that label; None where this side has no such class."""
        return next((cell for name, cell in self.cells if name == label), None)

    @property
    def tags(self) -> tuple[str, ...]:
        """What the filter of the page knows it by."""
        fits = any(cell.verdict in ("yes", "some") for _, cell in self.cells) or self.cpu.verdict == "yes"
        return ("used",) if fits else ("attention",)


@dataclass(frozen=True, slots=True)
class Matrix:
    """The whole table of one side."""

    columns: dict[str, Column]
    rows: dict[str, ModelRow]


def matrix(cluster: Cluster) -> Matrix:
    """Every model of the catalog against every class of cards."""
    catalog, found = cluster.catalog or Catalog(), groups(cluster)
    columns = {key(group.kind): _column(group) for group in found}
    rows = {name: _row(model, found, catalog) for name, model in sorted(catalog.models.items())}
    return Matrix(columns, rows)


def same_fit(pair: Pair[ModelRow]) -> Pair[ModelRow]:
    """The pair as unchanged where the two differ in nothing but cards that one side does not have."""
    old, new = pair.before, pair.after
    if old is None or new is None or pair.mark != "changed":
        return pair
    common = {label for label, _ in old.cells} & {label for label, _ in new.cells}
    same = all(old.cell(label) == new.cell(label) for label in common)
    told = (old.kind, old.facts, old.cpu) == (new.kind, new.facts, new.cpu)
    return replace(pair, mark="same") if same and told else pair


def key(kind: Kind) -> str:
    """What a class is found by on both sides of a comparison."""
    return "; ".join(part for part in (kind.label, kind.policy, kind.out) if part)


def _column(group: Group) -> Column:
    room = group.room
    if room is None:
        usable = "room not known"
    else:
        low, high = (show(hundredths(exact(Fraction(size, MIB_PER_GIB)))) for size in room)
        usable = f"{low} GiB for models" if low == high else f"{low} to {high} GiB for models"
    _, *facts = group.kind.label.split(", ", 1)
    parts = (*facts, usable, group.kind.policy)
    return Column(
        key(group.kind), group.kind.name, tuple(part for part in parts if part), len(group.spots), group.kind.out
    )


def _row(model: Model, found: Iterable[Group], catalog: Catalog) -> ModelRow:
    facts = [f"{show(model.vram_gb)} GiB"]
    facts += [model.precision] if model.precision else []
    facts += [f"context {model.context}"] if model.context else []
    cells = tuple((key(group.kind), cell(model, group, catalog)) for group in found)
    return ModelRow(model.name, model.kind, " \N{MIDDLE DOT} ".join(facts), _on_cpu(model, catalog), cells)


def _on_cpu(model: Model, catalog: Catalog) -> Cell:
    """Whether some engine of the model runs on a CPU, and the memory that takes; which node has it, the plan says."""
    engines = [name for name in model.engines if name in catalog.engines and catalog.engines[name].gpu != "required"]
    if not engines:
        return Cell("no", f"{' and '.join(model.engines)} need{'s' if len(model.engines) == 1 else ''} a GPU")
    need = max(exact(model.vram_gb), exact(model.min_memory_gb))
    return Cell("yes", f"{', '.join(engines)}; takes {show(need)} GiB of RAM")


def cell(model: Model, group: Group, catalog: Catalog) -> Cell:
    """The first reason why not: the card is out of service, then what keeps each engine of the model from it."""
    answers = [(_engines(model, device, group.kind, catalog), number) for device, number in group.devices]
    good = sum(number for (engines, _), number in answers if engines)
    total = len(group.spots)
    engines = next((engines for (engines, _), _ in answers if engines), ())
    against = next((reason for (engines, reason), _ in answers if not engines), "")
    if group.kind.out:
        rest = f"would fit ({', '.join(engines)})" if good else against
        return Cell("out", f"{group.kind.out}; {rest}" if rest else group.kind.out, good == total)
    if good == total:
        return Cell("yes", ", ".join(engines), fits=True)
    return Cell("some", f"{good} of {total} cards ({', '.join(engines)}); {against}") if good else Cell("no", against)


def _engines(model: Model, device: Device, kind: Kind, catalog: Catalog) -> tuple[tuple[str, ...], str]:
    """The engines under which the model fits, and where there is none the reason against each, the same told once."""
    reasons = {name: _against(model, device, kind, name, catalog.engines.get(name)) for name in model.engines}
    good = tuple(name for name, reason in reasons.items() if reason is None)
    told: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        told.setdefault(reason or "", []).append(name)
    if good or len(told) == 1:
        return good, next(iter(told), "")
    return (), "; ".join(f"{', '.join(names)}: {reason}" for reason, names in told.items())


def _against(model: Model, device: Device, kind: Kind, name: str, engine: Engine | None) -> str | None:
    if engine is None:
        return f"the catalog has no engine {name}"
    if engine.gpu == "none":
        return f"{name} runs on the CPU alone"
    reason = why_not(model, device, engine)
    if reason is None and kind.engines is not None and name not in kind.engines:
        return f"not open to {name} by card policy"
    return reason
