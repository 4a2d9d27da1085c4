"""One change of a plan in the words of the fleet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from knaster.gate.plan import Change

VM = "proxmox_virtual_environment_vm"
CONTAINER = "proxmox_virtual_environment_container"
MAPPING = "proxmox_hardware_mapping_pci"
IMAGE = "proxmox_download_file"
NOUNS: Mapping[str, str] = {VM: "guest", CONTAINER: "guest", MAPPING: "mapping", IMAGE: "image on"}

Effect = Literal["destroy", "replace", "forget", "restart", "update", "adopt", "create"]
ORDER: tuple[Effect, ...] = ("destroy", "replace", "forget", "restart", "update", "adopt", "create")

_RESTARTS = frozenset(
    {
        *("acpi", "agent", "bios", "cpu", "disk", "efi_disk", "hostpci", "initialization", "machine", "memory"),
        *("network_device", "operating_system", "scsi_hardware", "serial_device", "tablet_device"),
    }
)
"""Attributes of a VM that it takes over at its next start, which the provider brings about."""

_WHY = {
    "delete_because_each_key": "it is no longer among the guests",
    "delete_because_no_resource_config": "the module no longer has its resource",
    "delete_because_no_module": "the module no longer exists",
    "replace_because_tainted": "making it failed half way",
    "replace_by_request": "-replace asks for it",
    "replace_by_triggers": "something that it depends on changes",
}
_LEAVES = 4


@dataclass(frozen=True, slots=True)
class Told:
    """``noun name`` (``guest infra``) and what happens to it; ``cause`` is "" where nothing more is known."""

    noun: str
    name: str
    effect: Effect
    summary: str
    cause: str
    address: str


def told(change: Change) -> Told:
    """The change in words: ``guest gpu-pve44 is replaced: vm_id 244 -> 245``."""
    effect = effect_of(change)
    noun = NOUNS.get(change.kind, change.kind)
    differs = differences(change)
    words: dict[Effect, tuple[str, str]] = {
        "destroy": ("is destroyed", "a leftover of an earlier replacement" if change.deposed else _why(change)),
        "replace": ("is destroyed and made anew", _why(change)),
        "forget": ("is forgotten: it stays, and OpenTofu no longer knows it", ""),
        "restart": ("is changed and restarts", differs),
        "update": ("is changed in place", differs),
        "adopt": ("is adopted as it is" if not differs else "is adopted and changed in place", differs),
        "create": ("is created", ""),
    }
    summary, cause = words[effect]
    return Told(noun, change.name, effect, summary, cause, change.address)


def effect_of(change: Change) -> Effect:
    """The worst that the change does."""
    if change.destroys:
        return "replace" if change.replaces else "destroy"
    if "forget" in change.actions:
        return "forget"
    if change.imported:
        return "adopt"
    if "update" in change.actions:
        return "restart" if change.kind == VM and _RESTARTS & _changed(change).keys() else "update"
    return "create"


def _why(change: Change) -> str:
    """Why it is destroyed: the attributes that force it, else OpenTofu's own reason."""
    forced = [_step(change, path) for path in change.paths]
    return ", ".join(forced) or _WHY.get(change.reason, change.reason.replace("_", " "))


def _step(change: Change, path: tuple[str, ...]) -> str:
    """``node_name pve44 -> pve46``; a path into a block names the block too."""
    old, new = _at(change.before, path), _at(change.after, path)
    name = ".".join(step for step in path if not step.isdecimal())
    return f"{name} {_short(old)} -> {_short(new)}" if _scalar(old) and _scalar(new) else f"{name} changes"


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        if isinstance(value, list):
            value = value[int(step)] if step.isdecimal() and int(step) < len(value) else None
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return value


def differences(change: Change) -> str:
    """What is different afterwards, attribute by attribute: ``memory.dedicated 12288 -> 16384, tags``."""
    found = _changed(change)
    return ", ".join(_pair(name, change.before.get(name), change.after.get(name)) for name in sorted(found))


def _changed(change: Change) -> dict[str, Any]:
    both = {name: value for name, value in change.after.items() if name in change.before and name not in change.unknown}
    return {
        name: value for name, value in both.items() if value != change.before[name] and (value or change.before[name])
    }


def _pair(name: str, old: Any, new: Any) -> str:
    if _scalar(old) and _scalar(new):
        return f"{name} {_short(old)} -> {_short(new)}"
    blocks = [one[0] for one in (old, new) if isinstance(one, list) and len(one) == 1 and isinstance(one[0], dict)]
    if len(blocks) != 2:
        return name
    leaves = [key for key in blocks[1] if blocks[0].get(key) != blocks[1][key] and _scalar(blocks[1][key])]
    pairs = [f"{name}.{key} {_short(blocks[0].get(key))} -> {_short(blocks[1][key])}" for key in leaves[:_LEAVES]]
    return ", ".join(pairs) or name


def _scalar(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _short(value: Any) -> str:
    text = "nothing" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
