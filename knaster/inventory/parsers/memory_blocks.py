"""The memory that is installed: the kernel's blocks that are online, asked without root.

``lsmem -b --summary=only`` gives their sum in bytes; where there is no lsmem, the capture script writes what
``/sys/devices/system/memory`` holds as ``block_size_bytes:8000000`` (hexadecimal) and ``online_blocks:192`` (decimal).
Many ARM kernels and containers have neither. https://docs.kernel.org/admin-guide/mm/memory-hotplug.html
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from knaster.inventory.parsers.values import token
from knaster.inventory.reading import Problem, Reading, normalise

_FORMS = {
    "Total online memory": (re.compile(r"[0-9]{1,15}"), 10, "a number of bytes (lsmem -b)"),
    "block_size_bytes": (re.compile(r"(?:0x)?[0-9a-f]{1,12}", re.IGNORECASE), 16, "a hexadecimal number of bytes"),
    "online_blocks": (re.compile(r"[0-9]{1,8}"), 10, "a number of blocks"),
}
_LIMIT = 65536 << 30


@dataclass(frozen=True, slots=True)
class MemoryBlocks:
    """Memory of the blocks that are online, in bytes."""

    online_bytes: int


def parse(text: str) -> Reading[MemoryBlocks]:
    """What lsmem or sysfs tells.

    Causes: ``no-blocks`` (neither is in the text), ``malformed`` (a value, two that differ, none or more than 64 TiB).
    """
    found: dict[str, int] = {}
    for number, line in enumerate(normalise(text).split("\n"), 1):
        label, colon, value = (part.strip() for part in line.partition(":"))
        if not colon or label not in _FORMS:
            continue
        form, base, what = _FORMS[label]
        if not form.fullmatch(value):
            return _malformed(number, f"{label} is {token(value)!r}, not {what}")
        if found.setdefault(label, int(value, base)) != int(value, base):
            return _malformed(number, f"a second {label} that differs from the first")
    size = found.get("Total online memory", found.get("block_size_bytes", 0) * found.get("online_blocks", 0))
    if not {"Total online memory"} & found.keys() and not {"block_size_bytes", "online_blocks"} <= found.keys():
        return Reading(problem=Problem("no-blocks", "the kernel shows no memory blocks"))
    if not 0 < size <= _LIMIT:
        return _malformed(0, f"{size} bytes of memory are online")
    return Reading(MemoryBlocks(size))


def _malformed(line: int, reason: str) -> Reading[MemoryBlocks]:
    return Reading(problem=Problem("malformed", f"line {line}: {reason}" if line else reason, line))
