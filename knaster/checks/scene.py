"""The guests of a fleet, expanded once for all rules that speak of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from knaster.checks.common import distinct
from knaster.cluster import PLATFORM_FILE, Cluster, Node, Platform, platform_place
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

    def derived(self, guest: Guest, field: str) -> bool:
        """Whether a VM id or address follows from the number of the node."""
        return self.place(guest, field).route == ("name",)

    def apart(self, guest: Guest, other: Guest | None, *fields: str) -> str:
        """How `guest` is told from `other` (None: no guest), which has the same `fields`: the way out for both."""
        what = " and ".join("VM id" if field == "vmid" else field for field in fields)
        if not self.derived(guest, fields[0]):
            return f"change the {what} of one of the two" if other else "choose a free address of the guest range"
        hint = f"set {' and '.join(fields)} under gpu_vm.overrides.{guest.node} in {PLATFORM_FILE}"
        if other is None:
            return hint
        if self.derived(other, fields[0]):
            return f"{hint}, or under gpu_vm.overrides.{other.node}"
        return f"{hint}, or change the {what} of guest {other.name}"


def scene(cluster: Cluster) -> Scene | None:
    """The scene of a cluster; None when its platform did not load."""
    if cluster.platform is None:
        return None
    nodes = {node.name: node for node in sorted(distinct(cluster), key=lambda node: node.name)}
    return Scene(cluster, cluster.platform, expand(nodes.values(), cluster.platform), nodes)
