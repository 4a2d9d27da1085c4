"""``/proc/meminfo``: the memory that this system can use.

MemTotal is in KiB and 1 to 2.5 % less than what is installed (kernel and firmware keep the rest); huge pages
are inside. In a container without lxcfs it is the host's; the limit is in the cgroup. https://docs.kernel.org/filesystems/proc.html
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from knaster.cluster import Number
from knaster.inventory.parsers.values import token, whole
from knaster.inventory.reading import Problem, Reading, normalise

_VALUE = re.compile(r"([0-9]{1,11})\s+kB")
_LIMIT_KIB = 65536 << 20


@dataclass(frozen=True, slots=True)
class MemInfo:
    """Memory usable by this system, in KiB."""

    total_kib: int


def parse(text: str) -> Reading[MemInfo]:
    """MemTotal of a ``/proc/meminfo``. Causes: ``no-memtotal``, ``malformed`` (unit, value, or two that differ)."""
    found: set[int] = set()
    for number, line in enumerate(normalise(text).split("\n"), 1):
        label, colon, value = line.partition(":")
        if not colon or label.strip() != "MemTotal":
            continue
        match = _VALUE.fullmatch(value.strip())
        if not match or not 0 < int(match[1]) <= _LIMIT_KIB:
            return _malformed(number, f"MemTotal is {token(value.strip())!r}, not a number of kB")
        found.add(int(match[1]))
        if len(found) > 1:
            return _malformed(number, "a second MemTotal that differs from the first")
    if not found:
        return Reading(problem=Problem("no-memtotal", "there is no MemTotal line"))
    return Reading(MemInfo(found.pop()))


def memory_gb(total_kib: int) -> Number:
    """GiB rounded to the nearest whole number (65769420 KiB: 63); below half a GiB one digit."""
    return whole(total_kib, 1 << 20)


def _malformed(line: int, reason: str) -> Reading[MemInfo]:
    return Reading(problem=Problem("malformed", f"line {line}: {reason}", line))
