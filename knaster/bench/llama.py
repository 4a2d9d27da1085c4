"""A run of llama-bench on a card: whether it may count, and the figures that it gives."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from knaster.bench.entries import Measurement
from knaster.bench.llama_rows import Row, Run
from knaster.bench.power import Power, Sample, mean
from knaster.bench.stats import reached
from knaster.cards.benchmarks import ENGINE, PROGRAM
from knaster.cards.table import lookup
from knaster.cards.types import names, slug
from knaster.cluster import Cluster, Gpu
from knaster.diagnostics import Diagnostic, Severity

PROMPT, GENERATED = 512, 128
"""Tokens of the tests that are run: llama-bench's own defaults (github.com/ggml-org/llama.cpp, tools/llama-bench)."""

_PRECISION = re.compile(r"\b(i?q[0-9]\w*|t?q[0-9]_[0-9]|bf16|f16|f32)(?: - (small|medium|large))?(?: \(guessed\))?$")
_SLACK = 1.0
"""Seconds by which two rows may seem to overlap: when a row is read is not when it was printed."""


@dataclass(frozen=True, slots=True)
class Card:
    """The card that was named: its type, and its machine, uuid and index there as far as the inventory knows them."""

    type: str
    node: str | None = None
    uuid: str | None = None
    index: int | None = None


@dataclass(frozen=True, slots=True)
class Watched:
    """Power over a run that was watched: samples, and when so many bytes of the output were there (rising)."""

    samples: Sequence[Sample] = ()
    arrivals: Sequence[tuple[int, float]] = ()


def card(cluster: Cluster, text: str) -> Card | str:
    """The card that `text` names: ``pve44/0`` is one of the inventory, all else a type. Else what there is instead.

    The type is called as the table of cards calls it: people may have named a card otherwise.
    """
    if any(node.name == text for node in cluster.nodes):
        text = f"{text}/"  # a node, but which card?
    name, slash, index = text.rpartition("/")
    node = next((node for node in cluster.nodes if node.name == name), None) if slash else None
    if node is None:
        return _known(cluster, text)
    gpu = next((gpu for gpu in node.gpus if str(gpu.index) == index), None)
    if gpu is None:
        there = ", ".join(f"{name}/{one.index}" for one in node.gpus)
        return f"{name} has {there}" if there else f"{name} has no cards"
    called = _type(gpu)
    return Card(called, name, gpu.uuid, gpu.index) if called else f"the inventory does not say what {text} is"


def _known(cluster: Cluster, text: str) -> Card | str:
    """A type as the fleet spells it. What looks like a card of a node that is not there is no type."""
    spelled = {slug(called): called for node in cluster.nodes for gpu in node.gpus if (called := _type(gpu))}
    called = spelled.get(slug(text))
    if called is None and re.fullmatch(r"[A-Za-z0-9.-]+/[0-9]{1,2}", text):
        return f"the inventory has no node {text.rpartition('/')[0]}"
    return Card(called or text)


def _type(gpu: Gpu) -> str | None:
    row = lookup(gpu.pci.id, gpu.pci.subsystem_id) if gpu.pci and gpu.pci.id else None
    return gpu.name if row is None or slug(gpu.name or "") == slug(row.name) else row.name


def refusal(run: Run, wanted: Card, cluster: Cluster | None = None) -> Diagnostic | None:
    """Why none of the run's figures may be recorded for the card; None where they may."""
    files = sorted({row.model_file for row in run.rows})
    if not run.rows:
        return _refused("it holds no complete row", "let llama-bench finish at least one test")
    if len(files) > 1:
        return _refused(f"it is of {len(files)} models: {', '.join(files[:5])}", "give llama-bench one model (-m)")
    if prompt(run) is None and generation(run) is None:
        return _refused("it holds neither a test of prompts alone nor one of generation alone", "leave out -pg")
    for row in run.rows:
        if found := _elsewhere(row, wanted, cluster):
            return found
    return None


def _elsewhere(row: Row, wanted: Card, cluster: Cluster | None) -> Diagnostic | None:
    """A figure counts only for the card that ran."""
    if not row.ran_on:
        seen = f"it saw {' and '.join(row.gpus)}, but used none" if row.gpus else "it saw no card"
        hint = "use a build with CUDA, a driver that shows the card, and no -ngl 0"
        return _refused(f"{row.test} ran on the CPU: {seen}", hint)
    if len(row.ran_on) > 1:
        hint = f"show llama-bench one card: CUDA_VISIBLE_DEVICES=UUID, of `nvidia-smi -L`, for the {wanted.type}"
        return _refused(f"{row.test} ran on {len(row.ran_on)} cards at once: {', '.join(row.ran_on)}", hint)
    if slug(row.ran_on[0]) not in names_of(wanted, cluster):
        return _refused(
            f"{row.test} ran on {row.ran_on[0]}, not on {wanted.type}", "name the card that ran with --card"
        )
    return None


