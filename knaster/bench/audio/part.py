"""What all formats are taken apart into."""

from __future__ import annotations

from dataclasses import dataclass


class NoAudioError(ValueError):
    """The bytes are not what they should be; the text completes the sentence "the answer is no speech: ..."."""


@dataclass(frozen=True, slots=True)
class Part:
    """One file of the bytes: ``data`` as a decoder can read it, ``frames`` samples per channel where the bytes tell.

    ``frames`` is what the decoder must come to; None: whatever it comes to. ``trusted``: the decoder only proves that
    it is sound, and how much there is was counted in the bytes.
    """

    data: bytes
    frames: int | None = None
    trusted: bool = False


@dataclass(frozen=True, slots=True)
class Sound:
    """``format`` is WAV, FLAC, Opus, Vorbis or MP3; ``start`` the offset of the first byte that is sound."""

    format: str
    start: int
    parts: tuple[Part, ...]
