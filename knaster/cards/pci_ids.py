"""Names of PCI devices as the pci.ids database words them: ``GA102GL [RTX A6000]`` is a chip and a product.

The text of the system's own ``pci.ids`` (Debian, Proxmox VE: ``/usr/share/misc/pci.ids``) is read by an adapter; it is
the second choice after `knaster.cards.table`, because the one of an old system knows no new card.
Format: https://github.com/pciutils/pciids
"""

from __future__ import annotations

import re

_AMD = "Advanced Micro Devices, Inc."
VENDORS = {
    "10de": ("nvidia", "NVIDIA", ("NVIDIA Corporation",)),
    "1002": ("amd", "AMD", (f"{_AMD} [AMD/ATI]", f"{_AMD} [AMD]", _AMD)),
    "8086": ("intel", "Intel", ("Intel Corporation",)),
}
"""The makers of GPUs: vendor id to the profile's word, the name for people, and the names in pci.ids."""

_NAMED = re.compile(r"([^\[\]]*?)\s*\[(.*)\]")
_UNNAMED = re.compile(r"(?:Device(?: [0-9a-f]{4})?|)", re.IGNORECASE)
_ID = re.compile(r"([0-9a-f]{4}):([0-9a-f]{4})")


def name_of(text: str, id: str) -> str | None:
    """The entry of ``vendor:device`` in the text of a ``pci.ids``, chip first: ``GM204GL [Quadro M4000]``.

    None for an id that the text does not hold, and for what is no id.
    """
    match = _ID.fullmatch(id.lower())
    if not match:
        return None
    text = "\n" + text.replace("\r\n", "\n")
    vendor = text.find(f"\n{match[1]}  ")
    if vendor < 0:
        return None
    end = re.compile(r"\n[0-9a-zA-Z]").search(text, vendor + 1)
    device = text.find(f"\n\t{match[2]}  ", vendor, end.start() if end else len(text))
    if device < 0:
        return None
    line = text[device + 1 : device + 400].split("\n", 1)[0]
    return line.strip().partition("  ")[2].strip() or None


def split(entry: str) -> tuple[str | None, str | None]:
    """Chip and product of an entry: ``GH100[H100 SXM5 80GB]`` (2023 has no blank) is ``GH100`` and ``H100 SXM5 80GB``.

    Without brackets the entry is the name, and its first word the chip if it looks like one; ``Device`` and
    ``Device 2bb1``, which stand for an id that a database does not hold, are neither.
    """
    entry = entry.strip()
    if _UNNAMED.fullmatch(entry):
        return None, None
    if match := _NAMED.fullmatch(entry):
        return match[1] or None, match[2].strip() or None
    first = entry.split(" ", 1)[0]
    return (first if first.isupper() and any(sign.isdigit() for sign in first) else None), entry
