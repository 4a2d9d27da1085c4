"""Windows' CIM JSON: one object, a list or nothing, every encoding, and no text that raises."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings

from knaster.cluster import Cpu, Disk
from knaster.inventory.parsers.windows import controllers, disks, memory, processors
from knaster.inventory.parsers.windows_gpu import Controller, nvidia_version
from knaster.inventory.reading import normalise
from tests.captured import assert_count, assert_sound, capture, hostile

PROCESSORS = {
    "processor-single.json": Cpu("Intel(R) Xeon(R) w5-3425", 12, 24),
    "processor-dual.json": Cpu("Intel(R) Xeon(R) Gold 6230 CPU @ 2.10GHz", 40, 80),
    "utf16le-bom.json": Cpu("AMD Ryzen 9 7950X 16-Core Processor", 16, 32),
    "utf8-bom.json": Cpu("Intel(R) Core(TM) i7-14700K", 20, 28),
}
ONE = {"Name": "CPU  ", "NumberOfCores": 4, "NumberOfLogicalProcessors": 8}
RTX_3090 = r"PCI\VEN_10DE&DEV_2204&SUBSYS_403B1458&REV_A1\4&1FC990D7&0&0019"


@pytest.mark.parametrize("name", PROCESSORS)
def test_processor_captures(name: str) -> None:
    reading = processors(capture(f"windows/{name}"))
    assert reading.value == PROCESSORS[name]
    assert reading.warnings == ()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_encodings(encoding: str, end: str) -> None:
    raw = json.dumps(ONE, indent=4).replace("\n", end).encode(encoding)
    assert processors(normalise(raw)).value == Cpu("CPU", 4, 8)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (ONE, Cpu("CPU", 4, 8)),
        ([ONE], Cpu("CPU", 4, 8)),
        ([ONE, ONE], Cpu("CPU", 8, 16)),
        ([ONE, {**ONE, "Name": "Other"}], Cpu("CPU + Other", 8, 16)),
        ({"value": [ONE, ONE], "Count": 2}, Cpu("CPU", 8, 16)),
        ({**ONE, "NumberOfCores": "4"}, Cpu("CPU", 4, 8)),
        ([{**ONE, "NumberOfCores": 1, "NumberOfLogicalProcessors": 1}] * 8, Cpu("CPU", 8, 8)),
    ],
)
def test_one_object_a_list_a_wrapped_list(value: object, expected: Cpu) -> None:
    """systeminformation#325, oshi#1852: sockets are summed."""
    reading = processors(json.dumps(value))
    assert reading.value == expected
    assert reading.warnings == ()


@pytest.mark.parametrize(
    ("change", "expected", "field"),
    [
        ({"NumberOfCores": None}, Cpu("CPU", None, 8), "cpu.cores"),
        ({"NumberOfLogicalProcessors": 0}, Cpu("CPU", 4, None), "cpu.threads"),
        ({"NumberOfLogicalProcessors": "N/A"}, Cpu("CPU", 4, None), "cpu.threads"),
        ({"Name": "   "}, Cpu(None, 4, 8), "cpu.model"),
        ({"Name": None}, Cpu(None, 4, 8), "cpu.model"),
        ({"NumberOfCores": 16}, Cpu("CPU", None, 8), "cpu.cores"),
    ],
)
def test_unknown_is_null_with_a_warning(change: dict[str, Any], expected: Cpu, field: str) -> None:
    reading = processors(json.dumps({**ONE, **change}))
    assert reading.value == expected
    assert len(reading.warnings) == 1
    assert reading.warnings[0].startswith(field)


@pytest.mark.parametrize("text", [capture("windows/empty-null.json"), "", "null", "[]", '{"value": [], "Count": 0}'])
def test_no_instance(text: str) -> None:
    for parse in (processors, memory):
        problem = parse(text).problem
        assert problem
        assert problem.cause == "empty"


