"""``/proc/cpuinfo``: threads are its entries, cores the distinct (package, core) pairs among them.

``cpu cores`` times sockets is wrong in containers, and threads / 2 is wrong on hybrids, so neither is used. ARM, POWER
and Xen guests print no topology: then one core per thread is assumed, with a warning. Offline CPUs are absent.
Layouts: ``arch/*/kernel/cpu/proc.c`` and its like in the kernel's source.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from knaster.cluster import Cpu
from knaster.inventory.parsers.values import checked_cpu, integer, joined, words
from knaster.inventory.reading import Problem, Reading, normalise

_TOOL = "/proc/cpuinfo"
_S390_ENTRY = re.compile(r"processor [0-9]+")
_MODEL_KEYS = ("model name", "cpu", "cpu model")
_PACKAGE_KEYS = ("drawer id", "book id", "physical id", "package")
_ARM_PARTS = {
    "0xd0c": "Neoverse-N1",
    "0xd40": "Neoverse-V1",
    "0xd4f": "Neoverse-V2",
    "0xd85": "Cortex-X925",
    "0xd87": "Cortex-A725",
}

Core = tuple[str, ...]


@dataclass(slots=True)
class _Entry:
    """One logical CPU: the line that opens it, and its keys in lower case."""

    line: int
    facts: dict[str, str] = field(default_factory=dict)

    def core(self) -> Core | None:
        """Package and core; ``None`` where the kernel tells none."""
        core = self.facts.get("core id") or self.facts.get("core")
        return (*(self.facts.get(key, "") for key in _PACKAGE_KEYS), core) if core else None


def parse(text: str) -> Reading[Cpu]:
    """The processor of a ``/proc/cpuinfo``.

    Causes: ``empty``, ``malformed`` (no processor entry; topology in some entries only, as in a text cut off).
    """
    text = normalise(text)
    if not text.strip():
        return Reading(problem=Problem("empty", f"{_TOOL}: there is no text"))
    header, entries = _entries(text)
    if not entries:
        return Reading(problem=Problem("malformed", "line 1: no 'processor' entry in the text", 1))
    cores = [entry.core() for entry in entries]
    if None in cores and any(cores):
        line = entries[cores.index(None)].line
        return Reading(problem=Problem("malformed", f"line {line}: this processor has no core id, others have", line))
    model = _model(header, entries)
    warnings = [] if model else [f"cpu.model: {_TOOL} names none{_arm_parts(entries)}"]
    count, doubt = _cores(entries, [core for core in cores if core])
    return checked_cpu(model, count, len(entries), (*warnings, *doubt), _TOOL)


def _entries(text: str) -> tuple[_Entry, list[_Entry]]:
    """What stands before the first entry, and the entries; a footer counts to the last."""
    header = _Entry(1)
    entries: list[_Entry] = []
    summary: list[_Entry] = []
    for number, line in enumerate(text.split("\n"), 1):
        raw, colon, value = line.partition(":")
        key, value = " ".join(raw.split()).casefold(), value.strip()
        if not colon:
            continue
        if key in {"processor", "cpu number"} and integer(value) is not None:
            entries.append(_Entry(number))
        elif _S390_ENTRY.fullmatch(key):
            summary.append(_Entry(number))
        else:
            (entries[-1] if entries else header).facts.setdefault(key, value)
    return header, entries or summary


def _cores(entries: list[_Entry], cores: list[Core]) -> tuple[int, tuple[str, ...]]:
    """The number of cores, and why it is a guess if it is one."""
    if not cores:
        return len(entries), (f"cpu.cores: {_TOOL} tells no topology; one core per thread assumed",)
    first = dict(zip(reversed(cores), reversed(entries), strict=True))
    for core, threads in Counter(cores).items():
        facts = first[core].facts
        siblings, per_package = integer(facts.get("siblings")), integer(facts.get("cpu cores")) or 1
        if siblings and threads > max(1, siblings - per_package + 1):
            reason = f"{threads} threads on one core, but {siblings} siblings and {per_package} cores per package"
            return len(entries), (f"cpu.cores: {_TOOL} gives {reason}; one core per thread assumed",)
    return len(set(cores)), ()


def _model(header: _Entry, entries: list[_Entry]) -> str | None:
    """The first key that any entry has; ``Processor: ARMv7 …`` before the entries is an old ARM kernel's."""
    for key in _MODEL_KEYS:
        names = [words(entry.facts.get(key)) for entry in entries]
        found = joined(name for name in names if name and not name.isdecimal())
        if found:
            return found
    return words(header.facts.get("processor"))


def _arm_parts(entries: list[_Entry]) -> str:
    parts = dict.fromkeys(words(entry.facts.get("cpu part")) for entry in entries)
    named = [f"{part} = {_ARM_PARTS[part]}" if part in _ARM_PARTS else part[:10] for part in parts if part]
    return f" (part {', '.join(named[:8])})" if named else ""
