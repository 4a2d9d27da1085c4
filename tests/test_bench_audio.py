"""The length of speech: exact for every format, streamed or not, and a clear refusal of everything else."""

from __future__ import annotations

import io
import struct
import sys
import wave
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knaster.adapters import audio
from knaster.adapters.audio import UndecodableError
from knaster.bench.audio import NoAudioError, Sound, sound
from knaster.diagnostics import WorldError
from tests.speaking import RATE, encoded, wav

COUNT = 2 * RATE + 777
"""Samples of all sounds here: not a whole number of any format's blocks."""


def frames(body: bytes) -> list[int]:
    """Samples of each file in it, as the decoder counts them; where the bytes tell, both agree."""
    found = []
    for part in sound(body).parts:
        length = audio.length(part.data)
        assert length.rate == RATE
        assert not length.silent
        assert part.trusted or length.frames == length.promised
        assert part.frames is None or part.trusted or part.frames == length.frames
        found.append(length.frames)
    return found


def refused(body: bytes, kind: str = "") -> str:
    with pytest.raises(NoAudioError) as caught:
        sound(body, kind)
    return str(caught.value)


def placeholders(body: bytes, riff: int, data: int) -> bytes:
    """A WAV of Python's `wave` (head of 44 bytes) with other lengths in its head."""
    assert body[36:40] == b"data"
    return body[:4] + struct.pack("<I", riff) + body[8:40] + struct.pack("<I", data) + body[44:]


@pytest.mark.parametrize(
    ("format", "subtype", "name"),
    [
        ("WAV", "PCM_16", "WAV"),
        ("WAV", "PCM_24", "WAV"),
        ("WAV", "FLOAT", "WAV"),
        ("WAVEX", "PCM_16", "WAV"),
        ("FLAC", "PCM_16", "FLAC"),
        ("OGG", "OPUS", "Opus"),
        ("OGG", "VORBIS", "Vorbis"),
        ("MP3", None, "MP3"),
    ],
)
def test_whole_files(format: str, subtype: str | None, name: str) -> None:
    body = encoded(COUNT, format, subtype)
    assert sound(body).format == name
    assert frames(body) == [COUNT]
    assert frames(body + body + body) == [COUNT, COUNT, COUNT], "three in a row, of which players play one"


@pytest.mark.parametrize("riff", [0, 36, 0xFFFFFFFF, 0x7FFFFFFF])
@pytest.mark.parametrize("data", [0, 0xFFFFFFFF, 0xFFFFFFFF - 36, 0x7FFFFFFF - 36, 0x40000000])
def test_heads_of_streams(riff: int, data: int) -> None:
    body = placeholders(wav(COUNT), riff, data)
    assert frames(body) == [COUNT]
    assert frames(body + body) == [COUNT, COUNT]
    assert sound(body).start == 44


def test_other_chunks_before_the_sound() -> None:
    body = wav(COUNT)
    odd = body[:36] + b"LIST" + struct.pack("<I", 5) + b"abcde\0" + body[36:]
    assert frames(odd) == [COUNT]
    assert sound(odd).start == 44 + 14


def test_half_a_sample_at_the_end_is_none() -> None:
    assert frames(placeholders(wav(COUNT), 0, 0) + b"\x01") == [COUNT]


def test_stereo_lasts_as_long_as_mono() -> None:
    (part,) = sound(wav(COUNT, channels=2)).parts
    assert audio.length(part.data).frames == COUNT


def test_a_flac_that_does_not_know_its_length() -> None:
    """A stream: STREAMINFO says 0 samples (RFC 9639, 8.2: the last 36 bits before the MD5 sum)."""
    body = bytearray(encoded(COUNT, "FLAC", "PCM_16"))
    body[21] &= 0xF0
    body[22:26] = bytes(4)
    assert frames(bytes(body)) == [COUNT]
    assert sound(bytes(body)).parts[0].frames == COUNT
    assert frames(bytes(body) * 2) == [COUNT, COUNT]


def test_an_mp3_that_does_not_know_its_length() -> None:
    """Without the first frame, which holds the number of frames at byte 8 of its "Xing" mark, these are counted."""
    body = encoded(COUNT, "MP3")
    mark = body.index(b"Xing")
    told = struct.unpack(">I", body[mark + 8 : mark + 12])[0]
    first = 192  # bytes of a frame of 64 kbit/s at 24 kHz: 72 * 64000 / 24000
    (part,) = sound(body[first:]).parts
    assert (part.frames, part.trusted) == (told * 576, True)
    assert COUNT <= told * 576 < COUNT + 4 * 576
    assert sound(body).start == first
    assert sound(body[first:]).start == 0


def test_tags_around_an_mp3() -> None:
    body = encoded(COUNT, "MP3")
    tag = b"ID3\x04\x00\x00" + bytes([0, 0, 1, 2]) + bytes(130)  # 1 * 128 + 2 bytes
    assert frames(tag + body + b"TAG" + bytes(125)) == [COUNT]
    assert sound(tag + body).start == 140 + 192


@pytest.mark.parametrize("format", ["FLAC", "MP3", "OGG", "WAV"])
def test_where_the_sound_begins(format: str) -> None:
    """A head that was sent at once is no sound: what is before `start` decodes to nothing at all."""
    body = encoded(COUNT, format, "OPUS" if format == "OGG" else None)
    start = sound(body).start
    assert 0 < start < len(body) / 2
    with pytest.raises((NoAudioError, UndecodableError)):
        frames(body[:start])


