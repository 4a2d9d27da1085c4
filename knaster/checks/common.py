"""What the rules share: what is known, near misses, collisions, and places that several rules name."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Iterator
from difflib import get_close_matches
from functools import lru_cache
from itertools import islice
from pathlib import PurePosixPath
from typing import Literal, TypeVar

from knaster.cluster import Cluster, Node, role_place
from knaster.diagnostics import Diagnostic, Place

T = TypeVar("T")

NO_NODES = "inventory/"
"""Stands among `Cluster.broken` where there is no node at all: that is the mistake, not every name of a node."""

_MANY = 400
_SHOWN = 8
_NEAR = 0.7


def listed(names: Iterable[str]) -> str:
    """Names for people, at most eight: ``a, b and 3 more``."""
    ordered = sorted(names)
    more = len(ordered) - _SHOWN
    return ", ".join(ordered) if more <= 0 else f"{', '.join(ordered[:_SHOWN])} and {more} more"


def suggestion(name: str, known: Collection[str], noun: str, apart: Collection[str] = ()) -> str:
    """The way out of an unknown name: a near miss, else what there is, never one of `apart`.

    A name that differs in its digits alone is another machine or model, not a slip.
    """
    if apart and not set(known) - set(apart):
        return f"there are no other {noun}"
    known = [one for one in known if one not in apart] if apart else known
    letters = _letters(name) if any(map(str.isdecimal, name)) else None
    near_names = (one for one in known if one.lower() == name.lower() or _letters(one) != letters)
    if len(known) > _MANY:  # comparing with every name of a large fleet for every mistake would be quadratic
        near_names = (one for one in near_names if one[:1].lower() == name[:1].lower())
    candidates = list(islice(sorted(near_names), _MANY))  # `known` may be a set: its order must not decide
    lowered = {one.lower(): one for one in sorted(candidates, reverse=True)}
    near = get_close_matches(name.lower(), sorted(lowered), n=1, cutoff=_NEAR)
    if near:
        return f'did you mean "{lowered[near[0]]}"?'
    return f"known {noun}: {listed(known)}" if known else f"there are no {noun} yet"


def _letters(name: str) -> str:
    return re.sub("[0-9]+", "", name).lower()


def unknown(
    code: str, message: str, name: str, known: Collection[str], noun: str, place: Place, apart: Collection[str] = ()
) -> Diagnostic:
    """An unknown name at `place`; `noun` is the plural of what it should be, `apart` what it cannot be."""
    return Diagnostic(code, message, place, hint=suggestion(name, known, noun, apart))


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
