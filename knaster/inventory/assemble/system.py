"""Processor, memory, disks, address and name of a machine, each from the best source that its capture holds."""

from __future__ import annotations

import re
from dataclasses import replace
from ipaddress import IPv4Address
from typing import Literal

from knaster.cluster import Cpu, Disk, Number
from knaster.inventory.assemble.sources import Source, ask, first, reasons
from knaster.inventory.capture import MISSING, Capture, Section
from knaster.inventory.parsers import cpuinfo, lsblk, lscpu, meminfo, memory_blocks, pve, windows
from knaster.inventory.parsers.values import token, whole
from knaster.inventory.reading import Problem, Reading
from knaster.units import GIB

Platform = Literal["proxmox", "workstation", "bare"]

_LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
_IPV4 = re.compile(r"(?<![0-9.:])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![0-9.])")
_ROUTED = re.compile(r"\bsrc ([0-9.]+)")
_PARTS = ("model", "cores", "threads")


def text_of(capture: Capture, name: str) -> str:
    """What a section of one line says; nothing if the command failed."""
    section = capture.get(name, Section(status=MISSING))
    return section.text.strip() if section.status == 0 else ""


def name_of(capture: Capture, given: str | None) -> Reading[str]:
    """The node's name: `given`, else the first label of what the machine calls itself, which an address is not.

    Cause: ``bad-name``.
    """
    full = text_of(capture, "hostname")
    own = "" if _IPV4.fullmatch(full) else full.partition(".")[0]
    name = given if given is not None else own
    if not _LABEL.fullmatch(name):
        said = f"{token(name)} is no name for a node (letters, digits and - inside)" if name else "hostname: not known"
        return Reading(problem=Problem("bad-name", said))
    other = own and own.casefold() != name.casefold()
    return Reading(name, (f"the machine itself is called {token(own)}",) if other else ())


def os_of(capture: Capture) -> Literal["linux", "windows"]:
    """By the section ``os``; without one by the sources that only Windows has."""
    said = text_of(capture, "os")
    return "windows" if said == "windows" or (not said and "cim-computersystem" in capture) else "linux"


def platform_of(capture: Capture) -> Platform:
    """Proxmox where ``pvesh`` is, even if it may not answer this user; Windows machines are workstations."""
    if any(name in capture and capture[name].status != MISSING for name in ("pve-status", "pve-pci")):
        return "proxmox"
    return "workstation" if os_of(capture) == "windows" else "bare"


def container_of(capture: Capture) -> str | None:
    """The kind of container that the capture was made in (``lxc``, ``docker``); WSL is a machine of its own."""
    kind = text_of(capture, "container").partition("\n")[0].strip()
    return token(kind) if kind and kind not in ("none", "wsl") else None


def address_of(capture: Capture) -> str | None:
    """The IPv4 address of the default route, else the first that is neither loopback nor link-local."""
    text = text_of(capture, "address")[:10_000]
    for found in (*_ROUTED.findall(text), *_IPV4.findall(text)):
        try:
            address = IPv4Address(found)
        except ValueError:
            continue
        if not (address.is_loopback or address.is_link_local or address.is_unspecified or address.is_multicast):
            return str(address)
    return None


def processor(capture: Capture) -> Reading[Cpu]:
    """Each part from the first source that knows it; in a container the kernel's file comes before ``lscpu``, which
    reads the host's ``/sys``."""
    files: list[Source[Cpu]] = [
        ("lscpu", lambda section: lscpu.parse(section.text)),
        ("cpuinfo", lambda section: cpuinfo.parse(section.text)),
    ]
    if container_of(capture):
        files.reverse()
    sources = (*files, ("cim-processor", lambda section: windows.processors(section.text)), ("pve-status", _pve_cpu))
    cpu, warnings, problems = Cpu(None, None, None), dict[str, tuple[str, ...]](), list[Problem]()
    for source in sources:
        if None not in (cpu.model, cpu.cores, cpu.threads):
            break
        reading = ask(capture, source)
        if reading.value is None:
            problems += [reading.problem] if reading.problem else []
            continue
        cpu = _filled(cpu, reading, warnings)
    if not warnings:
        return Reading(problem=Problem("no-source", reasons(problems)))
    return _possible(cpu, tuple(dict.fromkeys(said for some in warnings.values() for said in some)))


