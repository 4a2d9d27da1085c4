"""MPEG audio, layer III. A stream has no head that tells its length, so its frames are counted.

Frame header: ISO/IEC 11172-3, 2.4.1.3 and 13818-3. The frame in which an encoder tells the length of a whole file
("Xing", "Info") is silence; with it a decoder also knows what to cut at both ends. Without it that stays: some 0.05 s.
"""

from __future__ import annotations

from dataclasses import dataclass

from knaster.bench.audio.part import NoAudioError, Part, Sound

_RATES = {3: (44100, 48000, 32000), 2: (22050, 24000, 16000), 0: (11025, 12000, 8000)}
"""Hz, by the version bits: MPEG-1, MPEG-2, MPEG-2.5."""
_KBPS_1 = (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)
_KBPS_2 = (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)
_TAIL = 128
"""Bytes of an ID3v1 tag."""


@dataclass(frozen=True, slots=True)
class _Frame:
    size: int
    samples: int
    tells: bool


def read(body: bytes) -> Sound:
    """The files in `body`. Raises `NoAudioError`."""
    at, start = 0, None
    begins: list[int] = []
    counts: list[tuple[int, bool]] = []
    while at < len(body):
        if body[at : at + 3] == b"ID3":
            at += _tag(body, at)
            continue
        if len(body) - at == _TAIL and body[at : at + 3] == b"TAG":
            break
        frame = _frame(body, at)
        if at + frame.size > len(body):
            raise NoAudioError("an MP3 that is cut")
        if not begins or frame.tells:
            begins.append(at)
            counts.append((0, frame.tells))
        if not frame.tells:
            start = at if start is None else start
            counts[-1] = (counts[-1][0] + frame.samples, counts[-1][1])
        at += frame.size
    if start is None:
        raise NoAudioError("an MP3 without any sound")
    ends = [*begins[1:], at]
    spans = zip(begins, ends, counts, strict=True)
    parts = (Part(body[begin:end], None if tells else count, not tells) for begin, end, (count, tells) in spans)
    return Sound("MP3", start, tuple(parts))


def _tag(body: bytes, at: int) -> int:
    """Bytes of an ID3v2 tag; its length has seven bits a byte (ID3v2.4, 3.1), a footer ten bytes more."""
    head = body[at : at + 10]
    if len(head) < 10:
        raise NoAudioError("an MP3 that is cut")
    size = sum(value << shift for value, shift in zip(head[6:10], (21, 14, 7, 0), strict=True))
    return 10 + size + (10 if head[5] & 0x10 else 0)


def _frame(body: bytes, at: int) -> _Frame:
    head = body[at : at + 4]
    if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE0 != 0xE0:
        raise NoAudioError(f"an MP3 that is broken at byte {at}")
    version, layer = head[1] >> 3 & 3, head[1] >> 1 & 3
    kbps, rate, padding = head[2] >> 4, head[2] >> 2 & 3, head[2] >> 1 & 1
    if layer != 1 or version == 1 or kbps in (0, 15) or rate == 3:
        raise NoAudioError(f"MPEG audio that is no MP3 (at byte {at})")
    samples = 1152 if version == 3 else 576
    hz = _RATES[version][rate]
    size = samples // 8 * (_KBPS_1 if version == 3 else _KBPS_2)[kbps] * 1000 // hz + padding
    return _Frame(size, samples, _tells(body, at, version, mono=head[3] >> 6 == 3))


def _tells(body: bytes, at: int, version: int, *, mono: bool) -> bool:
    """Whether it is the frame that tells the length; its mark stands where the side information of others ends."""
    side = (17 if mono else 32) if version == 3 else (9 if mono else 17)
    return body[at + 4 + side : at + 8 + side] in (b"Xing", b"Info")
