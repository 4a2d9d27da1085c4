"""What people changed: values of ``inventory/`` and ``catalog/`` that differ, found by names and not by lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from json import dumps
from typing import Any

from knaster.changes.matching import KEYS, label, pairs
from knaster.changes.result import InputChange
from knaster.cluster import MODELS_FILE, PLATFORM_FILE, ROLES_FILE
from knaster.diagnostics import Diagnostic, Place, Route
from knaster.document.locating import locate
from knaster.loader.filenames import is_aside, node_name
from knaster.loader.loading import ORDERED, Part
from knaster.redact import masked

Parts = Mapping[str, Part]
_CATALOG = frozenset({MODELS_FILE, ROLES_FILE, PLATFORM_FILE})


@dataclass(frozen=True, slots=True)
class _At:
    """Where a value stands: its names, and its route in the older and the newer file (None: not there)."""

    names: str
    old: Route | None
    new: Route | None

    def key(self, name: str, *, old: bool, new: bool) -> _At:
        """The value of one key below."""
        return self.item(f".{name}", name if old else None, name if new else None)

    def item(self, name: str, old: str | int | None, new: str | int | None) -> _At:
        """One thing below, which each side has under its own step, or has not."""
        return _At(
            f"{self.names}{name}",
            None if self.old is None or old is None else (*self.old, old),
            None if self.new is None or new is None else (*self.new, new),
        )


def input_changes(before: Parts, after: Parts) -> tuple[InputChange, ...]:
    """Every value that differs, located, sorted by file and line. Comments, quoting and order are no values.

    Where a side of a file did not load nothing can be said of its values, and nothing is. Records of architectures are
    left out: they move nothing, and where they speak, it is as a warning.
    """
    found: list[InputChange] = []
    for path in sorted({*before, *after}):
        old, new = before.get(path), after.get(path)
        if is_aside(path):  # what counts of it stands in the catalog
            continue
        if old is new or _unreadable(old) or _unreadable(new) or (old and new and old.canonical == new.canonical):
            continue
        at = _At("" if path in _CATALOG else node_name(path), () if old else None, () if new else None)
        found += _differing(path, at, old.data if old else None, new.data if new else None)
    return tuple(sorted(_located(found, before, after), key=_order))


def _unreadable(part: Part | None) -> bool:
    return part is not None and part.data is None


def _order(change: InputChange) -> tuple[str, int, str]:
    return change.place.file, change.place.line, change.what


def _differing(path: str, at: _At, old: Any, new: Any, key: str = "") -> Iterator[InputChange]:
    """The differences of two values under one name; a mapping or a list that one side lacks is one difference."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in (*old, *(name for name in new if name not in old)):
            below = at.key(name, old=name in old, new=name in new)
            yield from _differing(path, below, old.get(name), new.get(name), name)
    elif isinstance(old, list) and isinstance(new, list) and key in KEYS:
        yield from _items(path, at, old, new, key)
    elif _said(old, ordered=key in ORDERED) != _said(new, ordered=key in ORDERED):
        removed = at.new is None
        route = (at.old if removed else at.new) or ()
        yield InputChange(at.names.removeprefix(".") or path, old, new, Place(path, route, _on(at)), removed)


def _on(at: _At) -> Any:
    """New and removed things are shown at their name, changed ones at their value."""
    return "value" if at.old is not None and at.new is not None else "key"


def _items(path: str, at: _At, old: list[Any], new: list[Any], key: str) -> Iterator[InputChange]:
    for was, now in pairs(key, old, new):
        item = now or was
        name = label(key, item[1]) if item else "?"
        below = _At(at.names.removesuffix(".gpus"), at.old, at.new).item(
            f"/{name}" if key == "gpus" else f".{name}", was[0] if was else None, now[0] if now else None
        )
        yield from _differing(path, below, _whole(was), _whole(now))


def _whole(item: tuple[int, Any] | None) -> Any:
    """A slot may be written as its name alone."""
    if item is None:
        return None
    return {"name": item[1]} if isinstance(item[1], str) else item[1]


def _said(value: Any, *, ordered: bool) -> str:
    """Equal for values that mean the same; other than by ``==``, 1 is not 1.0 and not true."""
    if isinstance(value, list) and not ordered:
        return dumps(sorted(dumps(item, sort_keys=True) for item in value))
    return dumps(value, sort_keys=True)


def _located(found: list[InputChange], before: Parts, after: Parts) -> Iterator[InputChange]:
    """Without secrets, and with lines: those of the newer files, and of the older ones for what was removed."""
    for removed, parts in ((False, after), (True, before)):
        some = [change for change in found if change.removed is removed]
        texts = {change.place.file: parts[change.place.file].text for change in some}
        places = locate(texts, (Diagnostic("", "", change.place) for change in some))
        for change, bearer in zip(some, places, strict=True):
            old, new = masked(change.before), masked(change.after)
            yield InputChange(change.what, old, new, bearer.place or change.place, removed)
