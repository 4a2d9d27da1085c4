"""Whole machines: Proxmox hosts, containers, ARM, Windows, cards of AMD and Intel, and what is missing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knaster.inventory.assemble import partial, profile
from knaster.inventory.capture import Capture, Section
from knaster.schema import check
from tests.captured import capture
from tests.stubs import linux


def facts(sections: Capture, name: str | None = None) -> dict[str, Any]:
    reading = profile(sections, name=name)
    assert reading.value is not None, reading.problem
    assert check("node", "", reading.value) == ()
    return reading.value


def test_a_plain_machine_in_the_order_of_the_schema() -> None:
    assert list(facts(linux()).items()) == [
        ("name", "box1"),
        ("cpu", {"model": "Intel(R) Xeon(R) CPU E5-1650 v3 @ 3.50GHz", "cores": 6, "threads": 12}),
        ("memory_gb", 63),
        ("disks", [{"name": "nvme0n1", "size_gb": 512, "rotational": False}]),
        ("gpus", []),
        ("os", "linux"),
        ("platform", "bare"),
        ("address", "10.0.0.7"),
        ("source", "collected"),
        ("warnings", []),
    ]


STATUS = '{"memory":{"total":33567154176},"cpuinfo":{"model":"Intel(R) Xeon(R) E5","cores":6,"cpus":12,"sockets":1}}'


def test_a_proxmox_host_with_a_card_for_a_guest() -> None:
    sections = linux(
        lspci=capture("lspci/proxmox-vfio-3090.txt"), pve_status=STATUS, pve_pci=capture("pve/pci-vfio.json")
    )
    found = facts(sections, "pve44")
    (card,) = found["gpus"]
    assert found["platform"] == "proxmox"
    assert (card["index"], card["name"], card["memory_gb"], card["compute_cap"]) == (0, "GeForce RTX 3090", 24, 8.6)
    assert card["bound_driver"] == "vfio-pci"
    assert card["pci"] == {
        "address": "0000:01:00.0",
        "id": "10de:2204",
        "subsystem_id": "10de:1454",
        "iommu_group": 14,
    }


def test_a_proxmox_host_through_its_api_alone() -> None:
    disks = '[{"devpath":"/dev/nvme0n1","size":512110190592,"type":"nvme"}]'
    sections = {
        "hostname": Section("pve44\n"),
        "pve-status": Section(STATUS),
        "pve-pci": Section(capture("pve/pci-no-iommu.json")),
        "pve-disks": Section(disks),
    }
    found = facts(sections)
    (card,) = found["gpus"]
    assert (found["name"], found["platform"], found["memory_gb"]) == ("pve44", "proxmox", 31)
    assert found["cpu"] == {"model": "Intel(R) Xeon(R) E5", "cores": 6, "threads": 12}
    assert found["disks"] == [{"name": "nvme0n1", "size_gb": 512, "rotational": False}]
    assert (card["name"], card["memory_gb"], card["pci"]["iommu_group"]) == ("Quadro P2000", 5, None)
    assert found["address"] is None


def test_pvesh_without_permission_is_still_a_proxmox_host() -> None:
    assert facts(linux(pve_status=Section("", 13), pve_pci=Section("", 13)))["platform"] == "proxmox"


def test_a_virtual_function_is_no_card() -> None:
    cards = facts(linux(pve_pci=capture("pve/pci-sriov.json")))["gpus"]
    assert [card["pci"]["address"] for card in cards] == ["0000:b1:00.0"]


def test_a_virtual_function_to_one_source_is_one_to_all() -> None:
    slots = "".join(
        f"Slot:\t0000:b1:00.{function}\nClass:\t3D controller [0302]\nVendor:\tNVIDIA [10de]\nDevice:\tL40S [26b9]\n\n"
        for function in (0, 4)
    )
    cards = facts(linux(pve_pci=capture("pve/pci-sriov.json"), lspci=slots))["gpus"]
    assert [card["pci"]["address"] for card in cards] == ["0000:b1:00.0"]


LSCPU_OF_HOST = capture("lscpu/v2.34-dual-xeon.txt")


def test_a_container_believes_the_kernels_file() -> None:
    assert facts(linux(lscpu=LSCPU_OF_HOST))["cpu"]["threads"] == 56
    found = facts(linux(lscpu=LSCPU_OF_HOST, container="lxc\n"))
    assert (found["cpu"]["cores"], found["cpu"]["threads"]) == (6, 12)
    assert found["warnings"] == ["read inside a container (lxc): disks and PCI devices are those of its host"]


def test_a_container_has_the_cards_that_its_nvidia_smi_shows() -> None:
    bus = "".join(
        f"Slot:\t0000:0{slot}:00.0\nClass:\tVGA [0300]\nVendor:\tNVIDIA [10de]\n"
        "Device:\tAD102 [2684]\nDriver:\tnvidia\n\n"
        for slot in (1, 2, 3)
    )
    row, known = "0, NVIDIA GeForce RTX 4090, 24564, 8.9, 570.133.07\n", "0, [N/A], 00000000:02:00.0\n"
    sections = linux(nvidia_smi=row, nvidia_smi_identity=known, lspci=bus)
    assert len(facts(sections)["gpus"]) == 3
    inside = sections | {"container": Section("docker\n")}
    assert [card["pci"]["address"] for card in facts(inside)["gpus"]] == ["0000:02:00.0"]
    assert facts(inside | {"nvidia-smi": Section("No devices were found\n", 6)})["gpus"] == []
    assert len(facts(inside | {"nvidia-smi": Section("", 127)})["gpus"]) == 3


@pytest.mark.parametrize(
    ("container", "limit", "memory", "words"),
    [
        ("docker\n", "17179869184\n", 16, "may use 16 of the 126 GiB"),
        ("docker\n", "max\n", 126, None),
        ("docker\n", "9223372036854771712\n", 126, None),
        ("docker\n", Section("", 1), 126, "sees the memory of its host"),
        ("lxc\n", Section("", 1), 126, None),
        ("wsl\n", Section("", 1), 126, None),
        (Section("", 1), "17179869184\n", 126, None),
    ],
)
def test_memory_of_a_container(container: str | Section, limit: str | Section, memory: int, words: str | None) -> None:
    meminfo = capture("meminfo/docker-host-view.txt")
    found = facts(linux(container=container, memory_limit=limit, meminfo=meminfo))
    assert found["memory_gb"] == memory
    said = [one for one in found["warnings"] if one.startswith("memory_gb:")]
    assert [bool(words) and str(words) in one for one in said] == ([True] if words else [])


def test_arm_without_topology_and_model() -> None:
    found = facts(linux(cpuinfo=capture("cpuinfo/arm-neoverse-vm.txt")))
    assert found["cpu"] == {"model": None, "cores": 2, "threads": 2}
    assert any("no topology" in said for said in found["warnings"])
    assert any("0xd0c" in said for said in found["warnings"])


def test_each_part_of_a_processor_from_whoever_knows_it() -> None:
    mixed = linux(lscpu=capture("lscpu/dash-model.txt"))
    assert facts(mixed)["cpu"] == {"model": "Intel(R) Xeon(R) CPU E5-1650 v3 @ 3.50GHz", "cores": 4, "threads": 4}
    assert facts(mixed)["warnings"] == []
    german = linux(lscpu=capture("lscpu/german.txt"))
    assert (facts(german)["cpu"]["cores"], facts(german)["warnings"]) == (6, [])


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("192.0.2.1 via 10.0.0.1 dev eth0 src 10.0.0.7 uid 0\n    cache\n", "10.0.0.7"),
        ("2: eth0    inet 192.168.1.5/24 brd 192.168.1.255 scope global eth0\n", "192.168.1.5"),
        ("127.0.1.1 fe80::1 10.1.2.3 172.17.0.1\n", "10.1.2.3"),
        ("::ffff:10.0.0.1\n", None),
        ("999.1.1.1 1.2.3.4.5\n", None),
        ("169.254.1.1 0.0.0.0\n", None),
        ("", None),
    ],
)
def test_address(text: str, address: str | None) -> None:
    assert facts(linux(address=text))["address"] == address


@pytest.mark.parametrize(
    ("hostname", "given", "name"),
    [("pve44.lan\n", None, "pve44"), ("GODE-PC-05\n", None, "GODE-PC-05"), ("x\n", "pve44", "pve44")],
)
def test_names(hostname: str, given: str | None, name: str) -> None:
    assert facts(linux(hostname=hostname), given)["name"] == name


@pytest.mark.parametrize("name", ["../etc/passwd", "", ".", "a b", "-x", "a/b", "pve\n44", "ü"])
def test_what_is_no_name(name: str) -> None:
    problem = profile(linux(), name=name).problem
    assert problem is not None
    assert "name" in problem.message
    assert "name" in partial(linux(hostname=f"{name}/x\n")).missing


def test_a_capture_of_another_machine_is_noticed() -> None:
    assert any("called pve46" in said for said in profile(linux(hostname="pve46\n"), name="pve44").warnings)
    assert profile(linux(hostname="PVE44.lan\n"), name="pve44").warnings == ()


CIM = {
    "os": "windows\r\n",
    "hostname": "GODE-PC-05\n",
    "address": "192.168.100.105\n",
    "cim-processor": capture("windows/processor-dual.json"),
    "cim-computersystem": capture("windows/computersystem-string.json"),
    "disks": capture("windows/physicaldisk-names.json"),
    "video": json.dumps(
        [
            {
                "Name": "Intel(R) UHD Graphics 770",
                "PNPDeviceID": r"PCI\VEN_8086&DEV_4680&SUBSYS_0B351028&REV_0C\3&11583659&0&10",
                "DriverVersion": "31.0.101.4577",
            },
            {
                "Name": "NVIDIA RTX 4000 Ada Generation",
                "PNPDeviceID": r"PCI\VEN_10DE&DEV_27B2&SUBSYS_181B10DE&REV_A1\4&2&0",
                "DriverVersion": "32.0.15.8157",
                "LocationInformation": "@System32\\drivers\\pci.sys,#65536;PCI bus %1, device %2, function %3;(1,0,0)",
            },
        ]
    ),
}


def windows(**changes: Section) -> dict[str, Section]:
    sections = {name: Section(text) for name, text in CIM.items()}
    return sections | {name.replace("_", "-"): section for name, section in changes.items()}


def test_a_windows_workstation() -> None:
    row = Section("0, NVIDIA RTX 4000 Ada Generation, 20475, 8.9, 581.57\n")
    known = Section("0, GPU-7f9c2b1e-3d44-4c5a-9a1b-0c2d3e4f5a6b, 00000000:01:00.0\n")
    found = facts(windows(nvidia_smi=row, nvidia_smi_identity=known))
    (card,) = found["gpus"]
    assert (found["os"], found["platform"], found["address"]) == ("windows", "workstation", "192.168.100.105")
    assert found["cpu"] == {"model": "Intel(R) Xeon(R) Gold 6230 CPU @ 2.10GHz", "cores": 40, "threads": 80}
    assert found["memory_gb"] == 64
    assert [disk["rotational"] for disk in found["disks"]] == [False, True, None]
    assert (card["name"], card["memory_mib"], card["memory_gb"], card["driver"]) == (
        *("NVIDIA RTX 4000 Ada Generation", 20475, 20),
        "581.57",
    )
    assert card["pci"] == {
        "address": "0000:01:00.0",
        "id": "10de:27b2",
        "subsystem_id": "10de:181b",
        "iommu_group": None,
    }


def test_windows_without_nvidia_smi() -> None:
    found = facts(windows(nvidia_smi=Section("", 127)))
    (card,) = found["gpus"]
    assert (card["memory_gb"], card["compute_cap"], card["driver"]) == (20, 8.9, "581.57")


@pytest.mark.parametrize("video", ["[]", "", "null"])
def test_windows_that_lists_nothing_was_not_asked(video: str) -> None:
    found = partial(windows(nvidia_smi=Section("", 127), video=Section(video)))
    assert list(found.missing) == ["gpus"]
    basic = [
        {"Name": "Microsoft Basic Display Adapter", "PNPDeviceID": r"PCI\VEN_1414&DEV_5353\3", "DriverVersion": "10"}
    ]
    assert facts(windows(nvidia_smi=Section("", 127), video=Section(json.dumps(basic))))["gpus"] == []


def test_equal_cards_without_a_place_are_the_rows_of_nvidia_smi() -> None:
    card = {"Name": "NVIDIA RTX 4000 Ada Generation", "PNPDeviceID": r"PCI\VEN_10DE&DEV_27B2&SUBSYS_181B10DE&REV_A1\4"}
    two = Section(json.dumps([card | {"DriverVersion": "32.0.15.8157"}] * 2))
    rows = Section("".join(f"{index}, NVIDIA RTX 4000 Ada Generation, 20475, 8.9, 581.57\n" for index in (0, 1)))
    known = Section("0, [N/A], 00000000:01:00.0\n1, [N/A], 00000000:02:00.0\n")
    cards = facts(windows(nvidia_smi=rows, nvidia_smi_identity=known, video=two))["gpus"]
    assert [(card["pci"]["address"], card["pci"]["id"]) for card in cards] == [
        ("0000:01:00.0", "10de:27b2"),
        ("0000:02:00.0", "10de:27b2"),
    ]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_tool_without_addresses_makes_no_cards_beside_those_of_the_bus(count: int) -> None:
    slots = "".join(
        f"Slot:\t0000:0{slot}:00.0\nClass:\tVGA [0300]\nVendor:\tAMD [1002]\n"
        "Device:\tNavi 21 [Radeon PRO W6800] [73a3]\n\n"
        for slot in (3, 4)
    )
    one = {"Card Series": "Radeon PRO W6800", "VRAM Total Memory (B)": str(32 << 30)}
    tool = json.dumps({f"card{number}": one for number in range(count)})
    cards = facts(linux(rocm_smi=tool, lspci=slots))["gpus"]
    assert [card["pci"]["address"] for card in cards] == ["0000:03:00.0", "0000:04:00.0"]
    assert [card["index"] for card in cards] == [0, 1]


def test_cards_of_amd_and_a_card_inside_the_processor() -> None:
    cards = facts(linux(rocm_smi=capture("amd/rocm-smi-with-igpu.json")))["gpus"]
    assert [(card["index"], card["vendor"], card["memory_mib"], card["memory_gb"]) for card in cards] == [
        (0, "amd", 16368, 16),
        (1, "amd", 512, None),
    ]
    assert [card["memory_kind"] for card in cards] == ["dedicated", "unified"]
    assert [card["compute_cap"] for card in cards] == [None, None]


def test_graphics_inside_a_processor_that_its_tool_shows() -> None:
    slots = (
        "Slot:\t0000:03:00.0\nClass:\tVGA [0300]\nVendor:\tAMD [1002]\nDevice:\tNavi 21 [Radeon PRO W6800] [73a3]\n\n"
        "Slot:\t0000:0d:00.0\nClass:\tVGA [0300]\nVendor:\tAMD [1002]\nDevice:\tRaphael [164e]\n"
    )
    cards = facts(linux(rocm_smi=capture("amd/rocm-smi-with-igpu.json"), lspci=slots))["gpus"]
    assert [(card["pci"]["id"], card["memory_kind"]) for card in cards] == [
        ("1002:73a3", "dedicated"),
        ("1002:164e", "unified"),
    ]
    (card,) = facts(linux(lspci=slots))["gpus"]
    assert card["pci"]["id"] == "1002:73a3"


def test_nvidias_numbers_come_first() -> None:
    row = "0, NVIDIA GeForce RTX 4090, 24564, 8.9, 570.133.07\n"
    cards = facts(linux(nvidia_smi=row, rocm_smi=capture("amd/rocm-smi.json")))["gpus"]
    assert [(card["index"], card["vendor"]) for card in cards] == [(0, "nvidia"), (1, "amd")]
    found = facts(linux(nvidia_smi=row, xpu_smi=capture("intel/xpu-smi-na.json")))
    assert found["gpus"][1]["memory_gb"] is None
    assert any(said.startswith("gpus[1].memory_mib: xpu-smi printed N/A") for said in found["warnings"])


def test_memory_of_intel_that_nobody_tells() -> None:
    (card,) = facts(linux(xpu_smi=capture("intel/xpu-smi-na.json")))["gpus"]
    assert (card["vendor"], card["memory_gb"], card["compute_cap"]) == ("intel", None, None)


def amd_card(driver: str, vram: int) -> str:
    path = "/sys/bus/pci/devices/0000:03:00.0"
    return (
        f"{path}/vendor:0x1002\n{path}/device:0x744c\n{path}/class:0x030000\n"
        f"{path}/mem_info_vram_total:{vram}\n{path}/driver -> ../bus/pci/drivers/{driver}\n"
    )


@pytest.mark.parametrize(("mib", "kind", "gb"), [(24560, "dedicated", 24), (512, "unified", None)])
def test_amd_without_its_tools(mib: int, kind: str, gb: int | None) -> None:
    (card,) = facts(linux(sysfs_pci=amd_card("amdgpu", mib << 20)))["gpus"]
    assert (card["memory_kind"], card["memory_mib"], card["memory_gb"]) == (kind, mib, gb)


UHD = (
    "Slot:\t0000:00:02.0\nClass:\tVGA compatible controller [0300]\nVendor:\tIntel Corporation [8086]\n"
    "Device:\tCoffeeLake-S GT2 [UHD Graphics 630] [3e92]\nDriver:\t{driver}\n"
)


def test_graphics_inside_a_processor_is_no_card_unless_a_guest_gets_it() -> None:
    assert facts(linux(lspci=UHD.format(driver="i915")))["gpus"] == []
    (card,) = facts(linux(lspci=UHD.format(driver="vfio-pci")))["gpus"]
    assert (card["vendor"], card["bound_driver"]) == ("intel", "vfio-pci")


def test_all_that_is_missing_is_named() -> None:
    sections = linux(meminfo="", lsblk=Section("", 1), sysfs_pci=Section("", 1), cpuinfo=Section("", 127))
    problem = profile(sections).problem
    assert problem is not None
    assert problem.cause == "missing-fact"
    for fact in ("cpu (", "memory_gb (", "disks (", "gpus ("):
        assert fact in problem.message
    found = partial(sections)
    assert set(found.missing) == {"cpu", "memory_gb", "disks", "gpus"}
    assert (found.facts["gpus"], found.facts["name"]) == (None, "box1")


NAMES = st.sampled_from([*linux(), *CIM, "nvidia-smi-4", "nvidia-smi-gpu-0", "rocm-smi", "pve-pci", "memory-limit"])
TEXTS = st.text() | st.sampled_from(
    [*(section.text for section in linux().values()), *CIM.values(), "0, A, 1, 9.9, 1\n", "7, B, [N/A], N/A, 2\n"]
)


@settings(max_examples=200)
@given(
    st.dictionaries(NAMES, st.builds(Section, TEXTS, st.sampled_from([0, 0, 0, 1, 2, 15, 127, 255, -5])), max_size=8)
)
def test_no_capture_raises_and_every_profile_is_valid(changes: dict[str, Section]) -> None:
    for sections in (changes, linux() | changes):
        reading = profile(sections, name="box1")
        assert (reading.value is None) == (reading.problem is not None)
        if reading.value is not None:
            assert check("node", "", reading.value) == ()
