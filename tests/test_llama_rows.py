"""llama-bench's JSON of three versions, cut, broken and hostile."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knaster.bench.llama_rows import NoRunError, read
from tests.llama_runs import GENERATION, LAYOUTS, PROMPT, output, row


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_version_is_read(layout: str) -> None:
    run = read(output(layout))
    assert run.whole
    assert [(one.test, one.rate, one.spread, one.seconds) for one in run.rows] == [
        ("pp512", 200.0, 1.5, 12.8),
        ("tg128", 16.0, 0.25, 40.0),
    ]
    assert {(one.ran_on, one.build, one.model_file, one.model_type) for one in run.rows} == {
        (("Quadro M4000",), "b5163 (8cf427ff)", "Mistral-7B-Instruct-v0.3-Q4_K_M.gguf", "llama 7B Q4_K - Medium")
    }
    assert [one.date for one in run.rows] == ["2026-11-28", "2026-11-29"]


def test_the_printer_of_the_tests_prints_json() -> None:
    for layout, fields in LAYOUTS.items():
        assert list(json.loads(output(layout))[0]) == [*fields, "samples_ns", "samples_ts"]


def test_the_published_example_is_read() -> None:
    """From llama.cpp's tools/llama-bench/README.md."""
    text = """[
  {
    "build_commit": "8cf427ff", "build_number": 5163, "cpu_info": "AMD Ryzen 7 7800X3D 8-Core Processor",
    "gpu_info": "NVIDIA GeForce RTX 4080", "backends": "CUDA",
    "model_filename": "models/Qwen2.5-7B-Instruct-Q4_K_M.gguf", "n_gpu_layers": -1, "devices": "auto",
    "n_prompt": 0, "n_gen": 128, "n_depth": 0, "test_time": "2025-04-24T11:58:51Z",
    "avg_ns": 1076767880, "stddev_ns": 9449585, "avg_ts": 118.881588, "stddev_ts": 1.041811,
    "samples_ns": [ 1075361300, 1065089400, 1071761200, 1081934900, 1089692600 ]
  }
]"""
    (one,) = read(text).rows
    assert (one.test, one.rate, one.spread, one.date) == ("tg128", 118.881588, 1.041811, "2025-04-24")
    assert one.seconds == pytest.approx(5.3838394)  # the sum of the samples
    assert one.ran_on == ("NVIDIA GeForce RTX 4080",)


@given(st.sampled_from(sorted(LAYOUTS)), st.integers(0, 4000))
def test_a_run_cut_anywhere_keeps_its_complete_rows(layout: str, at: int) -> None:
    text = output(layout)
    first, second = row(layout, PROMPT), row(layout, GENERATION)
    ends = [len("[\n" + first), len("[\n" + first + ",\n" + second)]
    cut = text[: min(at, len(text) - 3)]
    if "[" not in cut:
        with pytest.raises(NoRunError):
            read(cut)
        return
    run = read(cut)
    assert not run.whole
    assert len(run.rows) == sum(len(cut) >= end for end in ends)


def test_warnings_before_the_array_are_left_out() -> None:
    text = "warning: asserts enabled, performance may be affected\nggml_cuda_init: found 1 CUDA devices: [x]\n"
    assert len(read(text + output("2025")).rows) == 2


def test_what_c_prints_for_no_number_is_no_spread() -> None:
    text = output("2026", row("2026", GENERATION).replace('"stddev_ts": 0.250000', '"stddev_ts": -nan'))
    assert read(text).rows[0].spread is None
    text = output("2026", row("2026", GENERATION).replace('"avg_ts": 16.000000', '"avg_ts": inf'))
    with pytest.raises(NoRunError, match="row 1 has no number avg_ts above 0"):
        read(text)


@pytest.mark.parametrize(
    ("other", "ran_on"),
    [
        ({"gpu_info": ""}, ()),
        ({"n_gpu_layers": 0}, ()),
        ({"devices": "none"}, ()),
        ({"gpu_info": "Quadro M4000/Quadro P2000"}, ("Quadro M4000", "Quadro P2000")),
        ({"gpu_info": "Quadro M4000, Quadro P2000"}, ("Quadro M4000", "Quadro P2000")),
        ({"gpu_info": "Quadro M4000, Quadro P2000", "devices": "CUDA1"}, ("Quadro P2000",)),
        ({"gpu_info": "Quadro M4000, Quadro P2000", "split_mode": "none", "main_gpu": 1}, ("Quadro P2000",)),
        ({"gpu_info": "Quadro M4000", "split_mode": "none", "main_gpu": 7}, ()),
    ],
)
def test_the_cards_that_could_have_run(other: dict[str, Any], ran_on: tuple[str, ...]) -> None:
    assert read(output("2026", row("2026", GENERATION, **other))).rows[0].ran_on == ran_on


