"""rocm-smi, amd-smi and xpu-smi: the cards of each capture, and no text that raises."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings

from knaster.inventory.parsers.amd import amd_smi, rocm_smi
from knaster.inventory.parsers.intel import xpu_smi
from knaster.inventory.parsers.vendor import VendorGpu
from knaster.inventory.reading import Reading
from tests.captured import assert_count, assert_sound, capture, hostile

MI300X = VendorGpu(0, "AMD Instinct MI300X", 196592, "dedicated", "0000:05:00.0", "gfx942")


def card(reading: Reading[tuple[VendorGpu, ...]]) -> VendorGpu:
    """The only card."""
    assert reading.value is not None, reading.problem
    assert len(reading.value) == 1
    return reading.value[0]


def cause(reading: Reading[tuple[VendorGpu, ...]]) -> str:
    """The cause of the problem; there is one."""
    assert reading.problem
    return reading.problem.cause


def test_rocm_smi() -> None:
    reading = rocm_smi(capture("amd/rocm-smi.json"))
    assert reading.value == (VendorGpu(0, "Radeon RX 7900 XTX", 24560, "dedicated", None, "gfx1100"),)
    assert reading.warnings == ()


def test_rocm_smi_with_a_processor_s_own_graphics() -> None:
    """``system`` is no card, and 512 MiB are a carve-out."""
    reading = rocm_smi(capture("amd/rocm-smi-with-igpu.json"))
    assert reading.value == (
        VendorGpu(0, "Navi 21 [Radeon PRO W6800 / test card]", 16368, "dedicated"),
        VendorGpu(1, "Raphael", 512, "unified"),
    )


def test_amd_smi_list() -> None:
    reading = amd_smi(capture("amd/amd-smi-static-list.json"))
    assert reading.value == (MI300X,)
    assert reading.warnings == ()


def test_amd_smi_gpu_data_with_a_useless_market_name() -> None:
    reading = amd_smi(capture("amd/amd-smi-static-gpu_data.json"))
    assert reading.value
    assert reading.value[0].name == "AMD Instinct MI300X OAM"
    assert (reading.value[0].memory_mib, reading.value[0].pci_address) == (196592, "0000:05:00.0")
    assert reading.warnings == ()


def test_warnings_before_the_json() -> None:
    """easybuild#5155; Python's own warnings before amd-smi's output."""
    reading = rocm_smi('WARNING: AMD GPU device(s) is/are in a low-power state.\n\n{"card0":{}}\n')
    assert card(reading) == VendorGpu(0, None, None)
    assert reading.warnings == (
        "WARNING: AMD GPU device(s) is/are in a low-power state.",
        "gpus[0].name: rocm-smi printed null",
        "gpus[0].memory_mib: rocm-smi printed null",
    )
    noise = "interface.py:3569: SyntaxWarning: 'return' in a 'finally' block\n  return return_dictionary\n"
    reading = amd_smi(noise + capture("amd/amd-smi-static-list.json"))
    assert reading.value == (MI300X,)
    assert len(reading.warnings) == 2


@pytest.mark.parametrize("text", ['{"gpu_data":[{"gpu":0}]}', '[{"gpu":0}]', '{"gpu":0}'])
def test_both_shapes_of_amd_smi(text: str) -> None:
    """rules_mojo#45; missing keys are null with warnings."""
    reading = amd_smi(text)
    assert card(reading) == VendorGpu(0, None, None)
    assert len(reading.warnings) == 2


@pytest.mark.parametrize(
    ("size", "mib"),
    [
        ({"value": 196592, "unit": "MB"}, 196592),
        ({"value": "196592", "unit": "MiB"}, 196592),
        ({"value": 192, "unit": "GB"}, 196608),
        ({"value": 25753026560, "unit": "B"}, 24560),
        ("196592 MB", 196592),
        (196592, 196592),
        ("N/A", None),
        ({"value": "N/A", "unit": "MB"}, None),
        ({"value": 5, "unit": "furlong"}, None),
        ({"value": 0, "unit": "MB"}, None),
        ({"value": 5, "unit": 5}, None),
        ([], None),
    ],
)
def test_sizes_of_amd_smi(size: object, mib: int | None) -> None:
    row = {"gpu": 0, "asic": {"market_name": "AMD Instinct MI300X"}, "vram": {"size": size}}
    reading = amd_smi(json.dumps([row]))
    assert card(reading).memory_mib == mib
    assert bool(reading.warnings) == (mib is None)


