"""The table of GPUs: every card that we have facts of, nominal memory, chips, and names of a pci.ids."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knaster.cards.pci_ids import name_of, split
from knaster.cards.table import compute_cap_of, describe, lookup, nominal_gb, table

CARDS = """
13f1 8 5.2 | 1c30 5 6.1 | 1b38 24 6.1 | 1bb3 8 6.1 | 15f8 16 6.0 | 102d 12 3.7
1db1 16 7.0 | 1db5 32 7.0 | 1db4 16 7.0 | 1db6 32 7.0 | 1df6 32 7.0 | 1eb8 16 7.5 | 1e04 11 7.5 | 1e07 11 7.5
20f1 40 8.0 | 20b5 80 8.0 | 20b7 24 8.0 | 2236 24 8.6 | 2235 48 8.6 | 25b6 16 8.6
2230 48 8.6 | 2231 24 8.6 | 24b0 16 8.6 | 2204 24 8.6 | 2206 10 8.6 | 220a 12 8.6
2684 24 8.9 | 2704 16 8.9 | 2803 8 8.9 | 2805 16 8.9 | 26b1 48 8.9 | 26b5 48 8.9 | 26b9 48 8.9 | 26ba 48 8.9
27b2 20 8.9 | 27b0 20 8.9 | 27b8 24 8.9 | 2331 80 9.0 | 2330 80 9.0 | 2321 94 9.0 | 2335 141 9.0 | 233b 141 9.0
2342 96 9.0 | 2348 144 9.0 | 2901 180 10.0 | 2941 186 10.0
2b85 32 12.0 | 2c02 16 12.0 | 2bb1 96 12.0 | 2bb4 96 12.0 | 2bb5 96 12.0
"""

PRODUCTS = """
17fd - null 5.2 | 17fd 10de:1173 24 5.2 | 17fd 10de:1171 null 5.2
1e30 - null 7.5 | 1e30 10de:12ba 24 7.5 | 1e30 10de:129e 48 7.5
20b0 - null 8.0 | 20b0 10de:134f 40 8.0 | 20b0 10de:1450 null 8.0
20b2 - null 8.0 | 20b2 10de:1463 80 8.0 | 20b2 10de:1625 null 8.0
20f5 - 80 8.0 | 20f5 10de:179a 80 8.0
1ff2 - null 7.5 | 1ff2 17aa:1613 4 7.5 | 1ff2 17aa:18ff null 7.5
25b6 - 16 8.6 | 25b6 10de:14a9 16 8.6 | 25b6 10de:157e 16 8.6
2342 - 96 9.0 | 2342 10de:1809 96 9.0 | 2342 10de:16eb 96 9.0
2bb3 - null 12.0 | 2bb3 10de:204d 48 12.0 | 2bb3 1028:227a 72 12.0 | 2bb3 1043:0001 null 12.0
2204 1043:87b3 24 8.6 | 27b2 10de:181b 20 8.9
3182 - null 10.3 | 31c2 - null 10.3
"""

REPORTED = """
8: 8192 8126 7680 8188 8119 | 5: 5120 5059 | 24: 23040 22919 22945 24576 23028 24564 23034 24268 24560
16: 16384 16160 15360 15109 15356 16376 16380 16303 16368 | 12: 11441 12288 | 32: 32768 32510 32607 | 11: 11264 11019
40: 40960 40536 | 80: 81920 81251 81559 | 48: 46068 49140 | 10: 10240 10018 | 20: 20475 19968 | 94: 95830 | 141: 143771
96: 97871 97887 | 180: 183359 | 186: 189471 | 288: 275040 | 22: 22528 | 5: 4864 | 1: 981 512 1 | 6: 6141 6144
192: 196592 | 4: 4096 | 300: 307200
"""
"""Nominal GB to MiB that drivers report, with and without ECC, before and since driver 510."""

CHIPS = """
3.0 GK104 GK107GL | 3.5 GK110BGL GK208BM GK208GLM GK180GL | 3.7 GK210GL | 5.0 GM107GLM GM108M | 5.2 GM204GL GM200 GM206M
6.0 GP100GL | 6.1 GP106GL GP107-A GP104BM GP108 | 7.0 GV100GL | 7.2 GV10B | 7.5 TU104GLM TU117BM TU106M | 8.0 GA100GL
8.6 GA102 GA103M GA107BM | 8.7 GA10B | 8.9 AD104GLM AD102GL AD107-A1 | 9.0 GH100 | 10.0 GB100 GB102 | 10.3 GB110
11.0 GB10B | 12.0 GB202GL GB203GLM GB207M | 12.1 GB20B GB10
"""

PCI_IDS = """#
1002  Advanced Micro Devices, Inc. [AMD/ATI]
\t2204  Wrong vendor
10de  NVIDIA Corporation
\t13f1  GM204GL [Quadro M4000]
\t2204  GA102 [GeForce RTX 3090]
\t\t10de 1454  Founders Edition
\t2330  GH100[H100 SXM5 80GB]
\t2e12
10df  Emulex Corporation
\t13f2  Wrong vendor
C 03  Display controller
\t00  VGA compatible controller
"""


def cells(text: str) -> list[list[str]]:
    """The cells of a table written as text."""
    return [cell.split() for line in text.strip().splitlines() for cell in line.split("|")]


@pytest.mark.parametrize(("id", "gigabytes", "capability"), cells(CARDS))
def test_cards(id: str, gigabytes: str, capability: str) -> None:
    row = lookup(f"10de:{id}")
    assert row
    assert (row.memory_gb, row.compute_cap, row.memory_kind) == (int(gigabytes), float(capability), "dedicated")
    known = describe(f"10DE:{id.upper()}")
    assert (known.name, known.memory_gb, known.compute_cap, known.warnings) == (
        row.name,
        row.memory_gb,
        row.compute_cap,
        (),
    )


@pytest.mark.parametrize(("id", "subsystem", "gigabytes", "capability"), cells(PRODUCTS))
def test_one_id_several_products(id: str, subsystem: str, gigabytes: str, capability: str) -> None:
    known = describe(f"10de:{id}", None if subsystem == "-" else subsystem, where="gpus[1]")
    assert known.memory_gb == (None if gigabytes == "null" else int(gigabytes))
    assert known.compute_cap == float(capability)
    assert [warning.startswith(f"gpus[1].memory_gb: 10de:{id}: ") for warning in known.warnings] == (
        [True] if gigabytes == "null" else []
    )


def test_the_note_of_a_row_is_the_warning() -> None:
    assert describe("10de:2bb3").warnings == ("memory_gb: 10de:2bb3: 48 or 72 GB",)
    assert describe("10de:17fd").warnings == ("memory_gb: 10de:17fd: 12 or 24 GB",)


def test_gb10_shares_the_memory_of_the_system() -> None:
    known = describe("10de:2e12")
    assert (known.name, known.memory_gb, known.memory_kind, known.compute_cap) == ("GB10", None, "unified", 12.1)
    assert known.warnings == ()


def test_other_makers_have_no_compute_capability() -> None:
    known = describe("1002:74a1")
    assert (known.name, known.memory_gb, known.compute_cap, known.warnings) == ("Instinct MI300X", 192, None, ())
    other = describe("1002:744c", name="Radeon RX 7900 XTX", chip="Navi 31", where="gpus[0]")
    assert (other.name, other.memory_gb, other.compute_cap) == ("Radeon RX 7900 XTX", None, None)
    assert other.warnings == ("gpus[0].memory_gb: 1002:744c: the table does not have this id",)


def test_an_id_that_nothing_knows() -> None:
    known = describe("10de:3fff", where="gpus[0]")
    assert (known.name, known.memory_gb, known.compute_cap) == ("NVIDIA Device 3fff", None, None)
    assert [warning.partition(":")[0] for warning in known.warnings] == [
        "gpus[0].memory_gb",
        "gpus[0].compute_cap",
        "gpus[0].name",
    ]


def test_a_card_that_only_a_pci_ids_knows() -> None:
    known = describe("10de:1b80", name="GeForce GTX 1080", chip="GP104")
    assert (known.name, known.memory_gb, known.compute_cap) == ("GeForce GTX 1080", None, 6.1)
    assert len(known.warnings) == 1


def test_rows_are_sound() -> None:
    for (id, subsystem), row in table().items():
        assert re.fullmatch(r"[0-9a-f]{4}:[0-9a-f]{4}", id)
        assert subsystem is None or re.fullmatch(r"[0-9a-f]{4}:[0-9a-f]{4}|\*", subsystem)
        assert row.name
        assert row.source
        assert (id, None) in table()
        assert row.memory_gb is not None or row.note
        assert row.compute_cap == (compute_cap_of(row.chip) if id.startswith("10de:") else None)
    assert len(set(table())) == len(table())


REPORTED_PAIRS = [(int(mib), int(pair[0].rstrip(":"))) for pair in cells(REPORTED) for mib in pair[1:]]


@pytest.mark.parametrize(("mib", "gigabytes"), REPORTED_PAIRS)
def test_nominal_memory(mib: int, gigabytes: int) -> None:
    assert nominal_gb(mib) == gigabytes


@given(st.integers(1, 1 << 22))
def test_nominal_memory_is_never_far_off(mib: int) -> None:
    gigabytes = nominal_gb(mib)
    assert gigabytes >= 1
    assert gigabytes * 1024 * 1005 >= mib * 1000
    assert gigabytes - mib / 1024 < max(1, 0.087 * mib / 1024)


@pytest.mark.parametrize(("capability", "chips"), [(row[0], row[1:]) for row in cells(CHIPS)])
def test_chips(capability: str, chips: list[str]) -> None:
    assert {compute_cap_of(chip) for chip in chips} == {float(capability)}
    assert compute_cap_of(f"{chips[0]} [Some Product]") == float(capability)


@pytest.mark.parametrize(
    "chip", ["", "Device", "GB112", "GF108", "GR100", "Navi 31", "GA1022", "GB1", "ga102", "NV1", "G"]
)
def test_chips_that_are_not_known(chip: str) -> None:
    assert compute_cap_of(chip) is None


@pytest.mark.parametrize(
    ("id", "entry"),
    [
        ("10de:13f1", "GM204GL [Quadro M4000]"),
        ("10DE:2204", "GA102 [GeForce RTX 3090]"),
        ("10de:2330", "GH100[H100 SXM5 80GB]"),
        ("10de:13f2", None),
        ("10de:2e12", None),
        ("10de:1454", None),
        ("ffff:2204", None),
        ("10de", None),
        ("10de:2204\n", None),
        ("10de:.*..", None),
    ],
)
def test_pci_ids(id: str, entry: str | None) -> None:
    assert name_of(PCI_IDS, id) == entry
    assert name_of(PCI_IDS.replace("\n", "\r\n"), id) == entry


@pytest.mark.parametrize(
    ("entry", "chip", "name"),
    [
        ("GM204GL [Quadro M4000]", "GM204GL", "Quadro M4000"),
        ("GH100[H100 SXM5 80GB]", "GH100", "H100 SXM5 80GB"),
        (
            "GB202GL [RTX PRO 5000 Blackwell / RTX PRO 5000 72GB Blackwell]",
            "GB202GL",
            "RTX PRO 5000 Blackwell / RTX PRO 5000 72GB Blackwell",
        ),
        ("Aqua Vanjaram [Instinct MI300X]", "Aqua Vanjaram", "Instinct MI300X"),
        ("GA102 High Definition Audio Controller", "GA102", "GA102 High Definition Audio Controller"),
        ("GM204M", "GM204M", "GM204M"),
        ("ASPEED Graphics Family", None, "ASPEED Graphics Family"),
        ("Device", None, None),
        ("Device 2bb1", None, None),
        ("", None, None),
    ],
)
def test_chip_and_product_of_an_entry(entry: str, chip: str | None, name: str | None) -> None:
    assert split(entry) == (chip, name)


@given(st.text(), st.text(), st.text())
def test_no_text_raises(text: str, id: str, other: str) -> None:
    name_of(text, id)
    name_of(PCI_IDS + text, "10de:2204")
    split(text)
    compute_cap_of(text)
    lookup(id, other)
    describe(id, other, name=None, chip=text)
