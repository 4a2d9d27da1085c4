"""`model plan` shows what the catalog knows of a row: measured figures in place of estimates, on like cards alone."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from knaster.cli import main
from knaster.model_plan.on_record import is_class
from knaster.model_plan.pools import CardClass
from tests.model_fleets import lay_model
from tests.model_truth import TRUTH

ROOT = Path(__file__).parent.parent
FIGURES = """\
    source: "{source}"
    precision: q4_k_m
    estimated:
      - {{metric: generation_rate_low, value: 12, unit: token/s, card: "Quadro P2000", source: "estimate"}}
      - {{metric: power, value: 75, unit: W, card: "Quadro P2000", source: "estimate"}}
      - {{metric: generation_rate, value: 60, unit: token/s, card: "RTX 4000 Ada Generation", source: "estimate"}}
    measured:
      - {{metric: generation_rate, value: 21.5, unit: token/s, spread: 0.25, card: "NVIDIA Quadro P2000", node: pve46,
         engine: llamacpp, date: "2026-11-02", source: "llama-bench 7000"}}
"""


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    """The real fleet, whose Qwen3-4B in q4_k_m lies in a folder and has figures on two types of cards."""
    for folder in ("inventory", "catalog"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    lay_model(tmp_path / "Qwen3-4B", TRUTH["Qwen/Qwen3-4B"].config)
    path = tmp_path / "catalog/models.yaml"
    text = path.read_text("utf-8")
    old = "    source: Qwen/Qwen3-4B\n    precision: q4_k_m\n"
    assert old in text
    path.write_text(text.replace(old, FIGURES.format(source=tmp_path / "Qwen3-4B")), "utf-8")
    return tmp_path


def asked(fleet: Path, *more: str) -> list[str]:
    return ["-C", str(fleet), "model", "plan", str(fleet / "Qwen3-4B"), "--context", "8k", *more]


def test_the_json_has_the_figures_of_each_row(fleet: Path) -> None:
    assert main(asked(fleet, "--format", "json", "-o", str(fleet / "answer.json"))) == 0
    rows: list[dict[str, Any]] = json.loads((fleet / "answer.json").read_text("utf-8"))["rows"]
    found = {(row["pool"], row["precision"]): row["figures"] for row in rows}
    model = {"model": "qwen3-4b-q4_k_m"}
    low = {"metric": "power", "value": 75, "unit": "W", "kind": "estimated"}
    run = {"metric": "generation_rate", "value": 21.5, "unit": "token/s", "kind": "measured", "spread": 0.25}
    where = {"node": "pve46", "engine": "llamacpp", "date": "2026-11-02", "source": "llama-bench 7000"}
    fast = {"metric": "generation_rate", "value": 60, "unit": "token/s", "kind": "estimated"}
    assert sorted(found["1 x p2000-5g", "q4_k_m"], key=lambda one: one["metric"]) == [
        {**model, **run, **where, "card": "NVIDIA Quadro P2000"},
        {**model, **low, "card": "Quadro P2000", "source": "estimate"},
    ]
    assert found["1 x rtx4000ada-20g", "q4_k_m"] == [
        {**model, **fast, "card": "RTX 4000 Ada Generation", "source": "estimate"}
    ]
    assert {row for row, figures in found.items() if figures} == {
        ("1 x p2000-5g", "q4_k_m"),
        ("1 x rtx4000ada-20g", "q4_k_m"),
    }, "not other precisions, nor several cards"


def test_people_read_which_figure_was_measured(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(asked(fleet)) == 0
    out = capsys.readouterr().out
    assert "generation rate 21.5 ± 0.25 token/s (measured 2026-11-02)" in out
    assert "power 75 W (estimated)" in out
    assert "generation rate low" not in out
    assert "1 x rtx4000ada-20g, q4_k_m under llamacpp: generation rate 60 token/s (estimated); qwen3-4b-q4_k_m" in out


@pytest.mark.parametrize(
    ("card", "same"),
    [
        ("NVIDIA A100-SXM4-80GB", True),
        ("NVIDIA A100-SXM4-40GB", False),
        ("NVIDIA A100-SXM4", True),
        ("a100sxm4-80g", True),
        ("NVIDIA A100-PCIE-80GB", False),
        ("Quadro P2000", False),
    ],
)
def test_a_figure_is_of_a_class_by_type_and_memory(card: str, same: bool) -> None:
    assert is_class(CardClass("a100sxm4-80g", "linux", 8.0, 80 * 2**30, 80 * 2**30), card) is same
