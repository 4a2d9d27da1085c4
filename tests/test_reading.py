"""Bytes of any tool on any system to plain text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knaster.inventory.reading import normalise

TEXT = "0, Größe 3090\n1, x\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends(encoding: str, end: str) -> None:
    assert normalise(TEXT.replace("\n", end).encode(encoding)) == TEXT
    assert normalise(b"\xfe\xff" + TEXT.encode("utf-16-be")) == TEXT


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"", ""),
        ("", ""),
        (b"caf\xe9", "caf\\xe9"),
        (b"a\0b\0\0", "ab"),
        (b"\xff\xfea\0b", "a\\x62"),
        ("\ufeffa\r\nb\0", "a\nb"),
        ("a\ud800", "a\\ud800"),
    ],
)
def test_what_is_no_clean_text(raw: bytes | str, text: str) -> None:
    assert normalise(raw) == text


@given(st.binary() | st.text() | st.text().map(lambda text: text.encode("utf-16", "surrogatepass")))
def test_nothing_raises(raw: bytes | str) -> None:
    text = normalise(raw)
    assert not set("\0\r\ufeff") & set(text)
    text.encode("utf-8")
    assert normalise(text) == text


@given(st.text(alphabet=st.characters(blacklist_categories=["Cs"], blacklist_characters="\0\r\ufeff")))
def test_clean_text_stays(text: str) -> None:
    assert normalise(text) == text == normalise(text.encode("utf-8"))
