"""Captured outputs of real tools, and hostile variants of them for "never raises"."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from knaster.inventory.reading import Reading, normalise

CAPTURES = Path(__file__).parent / "captures"

SCALARS: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**45), 10**45),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from(["0", "1", "N/A", "[N/A]", "-", "8", "1e9", "1.8T", "\ud800", "9" * 5000, 10**4000, "٣"]),
)
NESTED: st.SearchStrategy[Any] = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
)
PIECES = ["", "\n", ":", ": ", ",", "\t", "{", "}", "[", "]", '"', "null", "NaN", "-", "0", "[N/A]", "\0", "\ufeff"]


def capture(name: str) -> str:
    """The text of a capture such as ``lscpu/german.txt``, decoded as the collector does."""
    return normalise((CAPTURES / name).read_bytes())


def captures(source: str) -> list[str]:
    """All texts of one source."""
    return [normalise(path.read_bytes()) for path in sorted((CAPTURES / source).iterdir())]


@st.composite
def mutated(draw: st.DrawFn, texts: list[str]) -> str:
    """A capture with a piece cut out, doubled or replaced, or cut off at some point."""
    text = draw(st.sampled_from(texts))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 40)))
        piece = draw(st.sampled_from([*PIECES, text[start:end] * 2]) | st.text(max_size=6))
        text = text[:start] + piece + draw(st.sampled_from([text[end:], text[end:], ""]))
    return text


def shapes(keys: list[str], wrap: Callable[[Any], Any] = lambda rows: rows) -> st.SearchStrategy[str]:
    """JSON with the right keys and wrong values, or wrong altogether; ``wrap`` puts rows where the tool has them."""
    row = st.dictionaries(st.sampled_from(keys), NESTED, max_size=len(keys))
    rows = st.lists(row | NESTED, max_size=3).map(wrap) | row.map(wrap) | row | NESTED
    return rows.map(json.dumps)


def hostile(source: str, keys: list[str], wrap: Callable[[Any], Any] = lambda rows: rows) -> st.SearchStrategy[str]:
    """Any text, mutated captures, and JSON of wrong shapes."""
    return st.text() | mutated(captures(source)) | shapes(keys, wrap)


def assert_sound(reading: Reading[Any]) -> None:
    """What holds for every reading: a value or a problem, and words that a person and a profile can take."""
    assert (reading.value is None) == (reading.problem is not None)
    said = [*reading.warnings, *([reading.problem.message] if reading.problem else [])]
    for words in said:
        assert words
        assert len(words) <= 500
        assert words.isprintable(), ascii(words)


def assert_count(count: int | None, most: int) -> None:
    """A count of the profile: null or in its bounds, never 0."""
    assert count is None or 0 < count <= most