def test_a_build_without_cuda_ran_on_no_card() -> None:
    assert read(output("2024", row("2024", GENERATION, cuda=False))).rows[0].ran_on == ()


GOOD: dict[str, Any] = {"n_prompt": 0, "n_gen": 128, "avg_ts": 16.0, "gpu_info": "x", "model_filename": "m.gguf"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no JSON array"),
        ("<!DOCTYPE html><title>404</title>", "no JSON array"),
        ("{}", "no JSON array"),
        ("[1]", "line 1: a row is expected"),
        ("[[]]", "line 1: a row is expected"),
        ("[{}]", "row 1 has no text gpu_info"),
        ("[{} {}]", "row 1 has no text gpu_info"),
        (json.dumps([GOOD]).replace("}]", "} {}]"), "a comma is expected"),
        (json.dumps([{**GOOD, "avg_ts": "16.0"}]), "row 1 has no number avg_ts"),
        (json.dumps([{**GOOD, "avg_ts": True}]), "row 1 has no number avg_ts"),
        (json.dumps([{**GOOD, "avg_ts": 0}]), "row 1 has no number avg_ts above 0"),
        (json.dumps([{**GOOD, "avg_ts": -3}]), "row 1 has no number avg_ts above 0"),
        (json.dumps([{**GOOD, "avg_ts": 1e300}]), "row 1 has no number avg_ts above 0"),
        (json.dumps([{**GOOD, "avg_ts": None}]), "row 1 has no number avg_ts"),
        (json.dumps([{**GOOD, "avg_ts": float("nan")}]), "NaN is no number"),
        (json.dumps([{**GOOD, "avg_ts": float("inf")}]), "Infinity is no number"),
        (json.dumps([{**GOOD, "n_gen": "128"}]), "row 1 has no whole number n_gen"),
        (json.dumps([{**GOOD, "n_gen": -1}]), "row 1 has no whole number n_gen"),
        (json.dumps([{**GOOD, "n_gen": 1.5}]), "row 1 has no whole number n_gen"),
        (json.dumps([{**GOOD, "n_depth": []}]), "row 1 has no whole number n_depth"),
        (json.dumps([{**GOOD, "gpu_info": ["x"]}]), "row 1 has no text gpu_info"),
        (json.dumps([GOOD, {**GOOD, "model_filename": 3}]), "row 2 has no text model_filename"),
        (json.dumps([GOOD] * 1001), "more than 1000 rows"),
        ('[{"a": ' + "[" * 100_000 + "]" * 100_000 + "}]", "nested too deep"),
        ('[{"a": ' + "9" * 5000 + "}]", "cannot be one"),
        ('[{"a": tru}]', "line 1: Expecting value"),
    ],
)
def test_what_is_no_run_of_llama_bench_is_refused(text: str, message: str) -> None:
    with pytest.raises(NoRunError, match=message):
        read(text)


@given(st.text(alphabet='[]{}",:0n \n\\', max_size=60))
def test_anything_is_read_or_refused(text: str) -> None:
    try:
        read(text)
    except NoRunError:
        return


def test_a_large_text_without_an_end_is_read_in_time() -> None:
    """16 MiB, the bound of a file: one row that never ends."""
    assert read('[{"a": "' + "x" * 16_000_000).rows == ()
    assert read('[{"a": ' + '{"b": ' * 500 + '"' + '\\"' * 4_000_000).rows == ()


def test_hostile_builds_and_times_are_not_taken_over() -> None:
    odd = {
        **GOOD,
        "build_commit": "\x1b[31m",
        "build_number": 10**30,
        "test_time": "2026-99-99T00:00:00Z",
        "samples_ns": [1, "2"],
    }
    (one,) = read(json.dumps([odd])).rows
    assert (one.build, one.date, one.seconds) == (None, None, None)
