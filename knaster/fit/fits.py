"""`fits`: model, device, engine and what others hold there, to yes or the first reason why not."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from knaster.cluster import Engine, Gpu, Model, Node, Number, Platform
from knaster.units import MIB_PER_GIB, Exact, exact, hundredths, mib, show, show_cc


@dataclass(frozen=True, slots=True)
class Device:
    """What a model would run on: a card, or (``gpu`` False) the room of a node or guest.

    ``free_mib`` is what is there for models, None when not known: a card's VRAM less the reserve of the OS, or a node's
    room that other roles leave. ``compute_cap`` is None on a CPU and when not known.
    """

    os: str
    gpu: bool
    free_mib: Exact | None
    compute_cap: Number | None = None


def card_device(node: Node, gpu: Gpu, platform: Platform | None) -> Device:
    """The device that a card is: ``memory_mib`` (else ``memory_gb`` x 1024) minus the VRAM reserve of the OS."""
    total: Exact | None = gpu.memory_mib
    if total is None and gpu.memory_gb is not None:
        total = mib(gpu.memory_gb)
    reserve = mib(platform.vram_reserve_gb.get(node.role_os, 0)) if platform else 0
    return Device(
        node.role_os, gpu=True, free_mib=None if total is None else total - reserve, compute_cap=gpu.compute_cap
    )


def why_not(model: Model, device: Device, engine: Engine, share: Exact = 0) -> str | None:
    """The first reason why `model` cannot run under `engine` on `device` while others hold `share` MiB; None if it can.

    Unknown VRAM or compute capability never fits. On a CPU compute capability does not matter, the need is the larger
    of ``vram_gb`` and ``min_memory_gb``, and an engine that requires a GPU never fits.
    """
    if engine.name not in model.engines:
        return f"it does not run on {engine.name} (it runs on {', '.join(model.engines)})"
    if device.os not in engine.os:
        return f"{engine.name} does not run on {device.os}"
    capability = _capability(model, device, engine) if device.gpu else _cpu(engine)
    return capability or _room(model, device, share)


def fits(model: Model, device: Device, engine: Engine, share: Exact = 0) -> bool:
    """Whether `model` can run under `engine` on `device` while others hold `share` MiB of it."""
    return why_not(model, device, engine, share) is None


def _cpu(engine: Engine) -> str | None:
    return f"{engine.name} needs a GPU" if engine.gpu == "required" else None


def _capability(model: Model, device: Device, engine: Engine) -> str | None:
    if device.compute_cap is None:
        return "the card's compute capability is not known"
    floor = max(model.min_cc, engine.min_cc)
    if device.compute_cap < floor:
        return f"it needs compute capability {show_cc(floor)}, the card has {show_cc(device.compute_cap)}"
    if engine.max_cc is not None and device.compute_cap > engine.max_cc:
        return f"{engine.name} ends at compute capability {show_cc(engine.max_cc)}"
    return None


def _room(model: Model, device: Device, share: Exact) -> str | None:
    if device.free_mib is None:
        return "the card's VRAM is not known" if device.gpu else "the node's memory is not known"
    need = mib(model.vram_gb if device.gpu else max(exact(model.vram_gb), exact(model.min_memory_gb)))
    free = device.free_mib - share
    if need <= free:
        return None
    return f"it needs {_gib(need, up=True)} GiB, {_gib(max(free, 0))} GiB are there"


def _gib(size_mib: Exact, *, up: bool = False) -> str:
    return show(hundredths(exact(Fraction(size_mib, MIB_PER_GIB)), up=up))
