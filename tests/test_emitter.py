"""What is written is what every reader reads back."""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Callable
from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knaster.document import Value, parse
from knaster.document.emitter import dump, dump_json
from tests.yaml_readers import READERS, pyyaml, ruamel

NUMBERS = (
    "1e3 08 70e4411 0o40 0x1F 0b1 1_000 0472135016 .5e3 1. 1 1.5 -0 .inf .nan 52:54:00:41:07:19 0000:01:00.0 22:30"
)
WORDS = (
    "y NO on off n Y yes ~ null Null true True = 2026-1-2 2026-11-29 2026-11-29T10:00:00Z --- ... ${x} %{if} Größe 日本"
)
SIGNS = "- a|a: b|a #b|#a|*a|&a|!a|>|%|@|`|?|:|-|{|[|,|'|\"|\\|\\n|{{ x }}|{% if %}| | a|a ||a\nb|a\n\n b\n|\n|\t|\r\n"
HIDDEN = "\x00\x07\x1b\x7f\x85\xa0\u2028\u2029\ufeff\u202e\u200b\ufffe\U0001f600\U000e0001\U0010ffff"
TRICKY = [*NUMBERS.split(), *WORDS.split(), *SIGNS.split("|"), "|", "<<", *HIDDEN, HIDDEN, "a" * 500, "x " * 200]
KEYS = [text for text in TRICKY if text != "<<"]


def test_the_form() -> None:
    data = {
        "roles": [
            {
                "name": "embed",
                "slots": ["embed", "embed-2"],
                "count": 1,
                "needs": {"min_cc": 6.1, "gpu": True},
                "pin": None,
            },
            {"name": "08", "slots": [], "needs": {}, "matrix": [[1, [2]], [{"a": 1, "b": [3]}]]},
        ],
        "on": "yes",
        "10de:1c30": 'say "hi"\\',
        "gpu-a/b_c.d": "Größe\u202e\x85\U000e0001",
    }
    assert (
        dump(data, "Made by `knaster render`.\n\nDo not edit.")
        == """\
# Made by `knaster render`.
#
# Do not edit.
roles:
  - name: "embed"
    slots:
      - "embed"
      - "embed-2"
    count: 1
    needs:
      min_cc: 6.1
      gpu: true
    pin: null
  - name: "08"
    slots: []
    needs: {}
    matrix:
      - - 1
        - - 2
      - - a: 1
          b:
            - 3
"on": "yes"
"10de:1c30": "say \\"hi\\"\\\\"
gpu-a/b_c.d: "Größe\\u202e\\u0085\\U000e0001"
"""
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([], "[]\n"),
        ({}, "{}\n"),
        ([{"a": 1}, "b"], '- a: 1\n- "b"\n'),
        (
            [8.0, -0.0, 0.1, 1e-7, 1e22, 2.5e-10, 123456.789],
            "- 8\n- 0\n- 0.1\n- 0.0000001\n" + "- 1" + "0" * 22 + "\n- 0.00000000025\n- 123456.789\n",
        ),
        ((1, (2,)), "- 1\n- - 2\n"),
    ],
)
def test_small_forms(value: Any, text: str) -> None:
    assert dump(value, "") == text


def test_a_text_enum_is_text() -> None:
    class Word(StrEnum):
        NO = "NO"

    assert dump({Word.NO: Word.NO, "a": [Word.NO]}, "") == '"NO": "NO"\na:\n  - "NO"\n'


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, "\ud800", "a\udcff"])
def test_what_no_file_can_hold_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"surrogate|number|JSON"):
        dump({"a": value}, "")
    with pytest.raises(ValueError, match=r"surrogate|number|JSON"):
        dump_json({"a": value})


def test_keys_and_types_that_are_refused() -> None:
    for key in ("<<", "k" * 1001):
        with pytest.raises(ValueError, match="key"):
            dump({key: 1}, "")
    with pytest.raises(TypeError, match="set"):
        dump({"a": {1}}, "")


def test_a_head_cannot_leave_its_comment() -> None:
    text = dump({"a": 1}, "x\x85b: 1\u2028c: 2\r\nd\x1b[0m\u202e\x00")
    assert text == "# x\n# b: 1\n# c: 2\n# d\\u001b[0m\\u202e\\u0000\na: 1\n"
    assert pyyaml(text) == {"a": 1}


@pytest.mark.parametrize("reader", READERS)
def test_tricky_text_comes_back_as_text(reader: Callable[[str], Any]) -> None:
    data = {"values": TRICKY, "keys": {key: {"in": key} for key in KEYS}}
    assert reader(dump(data, "head")) == data


@pytest.mark.parametrize("reader", READERS)
def test_numbers_booleans_and_null_keep_their_types(reader: Callable[[str], Any]) -> None:
    values: list[Value] = [
        0,
        -1,
        12345678901,
        0.1,
        8.9,
        -0.55,
        1e-7,
        123456.789,
        True,
        False,
        None,
        [],
        {},
        [[]],
        [{}],
        {"a": {"b": [{}]}},
    ]
    back = reader(dump({"values": values}, ""))["values"]
    assert back == values
    assert [type(value) for value in back] == [type(value) for value in values]


def test_our_own_reader_reads_tricky_text() -> None:
    data = {"values": TRICKY, "keys": {key: 1 for key in KEYS}}
    parsed, found = parse("generated/x.yaml", dump(data, "head"))
    assert found == ()
    assert parsed is not None
    assert parsed.data == data


ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**14), 10**14),
    st.integers(-(10**6), 10**6).map(lambda n: n / 1000),
    ANY_TEXT,
)
ANY_KEY = ANY_TEXT.filter(lambda text: text != "<<")
TREES = st.dictionaries(
    ANY_KEY,
    st.recursive(
        LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_KEY, inner, max_size=3), max_leaves=10
    ),
    max_size=4,
)


@given(TREES, st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
@settings(deadline=None)
def test_dumped_data_comes_back(data: dict[str, Value], head: str) -> None:
    text = dump(data, head)
    assert text.endswith("\n")
    assert "\r" not in text
    parsed, found = parse("f.yaml", text)
    assert found == ()
    assert parsed is not None
    assert (parsed.data, pyyaml(text), ruamel(text)) == (data, data, data)
    assert json.loads(dump_json(data)) == data


def test_what_cannot_be_seen_is_escaped_and_nothing_else() -> None:
    hidden = {"Cc", "Cf", "Co", "Zl", "Zp", "Zs"}
    every = "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF)
    raw = set(dump([every], ""))
    assert [char for char in every if unicodedata.category(char) in hidden and char in raw] == ["\n", " "]
    seen = (char for char in every if unicodedata.category(char)[0] in "LMNPS" and ord(char) < 0xE0000)
    assert [char for char in seen if char not in raw] == []
    assert set(dump_json([every])) == raw


def test_json() -> None:
    assert dump_json({"b": ["ü", "\u202e\u2028\x7f\U000e0001\n"], "a": {}}) == (
        '{\n  "b": [\n    "ü",\n    "\\u202e\\u2028\\u007f\\udb40\\udc01\\n"\n  ],\n  "a": {}\n}\n'
    )
