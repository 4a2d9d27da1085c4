"""What the rules share: what is known, near misses, collisions, and places that several rules name."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Iterator
from difflib import get_close_matches
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import PurePosixPath
from typing import Literal, TypeVar

from knaster.cluster import Cluster, Node, role_place
from knaster.diagnostics import Diagnostic, Place

T = TypeVar("T")

NO_NODES = "inventory/"
"""Stands among `Cluster.broken` where there is no node at all: that is the mistake, not every name of a node."""

_MANY = 400
_LOOKED_AT = 2000
_SEARCHES = 100
_SHOWN = 8
_NEAR = 0.7


def listed(names: Iterable[str]) -> str:
    """Names for people, at most eight: ``a, b and 3 more``."""
    ordered = sorted(names)
    more = len(ordered) - _SHOWN
    return ", ".join(ordered) if more <= 0 else f"{', '.join(ordered[:_SHOWN])} and {more} more"


class Names:
    """Names that exist, for what refers to them: whether one is among them, and what is said where it is not.

    `noun` is the plural of what they name. Comparing a mistake with all names costs milliseconds, so it is done for the
    first hundred mistakes, and with part of the names where there are many.
    """

    def __init__(self, known: Collection[str], noun: str) -> None:
        self._known, self._noun, self._searches = known, noun, 0

    def __contains__(self, name: str) -> bool:
        return name in self._known

    def unknown(self, code: str, message: str, name: str, place: Place, apart: Collection[str] = ()) -> Diagnostic:
        """An unknown name at `place`; `apart` is what it cannot be."""
        return Diagnostic(code, message, place, hint=self.suggestion(name, apart))

    def suggestion(self, name: str, apart: Collection[str] = ()) -> str:
        """The way out of an unknown name: a near miss, else what there is, never one of `apart`.

        A name that differs in its digits alone is another machine or model, not a slip.
        """
        self._searches += 1
        if self._searches > _SEARCHES:
            return self._all
        apart = frozenset(apart)
        if apart and apart.issuperset(self._known):
            return f"there are no other {self._noun}"
        letters = _letters(name) if any(map(str.isdecimal, name)) else None
        near_names = (
            one
            for one in islice(self._like(name), _LOOKED_AT)
            if one not in apart and (one.lower() == name.lower() or _letters(one) != letters)
        )
        lowered = {one.lower(): one for one in reversed(list(islice(near_names, _MANY)))}
        near = get_close_matches(name.lower(), sorted(lowered), n=1, cutoff=_NEAR)
        if near:
            return f'did you mean "{lowered[near[0]]}"?'
        return f"known {self._noun}: {listed(set(self._known) - apart)}" if apart else self._all

    def _like(self, name: str) -> list[str]:
        """All names, sorted; of many those with the same first letter."""
        if len(self._known) <= _MANY:
            return self._by_first.get("", [])
        return self._by_first.get(name[:1].lower(), [])

    @cached_property
    def _by_first(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for one in sorted(self._known):  # it may be a set: its order must not decide
            found.setdefault(one[:1].lower() if len(self._known) > _MANY else "", []).append(one)
        return found

    @cached_property
    def _all(self) -> str:
        return f"known {self._noun}: {listed(self._known)}" if self._known else f"there are no {self._noun} yet"


def _letters(name: str) -> str:
    return re.sub("[0-9]+", "", name).lower()


def collisions(claims: Iterable[tuple[Hashable, T]]) -> Iterator[tuple[T, T]]:
    """Every later claimant of a key, with the first one."""
    first: dict[Hashable, T] = {}
    for key, claimant in claims:
        if key in first:
            yield first[key], claimant
        else:
            first[key] = claimant


def node_names(cluster: Cluster) -> frozenset[str]:
    """All node names, also of files that did not load or hold another name: a reference to them is not a mistake."""
    paths = (PurePosixPath(path) for path in cluster.broken)
    unread = (path.stem for path in paths if path.parts[0] == "inventory")
    return frozenset((*(node.name for node in cluster.nodes), *map(file_stem, cluster.nodes), *unread))


def file_stem(node: Node) -> str:
    """The name that a node has by its file; its own where it is from no file."""
    return _stem(node.file) or node.name


@lru_cache(maxsize=1 << 16)
def _stem(path: str) -> str:
    """Asked several times of every node, and of two fleets where they are compared."""
    return PurePosixPath(path).stem


def misnamed(node: Node) -> bool:
    """Whether its file says another name (`name-mismatch`): a copy that was not finished collides in everything."""
    return file_stem(node) != node.name


def distinct(cluster: Cluster) -> Iterator[Node]:
    """Nodes without twins (`duplicate-name` or `name-mismatch` tells of those), by name."""
    seen: set[str] = set()
    for node in sorted(cluster.nodes, key=lambda node: (misnamed(node), node.name, node.file)):
        if node.name.lower() not in seen:
            seen.add(node.name.lower())
            yield node


def slot_place(role: str, position: int, *route: str | int, on: Literal["key", "value"] = "value") -> Place:
    """A place in the slot at `position` of a role."""
    return role_place(role, "slots", position, *route, on=on)
