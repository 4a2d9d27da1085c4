"""The catalog entry for one row of a plan: a model of ``catalog/models.yaml`` with what its engine needs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil

from knaster.document import Value
from knaster.model_plan.arguments import arguments
from knaster.model_plan.attempts import Fit
from knaster.model_plan.candidates import Row
from knaster.model_plan.engines import VLLM_FLOORS
from knaster.model_plan.purpose import Purpose
from knaster.redact import redact
from knaster.units import exact, gib, hundredths, show_hundredths
from knaster.weights import gguf_names
from knaster.weights.published import GgufFile, Published

FOLDER = "/models"
"""Where the entry expects a downloaded file; people change it to where theirs are."""

LOADING_RATE = 100 * 10**6
"""Bytes per second that a start may count on: a gigabit network or an old disk (judgement, not measured)."""
_SETTING_UP = {"llamacpp": 60, "vllm": 300}
"""Seconds beside the loading; vLLM compiles, profiles and captures CUDA graphs (judgement, not measured)."""


@dataclass(frozen=True, slots=True)
class Entry:
    """``data`` in the order of the schema; ``comments`` are lines without their ``#`` that stand above it."""

    name: str
    data: dict[str, Value]
    comments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """Where the weights come from. ``local``: a folder or file on this machine, whose path is ``name``."""

    published: Published
    local: bool = False


def entry(row: Row, source: Source, purpose: Purpose, name: str | None = None) -> Entry:
    """The entry for a row; `name` overrides the one made of the repository's name and the precision."""
    fit = row.fit
    tried = fit.tried
    file = weights_file(source, tried.precision) if tried.planning.kind == "llamacpp" else None
    shape = fit.shape
    data: dict[str, Value] = {
        "kind": purpose.kind,
        "vram_gb": _number(max(fit.demand) if shape else fit.need.ram_bytes),
        "min_cc": _floor(fit),
        "engines": [tried.planning.engine.name],
        "context": tried.ask.context,
        "source": file.path if file else source.published.name,
        "precision": tried.precision,
        "args": list(arguments(fit, purpose, file.path if file else "")),
        "tensor_parallel": shape.cards if shape and shape.cards > 1 else None,
        "nodes": shape.nodes if shape and shape.nodes > 1 else None,
        "min_memory_gb": None if shape else _number(fit.demand[0]),
        "startup_timeout": timeout(fit),
        "estimated": [_figure(row)],
    }
    known: dict[str, Value] = {key: value for key, value in data.items() if value is not None}
    return Entry(
        entry_name(source.published.name, tried.precision) if name is None else name, known, _comments(row, file)
    )


@dataclass(frozen=True, slots=True)
class WeightsFile:
    """A GGUF file as the entry names it, and how to come by it, in lines (none where it is there)."""

    path: str
    hint: tuple[str, ...] = ()


def weights_file(source: Source, precision: str) -> WeightsFile:
    """The file of a precision: the one on disk, one of the repository, or one that has to be made."""
    published = source.published
    name = published.name.rstrip("/")
    found = _listed(published, precision)
    if source.local and found:
        return WeightsFile(name if name.lower().endswith(".gguf") else f"{name}/{found.path}")
    if found:
        parts = _typed(name, *(found.parts or (found.path,)))
        sum_of = (f"sha256 {found.sha256}",) if found.sha256 else ()
        return WeightsFile(f"{FOLDER}/{found.path}", (f"File: hf download {parts} --local-dir {FOLDER}", *sum_of))
    return _made(name, precision, local=source.local)


def to_be_made(published: Published, rows: Iterable[Row]) -> tuple[str, ...]:
    """A sentence on the precisions that have rows for llama.cpp and no file yet; nothing where all have one."""
    served = (row.fit.tried for row in rows if row.fit.tried.planning.kind == "llamacpp")
    names = [one.precision for one in served if _listed(published, one.precision) is None]
    if not names:
        return ()
    told = ", ".join(dict.fromkeys(names))
    return (f"{told}: no GGUF file is published here, so one has to be converted, or found elsewhere",)


def _made(name: str, precision: str, *, local: bool) -> WeightsFile:
    """A file that has to be made of the repository or folder, with llama.cpp's own programs."""
    base = _plain(name.rpartition("/")[2])
    made, plain = f"{FOLDER}/{base}-{precision}.gguf", f"{base}-f16.gguf"
    written = made if precision == "f16" else plain
    lines = [f"File: {name} holds no GGUF file of {precision}; download one that others made of it, or make it:"]
    if not local:
        lines.append(f"  hf download {_typed(name)} --local-dir {base}")
    lines.append(f"  convert_hf_to_gguf.py {_typed(name) if local else base} --outtype f16 --outfile {written}")
    if precision != "f16":
        lines.append(f"  llama-quantize {plain} {made} {precision}")
    return WeightsFile(made, tuple(lines))


