"""What the rules share: what is known, collisions, and places that several rules name."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Literal, TypeVar

from knaster.cluster import Cluster, Node, role_place
from knaster.diagnostics import Place

T = TypeVar("T")

NO_NODES = "inventory/"
"""Stands among `Cluster.broken` where there is no node at all: that is the mistake, not every name of a node."""


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
