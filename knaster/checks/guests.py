"""Guests: where they may run, what may run in them, and that they are told apart."""

from __future__ import annotations

from collections.abc import Iterator

from knaster.checks.common import collisions
from knaster.checks.naming import is_name
from knaster.checks.roles import conflicted
from knaster.checks.scene import Scene
from knaster.cluster import PLATFORM_FILE, Lxc, Node, Role, platform_place, role_place
from knaster.diagnostics import Diagnostic, Place, Related, Severity
from knaster.guests import Guest
from knaster.names import listed

_LOWEST_VMID, _HIGHEST_VMID = 100, 999_999_999


def no_guests(scene: Scene) -> Iterator[Diagnostic]:
    """A fleet with Proxmox nodes has guests: to OpenTofu an empty list means "destroy everything"."""
    proxmox = sorted(node.name for node in scene.nodes.values() if node.platform == "proxmox")
    if not proxmox or scene.guests or scene.cluster.broken:
        return
    yield Diagnostic(
        "no-guests",
        f"no guest is declared for {listed(proxmox)}: to OpenTofu that means 'destroy everything'",
        platform_place("guests", on="key"),
        hint=f"declare guests or gpu_vm in {PLATFORM_FILE}; a guest is given up by naming it under retire",
    )


def hosts(scene: Scene) -> Iterator[Diagnostic]:
    """Containers run on Proxmox nodes, workers on others."""
    for name, guest in scene.platform.guests.items():
        host = scene.nodes.get(guest.node)
        if host is not None and host.platform != "proxmox":
            yield _no_proxmox(f"guest {name} runs on", host, platform_place("guests", name, "node"))
    for name in scene.platform.workers:
        host = scene.nodes.get(name)
        if host is not None and host.platform == "proxmox":
            message = f"{name} is a Proxmox node, but workers names it: its slots are served from guests"
            yield Diagnostic(
                "guest-conflict", message, platform_place("workers", name, on="key"), hint="take it from workers"
            )


def _no_proxmox(what: str, host: Node, place: Place) -> Diagnostic:
    return Diagnostic(
        "guest-conflict",
        f"{what} {host.name}, which is no Proxmox node (platform: {host.platform})",
        place,
        hint="name a Proxmox node",
        related=(Related(host.place("platform"), f"{host.name} is declared here"),),
    )


def replication(scene: Scene) -> Iterator[Diagnostic]:
    """Replication copies ZFS volumes to other Proxmox nodes, once per node."""
    for name, guest in scene.platform.guests.items():
        kind = scene.platform.storage.get(guest.storage)
        if guest.replication and kind is not None and kind != "zfspool":
            message = f"guest {name} is replicated, but its storage {guest.storage} is {kind}: only zfspool can be"
            place = platform_place("guests", name, "storage")
            yield Diagnostic(
                "guest-conflict", message, place, hint="put it on a zfspool storage, or take replication away"
            )
        yield from _targets(scene, name, guest)


def _targets(scene: Scene, name: str, guest: Lxc) -> Iterator[Diagnostic]:
    def place(position: int) -> Place:
        return platform_place("guests", name, "replication", position, "target")

    for job in guest.replication:
        host = scene.nodes.get(job.target)
        if job.target == guest.node:
            message = f"guest {name} is replicated to {job.target}, the node it runs on"
            yield Diagnostic("guest-conflict", message, place(job.position), hint="name another Proxmox node")
        elif host is not None and host.platform != "proxmox":
            yield _no_proxmox(f"guest {name} is replicated to", host, place(job.position))
    for first, again in collisions((job.target, job) for job in guest.replication):
        message = f"guest {name} is replicated to {again.target} twice; Proxmox takes one job per target"
        related = (Related(place(first.position), "the first job"),)
        yield Diagnostic("guest-conflict", message, place(again.position), hint="keep one of the two", related=related)


def retired(scene: Scene) -> Iterator[Diagnostic]:
    """A permission to destroy that nobody needs any more, or not yet."""
    for guest in scene.guests:
        if guest.name in scene.platform.retire:
            does = (
                "a plan may destroy it and make it anew"
                if guest.kind == "vm"
                else "no plan destroys a container like this"
            )
            message = f"guest {guest.name} is under retire and still there: {does}"
            hint = f"take it out of retire{', unless that is wanted' if guest.kind == 'vm' else ', or out of guests'}"
            yield Diagnostic("retire-standing", message, platform_place("retire"), Severity.WARNING, hint)


