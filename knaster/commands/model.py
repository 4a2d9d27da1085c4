"""`knaster model plan MODEL`: every way a model could run on the fleet, and the catalog entry for the best one."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from knaster.adapters import model_source
from knaster.adapters.model_files import LocalModel
from knaster.cluster import Cluster, Model
from knaster.cluster.architecture import CannotTell
from knaster.commands.common import Survey, survey
from knaster.commands.model_write import write
from knaster.commands.output import show
from knaster.commands.progress import progress
from knaster.diagnostics import WorldError
from knaster.fit.memory.serving import EngineName
from knaster.model_plan import engines, question
from knaster.model_plan.advice import Question, changes
from knaster.model_plan.attempts import Ask
from knaster.model_plan.candidates import plan
from knaster.model_plan.entry import Entry, Source, entry, to_be_made
from knaster.model_plan.on_record import with_figures
from knaster.model_plan.pools import Hardware, LeftOut, hardware
from knaster.model_plan.purpose import purpose
from knaster.model_plan.question import Refused
from knaster.reports import validation
from knaster.reports.blocks import Items, Line, Report
from knaster.reports.model import report
from knaster.reports.model_json import Answer
from knaster.weights.kinds import Unreadable
from knaster.weights.reading import published

_T = TypeVar("_T")
_WIDTH = 60
"""Characters of a file's name in the line of progress."""
_UNKNOWN = "what it needs is not calculated; model plan knows llama.cpp and vLLM"


@dataclass(frozen=True, slots=True)
class _Options:
    """The arguments as numbers."""

    precisions: tuple[str, ...]
    parallel: int
    context: int | None
    parameters: int | None
    kv_precision: str


def run(args: argparse.Namespace) -> int:
    """1: it fits nowhere, or ``--write`` was refused. 2: the model cannot be read or is not modelled."""
    options = _options(args)
    found = survey(args)
    planned = found.evaluation.planned
    if planned is None:
        text = "nothing was planned: the inputs did not load"
        show(args, validation.refused("model plan", found.evaluation, found.files, text))
        return 1
    cluster = planned.cluster
    known = engines.known(cluster.catalog.engines if cluster.catalog else {}, cluster.platform)
    fleet = hardware(planned, known["llamacpp"].engine if "llamacpp" in known else None)
    fleet = fleet.also_without(LeftOut(name, _UNKNOWN) for name in _others(cluster, known))
    if not fleet.cards and not fleet.rooms:
        show(args, _nothing(fleet))
        return 1
    source = _source(args, options)
    models = cluster.catalog.models.values() if cluster.catalog else ()
    answer = _answer(args, options, source, _Fleet(known, fleet, tuple(models)))
    answer = replace(answer, diagnostics=found.evaluation.diagnostics)
    if args.write and answer.entry is not None:
        return _written(args, found, answer, answer.entry)
    show(args, report(answer, explain=args.explain, verbose=args.verbose))
    return 0 if answer.outcome.rows else 1


def _others(cluster: Cluster, known: Mapping[EngineName, engines.Planning]) -> list[str]:
    """The engines of the catalog that nothing is calculated for."""
    names = cluster.catalog.engines if cluster.catalog else {}
    return sorted(names.keys() - {one.engine.name for one in known.values()})


@dataclass(frozen=True, slots=True)
class _Fleet:
    engines: dict[EngineName, engines.Planning]
    all: Hardware
    models: tuple[Model, ...]


def _options(args: argparse.Namespace) -> _Options:
    """Raises WorldError for what cannot be used, before anything is read."""
    if args.kv_precision not in engines.KV_PRECISIONS:
        raise WorldError(
            f"there is no KV cache of precision {args.kv_precision}", f"known: {', '.join(engines.KV_PRECISIONS)}"
        )
    _used(question.entry_named(args.name))
    return _Options(
        _used(question.precisions(args.precision)),
        _used(question.tokens(args.parallel, "--parallel")),
        None if args.context is None else _used(question.tokens(args.context, "--context")),
        None if args.params is None else _used(question.parameters(args.params)),
        args.kv_precision,
    )


def _used(value: _T | Refused) -> _T:
    if isinstance(value, Refused):
        raise WorldError(value.reason, value.hint)
    return value


def _source(args: argparse.Namespace, options: _Options) -> Source:
    """What is published of the model. Raises WorldError."""
    named = model_source.source(args.source)
    with progress(args) as tell:

        def told(what: str, done: int, every: int) -> None:
            tell(f"reading {done + 1} of {every}: {what[:_WIDTH]}")

        found = published(named.reader, options.precisions, only=named.only, progress=told)
    if isinstance(found, Unreadable):
        raise WorldError(found.reason, found.hint)
    return Source(found, isinstance(named.reader, LocalModel))


def _answer(args: argparse.Namespace, options: _Options, source: Source, fleet: _Fleet) -> Answer:
    model = question.model_of(source.published, options.parameters)
    if isinstance(model, CannotTell):
        raise WorldError(f"cannot tell whether {source.published.name} fits: {model.reason}")
    wanted = _used(question.planned_precisions(model, options.precisions, given=args.precision is not None))
    context = _used(question.context(model.architecture, options.context))
    serves = purpose(source.published, model.architecture)
    ask = Ask(context, options.parallel, options.kv_precision, serves.whole)
    usable = fleet.all.free_only() if args.free else fleet.all
    outcome = with_figures(plan(model, usable, fleet.engines, wanted, ask), source, fleet.models)
    answer = Answer(
        source.published.name,
        model.architecture,
        serves.kind,
        ask,
        outcome,
        usable,
        revision=source.published.revision,
        notes=(
            *source.published.notes,
            *question.warnings(model.architecture, context),
            *question.cache_warnings(options.kv_precision),
            *to_be_made(source.published, outcome.rows),
        ),
    )
    if outcome.rows:
        return replace(answer, entry=entry(outcome.rows[0], source, serves, args.name))
    asked = Question(model, usable, fleet.engines, wanted, ask)
    return replace(answer, changes=changes(asked, fleet.all if args.free else None))


def _nothing(fleet: Hardware) -> Report:
    """No card and no room at all; what there is, and why nothing may be planned on it."""
    why = tuple(f"{one.name}: {one.reason}" for one in fleet.left_out)
    left_out = [{"name": one.name, "reason": one.reason} for one in fleet.left_out]
    data = {"command": "model plan", "ok": False, "rows": [], "absent": [], "left_out": left_out, "diagnostics": []}
    return Report(
        data,
        (
            Line("nothing to plan against: there is no card and no node that a model could run on", "bad"),
            Items("why", why, bad=True),
        ),
    )


def _written(args: argparse.Namespace, found: Survey, answer: Answer, new: Entry) -> int:
    outcome = write(found, new, answer.outcome.rows[0].fit.tried.model)
    if outcome.problems is not None:
        show(args, outcome.problems)
        return 1
    show(args, report(replace(answer, written=outcome.paths), explain=args.explain, verbose=args.verbose))
    return 0
