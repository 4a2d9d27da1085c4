"""``lsblk -J -b -d -o NAME,SIZE,ROTA[,TYPE,TRAN,MODEL,SERIAL,WWN,RM]``: the real disks.

util-linux 2.27 to 2.32 print every value as text (``"rota":"0"``), 2.33 and later numbers and bools. Virtual devices
are told by their names, since TYPE says ``disk`` of most. Paths to one disk are told by WWN or serial, never by size.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from knaster.cluster import Disk
from knaster.inventory.parsers.jsontext import decode, lowered, objects
from knaster.inventory.parsers.values import flag, integer, token, whole, words
from knaster.inventory.reading import Problem, Reading, normalise

_VIRTUAL = re.compile(r"(loop|ram|zram|nbd|rbd|zd|dm-|md|sr|fd|drbd)[0-9_].*|mmcblk[0-9]+(boot[0-9]*|rpmb)")
_NAME = re.compile(r"[!-~]{1,60}")
_GUEST_DISK = re.compile(r"x?vd[a-z]+")
_NO_JSON = re.compile(r"(invalid|unrecognized|unknown) option")
_LARGEST = 10**15
_NO_DEVICE = 32

Row = dict[str, object]


def parse(text: str, status: int = 0) -> Reading[tuple[Disk, ...]]:
    """Disks by name, sizes in GB of 10^9 bytes; an empty tuple where the system has none.

    Causes: ``no-json-output`` (util-linux before 2.27), ``tool-missing``, ``failed``, ``no-such-device``, ``not-bytes``
    (``-b`` forgotten), ``malformed``.
    """
    text = normalise(text)
    if not text.strip() or _NO_JSON.search(text):
        return _problem("no-json-output", f"lsblk has no JSON output (status {status}); read /sys/block")
    decoded = decode(text)
    if decoded.problem:
        return Reading(problem=decoded.problem)
    document = lowered(decoded.value) if isinstance(decoded.value, dict) else {}
    rows = objects(document.get("blockdevices"), "blockdevices")
    if isinstance(rows, Problem):
        return Reading(problem=rows)
    if status and not rows:
        return _problem("no-such-device" if status == _NO_DEVICE else "failed", f"lsblk ended with status {status}")
    problem = next(_refused(rows), None)
    if problem:
        return Reading(problem=problem)
    warnings = [f"disks: lsblk ended with status {status}"] if status else []
    real = _merged([row for row in rows if _is_disk(row)], warnings)
    disks = [_disk(row, warnings) for row in real]
    return Reading(tuple(sorted(disks, key=lambda disk: disk.name)), tuple(warnings))


def _refused(rows: Iterable[Row]) -> Iterator[Problem]:
    """Rows that make the whole text doubtful."""
    seen: dict[object, Row] = {}
    for number, row in enumerate(rows):
        name, size = row.get("name"), row.get("size")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            yield Problem("malformed", f"blockdevices[{number}]: {token(name)} is no name of a device")
            continue
        if size is not None and integer(size) is None:
            yield Problem("not-bytes", f"{name}: size is {token(size)}, not in bytes; run lsblk with -b")
        if seen.setdefault(name, row) != row:
            yield Problem("malformed", f"{name}: listed twice, with different values")


def _is_disk(row: Row) -> bool:
    kind = row.get("type")
    is_part = isinstance(kind, str) and kind.casefold() not in {"disk", ""}
    return not is_part and not _VIRTUAL.fullmatch(str(row["name"])) and integer(row.get("size")) != 0


def _merged(rows: list[Row], warnings: list[str]) -> list[Row]:
    """Paths to one disk counted once, under the first name; equal sizes alone prove nothing."""
    first: dict[tuple[object, ...], Row] = {}
    hidden: dict[str, list[str]] = {}
    for row in rows:
        kept = first.setdefault(_identity(row), row)
        if kept["name"] != row["name"]:
            hidden.setdefault(str(kept["name"]), []).append(str(row["name"]))
    for name, others in hidden.items():
        warnings.append(f"disks[{name}]: {', '.join(others[:8])} lead to the same disk, counted once")
    return list(first.values())


def _identity(row: Row) -> tuple[object, ...]:
    """WWN; for SCSI disks without one serial and model, but bridges on USB share serials; else the name."""
    size, wwn, serial = integer(row.get("size")), words(row.get("wwn")), words(row.get("serial"))
    if wwn:
        return "wwn", wwn, size
    if serial and str(row["name"]).startswith("sd") and row.get("tran") != "usb":
        return "serial", serial, words(row.get("model")), size
    return "name", row["name"]


def _disk(row: Row, warnings: list[str]) -> Disk:
    name, size, spins = str(row["name"]), integer(row.get("size")), flag(row.get("rota"))
    if size is None or size > _LARGEST:
        warnings.append(f"disks[{name}].size_gb: lsblk printed {token(row.get('size'))}")
        size = None
    if spins is None:
        warnings.append(f"disks[{name}].rotational: lsblk printed {token(row.get('rota'))}")
    elif spins and _GUEST_DISK.fullmatch(name):
        warnings.append(f"disks[{name}].rotational: a virtual disk says true whatever is below it")
    return Disk(name, None if size is None else whole(size, 10**9), spins)


def _problem(cause: str, message: str) -> Reading[tuple[Disk, ...]]:
    return Reading(problem=Problem(cause, message))