def keys(scene: Scene) -> Iterator[Diagnostic]:
    """A guest gets its ssh keys when it is made, or never.

    The names are in the hint: in the message, each guest that comes or goes would make it another problem.
    """
    made = [guest.name for guest in scene.guests if not guest.exists]
    if made and not scene.platform.access.ssh_keys:
        message = "access.ssh_keys is empty: nobody could log in to a guest that is made"
        place = platform_place("access", "ssh_keys", on="key")
        hint = f"write the public keys of people and Ansible there before the first apply of {listed(made)}"
        yield Diagnostic("no-ssh-keys", message, place, Severity.WARNING, hint)


def overrides(scene: Scene) -> Iterator[Diagnostic]:
    """An override without a GPU VM has no effect."""
    template = scene.platform.gpu_vm
    for name in template.overrides if template else ():
        host = scene.nodes.get(name)
        if host is not None and (host.platform != "proxmox" or not host.gpus):
            message = f"gpu_vm.overrides names {name}, which has no GPU VM: it has no cards, or is no Proxmox node"
            place = platform_place("gpu_vm", "overrides", name, on="key")
            yield Diagnostic("guest-conflict", message, place, Severity.WARNING, "remove the override")


def role_guests(scene: Scene) -> Iterator[Diagnostic]:
    """A role's ``guest`` is for its time on a CPU, on the guest's node, where roles may use the CPU."""
    conflicting = conflicted(scene.cluster)
    for name, role in (scene.cluster.roles or {}).items():
        guest = scene.platform.guests.get(role.guest) if role.guest is not None else None
        host = scene.nodes.get(guest.node) if guest is not None else None
        # A role that contradicts itself and a guest on a machine without guests are told by `roles` and `hosts`.
        if guest is None or name in conflicting or (host is not None and host.platform != "proxmox"):
            continue
        conflict = _role_conflict(role, guest, host)
        if conflict is not None:
            problem, key, hint = conflict
            related = (Related(platform_place("guests", guest.name, "node"), f"{guest.name} runs on {guest.node}"),)
            message = f"role {name} names the guest {guest.name}, but {problem}"
            yield Diagnostic("guest-conflict", message, role_place(name, key), hint=hint, related=related)


def _role_conflict(role: Role, guest: Lxc, host: Node | None) -> tuple[str, str, str] | None:
    """What is wrong, the key it is wrong at, and the way out."""
    if role.needs.gpu and not role.cpu_fallback:
        return "it needs a GPU, and cards are in GPU VMs", "guest", "take guest away, or write needs.gpu: false"
    if role.pin is not None and role.pin.partition("/")[0] != guest.node:
        return (
            f"is pinned to {role.pin}, and the guest runs on {guest.node}",
            "pin",
            "take pin away: the guest says where",
        )
    if host is not None and not host.cpu_roles:
        return (
            f"its node {host.name} takes no CPU roles",
            "guest",
            f"name a guest elsewhere, or let {host.name} take them",
        )
    return None


def identities(scene: Scene) -> Iterator[Diagnostic]:
    """VM id and address of a GPU VM follow from the number at the end of its node's name, or are written down."""
    for guest in scene.guests:
        missing = [key for key, value in (("vmid", guest.vmid), ("address", guest.address)) if value is None]
        if missing and not is_name(guest.node):
            continue  # the rule has no number because the name is none: `bad-name` says so
        if missing and _base_is_fine(scene):
            what = " and ".join("VM id" if key == "vmid" else key for key in missing)
            message = f"the GPU VM {guest.name} has no {what}: the name of node {guest.node} gives no usable number"
            yield Diagnostic("guest-identity", message, scene.place(guest, "name"), hint=_identity_hint(guest, missing))
        elif guest.vmid is not None and not _LOWEST_VMID <= guest.vmid <= _HIGHEST_VMID:
            message = f"guest {guest.name} has the VM id {guest.vmid}; Proxmox takes {_LOWEST_VMID} to {_HIGHEST_VMID}"
            yield Diagnostic(
                "guest-identity", message, scene.place(guest, "vmid"), hint=_identity_hint(guest, ["vmid"])
            )


def _base_is_fine(scene: Scene) -> bool:
    """Whether the base of addresses is one; else that is what is reported."""
    base = scene.platform.gpu_vm.address_base if scene.platform.gpu_vm else ""
    parts = base.split(".")
    return len(parts) == 4 and all(part.isdecimal() and int(part) < 256 for part in parts)


def _identity_hint(guest: Guest, keys: list[str]) -> str:
    return f"set {' and '.join(keys)} under gpu_vm.overrides.{guest.node} in {PLATFORM_FILE}"
