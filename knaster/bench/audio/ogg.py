"""Ogg with Opus or Vorbis. Layout of a page: RFC 3533, section 6; of Opus in it: RFC 7845."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from knaster.bench.audio.part import NoAudioError, Part, Sound

_FIRST, _CONTINUED = 0x02, 0x01


@dataclass(frozen=True, slots=True)
class _Page:
    at: int
    end: int
    flags: int
    packets: int
    """Packets that end in it."""
    payload: int


def read(body: bytes) -> Sound:
    """The chain of streams in `body`. Raises `NoAudioError`."""
    pages = list(_pages(body))
    begins = [page.at for page in pages if page.flags & _FIRST]
    if not begins or begins[0] != 0:
        raise NoAudioError("an Ogg stream without its beginning")
    heads = {_codec(body[page.payload : page.payload + 8]) for page in pages if page.flags & _FIRST}
    if len(heads) > 1:
        raise NoAudioError("an Ogg stream with more than one kind of sound in it")
    ends = [*begins[1:], len(body)]
    (codec, packets), *_ = heads
    parts = tuple(Part(body[begin:end]) for begin, end in zip(begins, ends, strict=True))
    return Sound(codec, _start(pages, packets), parts)


def _codec(head: bytes) -> tuple[str, int]:
    """Its name, and how many packets stand before the sound."""
    if head == b"OpusHead":
        return "Opus", 2
    if head[:7] == b"\x01vorbis":
        return "Vorbis", 3
    raise NoAudioError("an Ogg stream with neither Opus nor Vorbis in it")


def _start(pages: list[_Page], packets: int) -> int:
    """Where the first page begins that holds sound: heads end their page (RFC 7845, 3; Vorbis I, A.2)."""
    seen = 0
    for page in pages:
        if seen >= packets:
            return page.at
        seen += page.packets
    raise NoAudioError("an Ogg stream without any sound")


def _pages(body: bytes) -> Iterator[_Page]:
    at = 0
    while at < len(body):
        if body[at : at + 5] != b"OggS\0" or at + 27 > len(body):
            raise NoAudioError(f"an Ogg stream that is broken at byte {at}")
        payload = at + 27 + body[at + 26]
        lacing = body[at + 27 : payload]
        end = payload + sum(lacing)
        if end > len(body):
            raise NoAudioError("an Ogg stream that is cut")
        yield _Page(at, end, body[at + 5], sum(size < 255 for size in lacing), payload)
        at = end
