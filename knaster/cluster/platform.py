"""``catalog/platform.yaml``: network, storage, VM sizing, drivers, card policies, guests, externals.

Units: ``memory_gb``, ``disk_gb`` and the reserves are GiB.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from knaster.cluster.machines import Number
from knaster.diagnostics import Place

PLATFORM_FILE = "catalog/platform.yaml"


@dataclass(frozen=True, slots=True)
class Network:
    """The guests' network. ``guest_first``/``guest_last`` bound the addresses that guests may have."""

    cidr: str
    gateway: str
    bridge: str
    guest_first: str
    guest_last: str
    dns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VmOverride:
    """Explicit values for one node's GPU VM, where the rule (base + node number) does not serve."""

    vmid: int | None = None
    address: str | None = None
    memory_gb: Number | None = None
    cores: int | None = None
    disk_gb: int | None = None
    storage: str | None = None
    driver_generation: str | None = None
    exists: bool = False


@dataclass(frozen=True, slots=True)
class Image:
    """The cloud image of GPU VMs (dated URL, so that a plan does not change by itself) with its checksum.

    ``storage`` is where a node keeps the downloaded file, not the VM's disk.
    """

    url: str
    checksum: str
    checksum_algorithm: str = "sha256"
    storage: str = "local"


@dataclass(frozen=True, slots=True)
class GpuVm:
    """The template of the one VM per Proxmox node with GPUs. ``name`` holds ``{node}``.

    ``driver_generation`` None: what serves the oldest card of each VM.
    """

    name: str
    vmid_base: int
    address_base: str
    memory_gb: Number
    cores: int
    disk_gb: int
    storage: str
    image: Image
    driver_generation: str | None = None
    overrides: Mapping[str, VmOverride] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Driver:
    """An NVIDIA driver branch, its exact version, and the compute capabilities it serves."""

    generation: str
    branch: str
    version: str
    min_cc: Number
    max_cc: Number | None = None


@dataclass(frozen=True, slots=True)
class CardPolicy:
    """What a card type (PCI id ``10de:13f1``) may be used for. ``engines`` None allows all."""

    id: str
    name: str
    engines: tuple[str, ...] | None = None
    requires: Literal["benchmark"] | None = None


@dataclass(frozen=True, slots=True)
class Replication:
    """One ZFS replication job of a guest; ``schedule`` is a Proxmox calendar event."""

    target: str
    schedule: str = "*/15"
    position: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Lxc:
    """A container guest as people declare it."""

    name: str
    node: str
    vmid: int
    address: str
    memory_gb: Number
    cores: int
    disk_gb: int
    storage: str
    template: str
    services: tuple[str, ...] = ()
    replication: tuple[Replication, ...] = ()
    exists: bool = False
    unprivileged: bool = True


@dataclass(frozen=True, slots=True)
class Access:
    """How people and Ansible log in to a new guest; ``ssh_keys`` are public keys, sorted."""

    user: str = "ubuntu"
    ssh_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Worker:
    """A workstation that serves slots through a worker program instead of a guest."""

    node: str
    program: str


@dataclass(frozen=True, slots=True)
class External:
    """An endpoint outside the fleet; ``credential_env`` names the variable that holds its key.

    ``model`` is the name to ask for there; None: the endpoint's own name.
    """

    name: str
    url: str
    credential_env: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Exporters:
    """TCP ports of exporters; the defaults are those of node_exporter, windows_exporter and nvidia_gpu_exporter."""

    node: int = 9100
    windows: int = 9182
    gpu: int = 9835


@dataclass(frozen=True, slots=True)
class Assumption:
    """A value that nobody confirmed yet; `validate` warns once for each."""

    about: str
    assumed: str


@dataclass(frozen=True, slots=True)
class Platform:
    """Everything about the fleet that is not a node, a model or a role."""

    network: Network
    gpu_vm: GpuVm | None = None
    host_reserve_gb: Number = 0
    vram_reserve_gb: Mapping[str, Number] = field(default_factory=dict)
    drivers: Mapping[str, Driver] = field(default_factory=dict)
    cards: Mapping[str, CardPolicy] = field(default_factory=dict)
    guests: Mapping[str, Lxc] = field(default_factory=dict)
    storage: Mapping[str, str] = field(default_factory=dict)
    workers: Mapping[str, Worker] = field(default_factory=dict)
    external: Mapping[str, External] = field(default_factory=dict)
    access: Access = Access()
    exporters: Exporters = Exporters()
    retire: tuple[str, ...] = ()
    assumptions: tuple[Assumption, ...] = ()


def platform_place(*route: str | int, on: Literal["key", "value"] = "value") -> Place:
    """A place in the platform file."""
    return Place(PLATFORM_FILE, tuple(route), on)
