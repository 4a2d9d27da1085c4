"""The header of a GGUF file: what it says about the model, and the table of its tensors.

Source: ``docs/gguf.md`` of ggml-org/ggml (versions 2 and 3; version 1 is no longer read by llama.cpp either).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from knaster.weights.gguf_cursor import Cursor
from knaster.weights.gguf_types import BY_NUMBER
from knaster.weights.published import Tensor
from knaster.weights.reader import MalformedError, Reader

TENSORS_BOUND = 200_000
KEYS_BOUND = 4096
TEXTS_BOUND = 4_000_000
KEPT_TEXT = 4096
KEPT_ITEMS = 1024
_NAME_BOUND = 1024
_DIMENSIONS = 4
_LARGEST = 2**63

_TEXT, _LIST, _TRUTH = 8, 9, 7
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "B", 10: "Q", 11: "q", 12: "d"}
"""Kinds of values to codes of `struct`."""
_SIZES = {"B": 1, "b": 1, "H": 2, "h": 2, "I": 4, "i": 4, "f": 4, "Q": 8, "q": 8, "d": 8}


@dataclass(frozen=True, slots=True)
class Header:
    """``metadata`` leaves out texts over `KEPT_TEXT` bytes and lists over `KEPT_ITEMS` items or of texts."""

    metadata: Mapping[str, object]
    tensors: tuple[Tensor, ...]


def header(reader: Reader, path: str) -> Header:
    """The header of one file. Raises MalformedError, WorldError.

    Only the header is read, in pieces of a few MiB; no length that the file claims is believed beyond the bounds.
    """
    cursor = Cursor(reader, path)
    tensors, keys = _counts(cursor)
    metadata = _metadata(cursor, keys)
    table = [_entry(cursor) for _ in range(tensors)]
    if len({tensor.name for tensor, _ in table}) != len(table):
        raise MalformedError("it has two tensors of one name")
    _inside(reader.files[path][0], cursor.position, metadata, table)
    return Header(metadata, tuple(tensor for tensor, _ in table))


def _counts(cursor: Cursor) -> tuple[int, int]:
    if cursor.take(4) != b"GGUF":
        raise MalformedError("it does not begin as a GGUF file does")
    raw = cursor.take(4)
    if int.from_bytes(raw, "little") & 0xFFFF == 0:
        cursor.order = ">"
    version = int.from_bytes(raw, "little" if cursor.order == "<" else "big")
    if version not in (2, 3):
        raise MalformedError(f"it is a GGUF file of version {version}, and versions 2 and 3 are known")
    tensors, keys = cursor.count(), cursor.count()
    if tensors > TENSORS_BOUND or keys > KEYS_BOUND:
        raise MalformedError(
            f"it claims {tensors} tensors and {keys} keys, over the bounds of {TENSORS_BOUND} and {KEYS_BOUND}"
        )
    return tensors, keys


def _metadata(cursor: Cursor, keys: int) -> dict[str, object]:
    found: dict[str, object] = {}
    for _ in range(keys):
        name, kind = _text(cursor, _NAME_BOUND), cursor.count("I")
        value = _items(cursor) if kind == _LIST else _single(cursor, kind)
        if value is not None and name is not None:
            found[name] = value
    return found


def _text(cursor: Cursor, bound: int) -> str | None:
    """The next text; None, and passed over, where it is longer than `bound`."""
    length = cursor.count()
    if length > bound:
        cursor.skip(length)
        return None
    return cursor.take(length).decode("utf-8", "replace")


def _single(cursor: Cursor, kind: int) -> object:
    """The next value; None where it is passed over."""
    if kind == _TEXT:
        return _text(cursor, KEPT_TEXT)
    if kind not in _NUMBERS:
        raise MalformedError(f"it has a value of kind {kind}, which GGUF does not have")
    number = cursor.number(_NUMBERS[kind])
    return bool(number) if kind == _TRUTH else number


def _items(cursor: Cursor) -> tuple[object, ...] | None:
    """The next list; None where it is passed over. Lists in lists are refused, as llama.cpp does."""
    kind, count = cursor.count("I"), cursor.count()
    if kind in _NUMBERS and count <= KEPT_ITEMS:
        return tuple(_single(cursor, kind) for _ in range(count))
    if kind in _NUMBERS:
        cursor.skip(count * _SIZES[_NUMBERS[kind]])
    elif kind == _TEXT and count <= TEXTS_BOUND:
        cursor.skip_texts(count)
    else:
        raise MalformedError(f"it has a list of {count} items of kind {kind}, which is not read")
    return None


def _entry(cursor: Cursor) -> tuple[Tensor, int]:
    """The next tensor of the table, and the place of its data."""
    name, dimensions = _text(cursor, _NAME_BOUND), cursor.count("I")
    if name is None or dimensions > _DIMENSIONS:
        raise MalformedError(f"it has a tensor of {dimensions} dimensions or with a name that is too long")
    shape = tuple(cursor.count() for _ in range(dimensions))[::-1]
    number, place = cursor.count("I"), cursor.count()
    kind = BY_NUMBER.get(number)
    if kind is None:
        raise MalformedError(f"it has a tensor of type {number}, which knaster does not know")
    size = kind.bytes_of(prod(shape), shape[-1] if shape else 1) if prod(shape) < _LARGEST else None
    if size is None:
        raise MalformedError(f"it has a tensor whose shape cannot be of type {kind.name}")
    return Tensor(name, shape, kind.name, size), place


def _inside(size: int | None, end: int, metadata: Mapping[str, object], table: list[tuple[Tensor, int]]) -> None:
    """That the tensors lie in the file: a download that broke off is told here, not twenty minutes into a load."""
    alignment = metadata.get("general.alignment", 32)
    if not isinstance(alignment, int) or not 0 < alignment <= 2**20:
        raise MalformedError("its alignment is none")
    start = -(-end // alignment) * alignment
    last = max((place + tensor.size for tensor, place in table), default=0)
    if size is not None and table and start + last > size:
        raise MalformedError(f"it should have {start + last} bytes and has {size}: the download is not complete")
