"""`knaster bench llm MODEL`: tokens per second, watts and tokens per joule of a model on a card."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from knaster.adapters import llama_bench as adapter
from knaster.bench import llama, machine, power
from knaster.bench.entries import Measurement
from knaster.bench.llama import Card, Taken, Watched
from knaster.bench.llama_rows import NoRunError, Run, read
from knaster.bench.power import Power
from knaster.cards.benchmarks import ENGINE
from knaster.cluster import MODELS_FILE, Cluster
from knaster.commands.bench_recording import Kept, keep, refuse_uneditable
from knaster.commands.common import survey
from knaster.commands.given import text_of
from knaster.commands.output import show
from knaster.commands.progress import progress
from knaster.commands.stopping import stoppable
from knaster.diagnostics import Diagnostic, Severity, WorldError
from knaster.names import suggestion
from knaster.reports import bench_llm as reports
from knaster.reports import validation
from knaster.units import MIB

INTERRUPTED = 130
_NOTHING = Run((), whole=False)
_LOG_BOUND = 64 * MIB
_NO_POWER = "tokens per joule are not known, and a card that requires a benchmark stays disabled"


@dataclass(frozen=True, slots=True)
class _Made:
    """A run, made here or elsewhere. ``power`` is a text where there is none; ``problem`` why the run is not whole."""

    run: Run
    power: Power | str
    power_of: str
    problem: str | None = None
    interrupted: bool = False


def run(args: argparse.Namespace) -> int:
    """1: nothing measured, not the whole of it, or not recorded. 2: a program or file is missing. 130: interrupted."""
    found = survey(args)
    cluster = found.evaluation.cluster
    if cluster.catalog is None:
        show(args, validation.refused("bench llm", found.evaluation, found.files, "nothing was measured"))
        return 1
    _check(args, cluster)
    wanted = _card(args, cluster)
    if not args.dry_run:
        refuse_uneditable(found.files, args.model)
    with stoppable() as ending:
        made = _imported(args) if args.imported is not None else _measured(args, wanted, cluster)
        ending()
        return _told(args, wanted, cluster, made)


def _check(args: argparse.Namespace, cluster: Cluster) -> None:
    """Raises WorldError for what cannot be right, before anything is measured for nothing."""
    models = cluster.catalog.models if cluster.catalog else {}
    if args.model not in models:
        hint = suggestion(args.model, models, "models")
        raise WorldError(f'{MODELS_FILE} has no model "{args.model}"', hint)
    if ENGINE not in models[args.model].engines:
        engines = ", ".join(models[args.model].engines)
        raise WorldError(f"{args.model} does not run on {ENGINE}, but on {engines}: llama-bench cannot measure it")
    if args.imported is None and (args.power_watts is not None or args.power_log is not None):
        raise WorldError("--power-watts and --power-log belong to --import", "with --file nvidia-smi is asked")
    if args.node is not None and args.node not in {node.name for node in cluster.nodes}:
        raise WorldError(f'there is no node "{args.node}" in inventory/')


def _card(args: argparse.Namespace, cluster: Cluster) -> Card:
    wanted = llama.card(cluster, args.card)
    if isinstance(wanted, str):
        raise WorldError(f'there is no card "{args.card}"', wanted)
    if args.node is not None and wanted.node not in (None, args.node):
        raise WorldError(f"--card {args.card} is not in {args.node}", "name one machine")
    return wanted if args.node is None else replace(wanted, node=args.node)


def _imported(args: argparse.Namespace) -> _Made:
    made = _read(text_of(args.imported, adapter.OUTPUT_BOUND, "llama-bench -o json > FILE makes one"), args.imported)
    if args.power_watts is not None:
        return replace(made, power=Power(args.power_watts, None, 1, 0.0), power_of="power read by hand")
    if args.power_log is None:
        return replace(made, power="neither --power-watts nor --power-log was given")
    try:
        samples, timed = power.log(text_of(args.power_log, _LOG_BOUND))
    except ValueError as error:
        return replace(made, power=f"{args.power_log}: {error}")
    how = "log of nvidia-smi" if timed else "log of nvidia-smi, one line a second"
    return replace(made, power=power.mean(samples), power_of=how)


def _read(text: str, name: str) -> _Made:
    try:
        found = read(text)
    except NoRunError as error:
        return _Made(_NOTHING, "", "", f"{name} cannot be used: {error}")
    return _Made(found, "", "", None if found.whole else "the output ends in the middle")


def _measured(args: argparse.Namespace, wanted: Card, cluster: Cluster) -> _Made:
    file = Path(args.file)
    if not file.is_file():
        raise WorldError(f"there is no file {args.file}", "--file names the GGUF file of the model")
    here, silence = _here(wanted, cluster)
    command = [args.llama_bench, "-m", str(file.absolute()), "-o", "json"]
    command += ["-p", str(llama.PROMPT), "-n", str(llama.GENERATED), "-r", str(args.repetitions)]
    visible = {"CUDA_VISIBLE_DEVICES": here.uuid, "CUDA_DEVICE_ORDER": "PCI_BUS_ID"} if here else {}
    with progress(args) as tell:
        ran = adapter.run(
            command,
            visible,
            here.uuid if here else None,
            args.timeout,
            lambda size, seconds, watts: tell(f"{size} bytes of results, {seconds:.0f} s, {watts or 'no'} W"),
        )
    return _watched(ran, silence)


def _here(wanted: Card, cluster: Cluster) -> tuple[machine.Here | None, str | None]:
    """The card in this machine, or why nvidia-smi cannot tell. Raises WorldError where it tells that it is not here."""
    text, silence = adapter.nvidia_smi(*machine.QUERY)
    if text is None:
        return None, silence
    here = machine.pick(machine.listed(text), wanted, llama.names_of(wanted, cluster))
    if isinstance(here, str):
        raise WorldError(here, "run it on the machine with the card, or bring its run with --import")
    return here, None


def _watched(ran: adapter.Ran, silence: str | None) -> _Made:
    text = ran.output.decode("utf-8", "surrogateescape")
    if ran.problem is not None and not text.strip():
        return _Made(_NOTHING, "", "", f"llama-bench measured nothing: {ran.problem}", ran.interrupted)
    made = _read(text, "what llama-bench printed")
    samples = [power.Sample(at, power.reading(said) if said else None) for at, said in ran.readings]
    watts, of = llama.watched(made.run, text, Watched(samples, ran.arrivals))
    if isinstance(watts, str) and (why := silence or ran.silence):
        watts = why
    problem = f"llama-bench was cut: {ran.problem}" if ran.problem else made.problem
    return replace(made, power=watts, power_of=f"{of}, nvidia-smi", problem=problem, interrupted=ran.interrupted)


def _told(args: argparse.Namespace, wanted: Card, cluster: Cluster, made: _Made) -> int:
    found, figures = _judged(args, wanted, cluster, made)
    kept = Kept()
    if figures:
        kept = Kept(reason="--dry-run") if args.dry_run else keep(args.directory, args.model, figures)
    status = INTERRUPTED if made.interrupted else int(not figures or kept.failed or made.problem is not None)
    told = reports.LlamaTold(
        model=args.model,
        card=wanted,
        run=made.run,
        power=made.power,
        power_of=made.power_of,
        figures=figures,
        interrupted=made.interrupted,
        ok=status == 0,
        recorded=kept.paths,
        unrecorded=_reason(kept),
        bad=kept.failed,
        older=kept.older,
        diagnostics=(*found, *kept.diagnostics),
        texts=kept.files,
    )
    show(args, reports.report(told))
    return status


def _reason(kept: Kept) -> str | None:
    return f"{kept.reason} ({kept.hint})" if kept.hint else kept.reason


def _judged(
    args: argparse.Namespace, wanted: Card, cluster: Cluster, made: _Made
) -> tuple[list[Diagnostic], tuple[Measurement, ...]]:
    """What is wrong with the run, and its figures where they count."""
    if made.problem is not None and not made.run.rows:
        hint = "what llama-bench says on its standard error tells more"
        return [Diagnostic("bench-run", made.problem, hint=hint)], ()
    refused = llama.refusal(made.run, wanted, cluster)
    if refused is not None:
        return [refused], ()
    models = cluster.catalog.models if cluster.catalog else {}
    odd = llama.other_file(made.run, models[args.model].precision)
    found = [odd] if odd else []
    if made.problem is not None:
        message = f"only a part was measured, and is marked so: {made.problem}"
        found.append(Diagnostic("bench-run", message, None, Severity.WARNING, "run it again"))
    watts = made.power if isinstance(made.power, Power) else None
    if watts is None:
        found.append(Diagnostic("bench-power", f"no power: {made.power}", None, Severity.WARNING, _NO_POWER))
    days = [row.date for row in made.run.rows if row.date]
    date = args.date or max(days, default=None) or datetime.now(UTC).date().isoformat()
    taken = Taken(wanted, date, watts, made.power_of, partial=made.problem is not None)
    return found, llama.figures(made.run, taken)
