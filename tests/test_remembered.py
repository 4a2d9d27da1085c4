"""Answers kept by identity: never one that was asked of another object."""

from __future__ import annotations

import gc

import pytest

from knaster import remembered as module
from knaster.remembered import remembered


def test_the_same_objects_are_asked_once_and_equal_ones_again() -> None:
    asked: list[tuple[list[int], int]] = []

    @remembered
    def total(numbers: list[int], more: int = 0) -> int:
        """What they come to."""
        asked.append((numbers, more))
        return sum(numbers) + more

    one, twin = [1, 2], [1, 2]
    assert [total(one), total(one), total(twin)] == [3, 3, 3]
    assert asked == [(one, 0), (twin, 0)]
    assert [total(one, more=5), total(one, 7), total(one, more=5)] == [8, 10, 8]
    assert len(asked) == 4
    assert total.__doc__ == "What they come to."


def test_an_object_that_is_gone_lends_its_place_to_none() -> None:
    """While an answer is kept, so is what it was asked of: a new object cannot have its id."""

    @remembered
    def first(numbers: list[int]) -> int:
        return numbers[0]

    for number in range(1_000):
        assert first([number]) == number
        gc.collect(0)


def test_it_holds_no_more_than_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BOUND", 3)
    asked: list[object] = []

    @remembered
    def ask(thing: object) -> object:
        asked.append(thing)
        return thing

    things = [object() for _ in range(4)]
    for thing in (*things, things[3], things[0]):
        assert ask(thing) is thing
    assert asked == [*things, things[0]]