def test_an_opus_stream_begins_after_its_two_heads() -> None:
    """RFC 7845, 3: the identification and the comment head have pages of their own, which sound follows."""
    body = encoded(COUNT, "OGG", "OPUS")
    assert body[sound(body).start :].startswith(b"OggS")
    assert body[: sound(body).start].count(b"OggS") == 2


@pytest.mark.parametrize(
    ("body", "kind", "said"),
    [
        (b"\xff\xf1\x50\x80" + bytes(100), "audio/aac", "AAC"),
        (b"\xff\xf9\x50\x80" + bytes(100), "", "AAC"),
        (b"\0\0\0\x20ftypM4A " + bytes(100), "audio/mp4", "AAC in an MP4 file"),
        (bytes(1000), "audio/pcm", "PCM without a head"),
        (bytes(1000), "audio/L16; rate=24000", "PCM without a head"),
        (b"\x1aE\xdf\xa3" + bytes(100), "audio/webm", "WebM"),
        (b"RF64" + bytes(100), "", "more than 4 GiB"),
        (b"FORM" + bytes(100), "", "AIFF"),
        (b"hello", "", "no known format"),
        (b"", "", "no known format"),
        (b"RIFF", "", "head is broken"),
        (b"fLaC", "", "head is broken"),
        (b"OggS", "", "broken at byte 0"),
        (b"ID3", "", "is cut"),
        (b"\xff\xfd\x50\x80" + bytes(1000), "", "no MP3"),  # layer II
    ],
)
def test_what_cannot_be_read(body: bytes, kind: str, said: str) -> None:
    assert said in refused(body, kind)


def test_cut_ones() -> None:
    assert (
        refused(wav(COUNT)[:-1000])
        == f"a WAV that is cut: its head says {2 * COUNT} bytes of sound, {2 * COUNT - 1000} came"
    )
    assert "cut" in refused(encoded(COUNT, "MP3")[:-50])
    assert "cut" in refused(encoded(COUNT, "OGG", "OPUS")[:-50])
    with pytest.raises(UndecodableError):
        frames(encoded(COUNT, "FLAC", "PCM_16")[:-1000])


def test_compressed_waves_and_broken_rates() -> None:
    body = bytearray(wav(100))
    body[20] = 6  # A-law
    assert "format 6" in refused(bytes(body))
    with pytest.raises(UndecodableError, match="1 samples a second"):
        audio.length(wav(100, rate=1))
    with pytest.raises(UndecodableError, match="1000 channels"):
        audio.length(wav(10, channels=1000))


def test_an_hour_is_too_much() -> None:
    assert audio.length(wav(3600 * 4000, rate=4000)).frames == 3600 * 4000
    with pytest.raises(UndecodableError, match="more than an hour"):
        audio.length(wav(3600 * 4000 + 4000 * 60, rate=4000))


def test_silence() -> None:
    assert audio.length(wav(100, sample=b"\0\0")).silent
    assert not audio.length(wav(100, sample=b"\1\0")).silent


def test_a_damaged_mp3_is_decoded_as_far_as_it_goes(capfd: pytest.CaptureFixture[str]) -> None:
    """And what its decoder says about it, on standard error, is for nobody."""
    body = bytearray(encoded(3000, "MP3"))
    body[6] = 1
    length = audio.length(bytes(body))
    assert length.frames != length.promised
    assert capfd.readouterr().err == ""


def test_thousands_of_files() -> None:
    assert refused(wav(1) * 1001) == "more than 1000 files of sound in a row"


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "soundfile", None)
    with pytest.raises(WorldError) as caught:
        audio.ready()
    assert caught.value.hint == "pip install 'knaster[bench]'"


@given(st.integers(1, 3000), st.sampled_from([8000, 16000, 22050, 44100, 48000]), st.integers(1, 2))
def test_waves_are_exact(count: int, rate: int, channels: int) -> None:
    body = wav(count, rate=rate, channels=channels)
    with wave.open(io.BytesIO(body)) as file:
        assert file.getnframes() == count
    (part,) = sound(body).parts
    length = audio.length(part.data)
    assert Fraction(length.frames, length.rate) == Fraction(count, rate)


HEADS = [
    b"",
    b"RIFF",
    b"RIFF\0\0\0\0WAVEfmt ",
    b"fLaC\0\0\0\x22",
    b"OggS\0\2",
    b"ID3\4\0\0",
    b"\xff\xfb\x90\x64",
    b"\xff\xf3\x84",
]


@given(st.sampled_from(HEADS), st.binary(max_size=400))
def test_any_bytes_are_taken_apart_or_refused(head: bytes, tail: bytes) -> None:
    try:
        found = sound(head + tail)
    except NoAudioError:
        return
    assert isinstance(found, Sound)
    assert 0 <= found.start <= len(head + tail)
    for part in found.parts:
        try:
            audio.length(part.data)
        except UndecodableError:
            continue


@given(st.sampled_from(["WAV", "FLAC", "MP3", "OGG"]), st.integers(0, 10**9), st.integers(0, 255))
def test_one_wrong_byte(format: str, at: int, byte: int) -> None:
    body = bytearray(encoded(3000, format, "OPUS" if format == "OGG" else None))
    body[at % len(body)] = byte
    try:
        for part in sound(bytes(body)).parts:
            audio.length(part.data)
    except (NoAudioError, UndecodableError):
        return
