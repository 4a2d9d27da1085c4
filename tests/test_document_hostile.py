"""Bounds, and that no text at all raises, crashes or takes long."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from knaster.diagnostics import Diagnostic, Place
from knaster.document import locate, parse, parser
from tests.test_document import NODE

FILE = "catalog/models.yaml"
MIB = 1024 * 1024


def codes(text: str) -> list[str]:
    return [d.code for d in parse(FILE, text)[1]]


def nested(levels: int) -> str:
    """A mapping with `levels` levels of nesting, the root included."""
    return "a: " + "[" * (levels - 1) + "]" * (levels - 1) + "\n"


def test_the_bound_on_size_counts_bytes() -> None:
    assert codes("# " + "x" * (2 * MIB - 2 - 6) + "\na: 1\n") == []
    assert codes("# " + "x" * (2 * MIB - 2 - 5) + "\na: 1\n") == ["yaml-bounds"]
    assert codes("# " + "ä" * MIB + "\na: 1\n") == ["yaml-bounds"]
    assert parse(FILE, "a: " + "x" * 2 * MIB + "\n", max_bytes=3 * MIB)[1] == ()


def test_the_bound_on_depth() -> None:
    assert codes(nested(64)) == []
    assert codes(nested(65)) == ["yaml-bounds"]
    assert codes("".join(" " * level + "a:\n" for level in range(64))) == []
    assert codes("".join(" " * level + "a:\n" for level in range(65)) + " " * 65 + "b: 1\n") == ["yaml-bounds"]


def test_the_bound_on_keys() -> None:
    assert codes("? " + "k" * 1000 + "\n: 1\n") == []
    assert codes("? " + "k" * 1001 + "\n: 1\n") == ["yaml-bounds"]


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "{" * 100_000,
        "a: " + "[{" * 100_000,
        "{a: " * 100_000,
        "[\n" * 100_000,
        "- " * 100_000,
        "? " * 100_000,
        "a:\n  " + "- " * 100_000,
        "".join(" " * level + "a:\n" for level in range(2000)),
    ],
    ids=lambda text: repr(text[:6]),
)
def test_deep_nesting_is_refused_at_once(text: str) -> None:
    begun = time.process_time()
    assert codes(text) == ["yaml-bounds"]
    assert time.process_time() - begun < 1


def test_alias_bombs_are_refused_at_once() -> None:
    laughs = 'a0: &a0 "lol"\n' + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 60))
    merges = "a0: &a0 {k: 1}\n" + "".join(f"a{i}: &a{i} {{<<: [*a{i - 1}, *a{i - 1}]}}\n" for i in range(1, 60))
    many = "x: &x 1\na: [" + "*x, " * 400_000 + "]\n"
    begun = time.process_time()
    for text in (laughs, merges, many, "a: &a [*a, *a]\n", "&a a: *a\n", "a: [" + "&b c, " * 200_000 + "]\n"):
        found = parse(FILE, text)[1]
        assert {d.code for d in found} == {"yaml-alias"}
        assert len(found) <= 200
    assert time.process_time() - begun < 1


def test_a_file_full_of_errors_reports_the_first_200_and_counts_the_rest() -> None:
    found = parse(FILE, "a:\n" + "  - NO\n" * 5000)[1]
    assert len(found) == 200
    assert found[-1].message.endswith(" (and at least 4800 more problems in this file)")
    assert [d.place.line for d in found if d.place] == list(range(2, 202))


def total(text: str) -> None:
    """`parse` and `locate` answer any text, and a document is either there or explained."""
    parsed, found = parse(FILE, text)
    assert (parsed is None) == bool(found)
    for diagnostic in found:
        assert diagnostic.code.startswith("yaml-")
        assert diagnostic.place is not None
        assert diagnostic.place.line >= 1
        assert diagnostic.place.column >= 1
        assert diagnostic.hint
    assert parse(FILE, text) == (parsed, found)
    asked = Diagnostic("x", "y", Place(FILE, ("gpus", 1, "name"), on="key"))
    assert locate(text, [asked])[0].code == "x"


@given(st.text(st.characters(), max_size=60))
@example("\ud800")
@example('a: "\\uD800"')
@example("\ufeff\ufeff")
def test_any_text(text: str) -> None:
    total(text)


@given(st.binary(max_size=60))
def test_any_bytes(data: bytes) -> None:
    total(data.decode("utf-8", "surrogateescape"))


@given(st.text("ab: -[]{},#&*!|>'\"%@`?\n\t\\~<=0123.", max_size=40))
@settings(max_examples=400, deadline=None)
def test_any_heap_of_yaml_signs(text: str) -> None:
    total(text)


@given(st.text("ab: -[]{},#&*!|>'\"%@`?\n\t\\~<=0123.u", max_size=40))
@settings(deadline=None)
def test_any_heap_of_yaml_signs_without_libyaml(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parser, "_fast", parser._slow)
        total(text)


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_a_real_file_with_something_cut_and_something_put_in(data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(NODE)))
    end = data.draw(st.integers(start, min(len(NODE), start + 8)))
    total(NODE[:start] + data.draw(st.text("ab:[]{}-#&*!'\"\n\t %,0\x00\udcff\u2028", max_size=4)) + NODE[end:])
