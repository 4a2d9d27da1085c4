"""What differs between both sides of a change, attribute by attribute, and how that is said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from knaster.gate.plan import Change

_DEPTH = 6
"""Blocks inside of blocks; the provider has four."""
_SHOWN = 16
_LABELS = ("interface", "mapping", "id", "host", "name", "path")
"""What tells the blocks of one list apart: disks, cards, USB devices, interfaces of containers."""

Leaf = tuple[tuple[str, ...], Any, Any]


def leaves(change: Change) -> Iterator[Leaf]:
    """What differs, down to single attributes: path without indexes, and both values.

    What is known only after the apply, and nothing in another form (null, "", 0), is no difference.
    """
    for name in sorted(change.after.keys() & change.before.keys() - change.unknown):
        yield from _below((name,), change.before[name], change.after[name])


def _below(path: tuple[str, ...], old: Any, new: Any) -> Iterator[Leaf]:
    if old == new or not (old or new):
        return
    if len(path) == _DEPTH or not _are_blocks(old) or not _are_blocks(new) or len(old) != len(new):
        yield path, old, new
        return
    for mine, its in zip(old, new, strict=True):
        for key in sorted(its.keys() & mine.keys()):
            yield from _below((*path, key), mine[key], its[key])


def blocks(resource: Mapping[str, Any], attribute: str) -> list[Mapping[str, Any]]:
    """The blocks of one attribute of a resource; what is none is left out."""
    found = resource.get(attribute)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _are_blocks(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) for one in value)


def differences(change: Change) -> str:
    """In words: ``disk -scsi1, memory.dedicated 12288 -> 16384, tags +gpu``."""
    found = list(dict.fromkeys(_words(*leaf) for leaf in leaves(change)))
    more = len(found) - _SHOWN
    return ", ".join(found if more <= 0 else (*found[:_SHOWN], f"and {more} more"))


def _words(path: tuple[str, ...], old: Any, new: Any) -> str:
    name = ".".join(path)
    if scalar(old) and scalar(new):
        return f"{name} {short(old)} -> {short(new)}"
    was, now = _members(old), _members(new)
    come, gone = [one for one in now if one not in was], [one for one in was if one not in now]
    if come or gone:
        some = [*(f"+{short(one)}" for one in come), *(f"-{short(one)}" for one in gone)]
        return f"{name} {', '.join(some[:_SHOWN])}"
    if _are_blocks(old) and _are_blocks(new) and len(old) != len(new):
        return f"{name} {len(old)} -> {len(new)}"
    return name


def _members(value: Any) -> list[str]:
    """What a list holds by name: texts, or blocks that are called something."""
    names = [label(one) if isinstance(one, dict) else one for one in value] if isinstance(value, list) else []
    return names if all(isinstance(one, str) and one for one in names) else []


def label(block: Mapping[str, Any]) -> str:
    """What tells a block apart from the others of its list, "" where nothing does."""
    found = (block.get(key) for key in _LABELS)
    return next((one for one in found if isinstance(one, str) and one), "")


def scalar(value: Any) -> bool:
    """Whether it is one value, which can be shown."""
    return value is None or isinstance(value, str | int | float)


def short(value: Any) -> str:
    """A value for people, at most 60 characters."""
    text = "nothing" if value is None or value == "" else str(value)
    text = text.lower() if isinstance(value, bool) else text
    return text if len(text) <= 60 else f"{text[:59]}…"