def entry_name(source: str, precision: str) -> str:
    """``qwen3-14b-q4_k_m`` for ``Qwen/Qwen3-14B``: the last part of the name, and the precision if it lacks one."""
    base = re.sub(r"[-_.]?gguf\Z", "", source.rstrip("/").rpartition("/")[2], flags=re.IGNORECASE)
    plain = _plain(base).lower()
    if precision not in plain:
        plain = f"{plain[: 99 - len(precision)]}-{precision}"
    return plain[:100]


def timeout(fit: Fit) -> int:
    """Seconds that a start may take, in whole minutes: reading the weights at `LOADING_RATE`, and the engine's own."""
    size = fit.need.weights
    if fit.tried.precision == "fp8" and fit.tried.model.stored != "fp8":
        size *= 2  # the repository's 16 bits are read, whatever they become
    seconds = _SETTING_UP[fit.tried.planning.kind] + size / LOADING_RATE
    return min(60 * ceil(seconds / 60), 86400)


def _comments(row: Row, file: WeightsFile | None) -> tuple[str, ...]:
    fit, shape = row.fit, row.fit.shape
    lines = [
        f"Estimated by knaster model plan for {row.where}, until knaster bench measures: GiB of",
        f"{_told(fit)} ({_cells(fit)})",
        *(file.hint if file else ()),
    ]
    if row.build:
        release = "cuda-12.4" if shape and shape.each[0].os == "windows" else "cuda-12.8, or the image server-cuda"
        lines.append(f"Build: llama.cpp for {row.build} ({release});")
        lines.append("  builds for CUDA 13 begin at compute capability 7.5.")
    if shape and shape.nodes > 1:
        fabric = " or ".join(dict.fromkeys(spread.fabric or "" for spread in row.spreads))
        lines.append(
            f"{shape.nodes} nodes of fabric {fabric}, {len(shape.each)} card{'s' * (len(shape.each) > 1)} in each;"
        )
        lines.append("each node adds its own --node-rank, and --master-addr of the first; all others --headless.")
    if fit.shares:
        lines.append("--tensor-split counts cards in PCI order: set CUDA_DEVICE_ORDER=PCI_BUS_ID.")
    if fit.tried.planning.kind == "vllm":
        lines.append("Started as: vllm serve, the source, the args.")
    return tuple(_line(line) for line in lines)


def _told(fit: Fit) -> str:
    """Weights, cache and the rest."""
    need = fit.need
    parts = [("weights", need.weights), ("KV cache", need.cache), ("state", need.state), ("buffers", need.compute)]
    if fit.tried.planning.kind == "vllm":
        parts.append(("engine", need.context_overhead))
    return " + ".join(f"{name} {show_hundredths(gib(size), up=True)}" for name, size in parts if size)


def _cells(fit: Fit) -> str:
    ask = fit.tried.ask
    sequences = f"{ask.parallel} x " if ask.parallel > 1 else ""
    each = f" of {fit.need.bytes_per_token:,} bytes" if fit.need.bytes_per_token else ""
    return f"{sequences}{ask.context:,} tokens{each}"


def _figure(row: Row) -> dict[str, Value]:
    fit = row.fit
    metric, size = ("vram", max(fit.demand)) if fit.shape else ("memory", fit.demand[0])
    figure: dict[str, Value] = {"metric": metric, "value": _number(size), "unit": "GiB"}
    if fit.shape:
        figure["card"] = fit.shape.each[0].name if fit.shape.like else row.where[:120]
    return {**figure, "engine": fit.tried.planning.engine.name, "source": "knaster model plan"}


def _floor(fit: Fit) -> Value:
    """The compute capability that the precision asks, where the engine's own floor is lower."""
    if fit.tried.planning.kind != "vllm":
        return None
    floor = VLLM_FLOORS[fit.tried.precision][0]
    return floor if exact(floor) > exact(fit.tried.planning.engine.min_cc) else None


def _listed(published: Published, precision: str) -> GgufFile | None:
    """The GGUF file of the precision, the one whose header was read first; a single file is what it is."""
    if published.config is None and len(published.gguf) == 1:
        return published.gguf[0]
    named = [file for file in published.gguf if gguf_names.precision(file.path) == precision]
    return min(named, key=lambda file: (not file.tensors, len(file.path), file.path), default=None)


def _number(size: int) -> int | float:
    """Bytes as GiB with two decimals, rounded up."""
    number = hundredths(gib(size), up=True)
    return number if isinstance(number, int) else float(number)


def _plain(name: str) -> str:
    """A name as the catalog takes it: letters, digits and a few marks."""
    return re.sub(r"[^A-Za-z0-9._+-]+", "-", name).strip("-._+") or "model"


def _typed(*words: str) -> str:
    """Words of a command as a person can type them into a shell, whatever a file calls itself."""
    return shlex.join(words)


def _line(text: str) -> str:
    """A comment that stays one, whatever a repository calls itself."""
    return "".join(mark if mark.isprintable() else "?" for mark in redact(text))
