"""Single values as tools print them: numbers as text, words for "not known", bytes, addresses.

Nothing here raises, whatever the value; ``None`` is "not known". Bounds are those of the node profile's schema.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from knaster.cluster import Cpu, Number
from knaster.inventory.reading import Reading
from knaster.units import MIB

_NOT_KNOWN = re.compile(r"\[?(-|n/a|unknown|none|null|not (specified|available|supported))?\]?", re.IGNORECASE)
_DIGITS = re.compile(r"[0-9]{1,20}")
_ADDRESS = re.compile(r"(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}:[0-9a-f]{2}\.[0-7])")
_FLAGS = {"1": True, "true": True, "0": False, "false": False}
_TEXT_LENGTH, _TOKEN_LENGTH = 120, 60
_CORES, _THREADS, _MIB = 4096, 8192, 1 << 22


def integer(value: object) -> int | None:
    """A whole number ≥ 0 of at most 20 digits: ``8``, ``8.0``, ``" 8 "``. A bool is none."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value if 0 <= value < 10**20 else None
    if isinstance(value, str) and _DIGITS.fullmatch(value.strip()):
        return int(value.strip())
    return None


def flag(value: object) -> bool | None:
    """``True`` for true, 1, ``"1"``, ``"true"``; ``False`` for their opposites (``bool("0")`` would be true)."""
    return _FLAGS.get(str(value).strip().lower()) if isinstance(value, bool | int | str) else None


def words(value: object) -> str | None:
    """Text for people, ends trimmed, without control characters and surrogates, at most 120 characters.

    ``-``, ``N/A``, ``[N/A]``, ``unknown`` and the like are ``None``.
    """
    if not isinstance(value, str):
        return None
    text = "".join(sign if sign.isprintable() else " " for sign in value).strip()[:_TEXT_LENGTH].strip()
    return None if _NOT_KNOWN.fullmatch(text) else text


def token(value: object, length: int = _TOKEN_LENGTH) -> str:
    """A JSON value as a warning quotes it: short, printable, on one line."""
    if isinstance(value, dict | list):
        return "a list" if isinstance(value, list) else "an object"
    if isinstance(value, int) and abs(value) >= 10**20:
        return "a number of more than 20 digits"
    text = value if isinstance(value, str) else json.dumps(value)
    shown = "".join(sign if sign.isprintable() else " " for sign in text[: 4 * length]).strip()
    return (shown[:length] + "…" if len(shown) > length else shown) or "nothing"


def joined(names: Iterable[str]) -> str | None:
    """Distinct names in their order, as ``Cortex-X925 + Cortex-A725``."""
    return " + ".join(dict.fromkeys(names))[:_TEXT_LENGTH].strip() or None


def whole(amount: int, unit: int) -> Number:
    """``amount / unit`` to the nearest whole number; below one half one digit (0.4), since 0 would be no fact."""
    nearest = (2 * amount + unit) // (2 * unit)
    return nearest or max(0.001, float(f"{amount / unit:.1g}"))


def address(value: object) -> str | None:
    """A PCI address with its domain, lower case: ``0000:05:00.0``; the domain 0 may be left out."""
    found = _ADDRESS.fullmatch(value.strip().lower()) if isinstance(value, str) else None
    return f"{found[1] or '0000'}:{found[2]}" if found else None


def mebibytes(value: object, unit: int = 1) -> int | None:
    """MiB of a number of ``unit`` bytes, rounded down; ``None`` for 0 and for more than 4 TiB."""
    number = integer(value)
    mib = number * unit // MIB if number is not None else 0
    return mib if 0 < mib <= _MIB else None


def checked_cpu(
    model: str | None, cores: int | None, threads: int | None, warnings: Iterable[str], tool: str
) -> Reading[Cpu]:
    """A processor with counts that can be true: 1 ≤ cores ≤ threads; what can not is ``None`` with a warning."""
    said = list(warnings)
    if cores is not None and not 0 < cores <= _CORES:
        said.append(f"cpu.cores: {tool} gives {cores}")
        cores = None
    if threads is not None and not 0 < threads <= _THREADS:
        said.append(f"cpu.threads: {tool} gives {threads}")
        threads = None
    if cores is not None and threads is not None and cores > threads:
        said.append(f"cpu.cores: {tool} gives {cores} cores but {threads} threads; every core has at least one")
        cores = None
    return Reading(Cpu(model, cores, threads), tuple(said))
