"""lsblk: the real disks of each capture, the layouts of public reports, and no text that raises."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knaster.cluster import Disk
from knaster.inventory.parsers.lsblk import parse
from tests.captured import assert_sound, capture, hostile

LUN = [Disk(name, 2199, True) for name in ("sdb", "sdc", "sdd", "sde")]
CAPTURED = {
    "nvme-and-sata.json": [Disk("nvme0n1", 1000, False), Disk("sda", 4001, True)],
    "strings-v2.31.json": [Disk("nvme0n1", 512, False), Disk("sda", 8002, True)],
    "zram-loop-nbd-rbd.json": [Disk("vda", 107, True)],
    "multipath.json": [Disk("sda", 480, False), *LUN],
    "empty.json": [],
    "vm-virtio.json": [Disk("vda", 275, True)],
    "children-without-d.json": [Disk("sda", 1000, True)],
    "hwraid-one-volume.json": [Disk("sda", 19999, True), Disk("sdb", 256, False)],
}
REFUSED = {
    "human-sizes.json": ("not-bytes", "sda: size is 1.8T"),
    "broken-json-0B.txt": ("malformed", "line 5"),
    "no-json-option.txt": ("no-json-output", "no JSON output"),
}
VIRTUAL = [
    *("loop0", "loop12", "ram0", "zram0", "nbd0", "nbd15", "rbd0", "zd0", "zd16", "dm-0", "md0", "md127", "md_d1"),
    *("sr0", "fd0", "drbd10", "mmcblk0boot0", "mmcblk0boot1", "mmcblk0rpmb"),
]
REAL = ["sda", "sdaa", "vda", "xvda", "nvme0n1", "mmcblk0", "dasda", "pmem0", "hda", "cciss/c0d0", "sdfd", "zda", "mda"]


def listing(*rows: dict[str, Any]) -> str:
    """The text of lsblk for rows; ``rota`` false unless given."""
    return json.dumps({"blockdevices": [{"rota": False, **row} for row in rows]})


def disks(text: str) -> list[Disk]:
    """The value; there is one."""
    reading = parse(text)
    assert reading.value is not None, reading.problem
    return list(reading.value)


def cause(text: str, status: int = 0) -> str:
    """The cause of the problem; there is one."""
    problem = parse(text, status).problem
    assert problem
    return problem.cause


@pytest.mark.parametrize("name", CAPTURED)
def test_captures(name: str) -> None:
    reading = parse(capture(f"lsblk/{name}"))
    assert list(reading.value or ()) == CAPTURED[name]
    assert reading.problem is None
    assert [warning for warning in reading.warnings if "vda" not in warning] == []


@pytest.mark.parametrize("name", REFUSED)
def test_refused_captures(name: str) -> None:
    expected, words = REFUSED[name]
    problem = parse(capture(f"lsblk/{name}"), 1 if name == "no-json-option.txt" else 0).problem
    assert problem
    assert problem.cause == expected
    assert words in problem.message


def test_a_virtual_disk_that_says_it_spins_is_doubted() -> None:
    assert parse(capture("lsblk/vm-virtio.json")).warnings == (
        "disks[vda].rotational: a virtual disk says true whatever is below it",
    )


@pytest.mark.parametrize("name", VIRTUAL)
def test_virtual_devices(name: str) -> None:
    assert disks(listing({"name": name, "size": 1073741312})) == []


@pytest.mark.parametrize("name", REAL)
def test_real_devices(name: str) -> None:
    assert disks(listing({"name": name, "size": 10**12})) == [Disk(name, 1000, False)]


@pytest.mark.parametrize(
    "row",
    [
        {"name": "sr0", "size": 1073741312, "rota": False},
        {"name": "zram0", "size": 268435456, "rota": False},
        {"name": "nbd0", "size": 0, "rota": False},
        {"name": "sdz", "size": 0, "rota": True},
        {"name": "sdz", "size": "0", "rota": "1"},
        {"name": "sda1", "size": 10**9, "type": "part"},
        {"name": "vg0-root", "size": 10**9, "type": "lvm"},
    ],
    ids=str,
)
def test_no_disks(row: dict[str, Any]) -> None:
    """ghw#422, util-linux#2482, rook#7734; card readers without a card; parts of disks."""
    assert disks(listing(row)) == []


@pytest.mark.parametrize(
    ("row", "disk"),
    [
        ({"name": "sdc", "size": 8001563222016, "rota": True}, Disk("sdc", 8002, True)),
        ({"name": "sda", "size": "407379968", "rota": "0"}, Disk("sda", 0.4, False)),
        ({"name": "sda", "size": 8001563222016.0, "rota": 1}, Disk("sda", 8002, True)),
        ({"NAME": "sda", "SIZE": 480103981056, "ROTA": False, "TYPE": "disk"}, Disk("sda", 480, False)),
    ],
)
def test_numbers_and_texts(row: dict[str, Any], disk: Disk) -> None:
    """csi-baremetal#282, disks#11; a disk of 0.4 GB has not 0."""
    assert disks(json.dumps({"blockdevices": [row]})) == [disk]