def test_no_disk_and_no_controller() -> None:
    for reading in (disks("[]"), controllers("[]")):
        assert reading.value == ()
        assert len(reading.warnings) == 1
    for problem in (disks("").problem, controllers("").problem):
        assert problem
        assert problem.cause == "empty"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (capture("windows/computersystem-string.json"), 68632227840),
        ('{"TotalPhysicalMemory": 68632227840}', 68632227840),
        ('[{"TotalPhysicalMemory": 68632227840}]', 68632227840),
        ('{"TotalVisibleMemorySize": "67023660"}', 68632227840),
        ('[{"Capacity": 34359738368}, {"Capacity": "34359738368"}]', 68719476736),
        ('{"Capacity": 34359738368}', 34359738368),
    ],
)
def test_memory(text: str, expected: int) -> None:
    assert memory(text).value == expected


@pytest.mark.parametrize(
    "text",
    [
        '{"TotalPhysicalMemory": null}',
        '{"TotalPhysicalMemory": 0}',
        '{"TotalPhysicalMemory": "64 GB"}',
        '[{"Capacity": 34359738368}, {"Capacity": null}]',
        '{"Name": "x"}',
        "5",
        '"x"',
        "[[]]",
        '{"TotalPhysicalMemory": 1e300}',
        '[{"TotalPhysicalMemory": 5}, {"TotalPhysicalMemory": 5}]',
    ],
)
def test_no_memory_is_guessed(text: str) -> None:
    problem = memory(text).problem
    assert problem
    assert problem.cause == "malformed"


def test_disk_capture() -> None:
    reading = disks(capture("windows/physicaldisk-names.json"))
    assert reading.value == (
        Disk("PhysicalDisk0", 2000, False),
        Disk("PhysicalDisk1", 4001, True),
        Disk("PhysicalDisk2", 107, None),
    )
    assert reading.warnings == ("disks[PhysicalDisk2].rotational: MediaType is Unspecified",)


@pytest.mark.parametrize(
    ("media", "bus", "rotational"),
    [
        (3, 11, True),
        (4, 11, False),
        (5, 11, False),
        (0, 10, None),
        ("4", "11", False),
        ("SCM", "SAS", False),
        (0, 17, False),
        ("Unspecified", "NVMe", False),
        (None, None, None),
    ],
)
def test_media_types(media: object, bus: object, rotational: bool | None) -> None:
    reading = disks(json.dumps({"DeviceId": "0", "MediaType": media, "BusType": bus, "Size": "1000204886016"}))
    assert reading.value == (Disk("PhysicalDisk0", 1000, rotational),)
    assert bool(reading.warnings) == (rotational is None)


def test_disks_that_are_none() -> None:
    reader = {"DeviceId": "0", "MediaType": "Unspecified", "BusType": "USB", "Size": 0}
    image = {"DeviceId": "1", "MediaType": "Unspecified", "BusType": "File Backed Virtual", "Size": 10**9}
    assert disks(json.dumps([reader, image])).value == ()


def test_a_disk_without_number_or_size() -> None:
    reading = disks('[{"MediaType": "SSD"}]')
    assert reading.value == (Disk("PhysicalDisk0", None, False),)
    assert len(reading.warnings) == 2
    problem = disks('[{"DeviceId": 1, "Size": 5}, {"DeviceId": "1", "Size": 6}]').problem
    assert problem
    assert problem.cause == "malformed"


def test_a_passthrough_free_card() -> None:
    row = {"Name": "NVIDIA GeForce RTX 3090", "DriverVersion": "32.0.15.7324", "PNPDeviceID": RTX_3090}
    reading = controllers(json.dumps({**row, "AdapterRAM": 4293918720}))
    assert reading.value == (Controller("10de:2204", "NVIDIA GeForce RTX 3090", "573.24", "1458:403b"),)
    assert reading.value[0].vendor_id == "10de"
    assert reading.warnings == ()


