"""A place in a GGUF file that moves on: little pieces out of large reads, and never past a bound."""

from __future__ import annotations

import struct

from knaster.units import MIB
from knaster.weights.reader import MalformedError, Reader

HEADER_BOUND = 96 * MIB
"""Bytes read of one file. The largest headers have tokenizers of 260,000 words and 500,000 merges: about 16 MiB."""
_FIRST = MIB
_NEXT = 4 * MIB


class Cursor:
    """Reads on from the start of a file. Raises MalformedError where the file or the bound ends, WorldError.

    ``order`` is the byte order as `struct` writes it: ``<`` or ``>``.
    """

    def __init__(self, reader: Reader, path: str) -> None:
        self.order = "<"
        self._reader = reader
        self._path = path
        self._size = reader.files[path][0]
        self._data = b""
        self._start = 0
        self._at = 0

    @property
    def position(self) -> int:
        """Bytes from the start of the file."""
        return self._start + self._at

    def take(self, count: int) -> bytes:
        """The next `count` bytes."""
        self._need(count)
        self._at += count
        return self._data[self._at - count : self._at]

    def skip(self, count: int) -> None:
        """Move on by `count` bytes."""
        self._need(count)
        self._at += count

    def number(self, code: str) -> int | float | bool:
        """The next number, by its `struct` code (``I``, ``Q``, ``f`` …)."""
        (value,) = struct.unpack(self.order + code, self.take(struct.calcsize("=" + code)))
        return value  # type: ignore[no-any-return]

    def count(self, code: str = "Q") -> int:
        """The next number, a whole one."""
        return int(self.number(code))

    def skip_texts(self, count: int) -> None:
        """Move on by `count` texts, each with its length before it. A tokenizer has a million: hence the tight loop."""
        length_of = struct.Struct(self.order + "Q").unpack_from
        while count:
            self._need(8)
            data, at, last = self._data, self._at, len(self._data) - 8
            while count and at <= last and (after := at + 8 + length_of(data, at)[0]) <= last + 8:
                at, count = after, count - 1
            self._at = at
            if count:
                self._need(8)
                self.skip(8 + length_of(self._data, self._at)[0])
                count -= 1

    def _need(self, count: int) -> None:
        have = len(self._data) - self._at
        if count <= have:
            return
        if self.position + count > HEADER_BOUND:
            raise MalformedError(f"its header is longer than {HEADER_BOUND} bytes, or it is damaged")
        if self._size is not None and self.position + count > self._size:
            raise MalformedError("it ends inside its header: the download is not complete, or the file is damaged")
        self._fetch(count - have)

    def _fetch(self, more: int) -> None:
        end = self._start + len(self._data)
        wanted = max(more, _NEXT if end else _FIRST)
        found = self._reader.read(self._path, end, wanted)
        if len(found) < more:
            raise MalformedError("it ends inside its header: the download is not complete, or the file is damaged")
        self._start, self._data, self._at = self.position, self._data[self._at :] + found, 0
