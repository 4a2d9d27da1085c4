"""The format by its first bytes, whatever a server calls it."""

from __future__ import annotations

from knaster.bench.audio import flac, mp3, ogg, wav
from knaster.bench.audio.part import NoAudioError, Sound

_READERS = ((b"RIFF", wav.read), (b"fLaC", flac.read), (b"OggS", ogg.read), (b"ID3", mp3.read))
_OTHERS = (
    (b"RF64", "a WAV of more than 4 GiB"),
    (b"ADIF", "AAC"),
    (b"FORM", "AIFF"),
    (b"caff", "CAF"),
    (b"\x1aE\xdf\xa3", "WebM"),
)
_WAY_OUT = "ask for wav, mp3, opus or flac"
_MOST = 1000


def sound(body: bytes, content_type: str = "") -> Sound:
    """`body` taken apart. Raises `NoAudioError` for anything else than WAV, FLAC, Ogg (Opus, Vorbis) or MP3."""
    found = _read(body, content_type)
    if len(found.parts) > _MOST:
        raise NoAudioError(f"more than {_MOST} files of sound in a row")
    return found


def _read(body: bytes, content_type: str) -> Sound:
    for head, read in _READERS:
        if body.startswith(head):
            return read(body)
    if len(body) > 1 and body[0] == 0xFF and body[1] & 0xE0 == 0xE0:
        if body[1] & 0xF6 == 0xF0:
            raise NoAudioError(f"AAC, whose length cannot be read here; {_WAY_OUT}")
        return mp3.read(body)
    raise NoAudioError(_other(body, content_type))


def _other(body: bytes, content_type: str) -> str:
    for head, name in _OTHERS:
        if body.startswith(head):
            return f"{name}, whose length cannot be read here; {_WAY_OUT}"
    if body[4:8] == b"ftyp":
        return f"AAC in an MP4 file, whose length cannot be read here; {_WAY_OUT}"
    kind = content_type.partition(";")[0].strip().lower()
    if kind in ("audio/pcm", "audio/l16", "audio/x-pcm", "audio/raw"):
        return f"PCM without a head that says how fast it is to be played; {_WAY_OUT}"
    if kind in ("audio/aac", "audio/mp4"):
        return f"AAC, whose length cannot be read here; {_WAY_OUT}"
    return f"bytes of no known format; {_WAY_OUT}"
