"""Which item of one list is which of another: by what names it, never by its position. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

Item = tuple[int, Any]
"""Position in the file, and the value."""

_Key = Callable[[Any], object]


def _of(*names: str) -> _Key:
    def key(item: Any) -> object:
        values = tuple(item.get(name) for name in names) if isinstance(item, dict) else ()
        return None if not values or values[0] is None else values

    return key


def _address(item: Any) -> object:
    pci = item.get("pci") if isinstance(item, dict) else None
    return pci.get("address") if isinstance(pci, dict) else None


def _slot(item: Any) -> object:
    return item if isinstance(item, str) else item.get("name")


_FIGURE = _of("metric", "card", "node", "engine", "date", "source")

KEYS: dict[str, tuple[_Key, ...]] = {
    "gpus": (_of("uuid"), _address, _of("index")),
    "disks": (_of("name"),),
    "slots": (_slot,),
    "replication": (_of("target"),),
    "assumptions": (_of("about"),),
    "estimated": (_FIGURE,),
    "measured": (_FIGURE,),
}
"""The lists of things, and what tells one thing from the next, the surest first."""


def pairs(key: str, old: list[Any], new: list[Any]) -> Iterator[tuple[Item | None, Item | None]]:
    """Items that are one, then those of the older list alone, then those of the newer; in the order of the lists."""
    left, right = list(enumerate(old)), list(enumerate(new))
    for of in KEYS[key]:
        known = {name: item for item in right if (name := of(item[1])) is not None}
        matched = [(item, known.pop(name)) for item in left if (name := of(item[1])) is not None and name in known]
        yield from matched
        gone = {item[0] for item, _ in matched}
        taken = {item[0] for _, item in matched}
        left = [item for item in left if item[0] not in gone]
        right = [item for item in right if item[0] not in taken]
    yield from ((item, None) for item in left)
    yield from ((None, item) for item in right)


def label(key: str, item: Any) -> str:
    """How an item is called in a path of names: the index of a card, the name of a slot."""
    if key == "gpus":
        return str(item.get("index"))
    return next((name for of in reversed(KEYS[key]) if isinstance(name := _text(of(item)), str)), "?")


def _text(name: object) -> object:
    return " ".join(str(part) for part in name if part is not None) if isinstance(name, tuple) else name
