"""RIFF WAVE. The head is written before the sound: a stream has placeholders where the lengths belong.

Layout: Microsoft and IBM, Multimedia Programming Interface and Data Specifications 1.0 (1991), "RIFF" and "WAVE".
"""

from __future__ import annotations

import re

from knaster.bench.audio.part import NoAudioError, Part, Sound

_HEAD = re.compile(rb"RIFF.{4}WAVE", re.DOTALL)
_PLACEHOLDER = 0x40000000
"""A length from here on (1 GiB; 0xFFFFFFFF, 0x7FFFFFFF and the like) is no length: so large an answer is not read."""
_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE


def read(body: bytes) -> Sound:
    """The files in `body`, one after another, with true lengths in their heads. Raises `NoAudioError`."""
    begins = _begins(body)
    ends = [*begins[1:], len(body)]
    found = [_part(body[begin:end], last=end == len(body)) for begin, end in zip(begins, ends, strict=True)]
    return Sound("WAV", found[0][1], tuple(part for part, _ in found))


def _begins(body: bytes) -> list[int]:
    """Where each file begins. Twelve bytes at the beginning of a chunk that sound by chance would have are none."""
    return [match.start() for match in _HEAD.finditer(body)] or [0]


def _part(data: bytes, *, last: bool) -> tuple[Part, int]:
    """The file with its data chunk as long as it is, and where that begins."""
    start, said, align = _chunks(data)
    there = len(data) - start
    if said == 0 or said >= _PLACEHOLDER:
        said = there
    elif said > there:
        raise NoAudioError(f"a WAV that is cut: its head says {said} bytes of sound, {there} came")
    elif not last and there - said > 1:
        raise NoAudioError("a WAV with bytes between its files that belong to none")
    length = said - said % align
    head = data[:4] + (start - 8 + length).to_bytes(4, "little") + data[8 : start - 4] + length.to_bytes(4, "little")
    return Part(head + data[start : start + length], frames=length // align), start


def _chunks(data: bytes) -> tuple[int, int, int]:
    """Where the sound begins, how many bytes of it the head says there are, and the bytes of one frame."""
    at, align = 12, 0
    while at + 8 <= len(data):
        name, size = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "little")
        if name == b"fmt ":
            align = _align(data[at + 8 : at + 8 + size])
        elif name == b"data":
            if not align:
                break
            return at + 8, size, align
        at += 8 + size + size % 2
    raise NoAudioError("a WAV whose head is broken")


def _align(fmt: bytes) -> int:
    """Bytes of one frame, for what is plain samples. Raises `NoAudioError` for compressed ones."""
    if len(fmt) < 16:
        raise NoAudioError("a WAV whose head is broken")
    kind, align = int.from_bytes(fmt[:2], "little"), int.from_bytes(fmt[12:14], "little")
    if kind not in (_PCM, _FLOAT, _EXTENSIBLE):
        raise NoAudioError(f"a WAV with compressed sound (format {kind}), whose length cannot be read here")
    return align
