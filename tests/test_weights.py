"""What is read of a published model: safetensors and GGUF headers, indexes, and what is no model at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from knaster.weights import Published, Tensor, Unreadable, published
from knaster.weights.gguf_names import is_aside, missing, models, precision
from knaster.weights.gguf_types import BY_NUMBER
from tests.model_repositories import Memory, gguf, index, safetensors

CONFIG = json.dumps({"model_type": "llama", "hidden_size": 64}).encode()
FIRST = safetensors({"model.embed_tokens.weight": ("BF16", (128, 64)), "model.norm.weight": ("F32", (64,))})
SECOND = safetensors({"lm_head.weight": ("F8_E4M3", (128, 64))})


def read(content: dict[str, bytes], *want: str, only: str | None = None) -> Published:
    found = published(Memory(content), want, only=only)
    assert isinstance(found, Published), found
    return found


def refused(content: dict[str, bytes], *want: str, only: str | None = None) -> Unreadable:
    found = published(Memory(content), want, only=only)
    assert isinstance(found, Unreadable), found
    return found


def test_a_single_file_of_safetensors() -> None:
    found = read({"config.json": CONFIG, "model.safetensors": FIRST})
    assert found.config == {"model_type": "llama", "hidden_size": 64}
    assert found.tensors == (
        Tensor("model.embed_tokens.weight", (128, 64), "bf16", 16384),  # 128 x 64 x 2
        Tensor("model.norm.weight", (64,), "f32", 256),
    )
    assert found.notes == ()


def test_only_files_that_the_index_names_count() -> None:
    places = {
        "model.embed_tokens.weight": "model-00001-of-00002.safetensors",
        "model.norm.weight": "model-00001-of-00002.safetensors",
        "lm_head.weight": "model-00002-of-00002.safetensors",
    }
    memory = Memory(
        {
            "config.json": CONFIG,
            "model.safetensors.index.json": index(places),
            "model-00001-of-00002.safetensors": FIRST,
            "model-00002-of-00002.safetensors": SECOND,
            "consolidated.safetensors": FIRST,
            "original/model.safetensors": FIRST,
            "metal/model.bin": b"x",
        }
    )
    found = published(memory)
    assert isinstance(found, Published)
    assert found.tensors is not None
    assert [(t.name, t.dtype, t.size) for t in found.tensors] == [
        ("model.embed_tokens.weight", "bf16", 16384),
        ("model.norm.weight", "f32", 256),
        ("lm_head.weight", "f8_e4m3", 8192),
    ]
    assert found.notes == ("passed over, because the index does not name them: consolidated.safetensors, original/",)
    assert not {path for path, _, _ in memory.asked} & {"consolidated.safetensors", "original/model.safetensors"}


def test_headers_are_read_and_weights_are_not() -> None:
    memory = Memory({"config.json": CONFIG, "model.safetensors": FIRST + b"\0" * 10_000_000})
    assert isinstance(published(memory), Published)
    assert sum(length for path, _, length in memory.asked if path == "model.safetensors") == 64 * 1024


def test_a_header_longer_than_the_first_read() -> None:
    many = safetensors({f"model.layers.{number}.mlp.experts.weight": ("BF16", (2, 2)) for number in range(2000)})
    assert int.from_bytes(many[:8], "little") > 64 * 1024
    found = read({"config.json": CONFIG, "model.safetensors": many})
    assert found.tensors is not None
    assert len(found.tensors) == 2000
    assert found.tensors[1999] == Tensor("model.layers.1999.mlp.experts.weight", (2, 2), "bf16", 8)


def test_shards_that_are_not_there_leave_the_config() -> None:
    places = {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}
    found = read({"config.json": CONFIG, "model.safetensors.index.json": index(places)})
    assert found.tensors is None
    assert found.notes[0] == "2 of the 2 files with weights are not there"
    assert read({"config.json": CONFIG}).notes == ("no weights are there: everything is worked out from config.json",)


def test_pickles_are_not_opened() -> None:
    found = read({"config.json": CONFIG, "pytorch_model.bin": b"\x80\x04", "onnx/model.onnx": b""})
    assert found.tensors is None
    assert found.notes[0].startswith("the weights are pickles")


@pytest.mark.parametrize(
    ("content", "said", "way_out"),
    [
        ({"model_index.json": b"{}", "unet/config.json": b"{}"}, "pipeline of diffusers", "language models"),
        ({"adapter_config.json": b"{}", "adapter_model.safetensors": b""}, "adapter (LoRA)", "base_model_name_or_path"),
        ({"adapter_config.json": b"{}", "config.json": b"{}"}, "adapter (LoRA)", "base_model_name_or_path"),
        ({"modules.json": b"[]", "0_Transformer/config.json": b"{}"}, "folder 0_Transformer", "name that folder"),
        ({"params.json": b"{}", "consolidated.safetensors": b""}, "own format", "config.json"),
        ({"config.json": b"{}", "onnx/model_q4.onnx": b""}, "ONNX only", "GGUF"),
        ({"mmproj-F16.gguf": b"", "README.md": b""}, "only what accompanies one", "the model itself"),
        ({"README.md": b""}, "no config.json and no GGUF file", "language models"),
        ({}, "no config.json and no GGUF file", "language models"),
    ],
)
def test_what_is_no_model_is_said_with_the_way_out(content: dict[str, bytes], said: str, way_out: str) -> None:
    found = refused(content)
    assert said in found.reason
    assert "a/model" in found.reason
    assert way_out in (found.hint or "")


def damaged(header: object, data: bytes = b"\0" * 8) -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (b"", "it has 0 bytes, and no header"),
        (b"\xff" * 8, "over the bound of 25000000"),
        ((10**6).to_bytes(8, "little") + b"{}", "1000000 bytes long, and the file has 10"),
        (damaged([]), "its JSON is no object"),
        ((4).to_bytes(8, "little") + b"\xff\xfe{}", "it is no JSON"),
        ((60_000).to_bytes(8, "little") + b"[" * 60_000, "it is no JSON (RecursionError)"),
        (damaged({"a": {"dtype": "BF16", "shape": [4], "data_offsets": [0, 9]}}), "entry 1"),
        (damaged({"a": {"dtype": "BF16", "shape": [8], "data_offsets": [0, 16]}}), "entry 1"),  # 16 > 8 of data
        (damaged({"a": {"dtype": "BF16", "shape": [-4], "data_offsets": [0, 8]}}), "entry 1"),
        (damaged({"a": {"dtype": "BF16", "shape": [True], "data_offsets": [0, 2]}}), "entry 1"),
        (damaged({"a": {"dtype": "BF16", "shape": [2**62, 4], "data_offsets": [0, 8]}}), "entry 1"),
        (damaged({"a": {"dtype": "BF16", "shape": [1] * 17, "data_offsets": [0, 2]}}), "entry 1"),
        (damaged({"a": {"dtype": 7, "shape": [1], "data_offsets": [0, 2]}}), "entry 1"),
        (damaged({"a": [1]}), "entry 1"),
    ],
)
def test_a_damaged_header_is_told_with_its_file(file: bytes, said: str) -> None:
    found = refused({"config.json": CONFIG, "model.safetensors": file})
    assert found.reason.startswith("model.safetensors cannot be read: ")
    assert said in found.reason


@pytest.mark.parametrize("text", [b"[]", b"{", b"\xff", b"{" * 100_000, b'{"a":' * 100_000, b"1" * 10_000, b"null"])
def test_a_damaged_config_is_told(text: bytes) -> None:
    assert refused({"config.json": text}).reason.startswith("config.json cannot be read: ")


@pytest.mark.parametrize(
    "places",
    [
        {},
        {"a": "../../etc/passwd"},
        {"a": 1},
        {"a": None},
        {"a": "model.bin"},
        {str(n): f"{n}.safetensors" for n in range(2001)},
    ],
)
def test_a_damaged_index_is_told(places: dict[str, Any]) -> None:
    found = refused({"config.json": CONFIG, "model.safetensors.index.json": index(places)})
    assert found.reason.startswith("model.safetensors.index.json cannot be read: ")


def test_a_name_in_an_index_never_becomes_a_path() -> None:
    places = {"a": "../../secret.safetensors"}
    memory = Memory({"config.json": CONFIG, "model.safetensors.index.json": index(places)})
    found = published(memory)
    assert isinstance(found, Published)
    assert found.tensors is None
    assert {path for path, _, _ in memory.asked} == {"config.json", "model.safetensors.index.json"}


def test_two_tensors_of_one_name_are_told() -> None:
    places = {"a": "1.safetensors", "b": "2.safetensors"}
    content = {"config.json": CONFIG, "model.safetensors.index.json": index(places)}
    assert "two tensors of one name" in refused({**content, "1.safetensors": SECOND, "2.safetensors": SECOND}).reason


def llama_file(writer: Any) -> None:
    import numpy as np
    from gguf import GGMLQuantizationType as Kind

    writer.add_block_count(2)
    writer.add_head_count_kv([8, 0])
    writer.add_context_length(4096)
    writer.add_token_list([f"<{number}>" for number in range(300)])
    writer.add_token_scores([0.5] * 2000)
    writer.add_bool("tokenizer.ggml.add_bos_token", val=True)
    writer.add_float32("llama.rope.freq_base", 10000.0)
    writer.add_chat_template("x" * 5000)
    writer.add_tensor("token_embd.weight", np.zeros((300, 210), np.uint8), raw_dtype=Kind.Q6_K)
    writer.add_tensor("blk.0.attn_norm.weight", np.zeros(256, np.float32))
    writer.add_tensor("blk.0.ffn_up_exps.weight", np.zeros((3, 5, 34), np.uint8), raw_dtype=Kind.Q8_0)


EXPECTED = (
    Tensor("token_embd.weight", (300, 256), "q6_k", 63000),  # 300 rows of one block of 210 bytes
    Tensor("blk.0.attn_norm.weight", (256,), "f32", 1024),
    Tensor("blk.0.ffn_up_exps.weight", (3, 5, 32), "q8_0", 510),  # 15 rows of one block of 34 bytes
)


@pytest.mark.parametrize("big", [False, True])
def test_a_file_of_the_gguf_package_is_read_as_written(tmp_path: Path, big: bool) -> None:
    data = gguf(tmp_path / "m.gguf", llama_file, big=big)
    found = read({"model-Q6_K.gguf": data})
    assert found.config is None
    assert found.tensors is None
    (file,) = found.gguf
    assert (file.path, file.size, file.parts) == ("model-Q6_K.gguf", len(data), ())
    assert file.tensors == EXPECTED
    assert file.metadata["general.architecture"] == "llama"
    assert file.metadata["llama.block_count"] == 2
    assert file.metadata["llama.attention.head_count_kv"] == (8, 0)
    assert file.metadata["tokenizer.ggml.add_bos_token"] is True
    assert file.metadata["llama.rope.freq_base"] == 10000.0
    assert not {"tokenizer.ggml.tokens", "tokenizer.ggml.scores", "tokenizer.chat_template"} & set(file.metadata)


def test_every_type_of_the_gguf_package_has_its_block_and_bytes() -> None:
    from gguf.constants import GGML_QUANT_SIZES

    theirs = {int(kind): (kind.name.lower(), *sizes) for kind, sizes in GGML_QUANT_SIZES.items()}
    assert {number: (kind.name, kind.block, kind.size) for number, kind in BY_NUMBER.items()} == theirs


def test_a_file_in_the_middle_of_a_download_is_told(tmp_path: Path) -> None:
    data = gguf(tmp_path / "m.gguf", llama_file)
    for length in (len(data) - 600, len(data) // 2, 3000, 100, 30, 6, 2, 0):
        assert refused({"m.gguf": data[:length]}).reason.startswith("m.gguf cannot be read: ")
    assert "the download is not complete" in refused({"m.gguf": data[: len(data) - 600]}).reason


def test_the_parts_of_a_split_file_are_one_model(tmp_path: Path) -> None:
    from gguf import GGUFWriter

    writer = GGUFWriter(tmp_path / "q.gguf", "llama", split_max_tensors=1)
    llama_file(writer)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    parts = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert sorted(parts) == [f"q-0000{number}-of-00003.gguf" for number in (1, 2, 3)]
    (file,) = read(parts).gguf
    assert file.path == "q-00001-of-00003.gguf"
    assert file.parts == tuple(sorted(parts))
    assert file.size == sum(map(len, parts.values()))
    assert set(file.tensors) == set(EXPECTED)
    assert file.metadata["llama.block_count"] == 2
    del parts["q-00002-of-00003.gguf"]
    found = read({**parts, "config.json": CONFIG}, "q-00001-of-00003.gguf")
    assert found.gguf[0].size is None
    assert found.gguf[0].tensors == ()
    assert "q-00001-of-00003.gguf: 1 of its parts are not there, so it was not read" in found.notes


def test_headers_of_wanted_gguf_files_are_read(tmp_path: Path) -> None:
    data = gguf(tmp_path / "m.gguf", llama_file)
    content = {"config.json": CONFIG, "M-Q4_K_M.gguf": data, "M-Q8_0.gguf": data, "mmproj-M-f16.gguf": data}
    found = read(content, "q4_k_m")
    assert [(file.path, bool(file.tensors)) for file in found.gguf] == [("M-Q4_K_M.gguf", True), ("M-Q8_0.gguf", False)]
    assert "a projector for images (mmproj) is a file of its own, and is not counted" in found.notes
    assert not any(file.tensors for file in read(content).gguf)
    assert [file.path for file in read(content, only="q8_0").gguf] == ["M-Q8_0.gguf"]
    assert read(content, only="M-Q4_K_M.gguf").config is None
    none = refused(content, only="iq2_xs")
    assert none == Unreadable("a/model has no whole GGUF file iq2_xs", "there is: q4_k_m, q8_0")


def test_a_damaged_gguf_file_beside_a_config_is_a_note() -> None:
    content = {"config.json": CONFIG, "model.safetensors": FIRST, "M-Q8_0.gguf": b"GGUF"}
    found = read(content, "q8_0")
    assert found.gguf[0].tensors == ()
    assert found.notes[-1].startswith("M-Q8_0.gguf cannot be read: ")
    assert refused(content, only="q8_0").reason.startswith("M-Q8_0.gguf cannot be read: ")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("Qwen3-14B-Q4_K_M.gguf", "q4_k_m"),
        ("qwen3-14b-q8_0.gguf", "q8_0"),
        ("gpt-oss-20b-mxfp4.gguf", "mxfp4"),
        ("gpt-oss-20b-MXFP4_MOE.gguf", "mxfp4"),
        ("model.f16.gguf", "f16"),
        ("Model-fp16.gguf", "f16"),
        ("BF16/Model-BF16-00001-of-00002.gguf", "bf16"),
        ("Q5_K_M/model-00001-of-00002.gguf", "q5_k_m"),
        ("Meta-Llama-3.1-8B-IQ4_XS.gguf", "iq4_xs"),
        ("gemma-UD-Q4_K_XL.gguf", "ud-q4_k_xl"),
        ("gemma-3-27b-it-q4_0.gguf", "q4_0"),
        ("Q4_0-merge-Q6_K_L.gguf", "q6_k_l"),
        ("model.gguf", None),
        ("IQ8.gguf", None),
    ],
)
def test_the_precision_that_a_name_claims(path: str, expected: str | None) -> None:
    assert precision(path) == expected


def test_models_among_paths() -> None:
    paths = ["b-00002-of-00002.gguf", "a.gguf", "b-00001-of-00002.gguf", "imatrix.gguf", "x/mmproj.gguf", "c.bin"]
    assert models(paths) == [("a.gguf",), ("b-00001-of-00002.gguf", "b-00002-of-00002.gguf")]
    assert missing(("b-00001-of-00003.gguf",)) == 2
    assert [is_aside(path) for path in paths] == [False, False, False, True, True, False]
