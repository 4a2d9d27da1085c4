"""How long speech lasts, by decoding all of it. The soundfile door (libsndfile: WAV, FLAC, Opus, Vorbis, MP3)."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from knaster.diagnostics import WorldError

INSTALL = "pip install 'knaster[bench]'"
_BLOCK = 1 << 16
_LONGEST = 3600
"""Seconds: no answer to one of our sentences lasts an hour, but a few bytes can claim to."""
_SLOWEST, _FASTEST = 4000, 384_000
"""Hz."""
_CHANNELS = 8


class UndecodableError(ValueError):
    """The decoder refuses it; the text completes "the answer is no speech: ..."."""


@dataclass(frozen=True, slots=True)
class Length:
    """Samples per channel at ``rate`` per second; ``silent``: every one of them is zero.

    ``promised`` is what the file says, or what the decoder guesses where it says nothing.
    """

    frames: int
    rate: int
    silent: bool
    promised: int


def ready() -> None:
    """Raises WorldError where soundfile is not installed, before anything is measured for nothing."""
    _soundfile()


def length(data: bytes) -> Length:
    """The length of one file, as many samples as really come out of it. Raises UndecodableError and WorldError."""
    soundfile = _soundfile()
    try:
        with _quiet(), soundfile.SoundFile(io.BytesIO(data)) as source:
            if not _SLOWEST <= source.samplerate <= _FASTEST:
                raise UndecodableError(f"sound of {source.samplerate} samples a second")
            if source.channels > _CHANNELS:
                raise UndecodableError(f"sound of {source.channels} channels")
            return _decoded(source)
    except soundfile.SoundFileError as error:
        raise UndecodableError(f"a decoder stops at it ({_said(error)})") from None


def _decoded(source: Any) -> Length:
    frames, silent = 0, True
    width = 4 * source.channels
    block = bytearray(_BLOCK * width)
    while count := source.buffer_read_into(block, dtype="float32"):
        frames += count
        silent = silent and not block[: count * width].strip(b"\0")
        if frames > _LONGEST * source.samplerate:
            raise UndecodableError("more than an hour of sound")
    return Length(frames, source.samplerate, silent, source.frames)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what the decoder of MP3 itself writes to standard error about bytes that it does not like."""
    try:
        kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    except OSError:  # there is none
        yield
        return
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _said(error: Exception) -> str:
    text = getattr(error, "error_string", "") or "it gives no reason"
    return str(text).strip().rstrip(".")


def _soundfile() -> Any:
    try:
        import soundfile
    except ImportError as error:
        raise WorldError("bench tts needs the package soundfile, which is not installed", INSTALL) from error
    except OSError as error:
        raise WorldError(
            "the package soundfile finds no libsndfile here", f"install libsndfile, or {INSTALL}"
        ) from error
    return soundfile
