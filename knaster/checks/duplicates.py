"""Names, cards, VM ids and addresses that may exist once only."""

from __future__ import annotations

from collections.abc import Iterator

from knaster.checks.common import collisions, misnamed, slot_place
from knaster.checks.scene import Scene
from knaster.cluster import Cluster, Gpu, Node, platform_place, role_place
from knaster.diagnostics import Diagnostic, Place, Related
from knaster.names import spot

_HERE = "the first one"


def node_names(cluster: Cluster) -> Iterator[Diagnostic]:
    """DNS and Ansible ignore case, so node names differ in more than that."""
    for first, again in collisions((node.name.lower(), node) for node in cluster.nodes if not misnamed(node)):
        same = "have one name" if first.name == again.name else "differ only in upper and lower case, which DNS ignores"
        yield Diagnostic(
            "duplicate-name",
            f"two nodes {same}: {again.name}" + ("" if first.name == again.name else f" and {first.name}"),
            again.place("name"),
            hint="give every machine a name of its own",
            related=(Related(first.place("name"), _HERE),),
        )


def guest_names(scene: Scene) -> Iterator[Diagnostic]:
    """Guests and nodes are hosts of one Ansible inventory and one DNS zone."""
    nodes = ((node.name.lower(), (f"node {node.name}", node.place("name"))) for node in scene.nodes.values())
    guests = (
        (guest.name.lower(), (f"{_kind(guest.kind)} {guest.name}", _name_place(scene, guest.name, guest.node)))
        for guest in scene.guests
    )
    for (first, first_place), (again, place) in collisions((*nodes, *guests)):
        yield Diagnostic(
            "duplicate-name",
            f"{again} has the same name as {first}",
            place,
            hint="rename one of them; a GPU VM is named by gpu_vm.name in catalog/platform.yaml",
            related=(Related(first_place, _HERE),),
        )


def _kind(kind: str) -> str:
    return "GPU VM" if kind == "vm" else "guest"


def _name_place(scene: Scene, name: str, node: str) -> Place:
    if name in scene.platform.guests:
        return platform_place("guests", name, on="key")
    return scene.nodes[node].place("name")


def slot_names(cluster: Cluster) -> Iterator[Diagnostic]:
    """Clients call slots and external endpoints by name, whatever role is behind them."""
    external = cluster.platform.external if cluster.platform else {}
    claims = [
        (name.lower(), (f"external endpoint {name}", platform_place("external", name, on="key"))) for name in external
    ]
    for role in (cluster.roles or {}).values():
        claims += [
            (slot.name.lower(), (f"slot {slot.name} of role {role.name}", slot_place(role.name, slot.position, "name")))
            for slot in role.slots
        ]
    for (first, first_place), (again, place) in collisions(claims):
        message = f"{again} has the same name as {first}"
        hint = "a slot belongs to one role: rename one of them"
        yield Diagnostic("duplicate-name", message, place, hint=hint, related=(Related(first_place, _HERE),))


def role_names(cluster: Cluster) -> Iterator[Diagnostic]:
    """Roles become services and groups, where case does not always count."""
    for first, again in collisions((name.lower(), name) for name in cluster.roles or ()):
        message = f"roles {first} and {again} differ only in upper and lower case"
        related = (Related(role_place(first, on="key"), _HERE),)
        yield Diagnostic(
            "duplicate-name", message, role_place(again, on="key"), hint="rename one of them", related=related
        )


def mapping_names(scene: Scene) -> Iterator[Diagnostic]:
    """A resource mapping names one card of the cluster."""
    claims = ((card.mapping, (guest, card.gpu)) for guest in scene.guests for card in guest.cards)
    for (first, first_gpu), (again, gpu) in collisions(claims):
        yield Diagnostic(
            "duplicate-name",
            f"the mapping of card {spot(again.node, gpu.index)} has the name of that of card "
            f"{spot(first.node, first_gpu.index)}",
            scene.place(again, "name"),
            hint="rename one of the two nodes",
            related=(Related(scene.place(first, "name"), _HERE),),
        )


def card_uuids(cluster: Cluster) -> Iterator[Diagnostic]:
    """A uuid is one card's, everywhere."""
    nodes = (node for node in cluster.nodes if not misnamed(node))
    claims = ((gpu.uuid.lower(), (node, gpu)) for node in nodes for gpu in node.gpus if gpu.uuid)
    for first, again in collisions(claims):
        message = f"card {_card(*again)} has the uuid of card {_card(*first)}: {again[1].uuid}"
        yield _twin_card(message, again, first, ("uuid",), "a card is in one machine: remove it from the other")


def card_slots(cluster: Cluster) -> Iterator[Diagnostic]:
    """Within a machine, a PCI address and an index are one card's."""
    for node in cluster.nodes:
        if len(node.gpus) < 2:
            continue
        for first, again in collisions((gpu.index, gpu) for gpu in node.gpus):
            message = f"{node.name} has two cards with index {again.index}"
            yield _twin_card(message, (node, again), (node, first), ("index",), "the driver numbers cards from 0")
        for first, again in collisions((_slot(gpu.pci.address), gpu) for gpu in node.gpus if gpu.pci):
            address = again.pci.address if again.pci else ""
            message = f"cards {_card(node, first)} and {_card(node, again)} have one PCI address: {address}"
            yield _twin_card(
                message, (node, again), (node, first), ("pci", "address"), "lspci -D shows each card's address"
            )


def _card(node: Node, gpu: Gpu) -> str:
    return spot(node.name, gpu.index)


def _twin_card(
    message: str, again: tuple[Node, Gpu], first: tuple[Node, Gpu], route: tuple[str, ...], hint: str
) -> Diagnostic:
    def place(card: tuple[Node, Gpu]) -> Place:
        return card[0].place("gpus", card[1].position, *route)

    return Diagnostic("duplicate-card", message, place(again), hint=hint, related=(Related(place(first), _HERE),))


def vmids(scene: Scene) -> Iterator[Diagnostic]:
    """A VM id is unique over VMs and containers of the whole cluster."""
    for one, other in collisions((guest.vmid, guest) for guest in scene.guests if guest.vmid is not None):
        gives_way = scene.derived(one, "vmid") and not scene.derived(other, "vmid")  # the rule, to what is written down
        first, again = (other, one) if gives_way else (one, other)
        same = (again.vmid, again.address) if again.address and first.address == again.address else (again.vmid,)
        what = "VM id and address" if len(same) > 1 else "VM id"
        yield Diagnostic(
            "duplicate-vmid",
            f"guests {again.name} and {first.name} have one {what}: {', '.join(map(str, same))}",
            scene.place(again, "vmid"),
            hint=scene.apart(again, first, *("vmid", "address")[: len(same)]),
            related=(Related(scene.place(first, "vmid"), f"{first.name} has it"),),
        )


def _slot(address: str) -> str:
    """The address of the whole card: two functions of a slot, or a domain in two widths, are one card to Proxmox."""
    domain, _, rest = address.lower().partition(":")
    return f"{int(domain, 16):04x}:{rest.partition('.')[0]}"