@pytest.mark.parametrize(
    ("market", "product", "name"),
    [
        ("AMD Radeon Graphics", "AMD Radeon RX 9070 XT", "AMD Radeon RX 9070 XT"),
        ("0x74a1", "AMD Instinct MI300X OAM", "AMD Instinct MI300X OAM"),
        ("AMD Radeon Graphics", "N/A", "AMD Radeon Graphics"),
        ("0x74a1", "N/A", None),
        (None, 5, None),
    ],
)
def test_names_of_amd_smi(market: object, product: object, name: str | None) -> None:
    row = {"gpu": 0, "asic": {"market_name": market}, "board": {"product_name": product}}
    assert card(amd_smi(json.dumps([row]))).name == name


def test_keys_of_an_older_rocm_smi() -> None:
    fields = {"Card series": "Instinct MI210", "VRAM Total Memory (B)": 68702699520, "PCI Bus": "0000:C9:00.0"}
    assert card(rocm_smi(json.dumps({"card10": fields}))) == VendorGpu(
        10, "Instinct MI210", 65520, "dedicated", "0000:c9:00.0"
    )


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"Card Series": "Raphael", "VRAM Total Memory (B)": str(8 << 30)}, "unified"),
        ({"Card Series": "x", "GFX Version": "gfx1151", "VRAM Total Memory (B)": str(96 << 30)}, "unified"),
        ({"Card Series": "AMD Radeon 780M Graphics", "VRAM Total Memory (B)": str(4 << 30)}, "unified"),
        ({"Card Series": "AMD Instinct MI300A", "VRAM Total Memory (B)": str(128 << 30)}, "unified"),
        ({"Card Series": "x", "VRAM Total Memory (B)": str(512 << 20)}, "unified"),
        ({"Card Series": "AMD Instinct MI300X", "GFX Version": "gfx942"}, "dedicated"),
        ({"Card Series": "Radeon RX 7600M XT", "VRAM Total Memory (B)": str(8 << 30)}, "dedicated"),
        ({"Card Series": "Radeon RX 6400", "GFX Version": "gfx1034"}, "dedicated"),
    ],
)
def test_kinds(fields: dict[str, str], kind: str) -> None:
    assert card(rocm_smi(json.dumps({"card0": fields}))).kind == kind


def test_xpu_smi_without_memory() -> None:
    """xpumanager#169."""
    reading = xpu_smi(capture("intel/xpu-smi-na.json"))
    assert reading.value == (VendorGpu(0, "Intel(R) Arc(TM) A310 LP Graphics", None),)
    assert reading.warnings == ("gpus[0].memory_mib: xpu-smi printed N/A",)


def test_xpu_smi() -> None:
    rows: list[dict[str, Any]] = [
        {
            "device_id": 1,
            "device_name": "Intel(R) Arc(TM) Pro B60 Graphics",
            "memory_physical_size_byte": "22454206464",
            "pci_bdf_address": "0000:03:00.0",
        },
        {"device_id": 0, "device_name": "Intel(R) UHD Graphics 770", "memory_physical_size_byte": str(60 << 30)},
        {"device_id": 2, "device_function_type": "virtual"},
    ]
    reading = xpu_smi(json.dumps({"device_list": rows}))
    assert reading.value == (
        VendorGpu(0, "Intel(R) UHD Graphics 770", 61440, "unified"),
        VendorGpu(1, "Intel(R) Arc(TM) Pro B60 Graphics", 21414, "dedicated", "0000:03:00.0"),
    )
    assert reading.warnings == ()
    assert card(xpu_smi(json.dumps(rows[0]))).index == 1


