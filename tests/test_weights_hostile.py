"""Files that mean harm: whatever their bytes say, an answer comes, and little is read for it."""

from __future__ import annotations

import json
import struct
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from knaster.weights import Published, Unreadable, published
from knaster.weights.gguf_cursor import HEADER_BOUND
from tests.model_repositories import Memory, gguf, index, safetensors
from tests.test_weights import CONFIG, llama_file

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
TENSOR = st.fixed_dictionaries(
    {"dtype": st.sampled_from(["BF16", "F8_E4M3", "Q", ""]) | JSON, "shape": JSON, "data_offsets": JSON}
)


def answer(memory: Memory, *want: str) -> Published | Unreadable:
    """The answer, and that it did not cost more than the files hold and the bounds allow."""
    found = published(memory, want)
    assert isinstance(found, Published | Unreadable)
    assert all(length <= HEADER_BOUND for _, _, length in memory.asked)
    return found


@settings(deadline=None)
@given(st.binary(max_size=400), st.booleans())
def test_any_bytes_as_safetensors(data: bytes, sized: bool) -> None:
    answer(Memory({"config.json": CONFIG, "model.safetensors": data}, sized=sized))


@settings(deadline=None)
@given(st.dictionaries(st.text(max_size=12), TENSOR | JSON, max_size=4), st.integers(0, 64))
def test_any_json_as_a_header(header: dict[str, object], data: int) -> None:
    text = json.dumps(header).encode()
    found = answer(
        Memory({"config.json": CONFIG, "model.safetensors": len(text).to_bytes(8, "little") + text + bytes(data)})
    )
    if isinstance(found, Published):
        assert found.tensors is not None
        assert sum(tensor.size for tensor in found.tensors) <= data * len(found.tensors)


@settings(deadline=None)
@given(st.integers(0, 2**64 - 1), st.booleans())
def test_any_length_of_a_header(length: int, sized: bool) -> None:
    memory = Memory({"config.json": CONFIG, "model.safetensors": length.to_bytes(8, "little") + b"{}"}, sized=sized)
    found = answer(memory)
    assert isinstance(found, Published) == (length == 2)
    assert max(length for _, _, length in memory.asked) <= 25_000_000


@settings(deadline=None)
@given(JSON, JSON)
def test_any_json_as_config_and_index(config: object, places: object) -> None:
    content = {
        "config.json": json.dumps(config).encode(),
        "model.safetensors.index.json": json.dumps({"weight_map": places}).encode(),
    }
    answer(Memory(content))


@cache
def sound() -> bytes:
    with TemporaryDirectory() as folder:
        return gguf(Path(folder) / "m.gguf", llama_file)


@settings(deadline=None)
@given(st.binary(max_size=300), st.booleans())
def test_any_bytes_as_gguf(data: bytes, sized: bool) -> None:
    answer(Memory({"m.gguf": data}, sized=sized))
    answer(Memory({"m.gguf": b"GGUF\3\0\0\0" + data}, sized=sized))


@settings(deadline=None)
@given(st.integers(0, 2000), st.binary(min_size=1, max_size=8), st.booleans())
def test_a_gguf_file_with_other_bytes_in_its_header(place: int, data: bytes, sized: bool) -> None:
    file = sound()
    answer(Memory({"m.gguf": file[:place] + data + file[place + len(data) :]}, sized=sized))


def claims(tensors: int, keys: int, rest: bytes = b"") -> bytes:
    return b"GGUF" + struct.pack("<IQQ", 3, tensors, keys) + rest


def key(kind: int, value: bytes) -> bytes:
    return struct.pack("<Q", 1) + b"k" + struct.pack("<I", kind) + value


@pytest.mark.parametrize(
    "file",
    [
        claims(2**64 - 1, 0),
        claims(0, 2**64 - 1),
        claims(200_000, 0),
        claims(1, 0, struct.pack("<Q", 2**63)),
        claims(0, 1, struct.pack("<Q", 2**64 - 1)),
        claims(0, 1, key(8, struct.pack("<Q", 2**62))),  # a text of 4 EiB
        claims(0, 1, key(9, struct.pack("<IQ", 8, 2**62))),  # so many texts
        claims(0, 1, key(9, struct.pack("<IQ", 8, 3_999_999))),
        claims(0, 1, key(9, struct.pack("<IQ", 4, 2**62))),  # so many numbers
        claims(0, 1, key(9, struct.pack("<IQ", 9, 2) * 1000)),  # lists in lists in lists
        claims(0, 1, key(13, b"")),
        claims(1, 0, struct.pack("<Q", 1) + b"t" + struct.pack("<I", 2**32 - 1)),
        claims(1, 0, struct.pack("<Q", 1) + b"t" + struct.pack("<IQQIQ", 2, 2**63, 2**63, 0, 0)),
        claims(1, 0, struct.pack("<Q", 1) + b"t" + struct.pack("<IQIQ", 1, 33, 8, 0)),  # 33 numbers in blocks of 32
        claims(1, 0, struct.pack("<Q", 1) + b"t" + struct.pack("<IQIQ", 1, 32, 4, 0)),  # a type that was removed
        claims(2, 0, (struct.pack("<Q", 1) + b"t" + struct.pack("<IQIQ", 1, 1, 0, 0)) * 2),  # two of one name
        claims(1, 1, struct.pack("<Q", 17) + b"general.alignment" + struct.pack("<II", 4, 0)),
        b"GGUF" + struct.pack("<IQQ", 1, 0, 0),
        b"GGJT" + struct.pack("<IQQ", 3, 0, 0),
        b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 4\n",
    ],
)
@pytest.mark.parametrize("sized", [True, False])
def test_claims_of_a_gguf_header_are_not_believed(file: bytes, sized: bool) -> None:
    memory = Memory({"m.gguf": file}, sized=sized)
    found = answer(memory)
    assert isinstance(found, Unreadable)
    assert found.reason.startswith("m.gguf cannot be read: ")
    assert sum(length for _, _, length in memory.asked) <= 8 * 1024 * 1024


@settings(deadline=None)
@given(st.lists(st.text(min_size=1, max_size=30), max_size=8))
@example(["a-00001-of-00002.gguf", "a-00003-of-00002.gguf", "a-99999-of-00000.gguf"])
@example(["model_index.json", "adapter_config.json", "config.json", "x.onnx"])
def test_any_names_of_files(names: list[str]) -> None:
    answer(Memory({name: b"{}" for name in names}), "q4_k_m")


def test_many_shards_are_read_once_each() -> None:
    shards = {f"{number}.safetensors": safetensors({f"t{number}": ("BF16", (2, 2))}) for number in range(300)}
    places = {f"t{number}": f"{number}.safetensors" for number in range(300)}
    memory = Memory({"config.json": CONFIG, "model.safetensors.index.json": index(places), **shards})
    found = answer(memory)
    assert isinstance(found, Published)
    assert found.tensors is not None
    assert len(found.tensors) == 300
    assert len(memory.asked) == 302
