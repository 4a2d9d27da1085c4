"""lspci: ``-Dvmmnnk`` (blocks, the better one), ``-Dnnk`` or ``-nn`` (a line each, indented lines below), ``-Dmm -nn``.

Names come from the pci.ids of that system, so an id that it does not know has none. The ids are the **last** brackets,
since names hold brackets too. Source: runs of lspci 3.9 on own dumps of configuration space.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from knaster.cards.pci_ids import VENDORS, split
from knaster.inventory.parsers.pci_device import PciDevice, gpus
from knaster.inventory.parsers.values import address, token, words
from knaster.inventory.reading import Problem, Reading, normalise

__all__ = ["PciDevice", "gpus", "parse"]

_LONGEST_LINE = 2000
_HEAD = re.compile(r"(\S+) (.*?) ?\[([0-9a-f]{4})\]: (.*)", re.IGNORECASE)
_IDS = re.compile(r"\[([0-9a-f]{4}):([0-9a-f]{4})\]", re.IGNORECASE)
_TAGGED = re.compile(r"(.*?) ?\[([0-9a-f]{4})\]", re.IGNORECASE)
_BARE = re.compile(r"[0-9a-f]{4}", re.IGNORECASE)
_DRIVER = re.compile(r"[A-Za-z0-9_-]{1,60}")
_VIRTUAL = re.compile(r"\b(?:VF|Virtual Function)\b")
_FIELD = r'"(?:[^"\\]|\\.)*"'
_ROW = re.compile(
    rf"(\S+) ({_FIELD}) ({_FIELD}) ({_FIELD})((?: -[a-z][0-9a-f]{{2}})*) ({_FIELD}) ({_FIELD})", re.IGNORECASE
)
_ROW_HEAD = re.compile(r'\S+ "')
_ESCAPED = re.compile(r"\\(.)")
_MISSING = re.compile(r"not found|not recognized|no such file", re.IGNORECASE)


class _WrongError(ValueError):
    """A line that cannot be trusted: (line, why). Never leaves this module."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(line, why)
        self.problem = Problem("malformed", f"lspci, line {line}: {why}", line)


def parse(text: str) -> Reading[tuple[PciDevice, ...]]:
    """All devices in the order of the text; without ``-D`` the domain is ``0000``.

    A line that is no device, a block without ids and an address that comes twice are ``malformed``; the shell's word
    that there is no lspci is ``tool-missing``. No output is no device (a machine without PCI), with a warning.
    """
    lines = normalise(text).split("\n")
    said: list[str] = []
    try:
        devices = tuple(_form(lines)(lines, said))
    except _WrongError as wrong:
        if _MISSING.search(lines[wrong.problem.line - 1][:_LONGEST_LINE]):
            return Reading(problem=Problem("tool-missing", "lspci: there is no lspci", wrong.problem.line))
        return Reading(problem=wrong.problem)
    if not devices:
        said.append("lspci printed no device: no PCI bus, or it did not run")
    return Reading(devices, tuple(said))


def _form(lines: list[str]) -> Callable[[list[str], list[str]], Iterator[PciDevice]]:
    """What reads this form of output, told by its lines."""
    if any(line.startswith("Slot:") for line in lines):
        return _from_blocks
    return _from_rows if any(_ROW_HEAD.match(line) for line in lines) else _from_lines


def _from_lines(lines: list[str], said: list[str]) -> Iterator[PciDevice]:
    """``-Dnnk``: a head line, then its details, each with ``name: value``."""
    heads: dict[str, int] = {}
    head, details = 0, dict[str, str]()
    for number, line in enumerate([*lines, "end"], 1):
        if not line.strip():
            continue
        if line[0] in "\t ":
            if not head:
                raise _WrongError(number, f"details without a device: {token(line)}")
            key, _, value = line.strip().partition(":")
            details.setdefault(key, value.strip())
            continue
        if head:
            device = _line(head, lines[head - 1], details, said)
            _once(heads, device.address, head)
            yield device
        head, details = number, {}


def _line(number: int, line: str, details: dict[str, str], said: list[str]) -> PciDevice:
    match = _HEAD.fullmatch(line.rstrip()) if len(line) <= _LONGEST_LINE else None
    place, ids = (address(match[1]), _last_ids(match[4])) if match else (None, None)
    if not match or not place or not ids:
        raise _WrongError(number, f"no device with its ids (lspci -nn): {token(line)}")
    entry, vendor_id, device_id, rest = ids
    if "(rev ff)" in rest:
        said.append(f"{place}: the device does not answer (rev ff)")
    vendor, entry = _without_vendor(entry, vendor_id)
    below = _last_ids(details.get("Subsystem", ""))
    subsystem = f"{below[1]}:{below[2]}" if below else None
    driver = _driver(details.get("Kernel driver in use"), place, said)
    group = _group(details.get("IOMMU group"), place, said)
    return _device((place, match[3].lower(), vendor_id, device_id), vendor, entry, subsystem, (driver, group))


def _last_ids(text: str) -> tuple[str, str, str, str] | None:
    """Text before, vendor, device, text after the last ``[vvvv:dddd]``."""
    found = list(_IDS.finditer(text[:_LONGEST_LINE]))
    if not found:
        return None
    last = found[-1]
    return text[: last.start()].strip(), last[1].lower(), last[2].lower(), text[last.end() :]


