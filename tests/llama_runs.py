"""What ``llama-bench -o json`` prints, as its source prints it, at three commits; and programs that stand for it.

2024: github.com/PatriceVignola/llama.cpp (upstream's file in a fork) at 8199d169f893b9f2d1d9e07d9ff6cc05e60b17c2
2025: github.com/ggml-org/llama.cpp at 20e30b2534604c1790e0557b6f17d4fc31e93931, examples/llama-bench
2026: github.com/ggml-org/llama.cpp at 0104b151c56d54143e2e3554aabe9e2b2b8dbdba, tools/llama-bench

Each is ``test::get_fields`` in its order, printed by ``json_printer``: texts in quotes, booleans as words, ``avg_ts``
by ``std::to_string`` (six decimals), the samples behind. The figures are those of a run of two tests.
"""

from __future__ import annotations

import json
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_2024 = (
    *("build_commit", "build_number"),
    *("cuda", "opencl", "vulkan", "kompute", "metal", "sycl", "gpu_blas", "blas", "directml"),
    *("cpu_info", "gpu_info", "model_filename", "model_type", "model_size", "model_n_params"),
    *("n_batch", "n_threads", "type_k", "type_v", "n_gpu_layers", "split_mode", "main_gpu", "no_kv_offload"),
    *("mul_mat_q", "tensor_split", "use_mmap", "n_prompt", "n_gen", "test_time"),
    *("avg_ns", "stddev_ns", "avg_ts", "stddev_ts"),
)
_2025 = (
    *("build_commit", "build_number", "cpu_info", "gpu_info", "backends", "model_filename", "model_type", "model_size"),
    *("model_n_params", "n_batch", "n_ubatch", "n_threads", "cpu_mask", "cpu_strict", "poll", "type_k", "type_v"),
    *("n_gpu_layers", "split_mode", "main_gpu", "no_kv_offload", "flash_attn", "tensor_split"),
    *("tensor_buft_overrides", "use_mmap", "embeddings", "n_prompt", "n_gen", "n_depth", "test_time"),
    *("avg_ns", "stddev_ns", "avg_ts", "stddev_ts"),
)
_2026 = (
    *("build_commit", "build_number", "cpu_info", "gpu_info", "backends", "model_filename", "model_type", "model_size"),
    *("model_n_params", "n_batch", "n_ubatch", "n_threads", "cpu_mask", "cpu_strict", "poll", "type_k", "type_v"),
    *("n_gpu_layers", "n_cpu_moe", "split_mode", "main_gpu", "no_kv_offload", "flash_attn", "devices"),
    *("tensor_split", "tensor_buft_overrides", "load_mode", "embeddings", "no_op_offload", "no_host"),
    *("fit_target", "fit_min_ctx", "n_prompt", "n_gen", "n_depth", "test_time"),
    *("avg_ns", "stddev_ns", "avg_ts", "stddev_ts"),
)
LAYOUTS: Mapping[str, tuple[str, ...]] = {"2024": _2024, "2025": _2025, "2026": _2026}

_VALUES: dict[str, Any] = {
    "build_commit": "8cf427ff",
    "build_number": 5163,
    **dict.fromkeys(("opencl", "vulkan", "kompute", "metal", "sycl", "blas", "directml"), False),
    **{"cuda": True, "gpu_blas": True},
    "cpu_info": "Intel(R) Xeon(R) CPU E5-1650 v3 @ 3.50GHz",
    "gpu_info": "Quadro M4000",
    "backends": "CUDA",
    "model_filename": "/models/Mistral-7B-Instruct-v0.3-Q4_K_M.gguf",
    "model_type": "llama 7B Q4_K - Medium",
    "model_size": 4372062208,
    "model_n_params": 7248023552,
    **{"n_batch": 2048, "n_ubatch": 512, "n_threads": 6, "cpu_mask": "0x0", "cpu_strict": False, "poll": 50},
    **{"type_k": "f16", "type_v": "f16", "n_gpu_layers": 99, "n_cpu_moe": 0, "split_mode": "layer", "main_gpu": 0},
    **{"no_kv_offload": False, "mul_mat_q": True, "flash_attn": False, "devices": "auto", "tensor_split": "0.00"},
    **{"tensor_buft_overrides": "none", "use_mmap": True, "load_mode": "mmap", "embeddings": False},
    **{"no_op_offload": 0, "no_host": False, "fit_target": 0, "fit_min_ctx": 0, "n_depth": 0},
}

PROMPT = {"n_prompt": 512, "n_gen": 0, "test_time": "2026-11-28T23:58:50Z", "avg_ns": 2_560_000_000, "stddev_ns": 1}
PROMPT |= {"avg_ts": 200.0, "stddev_ts": 1.5, "samples": [2_560_000_000] * 5}
GENERATION = {"n_prompt": 0, "n_gen": 128, "test_time": "2026-11-29T00:01:10Z", "avg_ns": 8_000_000_000, "stddev_ns": 1}
GENERATION |= {"avg_ts": 16.0, "stddev_ts": 0.25, "samples": [8_000_000_000] * 5}


def row(layout: str, test: Mapping[str, Any], **other: Any) -> str:
    """One row as ``json_printer::print_test`` writes it, without what stands between rows."""
    values = {**_VALUES, **test, **other}
    if layout == "2026":
        values["flash_attn"] = -1
    lines = [f'    "{field}": {_value(field, values[field])},\n' for field in LAYOUTS[layout]]
    rates = ", ".join(f"{(values['n_prompt'] + values['n_gen']) * 1e9 / one:g}" for one in values["samples"])
    samples = ", ".join(map(str, values["samples"]))
    return f'  {{\n{"".join(lines)}    "samples_ns": [ {samples} ],\n    "samples_ts": [ {rates} ]\n  }}'


def _value(field: str, value: Any) -> str:
    return f"{value:.6f}" if field in ("avg_ts", "stddev_ts") and isinstance(value, float) else json.dumps(value)


def output(layout: str, *rows: str) -> str:
    """A whole array; by default of a test of prompts and one of generation."""
    return "[\n" + ",\n".join(rows or (row(layout, PROMPT), row(layout, GENERATION))) + "\n]\n"


def program(folder: Path, name: str, body: str) -> Path:
    """An executable Python program `name` in `folder`."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!{sys.executable} -IS\nimport os, sys, time\n{body}", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def llama_bench(folder: Path, *parts: str, end: str = "") -> Path:
    """A llama-bench that prints these parts, flushing each, and does `end` then; it leaves its arguments in a file."""
    told = f"open({str(folder / 'told')!r}, 'w').write(repr((sys.argv[1:], os.environ.get('CUDA_VISIBLE_DEVICES'))))\n"
    prints = "".join(f"sys.stdout.write({part!r}); sys.stdout.flush()\n" for part in parts)
    return program(folder, "llama-bench", f"{told}{prints}{end}\n")


UUID = "GPU-0a1b2c3d-0000-4000-8000-000000000000"


def nvidia_smi(folder: Path, power: str = "print('96.40')", cards: str = f"0, {UUID}, Quadro M4000") -> Path:
    """An nvidia-smi that lists `cards` and does `power` where it is asked for that."""
    body = f"if any('power.draw' in word for word in sys.argv):\n    {power}\nelse:\n    print({cards!r})\n"
    return program(folder, "nvidia-smi", body)
