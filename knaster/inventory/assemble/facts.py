"""A capture -> the facts of a node profile: no policy, nothing guessed, every unknown with its reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from knaster.cluster import Cpu, Disk, Gpu, Number, Pci
from knaster.document import Value
from knaster.inventory.assemble import system
from knaster.inventory.assemble.cards import gpus
from knaster.inventory.capture import Capture
from knaster.inventory.reading import Problem, Reading
from knaster.schema import check

Facts = dict[str, Value]
"""A node profile without its policy keys, in the order of the schema; None: not known."""

_MOST_WARNINGS = 200
_LONGEST_WARNING = 500


@dataclass(frozen=True, slots=True)
class Partial:
    """What could be read. ``missing``: the required facts that could not (``gpus``), each with the reason; they are
    None in ``facts``. ``warnings`` are for the user, those that belong to the machine are in ``facts`` too.
    ``installed_gb``: GiB that are built in, where the profile's ``memory_gb`` is what the system can use; None: not
    known. A profile has no place for it."""

    facts: Facts
    missing: dict[str, str]
    warnings: tuple[str, ...]
    installed_gb: Number | None = None


def profile(capture: Capture, *, name: str | None = None) -> Reading[Facts]:
    """The facts of one machine, which the node schema accepts.

    `name`: the node's name, else what the machine calls itself. Problems: ``missing-fact`` (a required fact that no
    source tells; all are named), ``impossible`` (the schema refuses what the sources say).
    """
    found = partial(capture, name=name)
    if found.missing:
        said = "; ".join(f"{fact} ({reason})" for fact, reason in found.missing.items())
        return Reading(problem=Problem("missing-fact", f"required fact missing: {said}"))
    if wrong := impossible(found.facts):
        return Reading(problem=Problem("impossible", wrong))
    return Reading(found.facts, found.warnings)


def impossible(facts: Facts) -> str | None:
    """What the node schema refuses among the facts that are known; None: nothing. The others may be missing."""
    known = {fact: value for fact, value in facts.items() if value is not None}
    wrong = (
        one for one in check("node", "", known) if one.code != "schema-missing-key" or (one.place and one.place.route)
    )
    return next((one.message for one in wrong), None)


def partial(capture: Capture, *, name: str | None = None) -> Partial:
    """What can be read of a machine whose sources may have failed."""
    named, cpu = system.name_of(capture, name), system.processor(capture)
    memory, disks, cards = system.memory(capture), system.disks(capture), gpus(capture)
    problems = {
        "name": named.problem,
        "cpu": cpu.problem,
        "memory_gb": memory.problem,
        "disks": disks.problem,
        "gpus": cards.problem,
    }
    missing = {fact: problem.message for fact, problem in problems.items() if problem is not None}
    own = _clean((*_container(capture), *cpu.warnings, *memory.warnings, *disks.warnings, *cards.warnings))
    facts: Facts = {
        "name": named.value,
        "cpu": None if cpu.value is None else _cpu(cpu.value),
        "memory_gb": memory.value,
        "disks": None if disks.value is None else [_disk(disk) for disk in disks.value],
        "gpus": None if cards.value is None else [_gpu(card) for card in cards.value],
        "os": system.os_of(capture),
        "platform": system.platform_of(capture),
        "address": system.address_of(capture),
        "source": "collected",
        "warnings": list(own),
    }
    return Partial(facts, missing, (*named.warnings, *own), system.installed(capture, memory.value).value)


def _container(capture: Capture) -> tuple[str, ...]:
    kind = system.container_of(capture)
    return (f"read inside a container ({kind}): disks and PCI devices are those of its host",) if kind else ()


def _clean(warnings: Sequence[str]) -> tuple[str, ...]:
    """Within the schema's bounds: each once, on one line, not longer and not more than it allows."""
    plain = ("".join(sign if sign.isprintable() else " " for sign in said).strip() for said in warnings)
    kept = tuple(dict.fromkeys(said[:_LONGEST_WARNING] for said in plain if said))
    if len(kept) <= _MOST_WARNINGS:
        return kept
    return (*kept[: _MOST_WARNINGS - 1], f"and {len(kept) - _MOST_WARNINGS + 1} more warnings")


def _cpu(cpu: Cpu) -> Value:
    return {"model": cpu.model, "cores": cpu.cores, "threads": cpu.threads}


def _disk(disk: Disk) -> Value:
    return {"name": disk.name, "size_gb": disk.size_gb, "rotational": disk.rotational}


def _gpu(gpu: Gpu) -> Value:
    return {
        "index": gpu.index,
        "name": gpu.name,
        "memory_gb": gpu.memory_gb,
        "compute_cap": gpu.compute_cap,
        "driver": gpu.driver,
        "memory_mib": gpu.memory_mib,
        "vendor": gpu.vendor,
        "uuid": gpu.uuid,
        "pci": None if gpu.pci is None else _pci(gpu.pci),
        "bound_driver": gpu.bound_driver,
        "memory_kind": gpu.memory_kind,
    }


def _pci(pci: Pci) -> Value:
    return {
        "address": pci.address,
        "id": pci.id,
        "subsystem_id": pci.subsystem_id,
        "iommu_group": pci.iommu_group,
    }
