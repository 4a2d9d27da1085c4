"""nvidia-smi: ``--query-gpu=index,name,memory.total[,compute_cap],driver_version --format=csv,noheader,nounits``,
``-L``, and ``--query-gpu=index,uuid,pci.bus_id --format=csv,noheader``.

The CSV knows no quoting: fields are split at ``", "``, the index is the first; memory, compute capability and driver
are the last, the name is the rest. A value in brackets or ``N/A`` is unknown, and the row stays. Memory is in MiB.
Source: runs of nvidia-smi 390 to 550 over a mock NVML, and public reports.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from knaster.inventory.parsers.nvidia_failures import failure, short_address
from knaster.inventory.parsers.nvidia_rows import MalformedError, cell, collect, index, name, read
from knaster.inventory.parsers.values import token
from knaster.inventory.reading import Reading, normalise

_MOST_MIB = 1 << 22
_CSV_ROW = re.compile(r"\s*[0-9]+, ")
_HEADER = re.compile(r"index, name, memory\.total(?: \[MiB\])?(, compute_cap)?, driver_version")
_MEMORY = re.compile(r"([0-9]{1,7})(?: MiB)?")
_COMPUTE_CAP = re.compile(r"[1-9][0-9]?\.[0-9]")
_DRIVER = re.compile(r"[0-9]{1,5}(?:\.[0-9]{1,5}){0,3}")
_UNIFIED = re.compile(r"\bGB10\b")  # neither GB100 nor GB10B
_CARD = re.compile(r"GPU ([0-9]+): (.*) \(UUID: ([^()]*)\)")
_SLICE = re.compile(r"\s+MIG .*\(UUID: [^()]*\)\s*")
_UUID = re.compile(r"GPU-[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_ADDRESS = re.compile(r"[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]")


@dataclass(frozen=True, slots=True)
class SmiGpu:
    """One row of the query. ``unified``: the card shares the system's memory, whatever number was printed (GB10)."""

    index: int
    name: str | None
    memory_mib: int | None
    compute_cap: float | None
    driver: str | None
    unified: bool = False


@dataclass(frozen=True, slots=True)
class SmiListed:
    """One card of ``nvidia-smi -L``."""

    index: int
    name: str | None
    uuid: str | None


@dataclass(frozen=True, slots=True)
class SmiIdentity:
    """What a card is known by. ``pci_address`` is written as sysfs does: ``0000:01:00.0``."""

    index: int
    uuid: str | None
    pci_address: str | None


def query(text: str, status: int = 0, *, compute_cap: bool = True) -> Reading[tuple[SmiGpu, ...]]:
    """The rows of the query, by index; without `compute_cap` the form of four fields, and every one is None.

    Causes of a problem: unsupported-field, no-permission, driver-not-loaded, library-missing, gpu-lost,
    blocked-by-os, version-mismatch, unknown-error, tool-missing, killed, malformed. "No devices were found" with
    status 6 is none: the value is empty. A gap in the indexes is a card that the driver did not show: a warning.
    All cards of a machine have one driver; a row with another was cut off.
    """
    drivers: list[str] = []

    def make(line: str, said: list[str]) -> SmiGpu | None:
        if header := _HEADER.fullmatch(line.strip()):
            if bool(header[1]) != compute_cap:
                raise MalformedError("other columns than asked for")
            return None
        gpu = _gpu(line, said, compute_cap=compute_cap)
        if gpu.driver and drivers and gpu.driver != drivers[0]:
            raise MalformedError(f"driver {gpu.driver} after {drivers[0]}")
        drivers.extend([gpu.driver] if gpu.driver else ())
        return gpu

    return read(normalise(text), status, _is_row, make)


