"""What `bench tts` and `bench server` begin and end with: the server, whose figures they are, and the record."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from knaster.bench import llama
from knaster.bench import subject as subjects
from knaster.bench.entries import Measurement
from knaster.bench.measured import Taken
from knaster.bench.speech import Failure
from knaster.bench.subject import Subject
from knaster.cluster import Catalog, Cluster
from knaster.commands.bench_asking import Server, UnmeasuredError, key, place, root
from knaster.commands.bench_recording import Kept, keep, refuse_uneditable
from knaster.commands.common import Survey, survey
from knaster.commands.output import refuse_input_folders
from knaster.diagnostics import WorldError
from knaster.names import suggestion
from knaster.reports.benching import Told

INTERRUPTED = 130
GIVE_UP = 3
"""Failures in a row after which the rest is not tried: a server that hangs would take hours."""


@dataclass(frozen=True, slots=True)
class Bench:
    """Whom to ask for what (``api_model``: as the server calls it), whose figures that gives, and the day.

    ``survey`` is None outside of a fleet's repository.
    """

    server: Server
    api_model: str
    subject: Subject
    build: str | None
    date: str
    survey: Survey | None

    def taken(self, source: str, voice: str | None = None, build: str | None = None) -> Taken:
        """Where, when and how; `build` is what the server calls itself, if nobody told another one."""
        whose = self.subject
        told = self.build or build
        return Taken(self.date, source, whose.card, whose.node, whose.engine, told, voice)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to, for the end that all have in common."""

    figures: Sequence[Measurement]
    failures: Sequence[Failure]
    partial: bool
    cut: bool
    notes: tuple[str, ...] = ()
    unfit: str | None = None
    """Why figures like these are not recorded."""


def prepare(args: argparse.Namespace, kind: str) -> Bench:
    """For models of `kind`. Raises WorldError for what cannot be right, before anything is measured for nothing."""
    refuse_input_folders(args)
    server = Server(root(args.url), key(args.api_key_env), args.timeout)
    found = _survey(args)
    whose = _subject(args, found, server.root, kind)
    if found is not None and whose.model is not None and not args.dry_run:
        refuse_uneditable(found.files, whose.model)
        if subjects.unplaced(found.evaluation.cluster.catalog, whose):
            hint = "--card CARD, --card NODE/INDEX or --card cpu; --dry-run records nothing"
            raise WorldError(f"nobody says on which card {whose.model} runs", hint)
    api_model = args.api_model or whose.model or server.only_model()
    date = args.date or datetime.now(UTC).date().isoformat()
    return Bench(server, api_model, whose, args.build, date, found)


def _survey(args: argparse.Namespace) -> Survey | None:
    top = Path(args.directory)
    return survey(args) if (top / "catalog").exists() or (top / "inventory").exists() else None


def _subject(args: argparse.Namespace, found: Survey | None, root: str, kind: str) -> Subject:
    cluster = found.evaluation.cluster if found else None
    catalog = cluster.catalog if cluster else None
    planned = found.evaluation.planned if found else None
    known = subjects.at(planned, *place(root), kind) if planned else Subject()
    if args.model:
        _check_model(catalog, args.model, kind)
        known = replace(known, model=args.model)
    if args.engine:
        _check_engine(catalog, known.model, args.engine)
    card, node = (known.card, None) if args.card is None else _card(cluster, args.card)
    if args.node is not None:
        _check_node(cluster, args.node)
    other_place = (args.node or node or known.node) != known.node
    return replace(
        known,
        node=args.node or node or known.node,
        card=card if args.card is not None or not other_place else None,
        placed=args.card is not None or (known.placed and not other_place),
        engine=args.engine or known.engine or subjects.engine(catalog, known.model),
    )


def _card(cluster: Cluster | None, text: str) -> tuple[str | None, str | None]:
    """Type and node, as `bench llm` reads them, and ``cpu`` for no card. Raises WorldError for none of these."""
    if text.lower() == subjects.CPU:
        return None, None
    if cluster is None:
        return text, None
    found = llama.card(cluster, text)
    if isinstance(found, str):
        raise WorldError(f'there is no card "{text}"', found)
    return found.type, found.node


def _check_model(catalog: Catalog | None, name: str, kind: str) -> None:
    """Raises WorldError for a name that is none of the catalog, or one of another kind."""
    if catalog is None:
        return
    if name not in catalog.models:
        hint = suggestion(name, catalog.models, "models")
        raise WorldError(f'the catalog has no model "{name}"', f"{hint}; --api-model is what the server calls it")
    if catalog.models[name].kind != kind:
        raise WorldError(f"{name} is of kind {catalog.models[name].kind}, and this measures models of kind {kind}")


def _check_engine(catalog: Catalog | None, model: str | None, name: str) -> None:
    """Raises WorldError for an engine that the catalog does not have, or the model does not run on."""
    if catalog is None:
        return
    found = catalog.models.get(model) if model else None
    known = found.engines if found else tuple(sorted(catalog.engines))
    if name not in known:
        raise WorldError(f'{model or "the catalog"} has no engine "{name}"', f"known: {', '.join(known)}")


def _check_node(cluster: Cluster | None, name: str) -> None:
    names = [node.name for node in cluster.nodes] if cluster else []
    if names and name not in names:
        raise WorldError(f'there is no node "{name}"', suggestion(name, names, "nodes"))


def failure(what: str, problem: UnmeasuredError) -> Failure:
    """The failure of a request, for the report. Raises WorldError where no server was reached at all."""
    if problem.nobody:
        raise WorldError(problem.message, problem.hint) from None
    return told(what, problem)


def told(what: str, problem: UnmeasuredError) -> Failure:
    """The failure of a request to a server that was there before."""
    return Failure(what, problem.message, problem.hint)


def finish(args: argparse.Namespace, command: str, bench: Bench, found: Outcome, taken: Taken) -> tuple[Told, int]:
    """Record what is to be recorded; what to tell of it, and the exit status."""
    kept = _kept(args, bench, found)
    whole = bool(found.figures) and not found.partial
    status = INTERRUPTED if found.cut else int(kept.failed or not whole)
    about = {
        "url": bench.server.root,
        "model": bench.subject.model,
        "api_model": bench.api_model,
        "slot": bench.subject.slot,
        "engine": taken.engine,
        "build": taken.build,
        "node": taken.node,
        "card": taken.card,
        "voice": taken.voice,
        "date": taken.date,
        "source": taken.source,
    }
    older = (f"newer figures stay in the catalog; only the history has these: {', '.join(kept.older)}",)
    told = Told(
        command,
        status == 0,
        about,
        found.figures,
        found.failures,
        found.partial,
        found.cut,
        (*found.notes, *(older if kept.older else ())),
        kept.paths,
        kept.reason if not kept.hint else f"{kept.reason} ({kept.hint})",
        kept.failed,
        kept.diagnostics,
        kept.files,
    )
    return told, status


def _kept(args: argparse.Namespace, bench: Bench, found: Outcome) -> Kept:
    if not found.figures:
        return Kept()
    if args.dry_run:
        return Kept(reason="--dry-run")
    if bench.survey is None:
        return Kept(reason="there is no catalog here", hint="-C DIR names the fleet's repository")
    if bench.subject.model is None:
        return Kept(reason="no model of the catalog is named", hint="--model NAME")
    if found.unfit:
        return Kept(reason=found.unfit, failed=True)
    return keep(args.directory, bench.subject.model, found.figures)
