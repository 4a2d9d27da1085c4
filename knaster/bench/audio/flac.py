"""FLAC. A stream's head says "0 samples", for nobody knew: then they are counted by the numbers in its frames.

Layout: RFC 9639, sections 8 (metadata) and 9.1 (frame header).
"""

from __future__ import annotations

import re

from knaster.bench.audio.part import NoAudioError, Part, Sound

_HEAD = re.compile(rb"fLaC[\x00\x80]\x00\x00\x22", re.DOTALL)
_SYNC = re.compile(rb"\xff[\xf8\xf9]")
_SIZES = {
    1: 192,
    **{code: 576 << (code - 2) for code in range(2, 6)},
    **{code: 256 << (code - 8) for code in range(8, 16)},
}


def read(body: bytes) -> Sound:
    """The files in `body`, with the number of samples in their heads. Raises `NoAudioError`."""
    begins = [match.start() for match in _HEAD.finditer(body)]
    if not begins or begins[0] != 0:
        raise NoAudioError("a FLAC whose head is broken")
    found = [_part(body[begin:end]) for begin, end in zip(begins, [*begins[1:], len(body)], strict=True)]
    return Sound("FLAC", found[0][1], tuple(part for part, _ in found))


def _part(data: bytes) -> tuple[Part, int]:
    start = _start(data)
    total = int.from_bytes(data[21:26], "big") & 0xFFFFFFFFF
    if total:
        return Part(data, total), start
    total = _counted(data, start)
    patched = (int.from_bytes(data[21:26], "big") | total).to_bytes(5, "big")
    return Part(data[:21] + patched + data[26:], total), start


def _start(data: bytes) -> int:
    """Where the first frame begins: behind the last block of metadata."""
    at = 4
    while at + 4 <= len(data):
        last, at = data[at] >> 7, at + 4 + int.from_bytes(data[at + 1 : at + 4], "big")
        if last:
            return at
    raise NoAudioError("a FLAC whose head is broken")


def _counted(data: bytes, start: int) -> int:
    """Samples, by the frames: each has the number of itself or of its first sample, and its own size."""
    total, number = 0, 0
    for match in _SYNC.finditer(data, start):
        header = _header(data, match.start(), variable=match[0][1] == 0xF9)
        if header is None or header[0] != (total if match[0][1] == 0xF9 else number):
            continue  # bytes of sound that look like a header
        total, number = total + header[1], number + 1
    if not total:
        raise NoAudioError("a FLAC without any sound")
    return total


def _header(data: bytes, at: int, *, variable: bool) -> tuple[int, int] | None:
    """Its number and its samples; None where it is no header."""
    if at + 6 > len(data):
        return None
    coded = _number(data[at + 4 : at + 11], most=7 if variable else 6)
    if coded is None:
        return None
    number, length = coded
    end = at + 4 + length
    code, rate = data[at + 2] >> 4, data[at + 2] & 15
    size, more = _SIZES.get(code, 0), {6: 1, 7: 2}.get(code, 0)
    if more:
        size = int.from_bytes(data[end : end + more], "big") + 1
    end += more + {12: 1, 13: 2, 14: 2}.get(rate, 0)
    if not size or end >= len(data) or _crc8(data[at:end]) != data[end]:
        return None
    return number, size


def _number(data: bytes, most: int) -> tuple[int, int] | None:
    """A number coded as UTF-8 codes characters, up to seven bytes; and how many bytes it took."""
    first = data[0] if data else 0xFF
    if first < 0x80:
        return first, 1
    length = 8 - (first ^ 0xFF).bit_length()
    if not 2 <= length <= min(most, len(data)) or any(byte & 0xC0 != 0x80 for byte in data[1:length]):
        return None
    number = first & (0x7F >> length)
    for byte in data[1:length]:
        number = number << 6 | byte & 0x3F
    return number, length


def _crc8(data: bytes) -> int:
    """Polynomial x^8 + x^2 + x + 1, as RFC 9639, 9.1.8 says."""
    found = 0
    for byte in data:
        found ^= byte
        for _ in range(8):
            found = (found << 1 ^ 0x07) & 0xFF if found & 0x80 else found << 1
    return found
