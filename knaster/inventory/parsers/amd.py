"""``rocm-smi --showproductname --showmeminfo vram --json`` and ``amd-smi static --asic --board --vram --bus --json``.

Both may print warnings before the JSON. rocm-smi gives text and bytes, and changed the case of its keys. amd-smi gives
a list before 26.0 and the same list under ``gpu_data`` since; its unit ``MB`` means MiB, and ``market_name`` may say
nothing (https://github.com/modular/rules_mojo/pull/45).
"""

from __future__ import annotations

import re

from knaster.inventory.parsers.jsontext import Decoded, decode, lowered, objects
from knaster.inventory.parsers.values import address, mebibytes, token, words
from knaster.inventory.parsers.vendor import Kind, VendorGpu, cards, index_of, missing
from knaster.inventory.reading import Problem, Reading, normalise

_CARD = re.compile(r"card([0-9]{1,3})")
_ARCH = re.compile(r"gfx[0-9a-f]{3,5}")
_NO_NAME = re.compile(r"0x[0-9a-f]+|(amd )?radeon(\(tm\))? graphics", re.IGNORECASE)
_AMOUNT = re.compile(r"([0-9]{1,20}) *([a-z]*)", re.IGNORECASE)
_UNITS = {"": 1 << 20, "mb": 1 << 20, "mib": 1 << 20, "gb": 1 << 30, "gib": 1 << 30, "kb": 1 << 10, "b": 1}
_APU_ARCH = re.compile(r"gfx(90[29c]|1013|103[3567]|1103|115[0-3])")
_APU_NAME = re.compile(
    r"raven|picasso|renoir|lucienne|cezanne|barcelo|van gogh|rembrandt|mendocino|raphael|dragon range|phoenix|"
    r"hawk point|strix|krackan|granite ridge|ryzen|mi300a|"
    r"radeon(\(tm\))? [678][0-9]{2}[ms]\b|radeon(\(tm\))? 80[0-9]0s",
    re.IGNORECASE,
)
_CARVE_OUT_MIB = 1024

Object = dict[str, object]
Cards = Reading[tuple[VendorGpu, ...]]


def rocm_smi(text: str) -> Cards:
    """Cards of rocm-smi; ``system`` beside them is none. Causes: those of the JSON, ``driver-not-loaded``."""
    decoded = _decode(text)
    if decoded.problem:
        return Reading(problem=decoded.problem)
    if not isinstance(decoded.value, dict):
        return Reading(problem=Problem("malformed", f"rocm-smi printed {token(decoded.value)}, not an object of cards"))
    gpus: list[VendorGpu] = []
    warnings = list(decoded.noise)
    for key, value in decoded.value.items():
        match = _CARD.fullmatch(key.strip().casefold())
        if not match:
            continue
        if not isinstance(value, dict):
            return Reading(problem=Problem("malformed", f"{token(key)} is {token(value)}, not an object"))
        card = lowered(value)
        memory = card.get("vram total memory (b)")
        names = [card.get("card series"), card.get("device name"), card.get("card model")]
        gpu = _gpu(int(match[1]), names, mebibytes(memory), card.get("pci bus"), card.get("gfx version"))
        gpus.append(gpu)
        warnings.extend(missing(gpu, "rocm-smi", names[0], memory))
    return cards(gpus, warnings, "rocm-smi")


def amd_smi(text: str) -> Cards:
    """Cards of amd-smi, from a list or from ``gpu_data``. Causes: those of the JSON, ``driver-not-loaded``."""
    decoded = _decode(text)
    if decoded.problem:
        return Reading(problem=decoded.problem)
    value = decoded.value
    if isinstance(value, dict):
        value = value.get("gpu_data", [value] if "gpu" in value else None)
    rows = objects(value, "gpu_data")
    if isinstance(rows, Problem):
        return Reading(problem=rows)
    gpus: list[VendorGpu] = []
    warnings = list(decoded.noise)
    for number, row in enumerate(rows):
        index = index_of(row.get("gpu"), number, "amd-smi", warnings)
        asic, board, size = _part(row, "asic"), _part(row, "board"), _part(row, "vram").get("size")
        names = [asic.get("market_name"), board.get("product_name")]
        arch = asic.get("target_graphics_version")
        gpu = _gpu(index, names, _vram(size), _part(row, "bus").get("bdf"), arch)
        gpus.append(gpu)
        warnings.extend(missing(gpu, "amd-smi", names[0], size))
    return cards(gpus, warnings, "amd-smi")


def _decode(text: str) -> Decoded:
    """The JSON; a text without any that speaks of the driver is ``driver-not-loaded``."""
    plain = normalise(text)
    decoded = decode(plain, noisy=True)
    if decoded.problem and re.search(r"not initialized|driver not (loaded|found)", plain, re.IGNORECASE):
        return Decoded(problem=Problem("driver-not-loaded", decoded.problem.message, decoded.problem.line))
    return decoded


def _gpu(index: int, names: list[object], memory: int | None, bus: object, arch: object) -> VendorGpu:
    """The first name that names a product; a generic one is better than none, a number is not."""
    known = [name for name in map(words, names) if name]
    said = [name for name in known if not _NO_NAME.fullmatch(name)]
    generic = [name for name in known if not name.startswith("0x")]
    name = next(iter(said or generic), None)
    chip = _ARCH.fullmatch(arch.strip().casefold()) if isinstance(arch, str) else None
    code = chip[0] if chip else None
    return VendorGpu(index, name, memory, _kind(name, memory, code), address(bus), code)


def _kind(name: str | None, memory: int | None, arch: str | None) -> Kind:
    """An APU shows what the firmware set aside as its VRAM, often 512 MiB; no card of its own has that little."""
    carved = memory is not None and memory <= _CARVE_OUT_MIB
    apu = _APU_ARCH.fullmatch(arch or "") or _APU_NAME.search(name or "")
    return "unified" if apu or carved else "dedicated"


def _part(row: Object, key: str) -> Object:
    value = row.get(key)
    return lowered(value) if isinstance(value, dict) else {}


def _vram(size: object) -> int | None:
    """``{"value": 196592, "unit": "MB"}``, ``"196592 MB"`` or a plain number of MiB."""
    unit: object = ""
    if isinstance(size, dict):
        unit = size.get("unit", "")
        size = size.get("value")
    match = _AMOUNT.fullmatch(size.strip()) if isinstance(size, str) else None
    if match:
        size, unit = match[1], match[2] or unit
    scale = _UNITS.get(unit.strip().casefold()) if isinstance(unit, str) else None
    return mebibytes(size, scale) if scale else None
