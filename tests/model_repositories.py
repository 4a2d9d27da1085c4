"""Synthetic models: safetensors by hand from the format's description, GGUF files by llama.cpp's own package."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

Shapes = Mapping[str, tuple[str, tuple[int, ...]]]
BITS = {"BF16": 16, "F16": 16, "F32": 32, "I32": 32, "U8": 8, "F8_E4M3": 8}


def safetensors(tensors: Shapes, *, data: bool = True) -> bytes:
    """A file with tensors of zeros: 8 bytes little-endian N, N bytes of JSON, the data without gaps."""
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, (dtype, shape) in tensors.items():
        size = BITS[dtype] // 8
        for length in shape:
            size *= length
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + (b"\0" * end if data else b"")


def index(places: Mapping[str, str]) -> bytes:
    """``model.safetensors.index.json``."""
    return json.dumps({"metadata": {"total_size": 1}, "weight_map": dict(places)}).encode()


def gguf(path: Path, write: Callable[..., None], *, big: bool = False) -> bytes:
    """What the ``gguf`` package writes when `write` has filled its writer."""
    from gguf import GGUFEndian, GGUFWriter

    writer = GGUFWriter(path, "llama", endianess=GGUFEndian.BIG if big else GGUFEndian.LITTLE)
    write(writer)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path.read_bytes()


@dataclass
class Memory:
    """A reader over bytes in memory, which notes what was asked of it."""

    content: Mapping[str, bytes]
    name: str = "a/model"
    revision: str | None = None
    sized: bool = True
    asked: list[tuple[str, int, int]] = field(default_factory=list)

    @property
    def files(self) -> dict[str, tuple[int | None, str | None]]:
        """The listing."""
        return {path: (len(data) if self.sized else None, None) for path, data in self.content.items()}

    def read(self, path: str, start: int, length: int) -> bytes:
        """A part of a file."""
        self.asked.append((path, start, length))
        return self.content[path][start : start + length]