@pytest.mark.parametrize("ram", [4293918720, -1, 2147483648, "4293918720"])
def test_adapter_ram_is_never_memory(ram: object) -> None:
    value = controllers(json.dumps({"PNPDeviceID": RTX_3090, "AdapterRAM": ram})).value
    assert value
    assert value[0].memory_mib is None


def test_registry_memory_and_location() -> None:
    row = {
        "PNPDeviceID": RTX_3090,
        "HardwareInformation.qwMemorySize": "25769803776",
        "LocationInformation": "PCI-Bus 65, Gerät 0, Funktion 0",
    }
    value = controllers(json.dumps(row)).value
    assert value
    assert (value[0].memory_mib, value[0].address) == (24576, "0000:41:00.0")


def test_what_is_no_card_is_left_out() -> None:
    names = ["PCI\\VEN_1A03&DEV_2000&SUBSYS_20001A03", "ROOT\\BASICDISPLAY\\0000", "SWD\\REMOTEDISPLAYENUM\\X", ""]
    reading = controllers(json.dumps([{"PNPDeviceID": name, "Name": "x"} for name in names]))
    assert reading.value == ()
    reading = controllers('[{"Name": "x"}]')
    assert reading.value == ()
    assert reading.warnings == ("gpus: PNPDeviceID of x is null; left out",)


def test_a_card_without_its_maker_s_driver() -> None:
    row = {"Name": "Microsoft Basic Display Adapter", "DriverVersion": "10.0.19041.1", "PNPDeviceID": RTX_3090}
    reading = controllers(json.dumps(row))
    assert reading.value == (Controller("10de:2204", None, None, "1458:403b"),)
    assert len(reading.warnings) == 1


def test_versions_of_other_makers_stay() -> None:
    row = {"Name": "AMD Radeon", "DriverVersion": "31.0.21001.45002", "PNPDeviceID": "PCI\\VEN_1002&DEV_744C"}
    assert controllers(json.dumps(row)).value == (Controller("1002:744c", "AMD Radeon", "31.0.21001.45002"),)


@pytest.mark.parametrize(
    ("windows", "nvidia"),
    [
        ("32.0.15.7324", "573.24"),
        ("31.0.15.5222", "552.22"),
        ("27.21.14.5671", "456.71"),
        ("31.0.15.179", "501.79"),
        ("573.24", "573.24"),
        ("", ""),
    ],
)
def test_driver_versions(windows: str, nvidia: str) -> None:
    """xgboost#11471: two parts are a whole version."""
    assert nvidia_version(windows) == nvidia


def test_text_around_the_json_is_a_warning() -> None:
    reading = processors(f"Active code page: 65001\n{json.dumps(ONE)}\n")
    assert reading.value == Cpu("CPU", 4, 8)
    assert reading.warnings == ("Active code page: 65001",)


def test_no_powershell() -> None:
    text = "'powershell' is not recognized as an internal or external command,\noperable program or batch file.\n"
    problem = processors(text).problem
    assert problem
    assert problem.cause == "tool-missing"


KEYS = ["Name", "NumberOfCores", "NumberOfLogicalProcessors", "TotalPhysicalMemory", "TotalVisibleMemorySize"]
KEYS += ["Capacity", "DeviceId", "MediaType", "BusType", "Size", "PNPDeviceID", "DriverVersion", "value", "Count"]
KEYS += ["LocationInformation", "qwMemorySize"]


@settings(deadline=None)
@given(hostile("windows", KEYS))
def test_never_raises(text: str) -> None:
    cpu, installed, drives, cards = processors(text), memory(text), disks(text), controllers(text)
    for reading in (cpu, installed, drives, cards):
        assert_sound(reading)
    assert_count(cpu.value.cores if cpu.value else None, 4096)
    assert_count(cpu.value.threads if cpu.value else None, 8192)
    assert_count(installed.value, 65536 << 30)
    assert all(disk.size_gb is None or 0 < disk.size_gb <= 1_000_000 for disk in drives.value or ())
