"""Schema-valid data into cluster dataclasses.

Nothing here fails on data that `knaster.schema.check` accepted, and the order of keys and of sets never shows
in a result: lists that are sets become sorted tuples, mappings are sorted by key. What the schemas mark ``x-ordered``
(``args``, ``fallback``, ``dns``) keeps its order. Assumptions keep theirs too, because each is reported at its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from knaster.building.platform_file import platform
from knaster.cluster import (
    Catalog,
    Cpu,
    Disk,
    Engine,
    Figure,
    Gpu,
    History,
    Model,
    Needs,
    Node,
    Pci,
    Role,
    Slot,
    VramShare,
)

__all__ = ["catalog", "history", "node", "platform", "roles"]

Data = Mapping[str, Any]
_T = TypeVar("_T")


def node(data: Data, file: str = "") -> Node:
    """A node profile; `file` is where diagnostics about the node point to."""
    get = data.get
    cpu = data["cpu"]
    return Node(
        name=data["name"],
        cpu=Cpu(cpu.get("model"), _whole(cpu.get("cores")), _whole(cpu.get("threads"))),
        memory_gb=data["memory_gb"],
        disks=tuple(sorted(map(_disk, data["disks"]), key=lambda disk: (disk.name, str(disk)))),
        gpus=tuple(sorted(map(_gpu, data["gpus"], range(len(data["gpus"]))), key=_by_index)),
        os=get("os", "linux"),
        platform=get("platform", "bare"),
        address=get("address"),
        fabric=get("fabric"),
        source=get("source", "collected"),
        warnings=_names(get("warnings", ())),
        cpu_roles=get("cpu_roles", True),
        groups=_names(get("groups", ())),
        state=get("state", "active"),
        reason=get("reason"),
        file=file,
    )


def catalog(data: Data) -> Catalog:
    """The content of ``catalog/models.yaml``."""
    return Catalog(engines=_each(data["engines"], _engine), models=_each(data["models"], _model))


def roles(data: Data) -> dict[str, Role]:
    """The content of ``catalog/roles.yaml``, by name."""
    return _each(data["roles"], _role)


def history(data: Data, file: str = "") -> History:
    """The content of a file of ``catalog/benchmarks/``."""
    return History(data["model"], tuple(_figure(run, "measured") for run in data["runs"]), file)


def _each(entries: Mapping[str, Data], make: Callable[[str, Data], _T]) -> dict[str, _T]:
    return {name: make(name, entries[name]) for name in sorted(entries)}


def _names(names: Any) -> tuple[str, ...]:
    return tuple(sorted(names))


def _whole(number: Any) -> Any:
    """``8.0`` is a whole number to JSON Schema; in the cluster it is ``8``."""
    return None if number is None else int(number)


def _disk(data: Data) -> Disk:
    return Disk(data["name"], data.get("size_gb"), data.get("rotational"))


def _gpu(data: Data, position: int) -> Gpu:
    get = data.get
    return Gpu(
        index=int(data["index"]),
        name=get("name"),
        memory_gb=get("memory_gb"),
        compute_cap=get("compute_cap"),
        driver=get("driver"),
        memory_mib=_whole(get("memory_mib")),
        vendor=get("vendor"),
        uuid=get("uuid"),
        pci=_pci(get("pci")),
        bound_driver=get("bound_driver"),
        memory_kind=get("memory_kind", "dedicated"),
        disabled=get("disabled", False),
        reason=get("reason"),
        position=position,
    )


def _by_index(gpu: Gpu) -> tuple[int, str, str]:
    """Two cards with one index are an error of a check; until then their order must not come from the file."""
    return (gpu.index, gpu.pci.address if gpu.pci else "", repr(replace(gpu, position=0)))


def _pci(data: Data | None) -> Pci | None:
    if data is None:
        return None
    return Pci(data["address"], data.get("id"), data.get("subsystem_id"), _whole(data.get("iommu_group")))


def _engine(name: str, data: Data) -> Engine:
    return Engine(
        name=name,
        min_cc=data.get("min_cc", 0),
        max_cc=data.get("max_cc"),
        os=_names(data.get("os", ("linux",))),
        gpu=data.get("gpu", "required"),
        port=_whole(data.get("port")),
        metrics=data.get("metrics"),
    )


def _model(name: str, data: Data) -> Model:
    get = data.get
    figures = [_figure(figure, "estimated") for figure in get("estimated", ())]
    figures += [_figure(figure, "measured") for figure in get("measured", ())]
    return Model(
        name=name,
        kind=data["kind"],
        vram_gb=data["vram_gb"],
        engines=_names(data["engines"]),
        min_cc=get("min_cc", 0),
        context=_whole(get("context")),
        lora=get("lora", False),
        source=get("source"),
        precision=get("precision"),
        args=tuple(get("args", ())),
        tensor_parallel=int(get("tensor_parallel", 1)),
        nodes=int(get("nodes", 1)),
        min_memory_gb=get("min_memory_gb", 0),
        startup_timeout=_whole(get("startup_timeout")),
        figures=tuple(sorted(figures, key=_figure_order)),
    )


def _figure(data: Data, kind: Any) -> Figure:
    get = data.get
    return Figure(
        metric=data["metric"],
        value=data["value"],
        unit=data["unit"],
        kind=kind,
        card=get("card"),
        node=get("node"),
        engine=get("engine"),
        date=get("date"),
        source=get("source"),
        spread=get("spread"),
        voice=get("voice"),
        build=get("build"),
        partial=get("partial", False),
    )


def _figure_order(figure: Figure) -> tuple[object, ...]:
    texts = (figure.kind, figure.card, figure.node, figure.engine, figure.date, figure.unit, figure.source)
    more = (figure.voice, figure.build)
    return (figure.metric, *(text or "" for text in (*texts, *more)), figure.value, figure.spread or 0, figure.partial)


def _role(name: str, data: Data) -> Role:
    get = data.get
    share = get("vram_share")
    slots = [_slot(slot, position) for position, slot in enumerate(get("slots", ()))]
    return Role(
        name=name,
        needs=_needs(data["needs"]),
        kinds=_names(data["kinds"]),
        priority=int(get("priority", 100)),
        prefer=get("prefer", "smallest_fitting"),
        count=int(get("count", 1)),
        slots=tuple(sorted(slots, key=_by_name)),
        share_with=get("share_with"),
        share_mode=get("share_mode", "alternating"),
        vram_share=None if share is None else VramShare(share["alone"], share["shared"]),
        cpu_fallback=get("cpu_fallback", False),
        pin=get("pin"),
        required=get("required", False),
        guest=get("guest"),
        description=get("description"),
    )


def _needs(data: Data) -> Needs:
    return Needs(
        engine=data["engine"],
        min_vram_gb=data.get("min_vram_gb", 0),
        min_cc=data.get("min_cc", 0),
        max_cc=data.get("max_cc"),
        gpu=data.get("gpu", True),
        min_memory_gb=data.get("min_memory_gb", 0),
    )


def _by_name(slot: Slot) -> tuple[object, ...]:
    """Two slots with one name are an error of a check; until then their order must not come from the file."""
    return (slot.name, slot.port or 0, slot.fallback, slot.model or "")


def _slot(data: str | Data, position: int) -> Slot:
    if isinstance(data, str):
        return Slot(data, position=position)
    get = data.get
    return Slot(data["name"], _whole(get("port")), tuple(get("fallback", ())), get("model"), position)
