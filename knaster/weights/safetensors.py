"""The header of a safetensors file: 8 bytes with its length, then JSON with name, type, shape and place of each tensor.

Source: the format's README, https://github.com/huggingface/safetensors (revision of the format: 2025).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

from knaster.weights.published import Tensor
from knaster.weights.reader import MalformedError, Reader

HEADER_BOUND = 25_000_000
"""Bytes of a header that are read, as huggingface_hub does; the format itself allows 100,000,000."""
FIRST_READ = 64 * 1024
"""Bytes asked for at once: the whole header of most files, so that one request answers."""
_DIMENSIONS = 16
_LARGEST = 2**63

_BITS = {
    "BOOL": 8,
    "F4": 4,
    "F6_E2M3": 6,
    "F6_E3M2": 6,
    "U8": 8,
    "I8": 8,
    "F8_E5M2": 8,
    "F8_E4M3": 8,
    "F8_E8M0": 8,
    "I16": 16,
    "U16": 16,
    "F16": 16,
    "BF16": 16,
    "I32": 32,
    "U32": 32,
    "F32": 32,
    "C64": 64,
    "F64": 64,
    "I64": 64,
    "U64": 64,
}
"""Bits of one number; a type that is not here is taken at the size that its place says."""


def header(reader: Reader, path: str) -> tuple[Tensor, ...]:
    """The tensors of one file, in the order of its header. Raises MalformedError, WorldError.

    Whatever the lengths in the file say, no more than `HEADER_BOUND` bytes are read.
    """
    size = reader.files[path][0]
    start = reader.read(path, 0, FIRST_READ)
    length = _length(start, size)
    text = start[8 : 8 + length]
    if len(text) < length:
        text += reader.read(path, 8 + len(text), length - len(text))
    if len(text) < length:
        raise MalformedError("it ends inside its header: the download is not complete")
    data = size - 8 - length if size is not None else None
    return tuple(_tensors(json_object(text), data))


def _length(start: bytes, size: int | None) -> int:
    if len(start) < 8:
        raise MalformedError(f"it has {len(start)} bytes, and no header")
    length = int.from_bytes(start[:8], "little")
    if length > HEADER_BOUND:
        raise MalformedError(f"its header would be {length} bytes long, over the bound of {HEADER_BOUND}")
    if size is not None and length > size - 8:
        raise MalformedError(f"its header would be {length} bytes long, and the file has {size}")
    return length


def json_object(text: bytes) -> Mapping[str, Any]:
    """The JSON object that `text` is. Raises MalformedError for anything else, however deep or odd."""
    try:
        data = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise MalformedError(f"it is no JSON ({type(error).__name__})") from None
    if not isinstance(data, dict):
        raise MalformedError("its JSON is no object")
    return data


def _tensors(entries: Mapping[str, Any], data: int | None) -> Iterator[Tensor]:
    for number, (name, entry) in enumerate(entries.items()):
        if name != "__metadata__":
            tensor = _tensor(name, entry, data)
            if tensor is None:
                raise MalformedError(f"entry {number + 1} of its header is no tensor")
            yield tensor


def _tensor(name: str, entry: object, data: int | None) -> Tensor | None:
    """None for what the format does not allow: places outside of the file, sizes that are not those of the shape."""
    if not isinstance(entry, dict):
        return None
    dtype, shape, place = entry.get("dtype"), _whole(entry.get("shape")), _whole(entry.get("data_offsets"))
    if not isinstance(dtype, str) or len(dtype) > 32 or shape is None or place is None or len(place) != 2:
        return None
    start, end = place
    if len(shape) > _DIMENSIONS or start > end or (data is not None and end > data):
        return None
    bits = _BITS.get(dtype.upper())
    if prod(shape) >= _LARGEST or (bits is not None and -(-prod(shape) * bits // 8) != end - start):
        return None
    return Tensor(name, shape, dtype.lower(), end - start)


def _whole(value: object) -> tuple[int, ...] | None:
    """The list of whole numbers from 0 on that `value` is, else None (true is no number)."""
    if not isinstance(value, list) or not all(type(item) is int and 0 <= item < _LARGEST for item in value):
        return None
    return tuple(value)
