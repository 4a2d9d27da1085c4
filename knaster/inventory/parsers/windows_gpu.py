"""One Win32_VideoController: ids out of PNPDeviceID, NVIDIA's version out of Windows'."""

from __future__ import annotations

import re
from dataclasses import dataclass

from knaster.inventory.parsers.values import mebibytes, token, words

_PNP = re.compile(r"PCI\\VEN_([0-9A-F]{4})&DEV_([0-9A-F]{4})(?:&SUBSYS_([0-9A-F]{4})([0-9A-F]{4}))?.*", re.IGNORECASE)
_VERSION = re.compile(r"[0-9]{1,3}\.[0-9]{1,3}\.([0-9]{1,3})\.([0-9]{1,5})")
_PLACE = re.compile(r"[^0-9]*([0-9]{1,3})[^0-9]+([0-9]{1,2})[^0-9]+([0-7])[^0-9]*")
_MAKERS = {"10de", "1002", "8086"}
_STAND_IN = re.compile(r"(microsoft )?basic display adapter|standard vga.*|3d video controller", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Controller:
    """A PCI card. ``id`` and ``subsystem_id`` are ``vendor:device``; ``driver`` of NVIDIA as ``573.24``.

    ``address`` only where LocationInformation was captured, ``memory_mib`` only where the registry's
    ``HardwareInformation.qwMemorySize`` (bytes) was.
    """

    id: str
    name: str | None
    driver: str | None
    subsystem_id: str | None = None
    address: str | None = None
    memory_mib: int | None = None

    @property
    def vendor_id(self) -> str:
        """The first half of ``id``."""
        return self.id[:4]


def controller(row: dict[str, object], warnings: list[str]) -> Controller | None:
    """The card of an instance, keys in lower case; ``None`` for virtual ones and other makers."""
    pnp = row.get("pnpdeviceid")
    match = _PNP.fullmatch(pnp.strip()) if isinstance(pnp, str) else None
    if not match:
        if not isinstance(pnp, str):
            warnings.append(f"gpus: PNPDeviceID of {token(row.get('name'))} is {token(pnp)}; left out")
        return None
    vendor, device, sub_device, sub_vendor = (part.lower() if part else None for part in match.groups())
    if vendor not in _MAKERS:
        return None
    ident = f"{vendor}:{device}"
    name, driver = words(row.get("name")), words(row.get("driverversion"))
    if name and _STAND_IN.fullmatch(name):
        warnings.append(f"gpus[{ident}].driver: {name} is bound, not the maker's driver")
        name = driver = None
    elif driver is None:
        warnings.append(f"gpus[{ident}].driver: DriverVersion is {token(row.get('driverversion'))}")
    if driver:
        driver = nvidia_version(driver) if vendor == "10de" else driver[:60]
    subsystem = f"{sub_vendor}:{sub_device}" if sub_vendor else None
    memory = mebibytes(row.get("qwmemorysize", row.get("hardwareinformation.qwmemorysize")))
    return Controller(ident, name, driver, subsystem, _address(row.get("locationinformation")), memory)


def nvidia_version(windows: str) -> str:
    """``32.0.15.7324`` is ``573.24``: the last five digits of the last two parts. Anything else stays as it is."""
    match = _VERSION.fullmatch(windows.strip())
    if not match:
        return windows.strip()[:60]
    digits = (match[1] + match[2].zfill(4))[-5:]
    return f"{digits[:3]}.{digits[3:]}"


def _address(location: object) -> str | None:
    """``PCI bus 1, device 0, function 0`` in any language; the domain is 0."""
    text = location.rpartition(";")[2] if isinstance(location, str) else ""
    match = _PLACE.fullmatch(text[:100])
    if not match or int(match[1]) > 255 or int(match[2]) > 31:
        return None
    return f"0000:{int(match[1]):02x}:{int(match[2]):02x}.{match[3]}"
