"""Names that Proxmox, DNS and Ansible accept. What a pattern of the schemas can say is said there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from knaster.checks.common import file_stem
from knaster.checks.scene import Scene
from knaster.cluster import Cluster, Node, platform_place
from knaster.diagnostics import Diagnostic
from knaster.redact import looks_secret

_LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
"""A DNS label, which is also what Proxmox takes as a node's name and between the dots of a guest's."""

_GROUP = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LONGEST = 63
_RESERVED = frozenset({"all", "ungrouped", "localhost", "guests", "workstations"})
"""Hosts and groups of an Ansible inventory share their names; these have a meaning there or are groups of ours."""

_OUR_GROUPS = frozenset({"bare_hosts", "gpu_vms", "lxc_guests", "pve_gpu_hosts", "pve_hosts", "pve_kiosk"})


def nodes(cluster: Cluster) -> Iterator[Diagnostic]:
    """A node's name is one DNS label, and that of its file."""
    for node in cluster.nodes:
        problem = _problem(node.name, dots=False)
        stem = file_stem(node)
        if problem is not None:
            good = next(filter(is_name, (stem, node.name.partition(".")[0])), None) or _repaired(node.name)
            message = f'"{node.name}" is no name for a node: {problem}'
            yield Diagnostic("bad-name", message, node.place("name"), hint=_rename(node.name, good))
        elif stem != node.name:
            message = f'the node is named "{node.name}" but its file is {node.file}'
            yield Diagnostic("name-mismatch", message, node.place("name"), hint=_mismatch_hint(node, cluster))


def is_name(name: str) -> bool:
    """Whether a node can have this name."""
    return _problem(name, dots=False) is None


def _mismatch_hint(node: Node, cluster: Cluster) -> str:
    stem = file_stem(node)
    if any(file_stem(one) == node.name for one in cluster.nodes):
        return f'write name: "{stem}" and the facts of that machine, or remove the file'
    rename = f"rename the file to inventory/{node.name}.yaml"
    return f'write name: "{stem}", or {rename}' if is_name(stem) else rename


def groups(cluster: Cluster) -> Iterator[Diagnostic]:
    """A node's groups become Ansible groups, which share their names with hosts."""
    hosts = {node.name for node in cluster.nodes} | set(cluster.platform.guests if cluster.platform else ())
    for node in cluster.nodes:
        for group in node.groups:
            if not _GROUP.fullmatch(group):
                message = f'"{group}" is no name for a group: Ansible takes letters, digits and _, and no digit first'
                repaired = re.sub(r"[^A-Za-z0-9_]", "_", group).lstrip("0123456789") or "group"
                yield Diagnostic("bad-name", message, node.place("groups"), hint=f'write "{repaired}"')
            elif group.lower() in _RESERVED | _OUR_GROUPS:
                message = f'"{group}" is no name for a group: it has a meaning of its own in the Ansible inventory'
                yield Diagnostic("bad-name", message, node.place("groups"), hint="choose another name for the group")
            elif group in hosts:
                message = f'"{group}" is no name for a group: a host of the Ansible inventory has it'
                yield Diagnostic("bad-name", message, node.place("groups"), hint="choose another name for the group")


def guests(scene: Scene) -> Iterator[Diagnostic]:
    """A guest's name is a DNS name; that of a GPU VM is made from the node's."""
    for guest in scene.guests:
        problem = _problem(guest.name, dots=True)
        if problem is None:
            continue
        if guest.kind == "lxc":
            message = f'"{guest.name}" is no name for a guest: {problem}'
            place = platform_place("guests", guest.name, on="key")
            yield Diagnostic("bad-name", message, place, hint=_rename(guest.name, _repaired(guest.name)))
        elif _problem(guest.node, dots=False) is None:
            message = f'the GPU VM of {guest.node} would be named "{guest.name}": {problem}'
            hint = "change gpu_vm.name, or shorten the node's name"
            yield Diagnostic("bad-name", message, platform_place("gpu_vm", "name"), hint=hint)


def _problem(name: str, *, dots: bool) -> str | None:
    """Why a host cannot have this name; None if it can."""
    if len(name) > _LONGEST:
        return f"it has {len(name)} characters, DNS takes {_LONGEST}"
    labels = name.split(".") if dots else [name]
    if not all(_LABEL.fullmatch(label) for label in labels):
        return "Proxmox and DNS take letters, digits and - inside" + (", in parts joined by dots" if dots else "")
    if name.isdecimal():
        return "to Ansible a number is no host"
    return "the name has a meaning of its own in an Ansible inventory" if name.lower() in _RESERVED else None


def _repaired(name: str) -> str:
    """A near name that passes."""
    words = re.findall(r"[A-Za-z0-9]+", name)
    fixed = "-".join(words)[: _LONGEST - 5].strip("-") or "node"
    return fixed if _problem(fixed, dots=False) is None else f"node-{fixed}"


def _rename(name: str, good: str) -> str:
    """A repaired name; none for a name that looks like a secret, whose repair would no longer look like one."""
    return "rename it" if looks_secret(name) else f'rename it, such as "{good}"'
