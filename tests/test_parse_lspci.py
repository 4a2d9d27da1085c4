"""lspci: the right devices of each capture, and no text that raises."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knaster.cards.table import Known, describe
from knaster.inventory.parsers.lspci import PciDevice, gpus, parse
from tests.captured import assert_sound, capture, captures, mutated

Card = tuple[str, str, str, int | None, float | None, str | None, int | None]
"""address, id, name, nominal GB, compute capability, bound driver, IOMMU group"""

H100 = ("18", "2a", "3a", "5d", "9a", "ab", "ba", "db")

CAPTURES: dict[str, list[Card]] = {
    "proxmox-vfio-3090.txt": [("0000:01:00.0", "10de:2204", "GeForce RTX 3090", 24, 8.6, "vfio-pci", None)],
    "eight-h100-nvswitch.txt": [
        (f"0000:{bus}:00.0", "10de:2330", "H100 SXM5 80GB", 80, 9.0, None, None) for bus in H100
    ],
    "debian12-missing-space.txt": [("0000:41:00.0", "10de:2330", "H100 SXM5 80GB", 80, 9.0, None, None)],
    "unknown-id.txt": [("0000:05:00.0", "10de:3fff", "NVIDIA Device 3fff", None, None, "vfio-pci", None)],
    "vmm-blocks.txt": [("0000:01:00.0", "10de:1c30", "Quadro P2000", 5, 6.1, "vfio-pci", 15)],
    "no-domain.txt": [("0000:01:00.0", "10de:13f1", "Quadro M4000", 8, 5.2, None, None)],
    "nouveau.txt": [("0000:65:00.0", "10de:27b2", "RTX 4000 Ada Generation", 20, 8.9, "nouveau", None)],
    "same-id-two-memories.txt": [("0000:21:00.0", "10de:2bb3", "RTX PRO 5000 Blackwell", None, 12.0, "vfio-pci", None)],
    "amd-mi300x.txt": [
        (f"0000:{bus}:00.0", "1002:74a1", "Instinct MI300X", 192, None, "amdgpu", None)
        for bus in ("05", "26", "46", "65")
    ],
    "cpu-node-bmc-only.txt": [],
}

WARNED = {
    "unknown-id.txt": ["10de:3fff: the table does not have this id", "10de:3fff: its chip is not known", "no name"],
    "same-id-two-memories.txt": ["48 or 72 GB"],
}

BARE = "0000:01:00.0 VGA compatible controller [0300]: NVIDIA Corporation Device [10de:24b0] (rev a1)"
VFIO = f"{BARE}\n\tKernel driver in use: vfio-pci\n"
BLOCK = (
    "Slot:\t0000:01:00.0\nClass:\tDisplay controller [0380]\nVendor:\tNVIDIA Corporation [10de]\n"
    "Device:\tDevice [24b0]\n"
)

ROWS = r"""
0000:01:00.0 "VGA compatible controller [0300]" "NVIDIA Corporation [10de]" "GA102 [GeForce RTX 3090] [2204]" -ra1 -p00 "Gigabyte \"G\" [1458]" "Device [403b]"
0000:01:00.1 "Audio device [0403]" "NVIDIA Corporation [10de]" "GA102 High Definition Audio Controller [1aef]" -ra1 "ASUSTeK Computer Inc. [1043]" "Device [87b3]"
0000:02:00.0 "ISA bridge [0601]" "Intel Corporation [8086]" "C610/X99 series chipset LPC Controller [8d44]" -r05 "" ""
0000:05:00.0 "Processing accelerators [1200]" "Advanced Micro Devices, Inc. [AMD/ATI] [1002]" "Device [74a1]" -p00 "Advanced Micro Devices, Inc. [AMD/ATI] [1002]" "Device [74a1]"
41:00.0 "3D controller [0302]" "NVIDIA Corporation [10de]" "GH100[H100 PCIe] [2331]" "" ""
"""  # noqa: E501
ROW = '0000:01:00.0 "Display controller [0380]" "NVIDIA Corporation [10de]" "Device [24b0]" "" ""\n'

MALFORMED = {
    f"{ROW}{ROW}": ("malformed", 2),
    f"{ROW}\n{ROW[:-4]}": ("malformed", 3),
    f"{ROW}0000:02:00.0 VGA compatible controller [0300]: NVIDIA Corporation Device [10de:24b0]\n": ("malformed", 2),
    ROW.replace("[24b0]", ""): ("malformed", 1),
    ROW.replace("0000:01:00.0", "here"): ("malformed", 1),
    ROW.replace('"Device', "Device"): ("malformed", 1),
    "": None,
    "lspci: Cannot open /proc/bus/pci\n": ("malformed", 1),
    "bash: line 1: lspci: command not found\n": ("tool-missing", 1),
    "01:00.0 VGA compatible controller: NVIDIA Corporation GA102 [GeForce RTX 3090] (rev a1)\n": ("malformed", 1),
    f"{VFIO}0000:02:00.0 VGA compatible controller [0300]: NVIDIA Corporation GA102 [GeForce R": ("malformed", 3),
    f"\tKernel driver in use: vfio-pci\n{VFIO}": ("malformed", 1),
    f"{VFIO}{VFIO}": ("malformed", 3),
    f"{BLOCK}\nSlot:\t0000:02:00.0\nClass:\tVGA compatible controller [0300]\n": ("malformed", 6),
    f"{BLOCK}\n{BLOCK}": ("malformed", 6),
    BLOCK.replace(" [24b0]", ""): ("malformed", 4),
    BLOCK.replace("0000:01:00.0", "here"): ("malformed", 1),
    f"{BLOCK}nonsense\n": ("malformed", 5),
}


def known(device: PciDevice) -> Known:
    """What the table and the words of lspci say about a device."""
    return describe(device.id, device.subsystem_id, name=device.name, chip=device.chip, where=device.address)


@pytest.mark.parametrize("name", CAPTURES)
def test_captures(name: str) -> None:
    reading = parse(capture(f"lspci/{name}"))
    assert reading.value is not None
    assert reading.warnings == ()
    found = [(card, known(card)) for card in gpus(reading.value)]
    rows = [
        (card.address, card.id, fact.name, fact.memory_gb, fact.compute_cap, card.driver, card.iommu_group)
        for card, fact in found
    ]
    assert rows == CAPTURES[name]
    warnings = [warning for _, fact in found for warning in fact.warnings]
    for words in WARNED.get(name, []):
        assert any(words in warning and warning.startswith("0000:") for warning in warnings)
    assert bool(warnings) == (name in WARNED)


def test_everything_of_a_block() -> None:
    value = parse(capture("lspci/vmm-blocks.txt")).value
    assert value is not None
    assert value[0] == PciDevice(
        address="0000:01:00.0",
        class_id="0300",
        vendor_id="10de",
        device_id="1c30",
        vendor="NVIDIA Corporation",
        name="Quadro P2000",
        subsystem_id="1028:11b3",
        driver="vfio-pci",
        iommu_group=15,
        chip="GP106GL",
    )
    assert [(device.class_id, device.iommu_group) for device in value] == [("0300", 15), ("0403", 15)]


def test_everything_of_a_line() -> None:
    value = parse(capture("lspci/proxmox-vfio-3090.txt")).value
    assert value is not None
    card = value[1]
    assert (card.vendor, card.name, card.chip) == ("NVIDIA Corporation", "GeForce RTX 3090", "GA102")
    assert card.subsystem_id == "10de:1454"
    assert [device.id for device in value] == ["1a03:2000", "10de:2204", "10de:1aef"]


def test_a_card_on_vfio_that_the_system_has_no_name_for() -> None:
    value = parse(VFIO).value
    assert value is not None
    fact = known(gpus(value)[0])
    assert (fact.name, fact.memory_gb, value[0].driver, fact.warnings) == ("RTX A4000", 16, "vfio-pci", ())


@pytest.mark.parametrize("text", [BLOCK, BARE.replace("[0300]", "[0380]").replace("VGA compatible", "Display")])
def test_a_display_controller_is_a_gpu(text: str) -> None:
    assert [card.id for card in gpus(parse(text).value or ())] == ["10de:24b0"]


def test_cards_are_in_order_of_their_addresses() -> None:
    lines = [BARE.replace("0000:01", place) for place in ("10000:01", "000f:c1", "0000:c1", "0000:02")]
    addresses = [card.address for card in gpus(parse("\n".join(lines)).value or ())]
    assert addresses == ["0000:02:00.0", "0000:c1:00.0", "000f:c1:00.0", "10000:01:00.0"]


def test_rows_of_quoted_fields() -> None:
    """``-Dmm -nn``: a revision or an interface of 0 is left out, a missing subsystem is empty."""
    reading = parse(ROWS)
    assert reading.value is not None
    assert reading.warnings == ()
    assert [(card.address, card.class_id, card.id, card.subsystem_id) for card in reading.value] == [
        ("0000:01:00.0", "0300", "10de:2204", "1458:403b"),
        ("0000:01:00.1", "0403", "10de:1aef", "1043:87b3"),
        ("0000:02:00.0", "0601", "8086:8d44", None),
        ("0000:05:00.0", "1200", "1002:74a1", "1002:74a1"),
        ("0000:41:00.0", "0302", "10de:2331", None),
    ]
    facts = [known(card) for card in gpus(reading.value)]
    assert [(fact.name, fact.memory_gb, fact.compute_cap) for fact in facts] == [
        ("GeForce RTX 3090", 24, 8.6),
        ("Instinct MI300X", 192, None),
        ("H100 PCIe", 80, 9.0),
    ]
    assert [card.vendor for card in gpus(reading.value)] == [
        "NVIDIA Corporation",
        "Advanced Micro Devices, Inc. [AMD/ATI]",
        "NVIDIA Corporation",
    ]
    assert {(card.driver, card.iommu_group) for card in reading.value} == {(None, None)}


def test_a_row_of_a_card_that_fell_off_the_bus() -> None:
    reading = parse(ROW.replace(' "" ""', ' -rff -p01 "" ""'))
    assert reading.warnings == ("0000:01:00.0: the device does not answer (rev ff)",)
    assert [card.id for card in gpus(reading.value or ())] == ["10de:24b0"]


NO_GPUS = {
    "USB of a Turing card": "0000:01:00.2 USB controller [0c03]: NVIDIA Corporation TU104 USB 3.1 [10de:1ad8]",
    "UCSI of a Turing card": "0000:01:00.3 Serial bus controller [0c80]: NVIDIA Corporation TU104 UCSI [10de:1ad9]",
    "virtual VGA": "0000:00:02.0 VGA compatible controller [0300]: Device [1234:1111] (rev 02)",
    "virtio": "0000:00:02.0 VGA compatible controller [0300]: Red Hat, Inc. Virtio 1.0 GPU [1af4:1050]",
    "Matrox": "0000:03:00.0 VGA compatible controller [0300]: Matrox Electronics Systems Ltd. G200eR2 [102b:0534]",
    "NPU": "0000:00:0b.0 Processing accelerators [1200]: Intel Corporation Meteor Lake NPU [8086:7d1d] (rev 04)",
    "VF": "0000:05:02.0 Processing accelerators [1200]: Advanced Micro Devices, Inc. [AMD/ATI] Aqua Vanjaram "
    "[Instinct MI300X VF] [1002:74b5]",
}


@pytest.mark.parametrize("what", NO_GPUS)
def test_what_is_no_gpu(what: str) -> None:
    reading = parse(NO_GPUS[what])
    assert reading.value
    assert gpus(reading.value) == ()


@pytest.mark.parametrize("text", MALFORMED)
def test_malformed_text_names_the_line(text: str) -> None:
    reading, right = parse(text), MALFORMED[text]
    if right is None:
        assert reading.value == ()
        assert reading.warnings
    else:
        assert reading.problem
        assert (reading.problem.cause, reading.problem.line) == right


def test_odd_details_are_null_with_a_warning() -> None:
    reading = parse(f"{BLOCK}Driver:\ta b\nIOMMUGroup:\tx\n")
    assert reading.value
    assert (reading.value[0].driver, reading.value[0].iommu_group) == (None, None)
    assert len(reading.warnings) == 2
    assert "rev ff" in parse(BARE.replace("a1", "ff")).warnings[0]


def test_numbers_alone() -> None:
    value = parse("Slot:\t01:00.0\nClass:\t0300\nVendor:\t10de\nDevice:\t2204\nSVendor:\t10de\nSDevice:\t1454\n").value
    assert value
    assert (value[0].id, value[0].name, value[0].subsystem_id) == ("10de:2204", None, "10de:1454")


@given(st.text() | mutated([*captures("lspci"), ROWS]))
def test_no_text_raises(text: str) -> None:
    reading = parse(text)
    assert_sound(reading)
    gpus(reading.value or ())
