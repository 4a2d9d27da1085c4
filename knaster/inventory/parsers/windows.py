"""JSON of Windows' CIM classes through ``ConvertTo-Json``: one object, a list, or nothing, all read alike.

Win32_Processor has one instance per socket (VMs: per CPU), Name is padded; uint64 values may be text; MediaType is a
word or a number. Fields: https://learn.microsoft.com/windows/win32/cimwin32prov and …/stormgmt/msft-physicaldisk.
"""

from __future__ import annotations

from knaster.cluster import Cpu, Disk
from knaster.inventory.parsers.jsontext import decode, objects
from knaster.inventory.parsers.values import checked_cpu, integer, joined, token, whole, words
from knaster.inventory.parsers.windows_gpu import Controller, controller
from knaster.inventory.reading import Problem, Reading, normalise

_MEMORY_LIMIT = 65536 << 30
_DISK_LIMIT = 10**15
_MEDIA = {"3": True, "hdd": True, "4": False, "ssd": False, "5": False, "scm": False}
_NVME = {"17", "nvme"}
_FILE_BACKED = {"15", "file backed virtual"}

Row = dict[str, object]
Rows = tuple[Row, ...]


def processors(text: str) -> Reading[Cpu]:
    """Win32_Processor (Name, NumberOfCores, NumberOfLogicalProcessors), summed over sockets.

    Causes, here and below: ``empty`` (no output, or no instance where one must be), ``tool-missing``, ``malformed``.
    """
    rows, warnings, problem = _instances(text, "Win32_Processor", needed=True)
    if problem:
        return Reading(problem=problem)
    model = joined(name for name in (words(row.get("name")) for row in rows) if name)
    if model is None:
        warnings.append(f"cpu.model: Win32_Processor has {token(rows[0].get('name'))}")
    cores = _sum(rows, "numberofcores", "cpu.cores", warnings)
    threads = _sum(rows, "numberoflogicalprocessors", "cpu.threads", warnings)
    return checked_cpu(model, cores, threads, warnings, "Win32_Processor")


def memory(text: str) -> Reading[int]:
    """Bytes: TotalPhysicalMemory (usable), TotalVisibleMemorySize (kB, usable), or Σ Capacity (installed)."""
    rows, warnings, problem = _instances(text, "memory", needed=True)
    if problem:
        return Reading(problem=problem)
    for field, unit in (("totalphysicalmemory", 1), ("totalvisiblememorysize", 1024), ("capacity", 1)):
        if not any(field in row for row in rows):
            continue
        total = 0
        for number, row in enumerate(rows):
            amount = integer(row.get(field))
            if amount is None:
                return _malformed(f"{field}[{number}] is {token(row.get(field))}, not a number")
            total += amount * unit
        if not 0 < total <= _MEMORY_LIMIT or (field != "capacity" and len(rows) > 1):
            return _malformed(f"{field} is {token(total)} bytes in {len(rows)} instances")
        return Reading(total, tuple(warnings))
    return _malformed("neither TotalPhysicalMemory, TotalVisibleMemorySize nor Capacity")


def disks(text: str) -> Reading[tuple[Disk, ...]]:
    """Get-PhysicalDisk or MSFT_PhysicalDisk, named ``PhysicalDisk<DeviceId>``; GB of 10^9 bytes; size 0 is no disk."""
    rows, warnings, problem = _instances(text, "Get-PhysicalDisk")
    if problem:
        return Reading(problem=problem)
    found: dict[str, Disk] = {}
    for number, row in enumerate(rows):
        if integer(row.get("size")) == 0 or _word(row.get("bustype")) in _FILE_BACKED:
            continue
        device = integer(row.get("deviceid"))
        if device is None or device > 9999:
            warnings.append(
                f"disks[{number}].name: DeviceId is {token(row.get('deviceid'))}; its place in the list taken"
            )
            device = number
        disk = _disk(f"PhysicalDisk{device}", row, warnings)
        if disk.name in found:
            return Reading(problem=Problem("malformed", f"{disk.name}: listed twice"))
        found[disk.name] = disk
    return Reading(tuple(found[name] for name in sorted(found)), tuple(warnings))


def controllers(text: str) -> Reading[tuple[Controller, ...]]:
    """Win32_VideoController (PNPDeviceID, Name, DriverVersion): PCI cards of NVIDIA, AMD and Intel.

    AdapterRAM is never read: it is 32 bits wide and lies for every card of 4 GB and more.
    """
    rows, warnings, problem = _instances(text, "Win32_VideoController")
    if problem:
        return Reading(problem=problem)
    found = [controller(row, warnings) for row in rows]
    return Reading(tuple(card for card in found if card), tuple(warnings))


def _instances(text: str, what: str, *, needed: bool = False) -> tuple[Rows, list[str], Problem | None]:
    """The instances and the warnings to start with. PowerShell 5.1 may wrap a list in ``{"value": …, "Count": …}``."""
    decoded = decode(normalise(text), noisy=True)
    if decoded.problem:
        return (), [], decoded.problem
    value = decoded.value
    if isinstance(value, dict):
        wrapped = {key.casefold() for key in value} == {"value", "count"}
        value = next(item for key, item in value.items() if key.casefold() == "value") if wrapped else [value]
    rows = objects([] if value is None else value, what)
    if isinstance(rows, Problem):
        return (), [], rows
    warnings = list(decoded.noise)
    if not rows:
        if needed:
            return (), [], Problem("empty", f"{what} has no instance")
        warnings.append(f"{what} has no instance")
    return rows, warnings, None


def _sum(rows: Rows, key: str, field: str, warnings: list[str]) -> int | None:
    total = 0
    for number, row in enumerate(rows):
        count = integer(row.get(key))
        if not count:
            warnings.append(f"{field}: Win32_Processor[{number}] has {token(row.get(key))}")
            return None
        total += count
    return total


def _disk(name: str, row: Row, warnings: list[str]) -> Disk:
    size, spins = integer(row.get("size")), _MEDIA.get(_word(row.get("mediatype")))
    if size is None or size > _DISK_LIMIT:
        warnings.append(f"disks[{name}].size_gb: Size is {token(row.get('size'))}")
        size = None
    if spins is None and _word(row.get("bustype")) in _NVME:
        spins = False
    if spins is None:
        warnings.append(f"disks[{name}].rotational: MediaType is {token(row.get('mediatype'))}")
    return Disk(name, None if size is None else whole(size, 10**9), spins)


def _word(value: object) -> str:
    return token(value).casefold()


def _malformed(reason: str) -> Reading[int]:
    return Reading(problem=Problem("malformed", f"memory: {reason}"))
