"""`model plan` of GGUF files that the ``gguf`` package wrote: on this disk, in a folder, in a repository of the hub."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from knaster.adapters import huggingface
from knaster.cli import main
from tests.hub_server import COMMIT, Loopback, Repository, loopback
from tests.model_repositories import gguf
from tests.test_model_command import cells, planned

ROOT = Path(__file__).parent.parent
WIDTH, LAYERS, VOCAB, FFN, KV = 512, 4, 4096, 1536, 256


def llama(kind: str) -> Callable[[Any], None]:
    """A writer of a small Llama with 8 heads of 64 and 4 KV heads, every weight in `kind`."""

    def write(writer: Any) -> None:
        import numpy as np
        from gguf import GGML_QUANT_SIZES, GGMLQuantizationType

        stored = GGMLQuantizationType[kind]
        block, size = GGML_QUANT_SIZES[stored]

        def tensor(name: str, rows: int, row: int) -> None:
            writer.add_tensor(name, np.zeros((rows, row // block * size), np.uint8), raw_dtype=stored)

        for key, value in (
            ("block_count", LAYERS),
            ("context_length", 4096),
            ("embedding_length", WIDTH),
            ("feed_forward_length", FFN),
            ("head_count", 8),
            ("head_count_kv", 4),
            ("vocab_size", VOCAB),
        ):
            getattr(writer, f"add_{key}")(value)
        tensor("token_embd.weight", VOCAB, WIDTH)
        tensor("output.weight", VOCAB, WIDTH)
        writer.add_tensor("output_norm.weight", np.zeros(WIDTH, np.float32))
        for layer in range(LAYERS):
            tensor(f"blk.{layer}.attn_q.weight", WIDTH, WIDTH)
            tensor(f"blk.{layer}.attn_k.weight", KV, WIDTH)
            tensor(f"blk.{layer}.attn_v.weight", KV, WIDTH)
            tensor(f"blk.{layer}.attn_output.weight", WIDTH, WIDTH)
            tensor(f"blk.{layer}.ffn_gate.weight", FFN, WIDTH)
            tensor(f"blk.{layer}.ffn_up.weight", FFN, WIDTH)
            tensor(f"blk.{layer}.ffn_down.weight", WIDTH, FFN)
            for norm in ("attn_norm", "ffn_norm"):
                writer.add_tensor(f"blk.{layer}.{norm}.weight", np.zeros(WIDTH, np.float32))

    return write


PARAMETERS = 2 * VOCAB * WIDTH + WIDTH + LAYERS * (2 * WIDTH * WIDTH + 2 * KV * WIDTH + 3 * FFN * WIDTH + 2 * WIDTH)
NORMS = WIDTH * 4 * (1 + 2 * LAYERS)
Q8 = (PARAMETERS - NORMS // 4) * 34 // 32
"""Bytes of all matrices in q8_0: 34 for 32 numbers."""


@pytest.fixture
def real(tmp_path: Path) -> Path:
    """The real fleet in a folder of its own."""
    root = tmp_path / "fleet"
    for folder in ("inventory", "catalog"):
        shutil.copytree(ROOT / folder, root / folder)
    return root


def test_a_file_is_planned_as_it_is(real: Path, tmp_path: Path) -> None:
    path = tmp_path / "Tiny-Q8_0.gguf"
    gguf(path, llama("Q8_0"))
    answer = planned(real, str(path))
    assert cells(answer)[0] == ("1 x p2000-5g", "q8_0", "llamacpp")
    assert {row["precision"] for row in answer["rows"]} == {"q8_0"}
    model = answer["model"]
    assert (model["parameters"], model["layers"], model["kv_heads"]) == (PARAMETERS, LAYERS, 4)
    # 2 x 4 heads x 64 numbers x 2 bytes in each of 4 layers
    assert answer["bytes_per_token"] == 2 * 4 * 64 * 2 * LAYERS
    # all but the embedding, which stays in RAM
    assert answer["rows"][0]["weights_bytes"] == Q8 + NORMS - VOCAB * WIDTH * 34 // 32
    entry = answer["entry"]["model"]
    assert entry["source"] == str(path)
    assert entry["args"][:2] == ["--model", str(path)]
    assert "vLLM is never planned with GGUF files" in {one["reason"] for one in answer["absent"]}


def test_another_precision_of_a_file_is_another_file(real: Path, tmp_path: Path) -> None:
    path = tmp_path / "Tiny-Q8_0.gguf"
    gguf(path, llama("Q8_0"))
    answer = planned(real, str(path), "--precision", "q4_k_m", status=1)
    reasons = {one["reason"] for one in answer["absent"]}
    assert "no GGUF file of q4_k_m was published; there is: q8_0" in reasons


def test_what_is_written_of_a_file_passes_validate(
    real: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "Tiny-Q8_0.gguf"
    gguf(path, llama("Q8_0"))
    assert main(["-C", str(real), "model", "plan", str(path), "--write", "-q"]) == 0
    capsys.readouterr()
    assert main(["-C", str(real), "validate", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["diagnostics"]
    assert [one for one in found if "tiny" in json.dumps(one)] == []
    assert (real / "catalog/architectures/tiny-q8_0.yaml").exists()


def test_a_broken_file_is_told_by_its_name(real: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF\x03\0\0\0" + b"\xff" * 64)
    assert main(["-C", str(real), "model", "plan", str(path)]) == 2
    shown = capsys.readouterr().err
    assert "broken.gguf cannot be read" in shown
    assert "Traceback" not in shown


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    """A hub with a repository of two GGUF files."""
    files = {f"Tiny-{kind}.gguf": gguf(tmp_path / f"{kind}.gguf", llama(kind)) for kind in ("Q8_0", "F16")}
    with loopback(**{"Tiny-GGUF": Repository(files)}) as state:
        client = huggingface.Hub(state.hub, tmp_path / "cache", None, offline=False, sleep=lambda _seconds: None)
        monkeypatch.setattr(huggingface, "hub", lambda: client)
        yield state


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize("name", ["org/Tiny-GGUF:q8_0", "org/Tiny-GGUF/Tiny-Q8_0.gguf"])
def test_a_file_of_a_repository(real: Path, name: str) -> None:
    answer = planned(real, name)
    assert {row["precision"] for row in answer["rows"]} == {"q8_0"}
    assert answer["model"]["revision"] == COMMIT
    entry = answer["entry"]
    assert entry["name"] == "tiny-q8_0"
    assert entry["model"]["source"] == "/models/Tiny-Q8_0.gguf"
    assert "# File: hf download org/Tiny-GGUF Tiny-Q8_0.gguf --local-dir /models" in entry["yaml"]


@pytest.mark.usefixtures("hub")
def test_a_repository_of_files_offers_what_it_has(real: Path) -> None:
    answer = planned(real, "org/Tiny-GGUF", "--precision", "f16,q8_0,q6_k")
    assert {row["precision"] for row in answer["rows"]} == {"f16", "q8_0"}
    reasons = {one["reason"] for one in answer["absent"] if (one["precision"], one["engine"]) == ("q6_k", "llama.cpp")}
    assert reasons == {"no GGUF file of q6_k was published; there is: f16, q8_0"}


def test_only_headers_are_read(real: Path, hub: Loopback) -> None:
    planned(real, "org/Tiny-GGUF:q8_0")
    asked = [request.headers.get("range", "") for request in hub.requests if request.path.endswith("Q8_0.gguf")]
    assert asked
    assert all(request.startswith("bytes=") for request in asked)
