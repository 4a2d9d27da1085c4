"""The cards of a machine: what the makers' tools say, what the bus shows, and the table for what neither tells.

No cards is a fact only where the bus was read and shows none. What a driver reports beats the table; a card on vfio-pci
has no driver on its host, so its memory and compute capability are the table's.
"""

from __future__ import annotations

from collections.abc import Sequence

from knaster.cluster import Gpu
from knaster.inventory.assemble import pci, tools
from knaster.inventory.assemble.build import Entry, gpu_of, settled
from knaster.inventory.assemble.entries import about, collect
from knaster.inventory.assemble.pci import Seen
from knaster.inventory.assemble.system import container_of
from knaster.inventory.capture import Capture
from knaster.inventory.parsers.nvidia_smi import SmiGpu
from knaster.inventory.reading import Problem, Reading

_EXPECTED = frozenset({"vfio-pci", "pci-stub"})
"""Drivers that keep a card for a guest: the host's nvidia-smi has no business with it."""

_NO_DRIVER = frozenset({"not-captured", "tool-missing", "library-missing", "driver-not-loaded"})
"""Why nvidia-smi may be silent on a machine without a card of NVIDIA. Any other reason means that there is one."""


def gpus(capture: Capture) -> Reading[tuple[Gpu, ...]]:
    """All cards by index. nvidia-smi's numbers stay; the others take what is free, in order of their addresses.

    Graphics inside a processor counts only where a tool of its maker shows it; in a container a card of the host's bus
    that a working nvidia-smi does not show is not the container's.

    Problems: ``no-source`` (neither a tool nor the bus can tell which cards there are), ``contradiction`` (nvidia-smi
    shows cards that cannot be any of those on the bus).
    """
    bus, rows, others = pci.cards(capture), tools.nvidia(capture), tools.others(capture)
    doubt = _doubt(rows, bus, told=any(tool.cards for tool in others))
    if doubt is not None:
        return Reading(problem=Problem("no-source", doubt))
    contained = container_of(capture) is not None and rows.value is not None
    found = collect(rows.value or (), tools.identities(capture), others, bus.value or (), only_shown=contained)
    if found.problem is not None:
        return Reading(problem=found.problem)
    built = [gpu_of(entry) for entry in found.entries]
    blind = (f"gpus: the PCI bus was not read ({bus.problem.message})",) if bus.problem else ()
    said = (*about(rows.warnings, found.shown), *found.warnings, *bus.warnings, *blind, *_silent(rows, found.entries))
    warnings = tuple(dict.fromkeys((*said, *(one for _, some in built for one in some))))
    cards = tuple(sorted((gpu for gpu, _ in built), key=lambda gpu: gpu.index))
    return Reading(cards, settled(cards, warnings))


def _doubt(rows: Reading[tuple[SmiGpu, ...]], bus: Reading[tuple[Seen, ...]], *, told: bool) -> str | None:
    """Why it cannot be known which cards there are: nobody shows any, and that nobody does is no proof."""
    reasons = [problem.message for problem in (rows.problem, bus.problem) if problem]
    if bus.value is None and not rows.value and not told:
        return "; ".join(dict.fromkeys(reasons))
    has_nvidia = any(card.vendor_id == "10de" for card in bus.value or ())
    if rows.problem is not None and rows.problem.cause not in _NO_DRIVER and not has_nvidia:
        return f"{rows.problem.message}; the PCI bus shows no card of NVIDIA"
    return None


def _silent(rows: Reading[tuple[SmiGpu, ...]], entries: Sequence[Entry]) -> tuple[str, ...]:
    """Why nvidia-smi does not show NVIDIA's cards that no guest waits for."""
    found = [entry.seen for entry in entries if entry.seen and entry.source is None and entry.doubts is None]
    silent = [card for card in found if card.vendor_id == "10de" and card.bound_driver not in _EXPECTED]
    if not silent:
        return ()
    if rows.problem is not None:  # where nobody asked nvidia-smi (a cluster's API), its silence means nothing
        return () if rows.problem.cause == "not-captured" else (rows.problem.message,)
    places = ", ".join(card.address or card.id for card in silent)
    return (f"nvidia-smi does not show {places}, which the PCI bus does; its facts are the table's",)
