"""nvidia-smi: the right cards of each capture, the right cause of each failure, and no text that raises."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from knaster.cards.table import nominal_gb
from knaster.inventory.parsers.nvidia_smi import SmiGpu, query
from knaster.inventory.reading import Reading
from tests.captured import assert_sound, capture, captures, mutated

Card = tuple[int, str | None, int | None, int | None, float | None, str | None]
"""index, name, MiB, nominal GB, compute capability, driver"""

CAPTURES: dict[str, list[Card]] = {
    "single-4090.csv": [(0, "NVIDIA GeForce RTX 4090", 24564, 24, 8.9, "570.133.07")],
    "mixed-old-quadro.csv": [
        (0, "Quadro M4000", 8192, 8, 5.2, "535.261.03"),
        (1, "Quadro P2000", 5120, 5, 6.1, "535.261.03"),
    ],
    "l40s-ecc.csv": [(index, "NVIDIA L40S", 46068, 48, 8.9, "580.95.05") for index in range(2)],
    "a100-40-a10g.csv": [
        (0, "NVIDIA A100-SXM4-40GB", 40960, 40, 8.0, "550.54.15"),
        (1, "NVIDIA A10G", 23028, 24, 8.6, "550.54.15"),
    ],
    "a100-80-h100-h200.csv": [
        (0, "NVIDIA A100 80GB PCIe", 81920, 80, 8.0, "570.172.08"),
        (1, "NVIDIA H100 80GB HBM3", 81559, 80, 9.0, "570.172.08"),
        (2, "NVIDIA H100 NVL", 95830, 94, 9.0, "570.172.08"),
        (3, "NVIDIA H200", 143771, 141, 9.0, "570.172.08"),
    ],
    "sixteen-v100.csv": [(index, "Tesla V100-SXM3-32GB", 32768, 32, 7.0, "535.261.03") for index in range(16)],
    "rtx4000ada-p40.csv": [
        (0, "NVIDIA RTX 4000 Ada Generation", 20475, 20, 8.9, "535.288.01"),
        (1, "Tesla P40", 23040, 24, 6.1, "535.288.01"),
    ],
    "gh200-name-trap.csv": [(0, "NVIDIA GH200 480GB", 97871, 96, 9.0, "550.90.07")],
    "modded-2080ti-22g.csv": [(0, "NVIDIA GeForce RTX 2080 Ti", 22528, 22, 7.5, "550.163.01")],
    "mig-host.csv": [(index, "NVIDIA A100-SXM4-40GB", 40960, 40, 8.0, "525.105.17") for index in range(2)],
    "name-with-comma-and-quote.csv": [(0, 'Weird, Card "X" 24GB', 24564, 24, 8.9, "550.163.01")],
    "header-and-units.csv": [(0, "NVIDIA L4", 23034, 24, 8.9, "560.35.03")],
    "../windows/nvidia-smi-two-gpus.csv": [(index, "NVIDIA RTX A4000", 16376, 16, 8.6, "553.62") for index in range(2)],
}

TEXTS: dict[str, list[Card]] = {
    "0, NVIDIA RTX A1000, 6141, 8.6, 573.24": [(0, "NVIDIA RTX A1000", 6141, 6, 8.6, "573.24")],
    "\n0, Tesla T4, 15360, 7.5, 550.163.01\n": [(0, "Tesla T4", 15360, 16, 7.5, "550.163.01")],
    "1, B, 24576, 8.6, 550\n0, A, 6144, 6.1, 550\n": [(0, "A", 6144, 6, 6.1, "550"), (1, "B", 24576, 24, 8.6, "550")],
    "\ufeff0, NVIDIA L4, 23034, 8.9, 560.35.03\r\n": [(0, "NVIDIA L4", 23034, 24, 8.9, "560.35.03")],
    "3, NVIDIA L4, 23034, 8.9, 560.35.03": [(3, "NVIDIA L4", 23034, 24, 8.9, "560.35.03")],
}

WARNED: dict[str, tuple[int, list[Card], list[str]]] = {
    capture("nvidia-smi/mig-container-permission.csv"): (
        0,
        [(0, "NVIDIA A100-SXM4-80GB", None, None, 8.0, "535.161.08")],
        ["gpus[0].memory_mib: nvidia-smi printed [Insufficient Permissions]"],
    ),
    capture("nvidia-smi/gpu-lost-midway.csv"): (
        0,
        [
            (0, "NVIDIA GeForce RTX 3090", 24576, 24, 8.6, "550.163.01"),
            (1, None, None, None, None, "550.163.01"),
            (2, "NVIDIA GeForce RTX 3090", 24576, 24, 8.6, "550.163.01"),
        ],
        [f"gpus[1].{field}: nvidia-smi printed [GPU is lost]" for field in ("name", "memory_mib", "compute_cap")],
    ),
    capture("nvidia-smi/warning-after-rows.csv"): (
        14,
        [(0, "Quadro P4000", 8192, 8, 6.1, "535.261.03")],
        ["nvidia-smi: WARNING: infoROM is corrupted at gpu 0000:B3:00.0"],
    ),
    "0, Quadro P4000, 8192, 6.1, 535.261.03\n": (
        14,
        [(0, "Quadro P4000", 8192, 8, 6.1, "535.261.03")],
        ["nvidia-smi: status 14, a corrupt infoROM"],
    ),
    "0, NVIDIA A100-SXM4-40GB, [Insufficient Permissions], 8.0, 510.47.03": (
        0,
        [(0, "NVIDIA A100-SXM4-40GB", None, None, 8.0, "510.47.03")],
        ["gpus[0].memory_mib: nvidia-smi printed [Insufficient Permissions]"],
    ),
    "0, NVIDIA H100L-2-24C, 24576, [N/A], 570.158.01": (
        0,
        [(0, "NVIDIA H100L-2-24C", 24576, 24, None, "570.158.01")],
        ["gpus[0].compute_cap: nvidia-smi printed [N/A]"],
    ),
    "0, X, 24576, 8.6, 550\n2, X, N/A, 8.6, 550": (
        0,
        [(0, "X", 24576, 24, 8.6, "550"), (2, "X", None, None, 8.6, "550")],
        [
            "gpus[2].memory_mib: nvidia-smi printed N/A",
            "gpus[1]: nvidia-smi leaves this card out (no permission, or not found)",
        ],
    ),
    "0, X, 0, 8.6, 550": (0, [(0, "X", None, None, 8.6, "550")], ["gpus[0].memory_mib: nvidia-smi printed 0"]),
}

FAILED: list[tuple[str, int, str, str]] = [
    (capture("nvidia-smi/compute-cap-invalid-field.txt"), 2, "unsupported-field", "compute_cap"),
    (capture("nvidia-smi/no-devices-permission.txt"), 4, "no-permission", "readable by current user"),
    (capture("nvidia-smi/no-driver.txt"), 9, "driver-not-loaded", "couldn't communicate"),
    (capture("nvidia-smi/version-mismatch.txt"), 18, "version-mismatch", "550.163"),
    (capture("nvidia-smi/wsl-blocked.txt"), 17, "blocked-by-os", "blocked by the operating system"),
    (capture("nvidia-smi/gpu-lost-all-rows-gone.txt"), 15, "gpu-lost", "0000:41:00.0 does not answer"),
    (capture("nvidia-smi/truncated-row.csv"), 0, "malformed", "expected 5 fields, got 2 on line 2"),
    (capture("nvidia-smi/truncated-row.csv"), -15, "killed", "-15"),
    (capture("nvidia-smi/not-found-shell.txt"), 1, "tool-missing", "not recognized"),
    (capture("nvidia-smi/not-found-shell.txt"), 9009, "tool-missing", "not recognized"),
    (capture("nvidia-smi/driver390-not-supported.csv"), 0, "malformed", "expected 5 fields, got 4 on line 1"),
    ("NVIDIA-SMI couldn't find libnvidia-ml.so library in your system.\nPlease …", 12, "library-missing", "libnvidia"),
    ("Unable to determine the device handle for GPU0000:0B:00.0: Unknown Error\n", 255, "gpu-lost", "0000:0b:00.0"),
    ("Failed to initialize NVML: Unknown Error\n", 255, "unknown-error", "Unknown Error"),
    ("sh: 1: nvidia-smi: not found\n", 127, "tool-missing", "not found"),
    ("", 127, "tool-missing", "127"),
    ("Der Befehl ist entweder falsch geschrieben oder\n", 9009, "tool-missing", "9009"),
    ("", 9, "driver-not-loaded", "status 9"),
    ("", 0, "malformed", "no card, and no reason"),
    ("\n \n", 0, "malformed", "no card, and no reason"),
    ("+-----------------------------------+\n| NVIDIA-SMI 560.35.03", 139, "killed", "139"),
    ("+-----------------------------------+\n| NVIDIA-SMI 560.35.03", 0, "malformed", "line 1"),
    ("", 3221225477, "killed", "3221225477"),
    ("0, A, 24576, 8.6, 550\n1, B\n2, C, 24576, 8.6, 550\n", 0, "malformed", "expected 5 fields, got 2 on line 2"),
    ("0, A, 24576, 8.6, 550\n0, B, 24576, 8.6, 550\n", 0, "malformed", "index 0 comes twice on line 2"),
    ("0, A, 24576, 8.6, 550.163.01\n1, A, 24576, 8.6, 550.1", 0, "malformed", "550.1 after 550.163.01 on line 2"),
    ("0, A, 24576, 8.6, 550.\n", 0, "malformed", "550."),
    ("0, A, 24 GiB, 8.6, 550\n", 0, "malformed", "24 GiB"),
    ("0, A, 24576, 86, 550\n", 0, "malformed", "86"),
    ("0, A, -1, 8.6, 550\n", 0, "malformed", "-1"),
    ("0, A, 9999999, 8.6, 550\n", 0, "malformed", "9999999"),
    ("٣, A, 24576, 8.6, 550\n", 0, "malformed", "no index"),
    ("index, name, memory.total [MiB], driver_version\n0, A, 24576 MiB, 550\n", 0, "malformed", "line 1"),
    ("0, A, 24576, 8.6, 550\n", 15, "gpu-lost", "status 15"),
    ("0, A, 24576, 8.6, 550\n", 6, "unknown-error", "status 6"),
    ("No devices were found\n", 255, "unknown-error", "No devices were found"),
]


def cards(reading: Reading[tuple[SmiGpu, ...]]) -> list[Card]:
    """The cards of a reading as rows of the tables above."""
    assert reading.value is not None, reading.problem
    return [
        (
            gpu.index,
            gpu.name,
            gpu.memory_mib,
            gpu.memory_mib and nominal_gb(gpu.memory_mib),
            gpu.compute_cap,
            gpu.driver,
        )
        for gpu in reading.value
    ]


@pytest.mark.parametrize("name", CAPTURES)
def test_captures(name: str) -> None:
    reading = query(capture(f"nvidia-smi/{name}"))
    assert cards(reading) == CAPTURES[name]
    assert reading.warnings == ()


@pytest.mark.parametrize("text", TEXTS)
def test_texts(text: str) -> None:
    reading = query(text)
    assert cards(reading) == TEXTS[text]
    assert reading.warnings == ()


@pytest.mark.parametrize("text", WARNED)
def test_unknown_is_null_with_a_warning_and_the_row_stays(text: str) -> None:
    status, right, warnings = WARNED[text]
    reading = query(text, status)
    assert cards(reading) == right
    assert list(reading.warnings) == warnings


@pytest.mark.parametrize(("text", "status", "cause", "words"), FAILED)
def test_failures(text: str, status: int, cause: str, words: str) -> None:
    reading = query(text, status)
    assert reading.value is None
    assert reading.problem
    assert reading.problem.cause == cause
    assert words in reading.problem.message


TOLD = [(text, cause) for text, _, cause, words in FAILED if cause not in ("killed", "malformed") and words in text]


@pytest.mark.parametrize(("text", "cause"), [row for row in TOLD if row[0] != "No devices were found\n"])
def test_a_failure_is_told_by_its_sentence_when_the_status_got_lost(text: str, cause: str) -> None:
    problem = query(text).problem
    assert problem
    assert problem.cause == cause
    assert problem.line == 1


@pytest.mark.parametrize("status", [6, 0])
def test_no_devices_is_an_empty_value(status: int) -> None:
    assert query("No devices were found\n", status) == Reading(())


def test_the_form_of_four_fields() -> None:
    assert cards(query(capture("nvidia-smi/old-driver-4fields.csv"), compute_cap=False)) == [
        (0, "Tesla T4", 15109, 16, None, "450.248.02"),
        (1, "Tesla P40", 22919, 24, None, "450.248.02"),
        (2, "Quadro P2000", 5059, 5, None, "450.248.02"),
        (3, "A100-SXM4-40GB", 40536, 40, None, "450.248.02"),
    ]
    reading = query(capture("nvidia-smi/driver390-not-supported.csv"), compute_cap=False)
    assert cards(reading) == [
        (0, "GeForce GT 710", 981, 1, None, None),
        (1, "GeForce GTX 1070 Ti", 8119, 8, None, "390.157"),
    ]
    assert reading.warnings == ("gpus[0].driver: nvidia-smi printed [Not Supported]",)
    assert query("0, NVIDIA L4, 23034, 8.9, 560.35.03", compute_cap=False).problem


@pytest.mark.parametrize(("memory", "mib"), [("[N/A]", None), ("124610", 124610)])
def test_gb10_shares_the_memory_of_the_system(memory: str, mib: int | None) -> None:
    value = query(f"0, NVIDIA GB10, {memory}, 12.1, 580.126.09").value
    assert value == (SmiGpu(0, "NVIDIA GB10", mib, 12.1, "580.126.09", unified=True),)


@pytest.mark.parametrize("name", ["NVIDIA GB100", "NVIDIA GB10B", "NVIDIA GB200", "NVIDIA GH200 480GB"])
def test_others_have_their_own_memory(name: str) -> None:
    value = query(f"0, {name}, 97871, 10.0, 580.126.09").value
    assert value
    assert not value[0].unified


TOKENS = """N/A, Not Supported, Insufficient Permissions, Unknown Error, GPU is lost, GPU requires reset, Timeout,
Not Found, Function Not Found, Driver Not Loaded, Invalid Argument"""


@pytest.mark.parametrize("token", [f"[{words.strip()}]" for words in TOKENS.split(",")])
def test_every_token_in_every_field(token: str) -> None:
    reading = query(f"0, {token}, {token}, {token}, {token}")
    assert reading.value == (SmiGpu(0, None, None, None, None),)
    fields = ("name", "memory_mib", "compute_cap", "driver")
    assert reading.warnings == tuple(f"gpus[0].{field}: nvidia-smi printed {token}" for field in fields)


STATUSES = st.sampled_from([0, 0, 0, 1, 2, 4, 6, 9, 12, 14, 15, 17, 18, 124, 127, 139, 255, 9009, -11, 10**12])


@given(st.text() | mutated(captures("nvidia-smi")), STATUSES, st.booleans())
@example("0, \x1b[31mred, 1, 8.6, 550", 0, True)
@example("0, " + "x" * 5000 + ", 1, 8.6, 550", 0, True)
@example("WARNING " + "\x07" * 5000, 0, True)
def test_no_text_raises(text: str, status: int, compute_cap: bool) -> None:
    reading = query(text, status, compute_cap=compute_cap)
    assert_sound(reading)
    for gpu in reading.value or ():
        assert 0 <= gpu.index <= 255
        assert gpu.memory_mib is None or 0 < gpu.memory_mib <= 1 << 22
        assert gpu.compute_cap is None or 1 <= gpu.compute_cap < 100
        assert gpu.name is None or 0 < len(gpu.name) <= 120
