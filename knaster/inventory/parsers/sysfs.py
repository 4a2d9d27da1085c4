"""PCI devices from ``/sys``, where there is no lspci: a dump of one attribute or link a line.

``/sys/bus/pci/devices/<address>/<attribute>:<value>`` (as ``grep .`` prints it) and ``…/<link> -> <target>``;
IOMMU groups also as paths ``/sys/kernel/iommu_groups/<n>/devices/<address>``. Other attributes mean nothing here.
https://docs.kernel.org/PCI/sysfs-pci.html
"""

from __future__ import annotations

import re

from knaster.inventory.parsers.pci_device import PciDevice, ids, subsystem
from knaster.inventory.parsers.values import mebibytes, token
from knaster.inventory.reading import Problem, Reading, normalise

_ADDRESS = r"([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])"
_ATTRIBUTE = re.compile(rf"/sys/\S*/{_ADDRESS}/([A-Za-z0-9_]+)(?::| -> ?)(.*)")
_MEMBER = re.compile(rf"/sys/kernel/iommu_groups/([0-9]{{1,5}})/devices/{_ADDRESS}(?:(?: -> |/).*)?")
_DRIVER = re.compile(r"[A-Za-z0-9_-]{1,60}")
_GROUP = re.compile(r"[0-9]{1,5}")
_LONGEST_LINE = 4096

_Attributes = dict[str, str]


def parse(text: str) -> Reading[tuple[PciDevice, ...]]:
    """All devices of the dump by address, without names: ``/sys`` has none.

    ``malformed`` names the line that is neither attribute, link nor group member, or the device whose vendor, device
    or class is missing or no number. A missing link means: no driver is bound, the IOMMU is off, no virtual function.
    """
    lines = normalise(text).split("\n")
    found: dict[str, tuple[int, _Attributes]] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or (len(line) <= _LONGEST_LINE and _MEMBER.fullmatch(line.strip())):
            continue
        match = _ATTRIBUTE.fullmatch(line.strip()) if len(line) <= _LONGEST_LINE else None
        if not match:
            return Reading(problem=_malformed(number, f"no attribute, link or group member: {token(line)}"))
        found.setdefault(match[1], (number, {}))[1].setdefault(match[2], match[3].strip())
    members = {address: group for group, addresses in groups(text).items() for address in addresses}
    said: list[str] = [] if found else ["sysfs shows no PCI device"]
    devices = []
    for address in sorted(found):
        number, attributes = found[address]
        device = _device(address, attributes, members.get(address), said)
        if isinstance(device, str):
            return Reading(problem=_malformed(number, f"{address}: {device}"))
        devices.append(device)
    return Reading(tuple(devices), tuple(said))


def groups(text: str) -> dict[int, tuple[str, ...]]:
    """IOMMU groups in order of their numbers, each with the addresses of its devices; what passes through together."""
    found: dict[int, set[str]] = {}
    for line in normalise(text).split("\n"):
        if len(line) <= _LONGEST_LINE and (match := _MEMBER.fullmatch(line.strip())):
            found.setdefault(int(match[1]), set()).add(match[2])
    return {number: tuple(sorted(found[number])) for number in sorted(found)}


def vram_mib(text: str) -> dict[str, int]:
    """MiB of memory of each AMD card under amdgpu, by address, from ``mem_info_vram_total`` (bytes)."""
    found: dict[str, int] = {}
    for line in normalise(text).split("\n"):
        match = _ATTRIBUTE.fullmatch(line.strip()) if len(line) <= _LONGEST_LINE else None
        mib = mebibytes(match[3]) if match and match[2] == "mem_info_vram_total" else None
        if match and mib:
            found[match[1]] = mib
    return found


def _device(address: str, attributes: _Attributes, member: int | None, said: list[str]) -> PciDevice | str:
    """The device, or what is wrong with it."""
    known = ids(attributes)
    if isinstance(known, str):
        return known
    driver, group = (_target(attributes, link, said, address) for link in ("driver", "iommu_group"))
    numa = attributes.get("numa_node", "")
    return PciDevice(
        address,
        *known,
        vendor=None,
        name=None,
        subsystem_id=subsystem(attributes),
        driver=driver,
        iommu_group=int(group) if group else member,
        virtual_function="physfn" in attributes,
        numa_node=int(numa) if _GROUP.fullmatch(numa) else None,  # -1: the system does not say
    )


def _target(attributes: _Attributes, link: str, said: list[str], address: str) -> str | None:
    """The last part of where a link points to; nothing when the device has no such link."""
    name = attributes.get(link, "").rstrip("/").rpartition("/")[2]
    form = _GROUP if link == "iommu_group" else _DRIVER
    if not name or form.fullmatch(name):
        return name or None
    said.append(f"{address}: {link}: sysfs links to {token(name)}")
    return None


def _malformed(line: int, why: str) -> Problem:
    return Problem("malformed", f"sysfs, line {line}: {why}", line)
