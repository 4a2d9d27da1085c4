"""Public bug reports on hardware collection whose class no parser's own tests hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from knaster.cards.table import nominal_gb
from knaster.cli import main
from knaster.inventory.assemble import profile
from knaster.inventory.capture import Section, render
from knaster.inventory.parsers import amd, lscpu, nvidia_smi
from tests.stubs import linux

MISMATCH = "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.163\n"


def test_a_bare_dash_is_no_json() -> None:
    """util-linux#3430, #3758: ``lscpu -e -J``."""
    problem = lscpu.parse('{"cpus":[{"node": -}]}').problem
    assert problem
    assert (problem.cause, problem.line) == ("malformed", 1)


def test_bytes_are_not_megabytes() -> None:
    """GFD#26, k8s-device-plugin#1222: 42505273344 bytes were shipped as MB; a unit is in each field's name."""
    (card,) = amd.rocm_smi(json.dumps({"card0": {"VRAM Total Memory (B)": "42505273344"}})).value or ()
    assert (card.memory_mib, nominal_gb(card.memory_mib or 1)) == (40536, 40)


def test_mixed_cards_keep_their_place_on_the_bus() -> None:
    """gpustack#1633, Device-SMI#40: nvidia-smi counts along the bus, CUDA by speed."""
    sections = linux(
        nvidia_smi="0, NVIDIA GeForce GTX 1060 6GB, 6144, 6.1, 550.163.01\n"
        "1, NVIDIA GeForce RTX 3090, 24576, 8.6, 550.163.01\n",
        nvidia_smi_identity="0, GPU-7f9c2b1e-3d44-4c5a-9a1b-0c2d3e4f5a6b, 00000000:01:00.0\n"
        "1, GPU-11111111-2222-3333-4444-555555555555, 00000000:41:00.0\n",
    )
    found = profile(sections).value
    assert found
    cards: Any = found["gpus"]
    assert [(card["index"], card["memory_gb"], card["pci"]["address"]) for card in cards] == [
        (0, 6, "0000:01:00.0"),
        (1, 24, "0000:41:00.0"),
    ]


def test_a_mismatch_is_told_on_standard_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """gpustat#147: nothing was printed at all."""
    monkeypatch.chdir(tmp_path)
    Path("box1.capture").write_text(render(linux(nvidia_smi=Section(MISMATCH, 18))), "utf-8")
    assert main(["inventory", "collect", "--from", "box1.capture"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "required fact missing: gpus (nvidia-smi" in err
    assert "550.163" in err


@pytest.mark.parametrize("text", ['[{"gpu": 0}]', '{"gpu": 0}'])
def test_a_list_or_an_object_and_a_record_without_its_keys(text: str) -> None:
    """netbox-agent#237, #183, #117, #334: both shapes, and a missing product is null with a warning."""
    reading = amd.amd_smi(text)
    assert [(card.name, card.memory_mib) for card in reading.value or ()] == [(None, None)]
    assert [said.partition(":")[0] for said in reading.warnings] == ["gpus[0].name", "gpus[0].memory_mib"]


def test_a_segfault_is_no_empty_list() -> None:
    """WSL#11277: the head of the table, then the signal's end."""
    for status in (139, -11):
        problem = nvidia_smi.query("+-----------------------------------+\n", status).problem
        assert problem
        assert problem.cause == "killed"