def _without_vendor(entry: str, vendor_id: str) -> tuple[str | None, str]:
    """The vendor's name and the rest. A line does not show where one ends, so only makers of GPUs are told apart."""
    for vendor in VENDORS[vendor_id][2] if vendor_id in VENDORS else ():
        if entry.startswith(f"{vendor} "):
            return vendor, entry[len(vendor) + 1 :]
    return None, entry


def _from_blocks(lines: list[str], said: list[str]) -> Iterator[PciDevice]:
    """``-Dvmmnnk``: blocks of ``Key:<tab>value``, an empty line between; ``Module`` repeats."""
    heads: dict[str, int] = {}
    block: dict[str, tuple[int, str]] = {}
    for number, line in enumerate([*lines, ""], 1):
        key, colon, value = line.partition(":")
        if line.strip() and (not colon or not key.isalnum() or len(line) > _LONGEST_LINE):
            raise _WrongError(number, f"not 'Key: value': {token(line)}")
        if block and (not line.strip() or key == "Slot"):
            device = _block(block, said)
            _once(heads, device.address, next(iter(block.values()))[0])
            yield device
            block = {}
        if line.strip():
            block.setdefault(key, (number, value.strip()))


def _from_rows(lines: list[str], said: list[str]) -> Iterator[PciDevice]:
    """``-Dmm -nn``: ``slot "Class [0300]" "Vendor [10de]" "Device [2204]" -ra1 -p00 "SVendor [..]" "SDevice [..]"``;
    a revision or an interface of 0 is left out, a missing subsystem is ``""``. It tells neither driver nor group."""
    heads: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        match = _ROW.fullmatch(line.rstrip()) if len(line) <= _LONGEST_LINE else None
        place = address(match[1]) if match else None
        if not match or not place:
            raise _WrongError(number, f"no device with its ids (lspci -Dmm -nn): {token(line)}")
        fields = [_ESCAPED.sub(r"\1", match[at][1:-1]) for at in (2, 3, 4, 6, 7)]
        kind, vendor, device = (_tagged(number, field) for field in fields[:3])
        board = [_tagged(number, field)[1] for field in fields[3:] if field]
        if " -rff" in match[5].lower():
            said.append(f"{place}: the device does not answer (rev ff)")
        _once(heads, place, number)
        ids = (place, kind[1], vendor[1], device[1])
        yield _device(ids, vendor[0] or None, device[0], ":".join(board) if len(board) == 2 else None, (None, None))


def _block(block: dict[str, tuple[int, str]], said: list[str]) -> PciDevice:
    first = next(iter(block.values()))[0]
    if missing := [key for key in ("Slot", "Class", "Vendor", "Device") if key not in block]:
        raise _WrongError(first, f"a block without {missing[0]}")
    place = address(block["Slot"][1])
    if not place:
        raise _WrongError(block["Slot"][0], f"{token(block['Slot'][1])} is no PCI address")
    _, class_id = _tagged(*block["Class"])
    vendor, vendor_id = _tagged(*block["Vendor"])
    entry, device_id = _tagged(*block["Device"])
    subsystem = None
    if "SVendor" in block and "SDevice" in block:
        subsystem = f"{_tagged(*block['SVendor'])[1]}:{_tagged(*block['SDevice'])[1]}"
    driver = _driver(block["Driver"][1] if "Driver" in block else None, place, said)
    group = _group(block["IOMMUGroup"][1] if "IOMMUGroup" in block else None, place, said)
    return _device((place, class_id, vendor_id, device_id), vendor or None, entry, subsystem, (driver, group))


def _tagged(number: int, value: str) -> tuple[str, str]:
    """``GP106GL [Quadro P2000] [1c30]`` as name and id; with ``-n`` alone the id is all there is."""
    match = _TAGGED.fullmatch(value)
    if not match and not _BARE.fullmatch(value):
        raise _WrongError(number, f"no id (lspci -nn): {token(value)}")
    return (match[1], match[2].lower()) if match else ("", value.lower())


def _device(
    ids: tuple[str, str, str, str],
    vendor: str | None,
    entry: str,
    subsystem: str | None,
    bound: tuple[str | None, int | None],
) -> PciDevice:
    chip, name = split(entry)
    virtual = bool(_VIRTUAL.search(entry))
    return PciDevice(*ids, words(vendor), words(name), subsystem, *bound, virtual_function=virtual, chip=words(chip))


def _once(seen: dict[str, int], place: str, line: int) -> None:
    if seen.setdefault(place, line) != line:
        raise _WrongError(line, f"{place} comes twice, first on line {seen[place]}")


def _driver(value: str | None, place: str, said: list[str]) -> str | None:
    if value is None or _DRIVER.fullmatch(value):
        return value
    said.append(f"{place}: driver: lspci printed {token(value)}")
    return None


def _group(value: str | None, place: str, said: list[str]) -> int | None:
    if value is None or (value.isascii() and value.isdigit() and len(value) <= 5):
        return None if value is None else int(value)
    said.append(f"{place}: iommu_group: lspci printed {token(value)}")
    return None
