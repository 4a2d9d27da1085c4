"""The fields that differ inside one object whose two sides are matched already; the door of DeepDiff."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from json import dumps, loads
from typing import Any

from knaster.changes.result import Field, Path


def fields(before: Any, after: Any) -> tuple[Field, ...]:
    """What differs, by key; a list counts as one value. One field with an empty path where a side has no such object.

    Never empty for sides that differ: where only the order of keys does, the whole object is the field.
    """
    if not isinstance(before, dict) or not isinstance(after, dict):
        return (Field((), before, after),)
    found = [field for key in _keys(before, after) for field in _of_key(key, before.get(key), after.get(key))]
    return tuple(found) or (Field((), before, after),)


def _keys(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    yield from before
    yield from (key for key in after if key not in before)


def _of_key(key: str, was: Any, now: Any) -> Iterator[Field]:
    if isinstance(was, dict) and isinstance(now, dict):
        for path in _paths(dumps(was), dumps(now)):
            yield Field((key, *path), _at(was, path), _at(now, path))
    elif type(was) is not type(now) or was != now or repr(was) != repr(now):
        yield Field((key,), was, now)


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value


@lru_cache(maxsize=1024)
def _paths(before: str, after: str) -> tuple[Path, ...]:
    """Where two mappings (as JSON) differ, cut at the first list. Kept, because a fleet's guests differ alike."""
    from deepdiff import DeepDiff

    if before == after:
        return ()
    found = DeepDiff(loads(before), loads(after), view="tree", ignore_private_variables=False)
    paths = {_cut(level.path(output_format="list")) for levels in found.values() for level in levels}
    return tuple(sorted(paths, key=str)) or ((),)


def _cut(path: list[Any]) -> Path:
    steps: list[str] = []
    for step in path:
        if not isinstance(step, str):
            break
        steps.append(step)
    return tuple(steps)
