"""Where keys and values stand in a text, for editing it in place."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knaster.diagnostics import Route
from knaster.document import Span, Value, parse, parser, spans
from knaster.document.emitter import dump

TEXT = """\
# a comment
name: n1   # trailing
"äöü": 'single'
model: |  # header
  two
  lines

# after
empty:   # nothing
fold: >-
   folded
   # no comment

 # comment
gpus:
  # first
  - index: 0
    pci: {address: "0000:01:00.0", bare, none: , list: [1, 2]}
    # inside

  -
    index: 1
  - # odd
    {index: 2}
zero:
- a
-
? explicit
: two words
  over lines   # end
"""

EXPECTED = {
    ("name",): ("name", "n1"),
    ("äöü",): ('"äöü"', "'single'"),
    ("model",): ("model", "|  # header\n  two\n  lines"),
    ("empty",): ("empty", ""),
    ("fold",): ("fold", ">-\n   folded\n   # no comment"),
    ("gpus", 0, "index"): ("index", "0"),
    ("gpus", 0, "pci"): ("pci", '{address: "0000:01:00.0", bare, none: , list: [1, 2]}'),
    ("gpus", 0, "pci", "bare"): ("bare", ""),
    ("gpus", 0, "pci", "none"): ("none", ""),
    ("gpus", 0, "pci", "list", 1): (None, "2"),
    ("gpus", 0): (None, 'index: 0\n    pci: {address: "0000:01:00.0", bare, none: , list: [1, 2]}'),
    ("gpus", 1): (None, "index: 1"),
    ("gpus", 2): (None, "{index: 2}"),
    ("zero",): ("zero", "- a\n-"),
    ("zero", 1): (None, ""),
    ("explicit",): ("explicit", "two words\n  over lines"),
}


@pytest.fixture(params=["libyaml", "python"])
def both(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of the two parsers."""
    if request.param == "python":
        monkeypatch.setattr(parser, "_parser", parser._slow)


def written(text: str, span: Span) -> tuple[str | None, str]:
    return text[slice(*span.key)] if span.key else None, text[span.start : span.end]


@pytest.mark.usefixtures("both")
@pytest.mark.parametrize("route", EXPECTED)
def test_keys_and_values_are_cut_out_exactly(route: Route) -> None:
    assert written(TEXT, spans(TEXT)[route]) == EXPECTED[route]


@pytest.mark.usefixtures("both")
def test_block_lists_begin_at_their_first_dash_and_end_with_their_last_value() -> None:
    gpus = spans(TEXT)["gpus",]
    assert TEXT[gpus.start :].startswith("- index: 0")
    assert TEXT[: gpus.end].endswith("{index: 2}")


@pytest.mark.usefixtures("both")
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
def test_line_ends_and_byte_order_mark_count(mark: str, end: str) -> None:
    text = mark + TEXT.replace("\n", end)
    found = spans(text)
    for route, (key, value) in EXPECTED.items():
        assert written(text, found[route]) == (key, value.replace("\n", end)), route


def test_mixed_line_ends() -> None:
    text = "\ufeffa: 1\r\nb: 2\nc: 3\r\rd:\r\n  e: [5,\r\n 6]\n"
    found = spans(text)
    assert {route: written(text, span) for route, span in found.items() if len(route) == 1} == {
        ("a",): ("a", "1"),
        ("b",): ("b", "2"),
        ("c",): ("c", "3"),
        ("d",): ("d", "e: [5,\r\n 6]"),
    }


@pytest.mark.parametrize(
    "text", ["", "a: yes\n", "a: 1\na: 2\n", "- a\n", "a: &x 1\nb: *x\n", "a: [\n", "\x00", "a:\t1\n"]
)
def test_nothing_for_a_text_that_is_no_strict_document(text: str) -> None:
    assert parse("f", text)[0] is None
    assert spans(text) == {}


def routes(value: Value, route: Route = ()) -> list[Route]:
    found = [route]
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for part, item in items:
        found += routes(item, (*route, part))
    return found


values = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text("ab #:'\n", max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", min_size=1, max_size=2), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.text("abc", min_size=1, max_size=3), values, min_size=1, max_size=4))
def test_every_value_has_a_span_that_holds_it(data: dict[str, Value]) -> None:
    text = dump(data, "")
    found = spans(text)
    assert sorted(found, key=str) == sorted(routes(data), key=str)
    for route, span in found.items():
        here: Any = data
        for part in route:
            here = here[part]
        if not isinstance(here, dict | list):
            document, _ = parse("f", f"x: {text[span.start : span.end]}\n")
            assert document
            assert document.data == {"x": here}
