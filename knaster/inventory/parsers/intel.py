"""``xpu-smi discovery -j``, and ``-d N -j`` for one card.

Memory is text in bytes or ``N/A``, and with ECC an eighth less than the card has
(https://github.com/intel/xpumanager/issues/169). Graphics inside a processor always sit at 0000:00:02.0.
"""

from __future__ import annotations

import re

from knaster.inventory.parsers.jsontext import decode, lowered, objects
from knaster.inventory.parsers.values import address, mebibytes, token, words
from knaster.inventory.parsers.vendor import VendorGpu, cards, index_of, missing
from knaster.inventory.reading import Problem, Reading, normalise

_INSIDE_ADDRESS = "0000:00:02.0"
_INSIDE_NAME = re.compile(r"\b(u?hd graphics|iris|arc\(tm\) (graphics|1[0-9]{2}[vt]))(?!.*\bmax\b)", re.IGNORECASE)


def xpu_smi(text: str) -> Reading[tuple[VendorGpu, ...]]:
    """Cards of xpu-smi; virtual functions are left out. Causes: those of the JSON, ``failed`` with xpu-smi's words."""
    decoded = decode(normalise(text), noisy=True)
    if decoded.problem:
        return Reading(problem=decoded.problem)
    document = lowered(decoded.value) if isinstance(decoded.value, dict) else {}
    if "error" in document:
        return Reading(problem=Problem("failed", f"xpu-smi: {token(document['error'])}"))
    rows = objects(document.get("device_list", [document] if "device_id" in document else None), "device_list")
    if isinstance(rows, Problem):
        return Reading(problem=rows)
    gpus: list[VendorGpu] = []
    warnings = list(decoded.noise)
    for number, row in enumerate(rows):
        if str(row.get("device_function_type")).casefold() == "virtual":
            continue
        index = index_of(row.get("device_id"), number, "xpu-smi", warnings)
        name, memory = row.get("device_name"), row.get("memory_physical_size_byte")
        gpu = _gpu(index, words(name), mebibytes(memory), address(row.get("pci_bdf_address")))
        gpus.append(gpu)
        warnings.extend(missing(gpu, "xpu-smi", name, memory))
    return cards(gpus, warnings, "xpu-smi")


def _gpu(index: int, name: str | None, memory: int | None, where: str | None) -> VendorGpu:
    inside = where == _INSIDE_ADDRESS or _INSIDE_NAME.search(name or "")
    return VendorGpu(index, name, memory, "unified" if inside else "dedicated", where)
