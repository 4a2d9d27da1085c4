"""Schema-valid data of ``catalog/platform.yaml`` into the `Platform` dataclass, by the rules of `knaster.building`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from knaster.cluster import (
    Access,
    Assumption,
    CardPolicy,
    Driver,
    Exporters,
    External,
    GpuVm,
    Image,
    Lxc,
    Network,
    Platform,
    Replication,
    VmOverride,
    Worker,
)

Data = Mapping[str, Any]


def platform(data: Data) -> Platform:
    """The content of ``catalog/platform.yaml``. Whole numbers written as ``8.0`` become ``8``."""
    get = data.get
    return Platform(
        network=_network(data["network"]),
        gpu_vm=_gpu_vm(data["gpu_vm"]) if "gpu_vm" in data else None,
        host_reserve_gb=get("host_reserve_gb", 0),
        vram_reserve_gb=dict(sorted(get("vram_reserve_gb", {}).items())),
        drivers={name: _driver(name, entry) for name, entry in _entries(data, "drivers")},
        cards={name: _card(name, entry) for name, entry in _entries(data, "cards")},
        guests={name: _lxc(name, entry) for name, entry in _entries(data, "guests")},
        storage={name: entry["type"] for name, entry in _entries(data, "storage")},
        workers={name: Worker(name, entry["program"]) for name, entry in _entries(data, "workers")},
        external={name: _external(name, entry) for name, entry in _entries(data, "external")},
        access=_access(get("access", {})),
        exporters=_exporters(get("exporters", {})),
        retire=tuple(sorted(get("retire", ()))),
        assumptions=tuple(Assumption(entry["about"], entry["assumed"]) for entry in get("assumptions", ())),
    )


def _entries(data: Data, key: str) -> list[tuple[str, Any]]:
    return sorted(data.get(key, {}).items())


def _network(data: Data) -> Network:
    guests = data["guest_range"]
    dns = tuple(data.get("dns", ()))
    return Network(data["cidr"], data["gateway"], data["bridge"], guests["first"], guests["last"], dns)


def _gpu_vm(data: Data) -> GpuVm:
    image = data["image"]
    return GpuVm(
        name=data["name"],
        vmid_base=int(data["vmid_base"]),
        address_base=data["address_base"],
        memory_gb=data["memory_gb"],
        cores=int(data["cores"]),
        disk_gb=int(data["disk_gb"]),
        storage=data["storage"],
        image=Image(
            image["url"], image["checksum"], image.get("checksum_algorithm", "sha256"), image.get("storage", "local")
        ),
        driver_generation=data.get("driver_generation"),
        overrides={name: _override(entry) for name, entry in _entries(data, "overrides")},
    )


def _override(data: Data) -> VmOverride:
    whole = {key: int(data[key]) for key in ("vmid", "cores", "disk_gb") if key in data}
    given: dict[str, Any] = {**data, **whole}
    return VmOverride(**given)


def _driver(name: str, data: Data) -> Driver:
    return Driver(name, data["branch"], data["version"], data["min_cc"], data.get("max_cc"))


def _card(name: str, data: Data) -> CardPolicy:
    engines = tuple(sorted(data["engines"])) if "engines" in data else None
    return CardPolicy(name, data["name"], engines, data.get("requires"))


def _lxc(name: str, data: Data) -> Lxc:
    listed = enumerate(data.get("replication", ()))
    jobs = [Replication(job["target"], job.get("schedule", "*/15"), position) for position, job in listed]
    return Lxc(
        name=name,
        node=data["node"],
        vmid=int(data["vmid"]),
        address=data["address"],
        memory_gb=data["memory_gb"],
        cores=int(data["cores"]),
        disk_gb=int(data["disk_gb"]),
        storage=data["storage"],
        template=data["template"],
        services=tuple(sorted(data.get("services", ()))),
        replication=tuple(sorted(jobs, key=lambda job: (job.target, job.schedule))),
        exists=data.get("exists", False),
        unprivileged=data.get("unprivileged", True),
    )


def _access(data: Data) -> Access:
    return Access(data.get("user", "ubuntu"), tuple(sorted(data.get("ssh_keys", ()))))


def _external(name: str, data: Data) -> External:
    credential = data.get("credential")
    return External(name, data["url"], credential["env"] if credential else None, data.get("model"))


def _exporters(data: Data) -> Exporters:
    return Exporters(**{kind: int(port) for kind, port in data.items()})
