"""Proxmox VE: the right devices, processors and disks of its JSON, and no text that raises."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knaster.cards.table import describe
from knaster.cluster import Disk
from knaster.inventory.parsers.lspci import gpus
from knaster.inventory.parsers.pve import PveStatus, disks, hardware_pci, node_status
from tests.captured import assert_count, assert_sound, capture, hostile, mutated, shapes

PCI = {
    "pci-vfio.json": ("0000:01:00.0", "10de:2204", "GeForce RTX 3090", 24, 8.6, 14, "10de:1454"),
    "pci-no-iommu.json": ("0000:01:00.0", "10de:1c30", "Quadro P2000", 5, 6.1, None, None),
    "pci-sriov.json": ("0000:b1:00.0", "10de:26b9", "L40S", 48, 8.9, 60, None),
}

STATUS: dict[str, Any] = {
    "cpuinfo": {
        "model": "Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz",
        "sockets": 2,
        "cores": 28,
        "cpus": 56,
        "mhz": "2394.455",
        "hvm": "1",
        "user_hz": 100,
        "flags": "fpu vme",
    },
    "memory": {"total": 270166130688, "used": 8589934592, "free": 261576196096},
    "pveversion": "pve-manager/9.0.3/0000000000000000",
    "loadavg": ["0.01", "0.02", "0.00"],
}

DISKS: list[dict[str, Any]] = [
    {"devpath": "/dev/sdb", "size": 4000787030016, "type": "hdd", "rpm": 7200, "model": "X", "gpt": 0},
    {"devpath": "/dev/nvme0n1", "size": "512110190592", "type": "nvme", "rpm": 0, "wearout": 99},
    {"devpath": "/dev/sda", "size": 480103981056, "type": "ssd", "rpm": 0},
    {"devpath": "/dev/sdc", "size": 0, "type": "usb", "rpm": -1},
    {"devpath": "/dev/sdd", "size": 64023257088, "type": "usb", "rpm": -1},
    {"devpath": "/dev/sda1", "size": 1048576, "type": "partition", "parent": "/dev/sda"},
]


@pytest.mark.parametrize("name", PCI)
@pytest.mark.parametrize("envelope", [False, True])
def test_cards(name: str, envelope: bool) -> None:
    text = capture(f"pve/{name}")
    reading = hardware_pci(f'{{"data":{text}}}' if envelope else text)
    assert reading.value is not None
    assert reading.warnings == ()
    (card,) = gpus(reading.value)
    known = describe(card.id, card.subsystem_id, name=card.name, chip=card.chip)
    facts = (card.address, card.id, known.name, known.memory_gb, known.compute_cap, card.iommu_group, card.subsystem_id)
    assert facts == PCI[name]
    assert known.warnings == ()
    assert card.driver is None


def test_a_virtual_function_is_marked() -> None:
    value = hardware_pci(capture("pve/pci-sriov.json")).value
    assert [device.virtual_function for device in value or ()] == [False, True]


def test_names_and_chip() -> None:
    value = hardware_pci(capture("pve/pci-vfio.json")).value
    assert value
    assert (value[0].vendor, value[0].name, value[0].chip) == ("NVIDIA Corporation", "GeForce RTX 3090", "GA102")
    assert [device.class_id for device in value] == ["0300", "0403", "0300"]


@pytest.mark.parametrize("envelope", [False, True])
def test_status_of_a_node(envelope: bool) -> None:
    reading = node_status(json.dumps({"data": STATUS} if envelope else STATUS))
    assert reading.value == PveStatus(270166130688, "Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz", 28, 56)
    assert reading.warnings == ()


def test_what_a_status_does_not_say_is_null_with_a_warning() -> None:
    reading = node_status(json.dumps({"cpuinfo": {"model": "unknown", "cores": 8, "cpus": 4}}))
    assert reading.value == PveStatus(None, None, None, 4)
    assert [warning.partition(":")[0] for warning in reading.warnings] == ["memory_gb", "cpu.model", "cpu.cores"]
    assert node_status("{}").value == PveStatus(None, None, None, None)


def test_disks() -> None:
    reading = disks(json.dumps(DISKS))
    assert reading.value == (
        Disk("nvme0n1", 512, False),
        Disk("sda", 480, False),
        Disk("sdb", 4001, True),
        Disk("sdd", 64, None),
    )
    assert reading.warnings == ("disks[sdd].rotational: Proxmox VE gives type usb, rpm -1",)


@pytest.mark.parametrize("text", ["", "nonsense", "{", '[{"id":"0000:01:00.0"', "[" * 100000, "[1]", "null", "[{}]"])
def test_malformed_text(text: str) -> None:
    for parse in (hardware_pci, disks):
        assert parse(text).problem
    assert node_status(text).problem


def test_a_wrong_entry_is_named() -> None:
    items = json.loads(capture("pve/pci-vfio.json"))
    del items[1]["vendor"]
    problem = hardware_pci(json.dumps(items)).problem
    assert problem
    assert problem.message == "hardware/pci[1]: 0000:01:00.1: vendor is null"
    twice = hardware_pci(json.dumps([items[0], items[0]])).problem
    assert twice
    assert "0000:01:00.0 comes twice" in twice.message


PCI_KEYS = ["id", "vendor", "device", "class", "iommugroup", "device_name", "subsystem_vendor", "physfn", "data"]
OTHER_KEYS = [
    "memory",
    "cpuinfo",
    "total",
    "model",
    "cores",
    "cpus",
    "devpath",
    "size",
    "type",
    "rpm",
    "parent",
    "data",
]


@given(hostile("pve", PCI_KEYS) | mutated([json.dumps(STATUS), json.dumps(DISKS)]) | shapes(OTHER_KEYS) | st.text())
def test_no_text_raises(text: str) -> None:
    devices, status, found = hardware_pci(text), node_status(text), disks(text)
    for reading in (devices, status, found):
        assert_sound(reading)
    gpus(devices.value or ())
    if status.value:
        assert_count(status.value.cores, 4096)
        assert_count(status.value.threads, 8192)
