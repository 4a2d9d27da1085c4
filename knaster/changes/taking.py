"""How objects are taken out of a document: each function empties the collection that it takes, and gives names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from knaster.names import spot

Objects = dict[str, Any]
"""Name to value, of one collection."""

Take = Callable[[dict[str, Any]], Objects]


def named(pairs: Iterable[tuple[str, Any]]) -> Objects:
    """Names that occur twice are numbered (``infra``, ``infra#2``)."""
    found: Objects = {}
    for name, value in pairs:
        free, number = name, 2
        while free in found:
            free, number = f"{name}#{number}", number + 1
        found[free] = value
    return found


def unnumbered(name: str) -> str:
    """A name as it was before `named` numbered it."""
    return re.sub(r"(#\d+)+$", "", name)


def keyed(key: str) -> Take:
    """A mapping by name."""

    def take(rest: dict[str, Any]) -> Objects:
        items = rest.get(key)
        if not isinstance(items, dict):
            return {}
        rest[key] = {}
        return items

    return take


def listed(key: str, name: Callable[[Any], str]) -> Take:
    """A list of values, each with a name."""

    def take(rest: dict[str, Any]) -> Objects:
        items = rest.get(key)
        if not isinstance(items, list):
            return {}
        rest[key] = []
        return named((name(item), item) for item in items)

    return take


def within(key: str, take: Take) -> Take:
    """What `take` takes out of the mapping below a key."""

    def inside(rest: dict[str, Any]) -> Objects:
        inner = rest.get(key)
        if not isinstance(inner, dict):
            return {}
        rest[key] = dict(inner)
        return take(rest[key])

    return inside


def node_mappings(rest: dict[str, Any]) -> Objects:
    """The mappings of every node, as ``pve44/gpu-p2000-pve44``; the nodes stay behind without them."""
    nodes = rest.get("nodes")
    if not isinstance(nodes, dict):
        return {}
    rest["nodes"] = {name: {**node, "mappings": []} for name, node in nodes.items()}
    return named((f"{name}/{item['name']}", item) for name, node in nodes.items() for item in node["mappings"])


def members(rest: dict[str, Any]) -> Objects:
    """Who is in which group of Ansible, as ``pve_hosts/pve44``; the groups stay behind without them."""
    groups = rest.get("children")
    if not isinstance(groups, dict):
        return {}
    rest["children"] = {name: {**group, "hosts": {}} for name, group in groups.items()}
    return named((f"{name}/{host}", facts) for name, group in groups.items() for host, facts in group["hosts"].items())


def assignment(item: Mapping[str, Any]) -> str:
    """Role and place."""
    return f"{item['role']} {spot(item['node'], item.get('gpu_index'))}"


def disabled(item: Mapping[str, Any]) -> str:
    """The card's place."""
    return spot(item["node"], item["gpu_index"])


def role(item: Mapping[str, Any]) -> str:
    """The role alone."""
    return str(item["role"])


def deployment(item: Mapping[str, Any]) -> str:
    """``tier1-flex@GODE-PC-06``, or the name of an external endpoint."""
    return str(item["model_info"]["id"])


def only_key(item: Mapping[str, Any]) -> str:
    """The key of a mapping of one: LiteLLM writes fallbacks so."""
    return str(next(iter(item), ""))


def target(item: Mapping[str, Any]) -> str:
    """The host, behind the slot where it is one's (``embedding@gpu-pve44``)."""
    labels = item["labels"]
    return f"{labels['slot']}@{labels['host']}" if "slot" in labels else str(labels["host"])


def addressed(address: str) -> str:
    """The guest in an address of OpenTofu's state."""
    return address.rpartition('["')[2].removesuffix('"]')


def mover(item: Mapping[str, Any]) -> str:
    """The guest that OpenTofu finds under another address."""
    return addressed(str(item["from"]))
