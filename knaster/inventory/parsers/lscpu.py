"""``lscpu``: text (C locale), ``-J`` flat or nested, and ``-p``; all three become label and value first.

Threads are the on-line list (``CPU(s)`` counts offline ones too); cores are the sum over CPU types of cores per socket
times sockets: ``Thread(s) per core`` is a maximum and says nothing on hybrids. ``-p`` repeats core ids on ARM: prefer
the text. In LXC lscpu shows the host: read ``/proc/cpuinfo`` there. Source: util-linux ``sys-utils/lscpu.c``.
"""

from __future__ import annotations

from dataclasses import dataclass

from knaster.cluster import Cpu
from knaster.inventory.parsers.jsontext import decode
from knaster.inventory.parsers.lscpu_counts import cores_of, list_size, mask_size, threads_per_core
from knaster.inventory.parsers.lscpu_table import is_table, parse_table
from knaster.inventory.parsers.values import checked_cpu, integer, joined, token, words
from knaster.inventory.reading import Problem, Reading, normalise

_ENGLISH = {
    "on-line cpu(s) list",
    "on-line cpu(s) mask",
    "thread(s) per core",
    "core(s) per socket",
    "core(s) per cluster",
    "byte order",
}
_FOREIGN = "lscpu is not in the C locale; run it with LC_ALL=C"

Pairs = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class _Labels:
    """Labels in lower case without their colon, with their values, in the order of the text."""

    pairs: Pairs
    foreign: bool = False

    def first(self, label: str) -> str | None:
        return next((value for name, value in self.pairs if name == label), None)


def parse(text: str) -> Reading[Cpu]:
    """The processor of an ``lscpu`` output.

    Causes: ``empty``, ``not-c-locale``, ``unsupported-form`` (``-e -J``), ``tool-missing``, ``malformed``.
    """
    text = normalise(text)
    if not text.strip():
        return Reading(problem=Problem("empty", "lscpu: there is no output"))
    if is_table(text):
        return parse_table(text)
    labels = _from_json(text) if text.lstrip().startswith(("{", "[")) else _from_text(text)
    if isinstance(labels, Problem):
        return Reading(problem=labels)
    known = {label for label, _ in labels.pairs}
    if labels.foreign or "cpu(s)" not in known or not known & _ENGLISH:
        return Reading(problem=_unknown(labels, text))
    return _processor(labels)


def _processor(labels: _Labels) -> Reading[Cpu]:
    warnings: list[str] = []
    threads = _threads(labels, warnings)
    cores = cores_of(labels.pairs)
    if cores is None:
        warnings.append("cpu.cores: lscpu gives no cores per socket, or no sockets")
    per_core = threads_per_core(labels.pairs)
    if cores and threads and per_core and threads > cores * per_core:
        warnings.append(f"cpu.cores: lscpu gives {threads} threads on {cores} cores of at most {per_core} each")
    names = [words(value) for label, value in labels.pairs if label == "model name"]
    model = joined(name for name in names if name)
    if model is None:
        warnings.append(f"cpu.model: lscpu gives {token(labels.first('model name') or '')}")
    return checked_cpu(model, cores, threads, warnings, "lscpu")


def _threads(labels: _Labels, warnings: list[str]) -> int | None:
    for label, size in (("on-line cpu(s) list", list_size), ("on-line cpu(s) mask", mask_size)):
        listed = labels.first(label)
        if listed is not None:
            count = size(listed)
            if count is None:
                warnings.append(f"cpu.threads: lscpu gives {token(listed)} as its on-line list")
            return count
    present, offline = integer(labels.first("cpu(s)")), list_size(labels.first("off-line cpu(s) list") or "")
    if present is None:
        warnings.append(f"cpu.threads: lscpu gives {token(labels.first('cpu(s)'))}")
        return None
    return present - (offline or 0)


def _from_text(text: str) -> _Labels:
    """Lines split at the first colon; a wrapped line of a terminal has no label of ours and falls out."""
    pairs: Pairs = []
    foreign = False
    for line in text.split("\n"):
        label, colon, value = line.partition(":")
        foreign = foreign or (bool(colon) and label.endswith(("\u00a0", "\u202f")))
        if colon:
            pairs.append((label.strip().casefold(), value.strip()))
    return _Labels(pairs, foreign)


def _from_json(text: str) -> _Labels | Problem:
    """``{"lscpu": [{"field", "data", "children"}]}``; children since 2.37, on a terminal only."""
    decoded = decode(text)
    if decoded.problem:
        return decoded.problem
    document = decoded.value if isinstance(decoded.value, dict) else {}
    if "cpus" in document:
        return Problem("unsupported-form", "this is lscpu -e -J; run lscpu -J")
    rows = document.get("lscpu")
    if not isinstance(rows, list):
        return Problem("malformed", "there is no list 'lscpu' in the JSON")
    pairs: Pairs = []
    waiting = list(reversed(rows))
    while waiting:
        row = waiting.pop()
        field = row.get("field") if isinstance(row, dict) else None
        if not isinstance(row, dict) or not isinstance(field, str):
            return Problem("malformed", f"lscpu: {token(row)} where a field was expected, after {len(pairs)} fields")
        data, children = row.get("data"), row.get("children")
        value = data if isinstance(data, str) else token(data) if isinstance(data, int) else "-"
        pairs.append((field.strip().removesuffix(":").casefold(), value.strip()))
        waiting.extend(reversed(children) if isinstance(children, list) else ())
    foreign = any(label.endswith(("\u00a0", "\u202f")) for label, _ in pairs)
    return _Labels(pairs, foreign)


def _unknown(labels: _Labels, text: str) -> Problem:
    if labels.foreign or len(labels.pairs) > 1:
        return Problem("not-c-locale", _FOREIGN)
    first = token(text.strip().split("\n")[0])
    return Problem("tool-missing" if "not found" in first else "malformed", f"line 1: no lscpu output: {first}", 1)
