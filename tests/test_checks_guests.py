"""Guests: hosts, replication, identity, memory and passthrough."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from knaster.checks import CHECKS, guests, hardware
from knaster.cluster import Cpu, Lxc, Replication, Role, VmOverride, Worker
from knaster.diagnostics import Severity
from tests.builders import catalog, cluster, engine, gpu, gpu_vm, lxc, node, pci, platform, role, roles, slot
from tests.checking import of_guests, only, p2000, proxmox, route, said

PLATFORM_FILE = "catalog/platform.yaml"


def test_containers_run_on_proxmox_and_workers_do_not() -> None:
    workers = {name: Worker(name, "w.ps1") for name in ("pve44", "PC5")}
    fleet = cluster(proxmox("pve44"), node("PC5"), platform=platform(lxc(node="PC5"), lxc("ops"), workers=workers))
    first, second = of_guests(guests.hosts, fleet)
    assert said([first, second]) == [
        ("guest-conflict", "guest infra runs on PC5, which is no Proxmox node (platform: bare)"),
        ("guest-conflict", "pve44 is a Proxmox node, but workers names it: its slots are served from guests"),
    ]
    assert route(first) == (PLATFORM_FILE, ("guests", "infra", "node"), "value")
    assert route(second) == (PLATFORM_FILE, ("workers", "pve44"), "key")


@pytest.mark.parametrize(
    ("guest", "expected"),
    [
        (lxc(replication=(Replication("pve46"), Replication("pve48"))), []),
        (lxc(storage="local-lvm"), []),
        (
            lxc(storage="local-lvm", replication=(Replication("pve46"),)),
            ["guest infra is replicated, but its storage local-lvm is lvmthin: only zfspool can be"],
        ),
        (lxc(replication=(Replication("pve44"),)), ["guest infra is replicated to pve44, the node it runs on"]),
        (
            lxc(replication=(Replication("PC5"),)),
            ["guest infra is replicated to PC5, which is no Proxmox node (platform: bare)"],
        ),
        (
            lxc(replication=(Replication("pve46", "*/15"), Replication("pve46", "*/30", 1))),
            ["guest infra is replicated to pve46 twice; Proxmox takes one job per target"],
        ),
    ],
)
def test_replication(guest: Lxc, expected: list[str]) -> None:
    fleet = cluster(proxmox("pve44"), proxmox("pve46"), proxmox("pve48"), node("PC5"), platform=platform(guest))
    assert said(of_guests(guests.replication, fleet)) == [("guest-conflict", message) for message in expected]


def test_an_override_without_a_vm_is_a_warning() -> None:
    overrides = {name: VmOverride(vmid=300) for name in ("pve44", "pve61", "PC5")}
    fleet = cluster(
        proxmox("pve44", p2000()),
        proxmox("pve61"),
        node("PC5", gpu()),
        platform=platform(gpu_vm=gpu_vm(overrides=overrides)),
    )
    found = of_guests(guests.overrides, fleet)
    assert [(one.severity, route(one)[1][-1]) for one in found] == [
        (Severity.WARNING, "pve61"),
        (Severity.WARNING, "PC5"),
    ]


@pytest.mark.parametrize(
    ("subject", "problem", "key"),
    [
        (role("tts", gpu=False, guest="infra"), None, ""),
        (role("tts", gpu=False, guest="infra", pin="pve44"), None, ""),
        (role("tts", cpu_fallback=True, guest="infra"), None, ""),
        (role("tts", guest="infra"), "it needs a GPU, and cards are in GPU VMs", "guest"),
        (
            role("tts", gpu=False, guest="infra", pin="pve46"),
            "is pinned to pve46, and the guest runs on pve44",
            "pin",
        ),
        (role("tts", gpu=False, guest="kiosk"), "its node pve61 takes no CPU roles", "guest"),
    ],
)
def test_the_guest_of_a_role(subject: Role, problem: str | None, key: str) -> None:
    declared = platform(lxc("infra"), lxc("kiosk", "pve61", 102))
    nodes = proxmox("pve44"), proxmox("pve61", cpu_roles=False)
    engines = catalog(engine("vllm", gpu="optional"))
    fleet = cluster(*nodes, roles=roles(subject), platform=declared, catalog=engines)
    found = of_guests(guests.role_guests, fleet)
    message = f"role tts names the guest {subject.guest}, but {problem}"
    assert said(found) == ([("guest-conflict", message)] if problem else [])
    assert [route(one)[1] for one in found] == ([("roles", "tts", key)] if problem else [])


def test_a_role_that_contradicts_itself_and_a_guest_on_no_proxmox_node_are_told_once() -> None:
    """``needs.gpu: false`` left out for an engine without GPUs; a guest moved to a workstation."""
    slots = (slot("tts"),), (slot("hq", fallback=("tts",)),)
    speech = {"kinds": ("tts",), "engine": "piper"}
    declared = roles(
        role("tts", guest="infra", required=True, slots=slots[0], **speech),
        role("hq", slots=slots[1], kinds=("tts",)),
    )
    engines = catalog(engine("piper", gpu="none"), engine())
    fleet = cluster(proxmox("pve44"), roles=declared, platform=platform(lxc("infra")), catalog=engines)
    assert [one.code for rule in CHECKS for one in rule(fleet)] == ["role-conflict"]
    away = platform(lxc("infra", "PC5"))
    aside = roles(role("tts", guest="infra", gpu=False, **speech))
    moved = cluster(node("PC5", cpu_roles=False), roles=aside, platform=away, catalog=engines)
    assert [one.code for rule in CHECKS for one in rule(moved)] == ["guest-conflict"]


@pytest.mark.parametrize(
    ("name", "overrides", "expected", "hint"),
    [
        ("pve44", {}, None, ""),
        ("pve-ada", {"pve-ada": VmOverride(vmid=290, address="192.168.100.230")}, None, ""),
        (
            "pve-ada",
            {},
            "the GPU VM gpu-pve-ada has no VM id and address: the name of node pve-ada gives no usable number",
            "vmid and address",
        ),
        (
            "pve-ada",
            {"pve-ada": VmOverride(vmid=290)},
            "the GPU VM gpu-pve-ada has no address: the name of node pve-ada gives no usable number",
            "address",
        ),
        (
            "pve999999999",
            {"pve999999999": VmOverride(address="192.168.100.230")},
            "guest gpu-pve999999999 has the VM id 1000000199; Proxmox takes 100 to 999999999",
            "vmid",
        ),
    ],
)
def test_identity_of_gpu_vms(name: str, overrides: Mapping[str, VmOverride], expected: str | None, hint: str) -> None:
    fleet = cluster(proxmox(name, p2000()), platform=platform(gpu_vm=gpu_vm(overrides=overrides)))
    found = of_guests(guests.identities, fleet)
    assert said(found) == ([("guest-identity", expected)] if expected else [])
    assert [one.hint for one in found] == (
        [f"set {hint} under gpu_vm.overrides.{name} in catalog/platform.yaml"] if expected else []
    )


def test_an_address_beyond_the_last_one_is_no_address() -> None:
    template = gpu_vm(address_base="255.255.255.250")
    fleet = cluster(proxmox("pve44", p2000()), platform=platform(gpu_vm=template))
    message = "the GPU VM gpu-pve44 has no address: the name of node pve44 gives no usable number"
    assert said(of_guests(guests.identities, fleet)) == [("guest-identity", message)]


def test_guests_and_reserve_fill_a_node_exactly() -> None:
    """12 (GPU VM) + 16 + 4 (host) are the 32 GB of the node; half a GB more is too much."""
    fits = platform(lxc(memory_gb=16), host_reserve_gb=4)
    assert of_guests(hardware.memory_budgets, cluster(proxmox("pve44", p2000()), platform=fits)) == []
    over = platform(lxc(memory_gb=16.5), host_reserve_gb=4)
    found = only(of_guests(hardware.memory_budgets, cluster(proxmox("pve44", p2000()), platform=over)))
    assert (found.code, found.message) == (
        "memory-budget",
        "pve44 has 32 GB, its guests need 32.5: gpu-pve44 12, infra 16.5, host 4",
    )
    assert route(found) == ("inventory/pve44.yaml", ("memory_gb",), "value")
    assert [one.place.route for one in found.related] == [("gpu_vm", "memory_gb"), ("guests", "infra", "memory_gb")]


def test_no_budget_without_memory_or_outside_proxmox() -> None:
    declared = platform(lxc(memory_gb=500), lxc("ops", "PC5", 100, memory_gb=500))
    fleet = cluster(proxmox("pve44", memory_gb=None), node("PC5"), platform=declared)
    assert of_guests(hardware.memory_budgets, fleet) == []


def test_a_vm_has_no_more_cores_than_its_node_has_threads() -> None:
    small = proxmox("pve44", p2000(), cpu=Cpu("i3", 2, 4))
    message = "GPU VM gpu-pve44 has 6 cores, but pve44 has 4 threads"
    found = only(of_guests(hardware.processor_budgets, cluster(small, platform=platform())))
    assert (found.code, found.message, found.hint) == ("impossible-hardware", message, "at most 4")
    assert route(found) == (PLATFORM_FILE, ("gpu_vm", "cores"), "value")
    assert of_guests(hardware.processor_budgets, cluster(proxmox("pve44", p2000()), platform=platform())) == []


@pytest.mark.parametrize(
    ("card", "missing", "key"),
    [
        (p2000(), None, ""),
        (p2000(pci=None), "pci (address, id, subsystem_id, iommu_group)", "index"),
        (p2000(pci=pci(id=None)), "pci.id", "pci"),
        (
            p2000(pci=pci(subsystem_id=None, iommu_group=None), disabled=True),
            "pci.subsystem_id, pci.iommu_group",
            "pci",
        ),
        (p2000(pci=pci(iommu_group=0)), None, ""),
    ],
)
def test_passthrough_needs_pci_facts(card: object, missing: str | None, key: str) -> None:
    fleet = cluster(proxmox("pve44", card), platform=platform())  # type: ignore[arg-type]
    found = of_guests(hardware.passthrough_facts, fleet)
    message = f"card pve44/0 is handed to the VM gpu-pve44, but lacks {missing}"
    assert said(found) == ([("passthrough-facts", message)] if missing else [])
    assert [route(one) for one in found] == ([("inventory/pve44.yaml", ("gpus", 0, key), "key")] if missing else [])


def test_cards_outside_proxmox_need_no_pci_facts() -> None:
    assert of_guests(hardware.passthrough_facts, cluster(node("PC5", gpu()), platform=platform())) == []


@pytest.mark.parametrize(("number", "expected"), [(16, []), (17, ["a VM takes 16 cards, and pve44 has 17"])])
def test_a_vm_takes_sixteen_cards(number: int, expected: list[str]) -> None:
    cards = [p2000(at, at + 1) for at in range(number)]
    found = of_guests(hardware.passthrough_facts, cluster(proxmox("pve44", *cards), platform=platform()))
    assert said(found) == [("passthrough-facts", message) for message in expected]