def listing(text: str, status: int = 0) -> Reading[tuple[SmiListed, ...]]:
    """The cards of ``nvidia-smi -L``, by index. Slices (MIG) are counted in a warning; the card is listed whole.

    Healthy cards are kept beside the line of a lost one (status 15 or 255); a warning quotes that line.
    """
    text = normalise(text)
    bad = failure(text, status, _is_card)
    if not (bad and bad.cause == "gpu-lost" and bad.line and any(map(_is_card, text.split("\n")))):
        return _slices(text, read(text, status, _is_card, _listed))
    lines = text.split("\n")
    healthy = "\n".join(line if line.startswith(("GPU ", " ")) else "" for line in lines)
    reading = collect(healthy, _listed)
    return _slices(text, Reading(reading.value, (*reading.warnings, bad.message), reading.problem))


def identity(text: str, status: int = 0) -> Reading[tuple[SmiIdentity, ...]]:
    """UUID and PCI address of each card, by index; causes as in `query`."""

    def make(line: str, said: list[str]) -> SmiIdentity | None:
        fields = [field.strip() for field in line.split(", ")]
        if fields == ["index", "uuid", "pci.bus_id"]:
            return None
        if len(fields) != 3:
            raise MalformedError(f"expected 3 fields, got {len(fields)}")
        number = index(fields[0])
        address = cell(fields[2], _ADDRESS, f"gpus[{number}].pci.address", said)
        uuid = cell(fields[1], _UUID, f"gpus[{number}].uuid", said)
        return SmiIdentity(number, uuid, short_address(address) if address else None)

    return read(normalise(text), status, _is_row, make)


def _gpu(line: str, said: list[str], *, compute_cap: bool) -> SmiGpu:
    fields = [field.strip() for field in line.split(", ")]
    width = 5 if compute_cap else 4
    if len(fields) < width:
        raise MalformedError(f"expected {width} fields, got {len(fields)}")
    number = index(fields[0])
    where = f"gpus[{number}]"
    called = name(", ".join(fields[1 : 2 - width]), f"{where}.name", said)
    memory = _mib(cell(fields[2 - width], _MEMORY, f"{where}.memory_mib", said), f"{where}.memory_mib", said)
    capability = cell(fields[-2], _COMPUTE_CAP, f"{where}.compute_cap", said) if compute_cap else None
    driver = cell(fields[-1], _DRIVER, f"{where}.driver", said)
    unified = bool(called and _UNIFIED.search(called))
    return SmiGpu(number, called, memory, float(capability) if capability else None, driver, unified)


def _mib(value: str | None, field: str, said: list[str]) -> int | None:
    if value is None:
        return None
    mib = int(value.removesuffix(" MiB"))
    if mib > _MOST_MIB:
        raise MalformedError(f"{value} is no {field}")
    if mib == 0:
        said.append(f"{field}: nvidia-smi printed 0")
    return mib or None


def _listed(line: str, said: list[str]) -> SmiListed | None:
    if _SLICE.fullmatch(line):
        return None
    card = _CARD.fullmatch(line.strip())
    if not card:
        raise MalformedError(f"no card: {token(line)}")
    number = index(card[1])
    uuid = cell(card[3], _UUID, f"gpus[{number}].uuid", said)
    return SmiListed(number, name(card[2], f"gpus[{number}].name", said), uuid)


def _slices(text: str, reading: Reading[tuple[SmiListed, ...]]) -> Reading[tuple[SmiListed, ...]]:
    """The reading, with a warning for each card that is split into MIG devices."""
    counts: dict[str, int] = {}
    card = ""
    for line in text.split("\n") if reading.value else ():
        if found := _CARD.fullmatch(line.strip()):
            card = found[1]
        elif _SLICE.fullmatch(line):
            counts[card] = counts.get(card, 0) + 1
    split = [f"gpus[{card}]: split into {count} MIG devices, listed as a whole" for card, count in counts.items()]
    return Reading(reading.value, (*reading.warnings, *split), reading.problem)


def _is_row(line: str) -> bool:
    return bool(_CSV_ROW.match(line))


def _is_card(line: str) -> bool:
    return bool(_CARD.fullmatch(line.strip()) or _SLICE.fullmatch(line))