def names_of(wanted: Card, cluster: Cluster | None) -> frozenset[str]:
    """The names of the type: a policy and the table of cards may call it otherwise than the driver does."""
    own = slug(wanted.type)
    platform = cluster.platform if cluster else None
    same = [names(policy) for policy in (platform.cards.values() if platform else ())]
    return frozenset({own}).union(*(some for some in same if own in some))


def other_file(run: Run, precision: str | None) -> Diagnostic | None:
    """A warning where the file that ran has another precision than the catalog's model.

    llama.cpp calls q4_k_m ``Q4_K - Medium`` (`llama_model_ftype_name`), and puts it at the end of ``model_type``.
    """
    type_ = run.rows[0].model_type if run.rows else ""
    found = _PRECISION.search(type_.lower())
    if found is None or precision is None:
        return None
    ran = found[1] + (f"_{found[2][0]}" if found[2] else "")
    if ran == precision.lower():
        return None
    message = f"llama-bench ran {run.rows[0].model_file} ({type_}), and the catalog's model is {precision}"
    return Diagnostic("bench-run", message, None, Severity.WARNING, "if that is another model's file, undo the record")


def _refused(reason: str, hint: str) -> Diagnostic:
    return Diagnostic("bench-run", f"this run is not recorded: {reason}", hint=hint)


def prompt(run: Run) -> Row | None:
    """The test of prompts that counts."""
    return _best([row for row in run.rows if row.n_prompt and not row.n_gen], PROMPT)


def generation(run: Run) -> Row | None:
    """The test of generation that counts."""
    return _best([row for row in run.rows if row.n_gen and not row.n_prompt], GENERATED)


def _best(rows: Sequence[Row], usual: int) -> Row | None:
    """An empty context first, then the usual number of tokens, then the largest; of several the last."""

    def rank(item: tuple[int, Row]) -> tuple[int, bool, int, int]:
        at, row = item
        tokens = row.n_prompt + row.n_gen
        return row.n_depth, tokens != usual, -tokens, -at

    return min(enumerate(rows), key=rank)[1] if rows else None


def watched(run: Run, text: str, seen: Watched) -> tuple[Power | str, str]:
    """The power of a run that was watched, or why there is none, and during what: the generation test, or all of it.

    A test ends when its row is printed, and its repetitions took ``samples_ns``. Where a row tells neither, or the rows
    came all at once, the whole run counts, the loading of the model included.
    """
    row = generation(run) or prompt(run)
    window = _window(run, row, text, seen) if row else None
    power = mean(seen.samples, *window) if window else "the row does not tell its time"
    if row and isinstance(power, Power):
        return power, row.test
    return mean(seen.samples), "whole run"


def _window(run: Run, row: Row, text: str, seen: Watched) -> tuple[float, float] | None:
    ends = {
        one.end: reached(seen.arrivals, len(text[: one.end].encode("utf-8", "surrogateescape")) - 1) for one in run.rows
    }
    end = ends[row.end]
    if end is None or row.seconds is None:
        return None
    before = max((one for at, one in ends.items() if at < row.end and one is not None), default=None)
    return None if before is not None and end - row.seconds < before - _SLACK else (end - row.seconds, end)


@dataclass(frozen=True, slots=True)
class Taken:
    """Where and when a run was made, its power, and what the power was read of (``tg128, nvidia-smi``)."""

    card: Card
    date: str
    power: Power | None = None
    power_of: str = ""
    partial: bool = False


def figures(run: Run, taken: Taken) -> tuple[Measurement, ...]:
    """``prompt_rate`` and ``generation_rate`` in token/s, ``power`` in W, ``efficiency`` in token/J.

    Tokens per joule are generated tokens per second over watts.
    """
    return tuple(_figures(run, taken))


def _figures(run: Run, taken: Taken) -> Iterator[Measurement]:
    generated, power = generation(run), taken.power
    for metric, row in (("prompt_rate", prompt(run)), ("generation_rate", generated)):
        if row:
            yield _figure(taken, row, (metric, row.rate, "token/s"), row.spread, row.test)
    last = generated or prompt(run)
    if power and last:
        yield _figure(taken, last, ("power", power.watts, "W"), power.spread, taken.power_of)
        if generated:
            yield _figure(taken, last, ("efficiency", generated.rate / power.watts, "token/J"), None, taken.power_of)


def _figure(taken: Taken, row: Row, what: tuple[str, float, str], spread: float | None, how: str) -> Measurement:
    metric, value, unit = what
    return Measurement(
        metric=metric,
        value=value,
        unit=unit,
        spread=spread,
        card=taken.card.type,
        node=taken.card.node,
        engine=ENGINE,
        build=row.build,
        date=taken.date,
        voice=None,
        partial=taken.partial,
        source=f"{PROGRAM} {how}",
    )