@pytest.mark.parametrize(
    ("name", "address", "kind"),
    [
        ("Intel(R) Data Center GPU Max 1550", "0000:2a:00.0", "dedicated"),
        ("Intel(R) Iris(R) Xe MAX Graphics", "0000:03:00.0", "dedicated"),
        ("Intel(R) Iris(R) Xe Graphics", "0000:00:02.0", "unified"),
        ("Intel(R) Arc(TM) Graphics", "N/A", "unified"),
        ("Intel(R) Arc(TM) 140V GPU", "N/A", "unified"),
        ("Intel(R) Graphics [0x7d55]", "0000:00:02.0", "unified"),
    ],
)
def test_kinds_of_intel(name: str, address: str, kind: str) -> None:
    row = {"device_id": 0, "device_name": name, "pci_bdf_address": address}
    assert card(xpu_smi(json.dumps({"device_list": [row]}))).kind == kind


def test_no_cards() -> None:
    assert rocm_smi("{}").value == ()
    assert amd_smi("[]").value == ()
    assert xpu_smi('{"device_list": []}').value == ()


@pytest.mark.parametrize(
    ("reading", "expected"),
    [
        (rocm_smi(""), "empty"),
        (rocm_smi("ERROR:root:Driver not initialized (amdgpu not found in modules)\n"), "driver-not-loaded"),
        (rocm_smi("bash: rocm-smi: command not found\n"), "tool-missing"),
        (rocm_smi("[]"), "malformed"),
        (rocm_smi('{"card0": null}'), "malformed"),
        (rocm_smi('{"card0": {}, "Card0": {}}'), "malformed"),
        (rocm_smi('{"card0": {"VRAM Total Memory (B)": "24'), "malformed"),
        (amd_smi('{"gpu_data": null}'), "malformed"),
        (amd_smi("{}"), "malformed"),
        (amd_smi("[1]"), "malformed"),
        (amd_smi('[{"gpu": 0}, {"gpu": 0}]'), "malformed"),
        (amd_smi('[{"gpu": 0}]\n[{"gpu": 1}]'), "malformed"),
        (xpu_smi('{"error": "Level Zero Initialization Error", "errno": 5}'), "failed"),
        (xpu_smi('{"device_list": {}}'), "malformed"),
        (xpu_smi("null"), "malformed"),
    ],
)
def test_problems(reading: Reading[tuple[VendorGpu, ...]], expected: str) -> None:
    assert cause(reading) == expected


def test_a_problem_names_its_line_behind_noise() -> None:
    reading = amd_smi('WARNING: x\n[\n  {"gpu": NaN}\n]\n')
    assert reading.problem
    assert reading.problem.line == 2
    reading = amd_smi('WARNING: x\n[\n  {"gpu": -}\n]\n')
    assert reading.problem
    assert reading.problem.line == 3


ROCM = ["Card Series", "Card model", "VRAM Total Memory (B)", "GFX Version", "PCI Bus", "card0", "card7", "system"]
AMD = ["gpu", "asic", "board", "vram", "bus", "market_name", "product_name", "size", "value", "unit", "bdf", "gpu_data"]
INTEL = ["device_id", "device_name", "memory_physical_size_byte", "pci_bdf_address", "device_list", "error"]


def check(reading: Reading[tuple[VendorGpu, ...]]) -> None:
    """Sound, and every card has a place, a size in bounds and no name that is empty."""
    assert_sound(reading)
    for gpu in reading.value or ():
        assert 0 <= gpu.index <= 999
        assert_count(gpu.memory_mib, 4194304)
        assert gpu.name is None or 1 <= len(gpu.name) <= 120


@settings(deadline=None)
@given(hostile("amd", ROCM, lambda row: {"card0": row, "card1": row, "system": row}))
def test_rocm_smi_never_raises(text: str) -> None:
    check(rocm_smi(text))


@settings(deadline=None)
@given(hostile("amd", AMD, lambda rows: {"gpu_data": rows}))
def test_amd_smi_never_raises(text: str) -> None:
    check(amd_smi(text))


@settings(deadline=None)
@given(hostile("intel", INTEL, lambda rows: {"device_list": rows}))
def test_xpu_smi_never_raises(text: str) -> None:
    check(xpu_smi(text))
