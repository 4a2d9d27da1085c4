"""The fleet as data: frozen dataclasses that know the file they came from.

Units: ``*_gb`` of memory and VRAM are GiB, ``memory_mib`` is MiB, disk ``size_gb`` is 10^9 bytes (as makers count),
``disk_gb`` of guests is GiB. A compute capability is the decimal as NVIDIA writes it (``8.9``). ``None``: not known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from knaster.diagnostics import Place, Route

Number = int | float
State = Literal["active", "cordoned", "down"]
ShareMode = Literal["alternating", "concurrent"]
Prefer = Literal["largest", "smallest_fitting"]


@dataclass(frozen=True, slots=True)
class Pci:
    """PCI facts of a card, lower case as sysfs prints them; ``subsystem_id`` is ``vendor:device``."""

    address: str
    id: str | None = None
    subsystem_id: str | None = None
    iommu_group: int | None = None


@dataclass(frozen=True, slots=True)
class Gpu:
    """One card. ``position`` is its place in the file's list; ``index`` is the driver's number."""

    index: int
    name: str | None = None
    memory_gb: Number | None = None
    compute_cap: Number | None = None
    driver: str | None = None
    memory_mib: int | None = None
    vendor: str | None = None
    uuid: str | None = None
    pci: Pci | None = None
    bound_driver: str | None = None
    memory_kind: Literal["dedicated", "unified"] = "dedicated"
    disabled: bool = False
    reason: str | None = None
    position: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Cpu:
    """Processor facts: physical cores and online threads."""

    model: str | None
    cores: int | None
    threads: int | None


@dataclass(frozen=True, slots=True)
class Disk:
    """One real disk; ``size_gb`` in 10^9 bytes."""

    name: str
    size_gb: Number | None
    rotational: bool | None


@dataclass(frozen=True, slots=True)
class Node:
    """One machine: facts (collected or assumed) and the policy that people set. ``gpus`` are sorted by index."""

    name: str
    cpu: Cpu
    memory_gb: Number | None
    disks: tuple[Disk, ...] = ()
    gpus: tuple[Gpu, ...] = ()
    os: Literal["linux", "windows"] = "linux"
    platform: Literal["proxmox", "workstation", "bare"] = "bare"
    address: str | None = None
    fabric: str | None = None
    source: Literal["collected", "assumed"] = "collected"
    warnings: tuple[str, ...] = ()
    cpu_roles: bool = True
    groups: tuple[str, ...] = ()
    state: State = "active"
    reason: str | None = None
    file: str = ""

    def place(self, *route: str | int, on: Literal["key", "value"] = "value") -> Place:
        """A place in this node's file."""
        return Place(self.file, route, on)

    @property
    def role_os(self) -> Literal["linux", "windows"]:
        """The OS that roles see: inside a GPU VM or LXC of a Proxmox node it is linux (design: rule 2)."""
        return "linux" if self.platform == "proxmox" else self.os


@dataclass(frozen=True, slots=True)
class Engine:
    """An inference engine and its floors, which hold for all of its models."""

    name: str
    min_cc: Number = 0
    max_cc: Number | None = None
    os: tuple[str, ...] = ("linux",)
    gpu: Literal["required", "optional", "none"] = "required"
    port: int | None = None


@dataclass(frozen=True, slots=True)
class Figure:
    """A performance figure with where and when it was taken; ``kind`` says whether anybody measured it."""

    metric: str
    value: Number
    unit: str
    kind: Literal["estimated", "measured"]
    card: str | None = None
    node: str | None = None
    engine: str | None = None
    date: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Model:
    """A catalog model; ``vram_gb`` is weights plus a minimal KV cache in GiB."""

    name: str
    kind: str
    vram_gb: Number
    engines: tuple[str, ...]
    min_cc: Number = 0
    context: int | None = None
    lora: bool = False
    source: str | None = None
    precision: str | None = None
    args: tuple[str, ...] = ()
    tensor_parallel: int = 1
    nodes: int = 1
    min_memory_gb: Number = 0
    startup_timeout: int | None = None
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True, slots=True)
class Needs:
    """What a role asks of a card (or, with ``gpu: false``, of a node)."""

    engine: str
    min_vram_gb: Number = 0
    min_cc: Number = 0
    max_cc: Number | None = None
    gpu: bool = True
    min_memory_gb: Number = 0


@dataclass(frozen=True, slots=True)
class Slot:
    """A name that clients call; ``fallback`` is ordered. ``position`` is its place in the file's list."""

    name: str
    port: int | None = None
    fallback: tuple[str, ...] = ()
    model: str | None = None
    position: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class VramShare:
    """The share of a card's VRAM (0 to 1) that a role may take alone and while another role runs beside it."""

    alone: Number
    shared: Number


@dataclass(frozen=True, slots=True)
class Role:
    """A job that wants a card or a CPU. Lower ``priority`` is served first."""

    name: str
    needs: Needs
    kinds: tuple[str, ...]
    priority: int = 100
    prefer: Prefer = "smallest_fitting"
    count: int = 1
    slots: tuple[Slot, ...] = ()
    share_with: str | None = None
    share_mode: ShareMode = "alternating"
    vram_share: VramShare | None = None
    cpu_fallback: bool = False
    pin: str | None = None
    required: bool = False
    guest: str | None = None
    description: str | None = None


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


@dataclass(frozen=True, slots=True)
class Image:
    """The cloud image of GPU VMs (dated URL, so that a plan does not change by itself) with its checksum."""

    url: str
    checksum: str
    checksum_algorithm: str = "sha256"


@dataclass(frozen=True, slots=True)
class GpuVm:
    """The template of the one VM per Proxmox node with GPUs. ``name`` holds ``{node}``."""

    name: str
    vmid_base: int
    address_base: str
    memory_gb: Number
    cores: int
    disk_gb: int
    storage: str
    image: Image
    driver_generation: str
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


@dataclass(frozen=True, slots=True)
class Worker:
    """A workstation that serves slots through a worker program instead of a guest."""

    node: str
    program: str


@dataclass(frozen=True, slots=True)
class External:
    """An endpoint outside the fleet; ``credential_env`` names the variable that holds its key."""

    name: str
    url: str
    credential_env: str | None = None


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
    retire: tuple[str, ...] = ()
    assumptions: tuple[Assumption, ...] = ()


@dataclass(frozen=True, slots=True)
class Catalog:
    """The content of ``catalog/models.yaml``."""

    engines: Mapping[str, Engine] = field(default_factory=dict)
    models: Mapping[str, Model] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cluster:
    """All inputs. A part (a node) is None (left out) when its file did not load; ``broken`` names those files."""

    nodes: tuple[Node, ...]
    catalog: Catalog | None
    roles: Mapping[str, Role] | None
    platform: Platform | None
    broken: frozenset[str] = frozenset()


MODELS_FILE = "catalog/models.yaml"
ROLES_FILE = "catalog/roles.yaml"
PLATFORM_FILE = "catalog/platform.yaml"


def role_place(name: str, *route: str | int, on: Literal["key", "value"] = "value") -> Place:
    """A place inside one role."""
    return Place(ROLES_FILE, ("roles", name, *route), on)


def platform_place(*route: str | int, on: Literal["key", "value"] = "value") -> Place:
    """A place in the platform file."""
    return Place(PLATFORM_FILE, tuple(route), on)


def models_place(*route: str | int, on: Literal["key", "value"] = "value") -> Place:
    """A place in the models file."""
    whole: Route = tuple(route)
    return Place(MODELS_FILE, whole, on)
