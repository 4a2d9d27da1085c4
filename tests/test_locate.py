"""Routes to lines and columns. Expected positions are counted by hand in the texts below."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knaster.diagnostics import Diagnostic, Place, Related, Route
from knaster.document import Document, Value, locate, parse
from knaster.document.emitter import dump

FILE = "inventory/n1.yaml"

TEXT = """\
# a comment
name: n1
cpu: {model: "Ä", cores: 8}
gpus:
  - index: 0
    name: 'P2000'
  - {index: 1, "vram": 8}
empty:
nested:
  list: [[1, 2], [3]]
"""


def where(route: Route, on: Literal["key", "value"] = "value", text: str = TEXT) -> tuple[int, int]:
    (found,) = locate(text, [Diagnostic("c", "m", Place(FILE, route, on))])
    assert found.place is not None
    assert (found.code, found.place.file, found.place.route, found.place.on) == ("c", FILE, route, on)
    return found.place.line, found.place.column


@pytest.mark.parametrize(
    ("route", "value", "key"),
    [
        (("name",), (2, 7), (2, 1)),
        (("cpu",), (3, 6), (3, 1)),
        (("cpu", "model"), (3, 14), (3, 7)),
        (("cpu", "cores"), (3, 26), (3, 19)),
        (("gpus",), (5, 3), (4, 1)),
        (("gpus", 0), (5, 5), (5, 5)),
        (("gpus", 0, "name"), (6, 11), (6, 5)),
        (("gpus", 1), (7, 5), (7, 5)),
        (("gpus", 1, "vram"), (7, 24), (7, 16)),
        (("empty",), (8, 7), (8, 1)),
        (("nested", "list", 0, 1), (10, 14), (10, 14)),
        (("nested", "list", 1), (10, 18), (10, 18)),
        ((), (2, 1), (2, 1)),
    ],
)
def test_values_and_keys(route: Route, value: tuple[int, int], key: tuple[int, int]) -> None:
    assert (where(route), where(route, "key")) == (value, key)


@pytest.mark.parametrize(
    ("route", "expected"),
    [
        (("missing",), (2, 1)),
        (("gpus", 0, "memory_gb"), (5, 5)),
        (("gpus", 1, "memory_gb", "deeper"), (7, 5)),
        (("gpus", 2), (5, 3)),
        (("gpus", -1), (5, 3)),
        (("gpus", "0"), (5, 3)),
        (("name", "x"), (2, 7)),
        (("name", 0), (2, 7)),
        ((0,), (2, 1)),
    ],
)
def test_a_route_that_leads_nowhere_gives_its_last_parent(route: Route, expected: tuple[int, int]) -> None:
    assert where(route) == expected
    assert where(route, "key") == expected


def test_line_ends_and_a_byte_order_mark_do_not_move_positions() -> None:
    for text in (TEXT.replace("\n", "\r\n"), TEXT.replace("\n", "\r"), "\ufeff" + TEXT):
        assert where(("gpus", 1, "vram"), "key", text) == (7, 16)
    assert where(("a",), text="\ufeffa: 1\n") == (1, 4)


@pytest.mark.parametrize("text", ["", "# x\n", "a: [", "\x00", "a: b: c", "<<<<<<< x\n", "[" * 10_000, "a: \udcff"])
def test_text_that_does_not_parse_leaves_the_diagnostic_alone(text: str) -> None:
    given_one = Diagnostic("c", "m", Place(FILE, ("a",)))
    assert locate(text, [given_one]) == (given_one,)


def test_places_in_other_files_and_places_with_a_line_are_left_alone() -> None:
    own, other, done = (
        Place(FILE, ("name",)),
        Place("catalog/roles.yaml", ("name",)),
        Place(FILE, ("name",), "value", 9, 9),
    )
    related = (Related(own, "here"), Related(other, "there"), Related(done, "known"))
    found = locate(TEXT, [Diagnostic("c", "m", own, related=related), Diagnostic("c", "m", done), Diagnostic("c", "m")])
    located = Place(FILE, ("name",), "value", 2, 7)
    assert found == (
        Diagnostic(
            "c", "m", located, related=(Related(located, "here"), Related(other, "there"), Related(done, "known"))
        ),
        Diagnostic("c", "m", done),
        Diagnostic("c", "m"),
    )


def test_a_refused_text_that_parses_is_located_too() -> None:
    assert where(("b",), text="a: &x NO\na: *x\nb: !t 1\n") == (3, 4)


LEAVES = st.one_of(st.none(), st.booleans(), st.integers(-999, 999), st.text("ab:- #'\"\n", max_size=5))
KEYS = st.text("abc1 ", min_size=1, max_size=3)
TREES = st.dictionaries(
    KEYS,
    st.recursive(
        LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
    ),
    min_size=1,
    max_size=3,
)


def routes(value: Value) -> list[Route]:
    if isinstance(value, dict):
        return [(), *((key, *rest) for key, item in value.items() for rest in routes(item))]
    if isinstance(value, list):
        return [(), *((index, *rest) for index, item in enumerate(value) for rest in routes(item))]
    return [()]


@given(TREES)
def test_every_key_stands_where_locate_says(data: dict[str, Value]) -> None:
    text = dump(data, "head")
    assert parse(FILE, text) == (Document(FILE, data), ())
    lines = text.split("\n")
    for route in routes(data):
        if route and isinstance(route[-1], str):
            line, column = where(route, "key", text)
            assert lines[line - 1][column - 1 :].startswith((f"{route[-1]}:", f'"{route[-1]}":'))
