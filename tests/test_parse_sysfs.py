"""sysfs: the right devices and groups of each capture, and no text that raises."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knaster.cards.table import describe
from knaster.inventory.parsers.lspci import PciDevice, gpus
from knaster.inventory.parsers.sysfs import groups, parse, vram_mib
from tests.captured import assert_sound, capture, captures, mutated

TREE = capture("sysfs/gpu-tree.txt")
GROUPS = capture("sysfs/iommu-groups.txt")
PLACE = "/sys/bus/pci/devices/0000:01:00.0"


def test_a_card_without_lspci() -> None:
    reading = parse(TREE)
    right = PciDevice("0000:01:00.0", "0300", "10de", "2684", None, None, "10de:16f4", "vfio-pci", 15)
    assert reading.value == (right,)
    assert reading.warnings == ()
    assert right.numa_node is None
    known = describe(right.id, right.subsystem_id)
    assert (known.name, known.memory_gb, known.compute_cap, known.warnings) == ("GeForce RTX 4090", 24, 8.9, ())


def test_groups_are_in_order_of_their_numbers() -> None:
    assert list(groups(GROUPS).items()) == [
        (2, ("0000:00:1f.0",)),
        (15, ("0000:00:01.0", "0000:01:00.0", "0000:01:00.1")),
        (16, ("0000:02:00.0",)),
    ]


def test_group_members_fill_in_for_a_missing_link() -> None:
    text = "".join(line for line in TREE.splitlines(keepends=True) if "iommu_group" not in line)
    assert [card.iommu_group for card in parse(text).value or ()] == [None]
    assert [card.iommu_group for card in parse(GROUPS + text).value or ()] == [15]


def test_links_decide_about_driver_and_virtual_function() -> None:
    text = TREE.replace("driver -> ../../../../bus/pci/drivers/vfio-pci", "driver -> ").replace(
        "numa_node:-1", "numa_node:1"
    )
    value = parse(f"{text}{PLACE}/physfn -> ../0000:00:01.0\n").value
    assert value
    assert (value[0].driver, value[0].virtual_function, value[0].numa_node) == (None, True, 1)
    assert gpus(value) == ()


def test_memory_of_amd_cards() -> None:
    text = f"{PLACE}/mem_info_vram_total:206141652992\n/sys/bus/pci/devices/0000:02:00.0/mem_info_vram_total:x\n"
    assert vram_mib(text) == {"0000:01:00.0": 196592}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"{TREE}{PLACE}/dev", 9),
        (f"bash: sysfs: no such thing\n{TREE}", 1),
        (TREE.replace("0x10de", "10 de"), 1),
        (TREE.replace(f"{PLACE}/class:0x030000\n", ""), 1),
    ],
)
def test_malformed_text_names_the_line(text: str, line: int) -> None:
    problem = parse(text).problem
    assert problem
    assert (problem.cause, problem.line) == ("malformed", line)


def test_a_machine_without_pci() -> None:
    reading = parse("")
    assert reading.value == ()
    assert reading.warnings


@given(st.text() | mutated([*captures("sysfs"), f"{TREE}{PLACE}/mem_info_vram_total:206141652992\n"]))
def test_no_text_raises(text: str) -> None:
    reading = parse(text)
    assert_sound(reading)
    gpus(reading.value or ())
    groups(text)
    vram_mib(text)
