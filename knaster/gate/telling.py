"""One change of a plan in the words of the fleet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from knaster import provider
from knaster.gate.devices import CONTAINER, VM, keeps_all
from knaster.gate.differing import differences, leaves, scalar, short
from knaster.gate.plan import KNOWN, Change

MAPPING = "proxmox_hardware_mapping_pci"
IMAGE = "proxmox_download_file"
NOUNS: Mapping[str, str] = {VM: "guest", CONTAINER: "guest", MAPPING: "mapping", IMAGE: "image on"}

KINDS: Mapping[str, provider.Kind] = {VM: "vm", CONTAINER: "lxc"}

Effect = Literal["destroy", "replace", "forget", "refuse", "restart", "update", "adopt", "create"]
ORDER: tuple[Effect, ...] = ("destroy", "replace", "forget", "refuse", "restart", "update", "adopt", "create")

_WHY = {
    "delete_because_no_resource_config": "the module no longer has its resource",
    "delete_because_no_module": "the module no longer exists",
    "replace_because_tainted": "making it failed half way",
    "replace_by_request": "-replace asks for it",
    "replace_by_triggers": "something that it depends on changes",
}

_MISSING = {MAPPING: "no card has it any more", IMAGE: "its node has no GPU VM any more"}


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
        "refuse": ("cannot be changed like this", differs),
        "restart": ("is adopted, changed and restarts" if change.imported else "is changed and restarts", differs),
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
    if not set(change.actions) <= KNOWN:
        return "refuse"
    done = _done(change) if "update" in change.actions else "update"
    if done != "update":
        return "refuse" if done == "refuse" else "restart"
    if change.imported:
        return "adopt"
    return "update" if "update" in change.actions else "create"


def _done(change: Change) -> provider.Does:
    """The worst that the attributes that differ bring about.

    Where the provider plans an update, whatever its table says of an attribute, nothing is replaced.
    """
    kind = KINDS.get(change.kind)
    if kind is None:
        return "update"
    if not keeps_all(change):
        return "refuse"
    some = (provider.does(kind, path, old, new) for path, old, new in leaves(change))
    return min(("restart" if one == "replace" else one for one in some), key=provider.ORDER.index, default="update")


def _why(change: Change) -> str:
    """Why it is destroyed: the attributes that force it, else OpenTofu's own reason."""
    forced = [_step(change, path) for path in change.paths]
    if change.reason == "delete_because_each_key":
        return _MISSING.get(change.kind, "it is no longer among the guests")
    return ", ".join(forced) or _WHY.get(change.reason, change.reason.replace("_", " "))


def _step(change: Change, path: tuple[str, ...]) -> str:
    """``node_name pve44 -> pve46``; a path into a block names the block too."""
    old, new = _at(change.before, path), _at(change.after, path)
    name = ".".join(step for step in path if not step.isdecimal())
    return f"{name} {short(old)} -> {short(new)}" if scalar(old) and scalar(new) else f"{name} changes"


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        if isinstance(value, list):
            value = value[int(step)] if step.isdecimal() and int(step) < len(value) else None
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return value