@pytest.mark.parametrize("rota", [None, "", "yes", 2, []])
def test_unknown_rotation(rota: object) -> None:
    reading = parse(listing({"name": "sda", "size": 10**12, "rota": rota}))
    assert reading.value == (Disk("sda", 1000, None),)
    assert len(reading.warnings) == 1
    assert reading.warnings[0].startswith("disks[sda].rotational: lsblk printed")


def test_missing_columns() -> None:
    reading = parse('{"blockdevices": [{"name": "sda"}]}')
    assert reading.value == (Disk("sda", None, None),)
    assert reading.warnings == (
        "disks[sda].size_gb: lsblk printed null",
        "disks[sda].rotational: lsblk printed null",
    )


@pytest.mark.parametrize("size", ["1.8T", "931,5G", "0B", -1, 1.5, True, [], "٣"])
def test_sizes_not_in_bytes(size: object) -> None:
    assert cause(listing({"name": "sda", "size": size})) == "not-bytes"


def test_paths_to_one_disk() -> None:
    """With WWN the four paths are one disk; equal sizes of two disks prove nothing."""
    paths = [{"name": name, "size": 2199023255552, "rota": True, "wwn": "0x6000a"} for name in ("sdb", "sdc", "sdd")]
    local = {"name": "sda", "size": 479559942144, "wwn": "0x5000b"}
    twin = {"name": "sdf", "size": 479559942144, "wwn": "0x5000c"}
    reading = parse(listing(local, *paths, twin))
    assert reading.value == (Disk("sda", 480, False), Disk("sdb", 2199, True), Disk("sdf", 480, False))
    assert reading.warnings == ("disks[sdb]: sdc, sdd lead to the same disk, counted once",)


def test_paths_by_serial() -> None:
    rows = [{"name": name, "size": 10**12, "serial": "S1", "model": "LUN", "wwn": None} for name in ("sda", "sdb")]
    assert disks(listing(*rows)) == [Disk("sda", 1000, False)]
    assert len(disks(listing(*({**row, "tran": "usb"} for row in rows)))) == 2


def test_namespaces_of_one_nvme_are_two_disks() -> None:
    rows = [{"name": f"nvme0n{number}", "size": 10**12, "serial": "S1", "model": "M"} for number in (1, 2)]
    assert len(disks(listing(*rows))) == 2


def test_order_is_by_name() -> None:
    rows = [{"name": name, "size": 10**12} for name in ("sdb", "nvme0n1", "sda")]
    assert [disk.name for disk in disks(listing(*rows))] == ["nvme0n1", "sda", "sdb"]


@pytest.mark.parametrize(
    ("text", "status", "expected"),
    [
        ("", 0, "no-json-output"),
        ("lsblk: invalid option -- 'J'\n", 1, "no-json-output"),
        ("lsblk: unrecognized option '--json'\n", 1, "no-json-output"),
        ("sh: 1: lsblk: not found\n", 127, "tool-missing"),
        ('{"blockdevices": [\n\n   ]\n}\n', 32, "no-such-device"),
        ('{"blockdevices": []}', 1, "failed"),
        ('{"blockdevices": null}', 0, "malformed"),
        ('{"blockdevices": [null]}', 0, "malformed"),
        ('{"blockdevices": [{"size": 5}]}', 0, "malformed"),
        ('{"blockdevices": [{"name": "a b", "size": 5}]}', 0, "malformed"),
        ('{"blockdevices": [{"name":"sda","size":5},{"name":"sda","size":6}]}', 0, "malformed"),
        ('{"blockdevices": [{"name":"sda","size":1', 0, "malformed"),
        ('{"blockdevices": []} {"blockdevices": []}', 0, "malformed"),
        ("NAME SIZE\nsda 5\n", 0, "malformed"),
        ("null", 0, "malformed"),
        ("[]", 0, "malformed"),
        ('{"blockdevices": [{"name": "sda", "size": NaN}]}', 0, "malformed"),
        (f'{{"blockdevices": [{{"name": "sda", "size": {"9" * 5000}}}]}}', 0, "malformed"),
        (f'{{"blockdevices": {"[" * 50_000}', 0, "malformed"),
    ],
)
def test_other_problems(text: str, status: int, expected: str) -> None:
    assert cause(text, status) == expected


def test_disks_beside_a_status_are_kept_with_a_warning() -> None:
    reading = parse(listing({"name": "sda", "size": 10**12}), 64)
    assert reading.value == (Disk("sda", 1000, False),)
    assert reading.warnings == ("disks: lsblk ended with status 64",)


KEYS = ["name", "size", "rota", "type", "tran", "model", "serial", "wwn", "rm", "children"]


@settings(deadline=None)
@given(hostile("lsblk", KEYS, lambda rows: {"blockdevices": rows}), st.integers(-15, 255))
def test_never_raises(text: str, status: int) -> None:
    reading = parse(text, status)
    assert_sound(reading)
    for disk in reading.value or ():
        assert 1 <= len(disk.name) <= 60
        assert disk.size_gb is None or 0 < disk.size_gb <= 1_000_000
