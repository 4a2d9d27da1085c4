"""Cards of NVIDIA in the profile: what the driver says, and the fallbacks where it says nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knaster.inventory.assemble import profile
from knaster.inventory.capture import Capture, Section
from tests.captured import capture
from tests.stubs import linux

M4000 = """\
Slot:	0000:02:00.0
Class:	VGA compatible controller [0300]
Vendor:	NVIDIA Corporation [10de]
Device:	GM204GL [Quadro M4000] [13f1]
SVendor:	NVIDIA Corporation [10de]
SDevice:	Device [1153]
Driver:	{m4000}
IOMMUGroup:	28

"""
P2000 = """\
Slot:	0000:03:00.0
Class:	VGA compatible controller [0300]
Vendor:	NVIDIA Corporation [10de]
Device:	GP106GL [Quadro P2000] [1c30]
SVendor:	NVIDIA Corporation [10de]
SDevice:	Device [11b3]
Driver:	{p2000}
IOMMUGroup:	29

"""
UUIDS = ["GPU-7f9c2b1e-3d44-4c5a-9a1b-0c2d3e4f5a6b", "GPU-11111111-2222-3333-4444-555555555555"]


def bus(m4000: str = "nvidia", p2000: str = "nvidia") -> str:
    return (M4000 + P2000).format(m4000=m4000, p2000=p2000)


def gpus(sections: Capture) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    reading = profile(sections)
    assert reading.value is not None, reading.problem
    found: Any = reading.value["gpus"]
    assert [card["index"] for card in found] == sorted(card["index"] for card in found)
    return found, reading.warnings


def short(card: dict[str, Any]) -> tuple[object, ...]:
    return (card["index"], card["name"], card["memory_mib"], card["memory_gb"], card["compute_cap"], card["driver"])


def test_a_plain_card_with_its_identity() -> None:
    rows = "0, Quadro M4000, 8192, 5.2, 580.95.05\n1, Quadro P2000, 5120, 6.1, 580.95.05\n"
    known = f"0, {UUIDS[0]}, 00000000:02:00.0\n1, {UUIDS[1]}, 00000000:03:00.0\n"
    found, warnings = gpus(linux(nvidia_smi=rows, nvidia_smi_identity=known, lspci=bus()))
    assert warnings == ()
    assert found == [
        {
            "index": 0,
            "name": "Quadro M4000",
            "memory_gb": 8,
            "compute_cap": 5.2,
            "driver": "580.95.05",
            "memory_mib": 8192,
            "vendor": "nvidia",
            "uuid": UUIDS[0],
            "pci": {"address": "0000:02:00.0", "id": "10de:13f1", "subsystem_id": "10de:1153", "iommu_group": 28},
            "bound_driver": "nvidia",
            "memory_kind": "dedicated",
        },
        {
            "index": 1,
            "name": "Quadro P2000",
            "memory_gb": 5,
            "compute_cap": 6.1,
            "driver": "580.95.05",
            "memory_mib": 5120,
            "vendor": "nvidia",
            "uuid": UUIDS[1],
            "pci": {"address": "0000:03:00.0", "id": "10de:1c30", "subsystem_id": "10de:11b3", "iommu_group": 29},
            "bound_driver": "nvidia",
            "memory_kind": "dedicated",
        },
    ]


def test_the_identity_query_decides_not_the_order() -> None:
    rows = "0, Quadro P2000, 5120, 6.1, 580.95.05\n1, Quadro M4000, 8192, 5.2, 580.95.05\n"
    known = f"0, {UUIDS[0]}, 00000000:03:00.0\n1, {UUIDS[1]}, 00000000:02:00.0\n"
    found, _ = gpus(linux(nvidia_smi=rows, nvidia_smi_identity=known, lspci=bus()))
    assert [(card["name"], card["pci"]["id"], card["uuid"]) for card in found] == [
        ("Quadro P2000", "10de:1c30", UUIDS[0]),
        ("Quadro M4000", "10de:13f1", UUIDS[1]),
    ]


def test_without_an_identity_by_order_and_with_a_warning() -> None:
    rows = "0, Quadro M4000, 8192, 5.2, 580.95.05\n1, Quadro P2000, 5120, 6.1, 580.95.05\n"
    listed = f"GPU 0: Quadro M4000 (UUID: {UUIDS[0]})\nGPU 1: Quadro P2000 (UUID: {UUIDS[1]})\n"
    found, warnings = gpus(linux(nvidia_smi=rows, nvidia_smi_list=listed, lspci=bus()))
    assert [(card["pci"]["address"], card["uuid"]) for card in found] == [
        ("0000:02:00.0", UUIDS[0]),
        ("0000:03:00.0", UUIDS[1]),
    ]
    assert warnings == ("gpus[0], gpus[1]: nvidia-smi gives no PCI address; the cards were matched by their order",)


def test_a_card_for_a_guest_is_no_candidate() -> None:
    found, warnings = gpus(linux(nvidia_smi="0, Quadro P2000, 5120, 6.1, 580.95.05\n", lspci=bus(m4000="vfio-pci")))
    assert [(card["name"], card["pci"]["id"]) for card in found] == [
        ("Quadro P2000", "10de:1c30"),
        ("Quadro M4000", "10de:13f1"),
    ]
    assert warnings == ()


def test_where_counts_differ_the_bus_counts() -> None:
    found, warnings = gpus(linux(nvidia_smi="0, Quadro P2000, 5120, 6.1, 580.95.05\n", lspci=bus()))
    assert [short(card) for card in found] == [
        (0, "Quadro M4000", None, 8, 5.2, None),
        (1, "Quadro P2000", None, 5, 6.1, None),
    ]
    assert [card["pci"]["address"] for card in found] == ["0000:02:00.0", "0000:03:00.0"]
    assert warnings == (TOLD.format(rows=1, cards=2),)


TOLD = (
    "gpus: nvidia-smi does not say where the cards are that it shows ({rows}; the PCI bus: {cards}): "
    "which is which cannot be told, so their facts are the PCI table's"
)
THREE = "".join(P2000.format(p2000="nvidia").replace("0000:03", f"0000:0{slot}") for slot in (1, 2, 3))
PLACES = ["0000:01:00.0", "0000:02:00.0", "0000:03:00.0"]
P2000_ROW = "{}, Quadro P2000, 5120, 6.1, 580.95.05\n"


def lost(*rows: str, **more: str | Section) -> Capture:
    """A machine with three equal cards, one of them lost, whose nvidia-smi does not tell which."""
    each = {f"nvidia_smi_gpu_{row.partition(',')[0]}": row for row in rows}
    failed = Section("Unable to determine the device handle for GPU: Unknown Error\n", 255)
    sections: dict[str, str | Section] = {
        "nvidia_smi": Section("Unable to determine the device handle for GPU0000:03:00.0: GPU is lost.\n", 15),
        "nvidia_smi_identity": failed,
        "lspci": THREE,
        **each,
        **more,
    }
    return linux(**sections)


@pytest.mark.parametrize("name", ["lost", "gap"])
def test_never_more_cards_than_the_bus_shows(name: str) -> None:
    gap = linux(nvidia_smi=P2000_ROW.format(0) + P2000_ROW.format(2), lspci=THREE)
    found, warnings = gpus(gap if name == "gap" else lost(P2000_ROW.format(0), P2000_ROW.format(1)))
    assert [card["pci"]["address"] for card in found] == PLACES
    assert [short(card) for card in found] == [(index, "Quadro P2000", None, 5, 6.1, None) for index in range(3)]
    assert [card["uuid"] for card in found] == [None, None, None]
    assert warnings[-1] == TOLD.format(rows=2, cards=3)
    assert [said for said in warnings if said.startswith("gpus[")] == []
    assert not any("does not show 0000" in said for said in warnings)


def test_rows_that_can_be_told_stay_beside_those_that_cannot() -> None:
    known = f"2, {UUIDS[0]}, 00000000:03:00.0\n"
    four = THREE + P2000.format(p2000="nvidia").replace("0000:03", "0000:04")
    rows = "".join(P2000_ROW.format(row) for row in (1, 2))
    found, warnings = gpus(linux(nvidia_smi=rows, nvidia_smi_identity=known, lspci=four))
    assert [(card["index"], card["pci"]["address"], card["uuid"], card["driver"]) for card in found] == [
        (0, "0000:01:00.0", None, None),
        (1, "0000:02:00.0", None, None),
        (2, "0000:03:00.0", UUIDS[0], "580.95.05"),
        (3, "0000:04:00.0", None, None),
    ]
    assert warnings == (TOLD.format(rows=1, cards=3),)


def test_the_table_is_not_believed_where_the_driver_tells_of_other_memory() -> None:
    row = "0, Quadro P2000, 10240, 6.1, 580.95.05\n"  # twice what the table says, of one of three
    found, warnings = gpus(lost(row))
    assert [(card["memory_gb"], card["compute_cap"]) for card in found] == [(None, 6.1)] * 3
    for index in range(3):
        said = f"gpus[{index}].memory_gb: nvidia-smi tells of cards with other memory than the 5 GB here"
        assert said in warnings


SLOTS = st.integers(1, 6)


@settings(max_examples=150)
@given(
    st.sets(SLOTS, min_size=1),
    st.sets(st.integers(0, 6)),
    st.dictionaries(st.integers(0, 6), SLOTS),
    st.dictionaries(SLOTS, st.sampled_from(["vfio-pci", "nouveau"]), max_size=3),
)
def test_each_card_of_the_bus_is_one_card_whatever_the_driver_tells(
    slots: set[int], rows: set[int], known: dict[int, int], drivers: dict[int, str]
) -> None:
    devices = "".join(
        P2000.format(p2000=drivers.get(slot, "nvidia")).replace("0000:03", f"0000:0{slot}") for slot in sorted(slots)
    )
    smi = "".join(P2000_ROW.format(row) for row in sorted(rows)) if rows else Section("", 127)
    identity = "".join(f"{row}, [N/A], 00000000:0{slot}:00.0\n" for row, slot in sorted(known.items()))
    reading = profile(linux(nvidia_smi=smi, nvidia_smi_identity=identity, lspci=devices))
    if reading.value is None:
        assert reading.problem is not None
        assert "nvidia-smi shows cards that the PCI bus does not" in reading.problem.message
        return
    cards: Any = reading.value["gpus"]
    assert sorted(card["pci"]["address"] for card in cards) == [f"0000:0{slot}:00.0" for slot in sorted(slots)]
    assert len({card["index"] for card in cards}) == len(cards)


def test_a_container_counts_its_rows_even_where_nothing_tells_which_cards_they_are() -> None:
    found, warnings = gpus(linux(nvidia_smi=P2000_ROW.format(0), lspci=THREE, container="docker\n"))
    assert [(card["pci"], card["memory_mib"]) for card in found] == [(None, 5120)]
    assert "gpus[0]: nvidia-smi and the PCI bus do not tell which card this is" in warnings


@pytest.mark.parametrize(
    ("rows", "known", "drivers", "said"),
    [
        ((0, 1, 2), "", "nvidia", "more than the 2 that could be its own"),
        ((0,), "", "vfio-pci", "more than the 0 that could be its own"),
        ((0,), f"0, {UUIDS[0]}, 00000000:09:00.0\n", "nvidia", "at 0000:09:00.0"),
    ],
)
def test_a_bus_that_shows_less_than_the_driver_is_not_the_whole_bus(
    rows: tuple[int, ...], known: str, drivers: str, said: str
) -> None:
    text = "".join(P2000_ROW.format(row) for row in rows)
    reading = profile(linux(nvidia_smi=text, nvidia_smi_identity=known, lspci=bus(drivers, drivers)))
    assert reading.problem is not None
    assert f"gpus (nvidia-smi shows cards that the PCI bus does not: {said})" in reading.problem.message


@pytest.mark.parametrize(
    ("status", "text", "words"),
    [
        (9, "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. …\n\n", "communicate"),
        (12, "NVIDIA-SMI couldn't find libnvidia-ml.so library in your system.\n", "libnvidia-ml"),
        (127, "", "no such program"),
        (18, "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.163\n", "550.163"),
        (17, "Failed to initialize NVML: GPU access blocked by the operating system\n", "blocked"),
        (4, "No devices were found. Please make sure /dev/nvidia* files are readable by current user.", "readable"),
        (255, "Failed to initialize NVML: Unknown Error\n", "Unknown Error"),
        (6, "No devices were found\n", "0000:02:00.0, 0000:03:00.0"),
        (0, "", "no card, and no reason"),
        (0, "0, Quadro M4000, 8192, 5.2, 580.95.05\n1, Quadro", "line 2"),
        (124, "", "no answer in time"),
    ],
)
def test_no_driver_no_rows_but_the_bus_and_the_table(status: int, text: str, words: str) -> None:
    found, warnings = gpus(linux(nvidia_smi=Section(text, status), lspci=bus("nouveau", "nouveau")))
    assert [short(card) for card in found] == [
        (0, "Quadro M4000", None, 8, 5.2, None),
        (1, "Quadro P2000", None, 5, 6.1, None),
    ]
    assert [card["bound_driver"] for card in found] == ["nouveau", "nouveau"]
    assert len(warnings) == 1
    assert words in warnings[0]


def test_cards_for_guests_need_no_driver_on_the_host() -> None:
    sections = linux(lspci=bus("vfio-pci", "vfio-pci"), pve_status="{}", pve_pci="[]")
    found, warnings = gpus(sections)
    assert [(card["index"], card["memory_gb"], card["compute_cap"], card["bound_driver"]) for card in found] == [
        (0, 8, 5.2, "vfio-pci"),
        (1, 5, 6.1, "vfio-pci"),
    ]
    assert warnings == ()


def test_a_card_of_the_host_beside_one_of_a_guest() -> None:
    rows, known = "0, Quadro P2000, 5120, 6.1, 580.95.05\n", f"0, {UUIDS[0]}, 00000000:03:00.0\n"
    found, warnings = gpus(linux(nvidia_smi=rows, nvidia_smi_identity=known, lspci=bus(m4000="vfio-pci")))
    assert [short(card) for card in found] == [
        (0, "Quadro P2000", 5120, 5, 6.1, "580.95.05"),
        (1, "Quadro M4000", None, 8, 5.2, None),
    ]
    assert warnings == ()


def test_a_driver_without_compute_cap() -> None:
    sections = linux(
        nvidia_smi=Section('Field "compute_cap" is not a valid field to query.\n\n', 2),
        nvidia_smi_4="0, Quadro M4000, 8126, 450.248.02\n1, Quadro P2000, 5059, 450.248.02\n",
        nvidia_smi_identity=f"0, {UUIDS[0]}, 00000000:02:00.0\n1, {UUIDS[1]}, 00000000:03:00.0\n",
        lspci=bus(),
    )
    found, warnings = gpus(sections)
    assert [short(card) for card in found] == [
        (0, "Quadro M4000", 8126, 8, 5.2, "450.248.02"),
        (1, "Quadro P2000", 5059, 5, 6.1, "450.248.02"),
    ]
    assert warnings == ()


LOST = (
    "Unable to determine the device handle for GPU0000:02:00.0: GPU is lost.  "
    "Reboot the system to recover this GPU\n\n\n"
)


def test_one_lost_card() -> None:
    sections = linux(
        nvidia_smi=Section(LOST, 15),
        nvidia_smi_list=Section(f"{LOST.strip()}\nGPU 1: Quadro P2000 (UUID: {UUIDS[1]})\n", 15),
        nvidia_smi_gpu_1="1, Quadro P2000, 5120, 6.1, 580.95.05\n",
        nvidia_smi_identity=f"1, {UUIDS[1]}, 00000000:03:00.0\n",
        lspci=bus(),
    )
    found, warnings = gpus(sections)
    assert [short(card) for card in found] == [
        (0, "Quadro M4000", None, 8, 5.2, None),
        (1, "Quadro P2000", 5120, 5, 6.1, "580.95.05"),
    ]
    assert any("GPU is lost" in said for said in warnings)
    assert any("0000:02:00.0" in said for said in warnings)


def test_a_lost_card_of_an_old_driver() -> None:
    sections = linux(
        nvidia_smi=Section('Field "compute_cap" is not a valid field to query.\n\n', 2),
        nvidia_smi_4=Section(LOST, 15),
        nvidia_smi_gpu_1="1, Quadro P2000, 5059, 450.248.02\n",
        nvidia_smi_gpu_4=Section("oops\n", 15),
        nvidia_smi_identity=f"1, {UUIDS[1]}, 00000000:03:00.0\n",
        lspci=bus(),
    )
    found, warnings = gpus(sections)
    assert [short(card) for card in found] == [
        (0, "Quadro M4000", None, 8, 5.2, None),
        (1, "Quadro P2000", 5059, 5, 6.1, "450.248.02"),
    ]
    assert any(said.startswith("gpus[4]: ") for said in warnings)


def test_a_reported_number_beats_the_table() -> None:
    slot = "Slot:\t0000:01:00.0\nClass:\tVGA [0300]\nVendor:\tNVIDIA Corporation [10de]\nDevice:\tTU102 [1e07]\n"
    found, warnings = gpus(linux(nvidia_smi=capture("nvidia-smi/modded-2080ti-22g.csv"), lspci=slot))
    assert [short(card) for card in found] == [(0, "NVIDIA GeForce RTX 2080 Ti", 22528, 22, 7.5, "550.163.01")]
    assert warnings == ()


def test_a_token_is_not_covered_up_by_the_table() -> None:
    found, warnings = gpus(linux(nvidia_smi=capture("nvidia-smi/mig-container-permission.csv")))
    assert (found[0]["memory_gb"], found[0]["memory_mib"]) == (None, None)
    assert any("Insufficient Permissions" in said for said in warnings)


def test_nor_is_a_token_of_a_card_that_the_table_knows() -> None:
    found, _ = gpus(linux(nvidia_smi="0, Quadro P2000, [N/A], 6.1, 580.95.05\n", lspci=P2000.format(p2000="nvidia")))
    assert (found[0]["pci"]["id"], found[0]["memory_gb"]) == ("10de:1c30", None)


def test_each_uuid_from_whoever_knows_it() -> None:
    rows = "0, Quadro M4000, 8192, 5.2, 580.95.05\n1, Quadro P2000, 5120, 6.1, 580.95.05\n"
    listed = f"GPU 0: Quadro M4000 (UUID: {UUIDS[0]})\nGPU 1: Quadro P2000 (UUID: {UUIDS[1]})\n"
    known = f"1, {UUIDS[1]}, 00000000:03:00.0\n"
    found, _ = gpus(linux(nvidia_smi=rows, nvidia_smi_list=listed, nvidia_smi_identity=known, lspci=bus()))
    assert [card["uuid"] for card in found] == UUIDS
    assert [card["pci"]["address"] for card in found] == ["0000:02:00.0", "0000:03:00.0"]


GB10 = "Slot:\t000f:01:00.0\nClass:\t3D [0302]\nVendor:\tNVIDIA Corporation [10de]\nDevice:\tDevice [2e12]\n"


@pytest.mark.parametrize(
    ("row", "slot", "mib"),
    [
        ("0, NVIDIA GB10, [N/A], 12.1, 580.126.09\n", GB10, None),
        ("0, NVIDIA GB10, 124610, 12.1, 580.173.02\n", GB10, 124610),
        ("0, NVIDIA GB10, [N/A], 12.1, 580.126.09\n", Section("", 127), None),
        (Section("", 127), GB10, None),
        ("0, [N/A], 124610, 12.1, 580.173.02\n", GB10, 124610),
    ],
)
def test_memory_that_is_the_machines_own(row: str | Section, slot: str | Section, mib: int | None) -> None:
    found, _ = gpus(linux(nvidia_smi=row, lspci=slot, meminfo="MemTotal: 127600748 kB\n"))
    (card,) = found
    assert (card["memory_kind"], card["memory_gb"], card["memory_mib"]) == ("unified", None, mib)
    assert card["compute_cap"] == 12.1


def test_a_guest_with_a_profile_for_a_name() -> None:
    slot = GB10.replace("2e12", "2321")
    found, warnings = gpus(linux(nvidia_smi="0, NVIDIA H100L-2-24C, 24576, [N/A], 570.158.01\n", lspci=slot))
    assert short(found[0]) == (0, "NVIDIA H100L-2-24C", 24576, 24, 9.0, "570.158.01")
    assert warnings == ()


def test_an_id_that_no_table_has() -> None:
    found, warnings = gpus(linux(lspci=Section(capture("lspci/unknown-id.txt"))))
    (card,) = found
    assert (card["name"], card["memory_gb"], card["compute_cap"]) == ("NVIDIA Device 3fff", None, None)
    for field in ("memory_gb", "compute_cap"):
        assert any(said.startswith(f"gpus[0].{field}: 10de:3fff") for said in warnings)


def test_an_id_that_is_two_products() -> None:
    found, warnings = gpus(linux(lspci=Section(capture("lspci/same-id-two-memories.txt"))))
    assert (found[0]["memory_gb"], found[0]["compute_cap"]) == (None, 12.0)
    assert any("48 or 72 GB" in said for said in warnings)


@pytest.mark.parametrize(
    ("name", "count"), [("eight-h100-nvswitch.txt", 8), ("cpu-node-bmc-only.txt", 0), ("amd-mi300x.txt", 4)]
)
def test_only_cards_are_counted(name: str, count: int) -> None:
    found, _ = gpus(linux(lspci=Section(capture(f"lspci/{name}"))))
    assert [card["index"] for card in found] == list(range(count))
    assert all(card["memory_gb"] in (80, 192) for card in found)


def test_sixteen_in_numeric_order() -> None:
    found, _ = gpus(linux(nvidia_smi=capture("nvidia-smi/sixteen-v100.csv")))
    assert [card["index"] for card in found] == list(range(16))


def test_no_cards_only_where_the_bus_says_so() -> None:
    no_devices = Section("No devices were found\n", 6)
    assert gpus(linux(nvidia_smi=no_devices))[0] == []
    blind = linux(nvidia_smi=no_devices, sysfs_pci=Section("", 1))
    problem = profile(blind).problem
    assert problem is not None
    assert problem.cause == "missing-fact"
    assert problem.message.startswith("required fact missing: gpus (")
    assert profile(linux(sysfs_pci=Section("", 1))).problem is not None


@pytest.mark.parametrize("lspci", ["", "\n\n", Section("", 127)])
@pytest.mark.parametrize("smi", [Section("", 127), Section("No devices were found\n", 6)])
def test_a_bus_without_any_device_is_no_proof(lspci: str | Section, smi: Section) -> None:
    problem = profile(linux(nvidia_smi=smi, lspci=lspci, sysfs_pci="", pve_pci="[]")).problem
    assert problem is not None
    assert "shows no device at all, which is no proof" in problem.message
    known = capture("lspci/cpu-node-bmc-only.txt")
    assert gpus(linux(nvidia_smi=smi, lspci=known, sysfs_pci=""))[0] == []


@pytest.mark.parametrize(
    ("status", "text", "known"),
    [
        (9, "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n", True),
        (12, "NVIDIA-SMI couldn't find libnvidia-ml.so library in your system.\n", True),
        (127, "", True),
        (6, "No devices were found\n", True),
        (18, "Failed to initialize NVML: Driver/library version mismatch\n", False),
        (17, "Failed to initialize NVML: GPU access blocked by the operating system\n", False),
        (15, "Unable to determine the device handle for GPU0000:41:00.0: GPU is lost.\n", False),
        (255, "Failed to initialize NVML: Unknown Error\n", False),
        (4, "No devices were found. Please make sure /dev/nvidia* files are readable by current user.", False),
        (0, "0, A, 24576, 8.6, 550\n1, B\n", False),
        (0, "", False),
        (124, "", False),
        (139, "+-----+\n", False),
    ],
)
def test_an_empty_bus_is_believed_only_where_nvidia_smi_has_no_business(status: int, text: str, known: bool) -> None:
    reading = profile(linux(nvidia_smi=Section(text, status)))
    if known:
        assert (reading.value or {}).get("gpus") == []
    else:
        assert reading.problem is not None
        assert reading.problem.cause == "missing-fact"
        assert "gpus (nvidia-smi" in reading.problem.message


def test_rows_count_even_where_the_bus_is_hidden() -> None:
    found, warnings = gpus(linux(nvidia_smi=capture("nvidia-smi/single-4090.csv"), sysfs_pci=Section("", 1)))
    assert short(found[0]) == (0, "NVIDIA GeForce RTX 4090", 24564, 24, 8.9, "570.133.07")
    assert found[0]["pci"] is None
    assert any(said.startswith("gpus: the PCI bus was not read") for said in warnings)


def test_gaps_stay_and_the_silent_card_gets_its_number_back() -> None:
    rows = "0, Quadro M4000, 8192, 5.2, 580.95.05\n2, Quadro P2000, 5120, 6.1, 580.95.05\n"
    known = f"0, {UUIDS[0]}, 00000000:02:00.0\n2, {UUIDS[1]}, 00000000:04:00.0\n"
    three = bus() + P2000.format(p2000="nvidia").replace("0000:03", "0000:04")
    found, _ = gpus(linux(nvidia_smi=rows, nvidia_smi_identity=known, lspci=three))
    assert [(card["index"], card["pci"]["address"], card["driver"]) for card in found] == [
        (0, "0000:02:00.0", "580.95.05"),
        (1, "0000:03:00.0", None),
        (2, "0000:04:00.0", "580.95.05"),
    ]


def test_the_gap_is_for_the_card_that_the_driver_holds() -> None:
    rows = "0, Quadro P2000, 5120, 6.1, 580.95.05\n2, Quadro P2000, 5120, 6.1, 580.95.05\n"
    known = f"0, {UUIDS[0]}, 00000000:03:00.0\n2, {UUIDS[1]}, 00000000:05:00.0\n"
    slots = [("0000:03", "nvidia"), ("0000:04", "nvidia"), ("0000:05", "nvidia")]
    devices = "".join(P2000.format(p2000=driver).replace("0000:03", slot) for slot, driver in slots)
    found, _ = gpus(linux(nvidia_smi=rows, nvidia_smi_identity=known, lspci=M4000.format(m4000="vfio-pci") + devices))
    assert [(card["index"], card["pci"]["address"]) for card in found] == [
        (0, "0000:03:00.0"),
        (1, "0000:04:00.0"),
        (2, "0000:05:00.0"),
        (3, "0000:02:00.0"),
    ]
