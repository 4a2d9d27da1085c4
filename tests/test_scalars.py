"""The scalar table against the readers it speaks of."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knaster.document import parse
from knaster.document.scalars import Unclear, is_text, read
from tests.yaml_readers import READERS, pyyaml, ruamel

VALUES = {
    "": None,
    "null": None,
    "true": True,
    "false": False,
    "0": 0,
    "-0": 0,
    "8": 8,
    "-12": -12,
    "1234567": 1234567,
    "8.0": 8,
    "8.9": 8.9,
    "-0.55": -0.55,
    "0.000": 0,
    "999999999999999": 999999999999999,
    "0.123456789012345": 0.123456789012345,
}

ORDINARY = """
1.2.3 580.65.06 192.168.0.1 192.168.100.0/24 10de:1c30 1002:7480 0000:01:00.g 02:11:22:33:44:55 pve44 R580 GODE-PC-05
NVIDIA 4x 8GB 1e 1e+ e3 x10 - -- . .. +  12ab34e 70e4411f nO yEs oN tRUE nULL inf NaN Infinity 2026-11 2026-11-29x
26-11-29 >=7 <= _1 __ a_b 1:60 08:30 0:30 :1 1: d6e1 v1 Q4_K_M 7e-x 0b 0x 0o 0xg 0o8 -.inf. true. ==
"""
TEXT = ORDINARY.split()

QUOTE = {
    "the boolean true": "y Y yes Yes YES on On ON True TRUE",
    "the boolean false": "n N no No NO off Off OFF False FALSE",
    "null": "~ Null NULL",
    "a number": """
        .inf .Inf .INF +.inf -.INF .nan .NaN .NAN 08 010 0472135016 0012345 00 -01 +1 1. .5 +.5 -.5 1e3 1E3 1e+3
        70e4411 .5e3 .5p3 0o40 0O7 -0o7 0x1F 0XaB +0x1 0b10 -0b1 1_000 1__0 0_1 1_.5 1.5_0 ._ +_ 0x_ 12e03 1.5e-3
    """,
    "a number in base 60": "1:30 22:30 52:54:00:41:07:19 0000:01:00.0 00:30.5 190:20:30",
    "a date": "2026-11-29 2026-1-2 2026-11-29T10:00:00Z 2026-11-29t1:02:03.4 2026-13-45",
    "a merge key": "<<",
    "a default value": "=",
}


@pytest.mark.parametrize(("text", "value"), VALUES.items())
def test_a_plain_scalar_that_means_the_same_to_all(text: str, value: Any) -> None:
    assert (read(text), type(read(text))) == (value, type(value))


@pytest.mark.parametrize("text", TEXT)
def test_ordinary_text_is_not_refused(text: str) -> None:
    assert read(text) == text
    assert is_text(text)


@pytest.mark.parametrize(("what", "text"), [(what, text) for what, texts in QUOTE.items() for text in texts.split()])
def test_text_that_some_reader_takes_for_something_else(what: str, text: str) -> None:
    unclear = read(text)
    assert isinstance(unclear, Unclear)
    assert (unclear.code, unclear.message) == ("yaml-quote", f"{text} without quotes is {what} to some YAML readers")
    assert unclear.hint == f'quote this: "{text}"' or unclear.hint.endswith(f', or quote it if it is text: "{text}"')
    assert not is_text(text)


@pytest.mark.parametrize("text", ["1" * 16, "0.1234567890123456", "1000000000000000.5", "0." + "0" * 40 + "1"])
def test_a_number_has_at_most_fifteen_digits(text: str) -> None:
    unclear = read(text)
    assert isinstance(unclear, Unclear)
    assert unclear.code == "yaml-bounds"


def test_the_way_out_names_the_plain_word_where_there_is_one() -> None:
    hints = [value.hint for value in map(read, ("NO", "on", "~")) if isinstance(value, Unclear)]
    assert hints == [
        'write false, or quote it if it is text: "NO"',
        'write true, or quote it if it is text: "on"',
        'write null, or quote it if it is text: "~"',
    ]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("032", "32"),
        ("0x20", "32"),
        ("-0x20", "-32"),
        ("0b11", "3"),
        ("0o17", "15"),
        ("+32", "32"),
        ("3.2e1", "32"),
        ("1.5e-3", "0.0015"),
        (".5", "0.5"),
        ("-.5", "-0.5"),
        ("1.", "1"),
        ("8_192", "8192"),
        ("1_.5_0", "1.5"),
        ("00", "0"),
        ("-00", "0"),
        ("100.e1", "1000"),
        ("1e300", None),
        ("1e-300", None),
        ("0x" + "f" * 40, None),
        ("0b+1", None),
        (".1p3", None),
        ("0x_", None),
        ("1:30", None),
        ("2026-11-29", None),
        (".inf", None),
    ],
)
def test_the_way_out_of_an_odd_number_is_the_number_or_quotes(text: str, plain: str | None) -> None:
    unclear = read(text)
    assert isinstance(unclear, Unclear)
    hint = f'write {plain} if it is a number, or quote it if it is text: "{text}"'
    assert unclear.hint == (f'quote this: "{text}"' if plain is None else hint)
    assert plain is None or not isinstance(read(plain), (str, Unclear))


def accepted(text: str) -> bool:
    """Whether a file may hold `text` as a value without quotes, and it is text to us."""
    document, _ = parse("f.yaml", f"k: {text}\n")
    return document is not None and document.data == {"k": text}


@pytest.fixture(scope="module")
def short_texts() -> list[str]:
    """Every text of up to three characters that matter, as far as it is accepted without quotes; and the list above."""
    tried = ("".join(letters) for size in (1, 2, 3) for letters in product("019_.-+:xobeEpyYnN~T", repeat=size))
    texts = [text for text in (*tried, *TEXT) if accepted(text)]
    assert len(texts) > 4000
    return texts


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_takes_accepted_text_for_the_same_text(
    reader: Callable[[str], Any], short_texts: list[str]
) -> None:
    assert reader("".join(f"- {text}\n" for text in short_texts)) == short_texts


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_takes_accepted_values_for_the_same_values(reader: Callable[[str], Any]) -> None:
    theirs = reader("".join(f"- {text}\n" for text in VALUES))
    assert theirs == list(VALUES.values())
    assert [isinstance(value, bool) for value in theirs] == [isinstance(value, bool) for value in VALUES.values()]


@given(st.text("0123456789abcdefxob_.:+-eEpPTZ~yYnNoOfFtTrRuUlLsSiInN=<", min_size=1, max_size=12).filter(accepted))
@settings(deadline=None)
def test_pyyaml_and_ruamel_take_accepted_text_for_the_same_text(text: str) -> None:
    assert (pyyaml(f"k: {text}\n"), ruamel(f"k: {text}\n")) == ({"k": text}, {"k": text})


@given(st.text("0123456789abcdefxob_.:+-eEpPTZ~yYnNoOfFtTrRuUlLsSiInN=<", min_size=1, max_size=12))
@settings(deadline=None)
def test_what_pyyaml_takes_for_text_as_a_key_is_a_key_or_is_refused(text: str) -> None:
    document, _ = parse("f.yaml", f"{text}: 1\n")
    if document is not None and list(document.data.values()) == [1]:
        assert pyyaml(f"{text}: 1\n") == document.data