def _filled(cpu: Cpu, reading: Reading[Cpu], warnings: dict[str, tuple[str, ...]]) -> Cpu:
    """`cpu` with what it lacks; the warnings about a part are those of the source that gave it, else of the first."""
    for part in _PARTS:
        value = getattr(reading.value, part)
        about = tuple(said for said in reading.warnings if said.startswith(f"cpu.{part}:"))
        if getattr(cpu, part) is None and (value is not None or part not in warnings):
            cpu = replace(cpu, **{part: value})
            warnings[part] = about
    others = tuple(said for said in reading.warnings if not said.startswith(tuple(f"cpu.{part}:" for part in _PARTS)))
    warnings[""] = (*warnings.get("", ()), *others)
    return cpu


def _possible(cpu: Cpu, warnings: tuple[str, ...]) -> Reading[Cpu]:
    if cpu.cores is None or cpu.threads is None or cpu.cores <= cpu.threads:
        return Reading(cpu, warnings)
    said = f"cpu.cores: the sources say {cpu.cores} cores and {cpu.threads} threads"
    return Reading(replace(cpu, cores=None), (*warnings, said))


def _pve_cpu(section: Section) -> Reading[Cpu]:
    status = pve.node_status(section.text)
    if status.value is None:
        return Reading(problem=status.problem)
    return Reading(Cpu(status.value.cpu_model, status.value.cores, status.value.threads), status.warnings)


def memory(capture: Capture) -> Reading[Number]:
    """GiB that the system can use, whole; in a container no more than its limit."""
    reading = first(
        capture,
        (
            ("meminfo", _meminfo),
            ("cim-computersystem", lambda section: _gib(windows.memory(section.text))),
            ("cim-memory", lambda section: _gib(windows.memory(section.text))),
            ("pve-status", _pve_memory),
        ),
    )
    kind, limit = container_of(capture), text_of(capture, "memory-limit")
    if reading.value is None or kind is None:
        return reading
    if limit.isascii() and limit.isdecimal() and 0 < int(limit[:20]) < reading.value * GIB:
        allowed = whole(int(limit[:20]), GIB)
        said = f"memory_gb: this {kind} container may use {allowed} of the {reading.value} GiB that it sees"
        return Reading(allowed, (*reading.warnings, said))
    if kind.startswith("lxc") or limit:
        return reading
    return Reading(reading.value, (*reading.warnings, f"memory_gb: a {kind} container sees the memory of its host"))


def installed(capture: Capture, usable: Number | None) -> Reading[Number]:
    """GiB that the machine holds, whole, of which `usable` is what `memory` says. In a container nobody can tell."""
    if kind := container_of(capture):
        return Reading(problem=Problem("not-its-own", f"a {kind} container sees the memory of its host"))
    reading = first(
        capture,
        (("memory-blocks", _blocks), ("cim-memory", lambda section: _gib(windows.memory(section.text)))),
    )
    if reading.value is not None and usable is not None and reading.value < usable:
        return Reading(problem=Problem("impossible", f"{usable} GiB are usable of {reading.value} installed"))
    return reading


def _blocks(section: Section) -> Reading[Number]:
    reading = memory_blocks.parse(section.text)
    if reading.value is None:
        return Reading(problem=reading.problem)
    return Reading(whole(reading.value.online_bytes, GIB), reading.warnings)


def _meminfo(section: Section) -> Reading[Number]:
    reading = meminfo.parse(section.text)
    if reading.value is None:
        return Reading(problem=reading.problem)
    return Reading(meminfo.memory_gb(reading.value.total_kib), reading.warnings)


def _gib(size: Reading[int]) -> Reading[Number]:
    return Reading(None if size.value is None else whole(size.value, GIB), size.warnings, size.problem)


def _pve_memory(section: Section) -> Reading[Number]:
    status = pve.node_status(section.text)
    if status.value is None or status.value.memory_bytes is None:
        return Reading(problem=status.problem or Problem("no-memory", "the status of the node has no memory"))
    return Reading(whole(status.value.memory_bytes, GIB), status.warnings)


def disks(capture: Capture) -> Reading[tuple[Disk, ...]]:
    """Real disks by name."""
    sources: tuple[Source[tuple[Disk, ...]], ...] = (
        ("lsblk", lambda section: lsblk.parse(section.text, section.status)),
        ("sysfs-block", lambda section: lsblk.parse(section.text, section.status)),
        ("disks", lambda section: windows.disks(section.text)),
        ("pve-disks", lambda section: pve.disks(section.text)),
    )
    return first(capture, sources)
