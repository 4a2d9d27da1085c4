"""The guests of a fleet, expanded once for all rules that speak of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from knaster.cluster import Cluster, Node, Platform, platform_place
from knaster.diagnostics import Place
from knaster.guests import Guest, expand

_TEMPLATE_FIELDS = {"vmid": "vmid_base", "address": "address_base"}


@dataclass(frozen=True, slots=True)
class Scene:
    """A cluster whose platform loaded, its guests, and its nodes by name."""

    cluster: Cluster
    platform: Platform
    guests: tuple[Guest, ...]
    nodes: Mapping[str, Node]

    def place(self, guest: Guest, field: str) -> Place:
        """Where a fact of a guest is written; what the rule makes of a node's number belongs to the node's name."""
        if guest.kind == "lxc":
            return platform_place("guests", guest.name, field)
        template = self.platform.gpu_vm
        override = template.overrides.get(guest.node) if template else None
        if override is not None and getattr(override, field, None) is not None:
            return platform_place("gpu_vm", "overrides", guest.node, field)
        if field in (*_TEMPLATE_FIELDS, "name"):
            return self.nodes[guest.node].place("name")
        return platform_place("gpu_vm", field)


def scene(cluster: Cluster) -> Scene | None:
    """The scene of a cluster; None when its platform did not load."""
    if cluster.platform is None:
        return None
    nodes = {node.name: node for node in _distinct(cluster)}
    return Scene(cluster, cluster.platform, expand(nodes.values(), cluster.platform), nodes)


def _distinct(cluster: Cluster) -> Iterator[Node]:
    """Nodes without twins (`duplicate-name` reports those), whose VMs would collide in everything else too."""
    seen: set[str] = set()
    for node in cluster.nodes:
        if node.name.lower() not in seen:
            seen.add(node.name.lower())
            yield node
