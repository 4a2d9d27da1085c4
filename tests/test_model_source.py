"""What the name of a model stands for: a folder, a file, a repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knaster.adapters.model_files import ENTRIES_BOUND, LocalModel, folder
from knaster.adapters.model_source import Named, repository, source
from knaster.diagnostics import WorldError
from knaster.weights import Published, published
from tests.model_repositories import gguf, safetensors
from tests.test_weights import EXPECTED, llama_file

HOSTS = ("huggingface.co",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Qwen/Qwen3-14B", Named("Qwen/Qwen3-14B")),
        ("BAAI/bge-m3", Named("BAAI/bge-m3")),
        ("Qwen/Qwen3-0.6B@main", Named("Qwen/Qwen3-0.6B", "main")),
        ("a/b@refs/pr/1", Named("a/b", "refs/pr/1")),
        ("bartowski/phi-4-GGUF:Q4_K_M", Named("bartowski/phi-4-GGUF", None, "q4_k_m")),
        ("a/b@v1:q8_0", Named("a/b", "v1", "q8_0")),
        ("a/b/c-Q8_0.gguf", Named("a/b", None, "c-Q8_0.gguf")),
        ("a/b/BF16/c-00001-of-00002.gguf", Named("a/b", None, "BF16/c-00001-of-00002.gguf")),
        ("hf://a/b", Named("a/b")),
        ("https://huggingface.co/Qwen/Qwen3-14B", Named("Qwen/Qwen3-14B")),
        ("https://huggingface.co/Qwen/Qwen3-14B/tree/main", Named("Qwen/Qwen3-14B", "main")),
        ("https://huggingface.co/a/b/blob/main/x/y.gguf", Named("a/b", "main", "x/y.gguf")),
        ("https://huggingface.co/a/b/resolve/main/y.gguf?download=true", Named("a/b", "main", "y.gguf")),
        ("https://huggingface.co/a/b/blob/main/config.json", Named("a/b", "main")),
        ("https://huggingface.co/a/b/resolve/main", Named("a/b", "main")),
    ],
)
def test_names_of_repositories(text: str, expected: Named) -> None:
    assert repository(text, HOSTS) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "gpt2",
        "a/b/c",
        "a/../b",
        "a--b/c",
        "a/b c",
        "a/b?x=1",
        "-a/b",
        "a/b:",
        "a/b\n",
        "https://example.org/a/b",
        "https://huggingface.co/a",
        "https://huggingface.co@evil.example/a/b",
        "http://[",
        "file:///etc/passwd",
        "/".join("abc" * 50),
    ],
)
def test_what_names_nothing(text: str) -> None:
    with pytest.raises(WorldError, match=r"this names no model|this is no page") as caught:
        repository(text, HOSTS)
    assert "OWNER/NAME" in (caught.value.hint or "")


@settings(deadline=None)
@given(st.text(max_size=60))
def test_every_text_is_a_repository_or_an_error(text: str) -> None:
    try:
        found = repository(text, HOSTS)
    except WorldError:
        return
    assert found.name.count("/") == 1
    assert not {"", ".", ".."} & set(found.name.split("/"))


def test_a_folder_with_its_sub_folders(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    (tmp_path / "onnx").mkdir()
    (tmp_path / "onnx" / "model.onnx").write_bytes(b"12345")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "index").write_bytes(b"1")
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    (tmp_path / "elsewhere").symlink_to(tmp_path / "onnx")
    os.mkfifo(tmp_path / "fifo")
    found = source(str(tmp_path))
    assert dict(found.reader.files) == {"config.json": (23, None), "onnx/model.onnx": (5, None)}
    assert found.only is None
    with pytest.raises(WorldError, match="has no file"):
        found.reader.read("../config.json", 0, 1)


def test_a_bare_config(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    (tmp_path / "model.safetensors").write_bytes(safetensors({"a": ("BF16", (2, 2))}))
    found = published(source(str(tmp_path / "config.json")).reader)
    assert isinstance(found, Published)
    assert found.tensors is None
    assert found.config == {"model_type": "llama"}


def test_one_gguf_file(tmp_path: Path) -> None:
    gguf(tmp_path / "a-Q6_K.gguf", llama_file)
    gguf(tmp_path / "b-Q6_K.gguf", llama_file)
    found = published(source(str(tmp_path / "a-Q6_K.gguf")).reader)
    assert isinstance(found, Published)
    assert [file.path for file in found.gguf] == ["a-Q6_K.gguf"]
    assert found.gguf[0].tensors == EXPECTED


def test_a_part_of_a_split_file_brings_the_others(tmp_path: Path) -> None:
    for name in ("m-00001-of-00002.gguf", "m-00002-of-00002.gguf", "m-00001-of-00003.gguf", "n-00001-of-00002.gguf"):
        (tmp_path / name).write_bytes(b"GGUF")
    found = source(str(tmp_path / "m-00002-of-00002.gguf"))
    assert sorted(found.reader.files) == ["m-00001-of-00002.gguf", "m-00002-of-00002.gguf"]


@pytest.mark.parametrize("text", ["./no", "/no/such", "~/no-such-model", "..\\x", "C:\\models\\x"])
def test_paths_that_are_not_there(text: str) -> None:
    with pytest.raises(WorldError, match="there is no"):
        source(text)


def test_files_that_are_no_models(tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(b"x")
    os.mkfifo(tmp_path / "x.gguf")
    with pytest.raises(WorldError, match="no GGUF file"):
        source(str(tmp_path / "x.bin"))
    with pytest.raises(WorldError, match="no regular file"):
        source(str(tmp_path / "x.gguf"))


def test_a_file_that_became_something_else_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    reader = folder(tmp_path)
    (tmp_path / "config.json").unlink()
    os.mkfifo(tmp_path / "config.json")
    with pytest.raises(WorldError, match="no regular file any more"):
        reader.read("config.json", 0, 10)
    (tmp_path / "config.json").unlink()
    with pytest.raises(WorldError, match="cannot read"):
        reader.read("config.json", 0, 10)


def test_a_folder_of_everything_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ENTRIES_BOUND == 50_000
    monkeypatch.setattr("knaster.adapters.model_files.ENTRIES_BOUND", 3)
    for number in range(4):
        (tmp_path / str(number)).write_text("")
    with pytest.raises(WorldError, match="holds more than 3 files"):
        folder(tmp_path)


def test_a_reader_of_this_disk_is_named_as_asked(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    reader = source(f"{tmp_path}/").reader
    assert isinstance(reader, LocalModel)
    assert reader.name == f"{tmp_path}/"
