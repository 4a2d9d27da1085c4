"""Addresses: valid, inside the network, guests inside their range, each one once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from knaster.checks.common import collisions
from knaster.checks.scene import Scene
from knaster.cluster import platform_place
from knaster.diagnostics import Diagnostic, Place, Related


@dataclass(frozen=True, slots=True)
class _Claim:
    """Who has an address, as text and as a number (None where the text is no IPv4 address)."""

    who: str
    text: str
    place: Place
    address: int | None
    guest: bool = False


@dataclass(frozen=True, slots=True)
class _Bounds:
    """The network and the guest range as numbers; a part that is not valid bounds nothing (`ranges` reports it)."""

    cidr: str
    network: tuple[int, int] | None
    guests: tuple[int, int] | None


def _number(text: str) -> int | None:
    try:
        return int(IPv4Address(text))
    except ValueError:
        return None


def _bounds(scene: Scene) -> _Bounds:
    declared = scene.platform.network
    network = _network(declared.cidr)
    first, last = _number(declared.guest_first), _number(declared.guest_last)
    return _Bounds(
        declared.cidr,
        (int(network.network_address), int(network.broadcast_address)) if network else None,
        (first, last) if first is not None and last is not None else None,
    )


def _claims(scene: Scene) -> Iterator[_Claim]:
    """Gateway, nodes, guests: everything with an address of its own."""
    gateway = scene.platform.network.gateway
    yield _Claim("the gateway", gateway, platform_place("network", "gateway"), _number(gateway))
    for node in scene.nodes.values():
        if node.address is not None:
            yield _Claim(f"node {node.name}", node.address, node.place("address"), _number(node.address))
    for guest in scene.guests:
        if guest.address is not None:
            place = scene.place(guest, "address")
            yield _Claim(f"guest {guest.name}", guest.address, place, _number(guest.address), guest=True)


def addresses(scene: Scene) -> Iterator[Diagnostic]:
    """Every address is IPv4, in the network, in the guest range where it is a guest's, and claimed once."""
    bounds = _bounds(scene)
    claims = tuple(_claims(scene))
    for claim in claims:
        problem = _problem(claim, bounds, scene)
        if problem is not None:
            yield Diagnostic("address-range", f"{claim.who} has {problem}", claim.place, hint=_hint(claim))
    for one, again in collisions((claim.address, claim) for claim in claims if claim.address is not None):
        yield Diagnostic(
            "duplicate-address",
            f"{one.who} and {again.who} have one address: {again.text}",
            again.place,
            hint=_hint(again),
            related=(Related(one.place, f"{one.who} has it"),),
        )


def _problem(claim: _Claim, bounds: _Bounds, scene: Scene) -> str | None:
    if claim.address is None:
        return f'the address "{claim.text}", which is no IPv4 address'
    if bounds.network is not None and not bounds.network[0] <= claim.address <= bounds.network[1]:
        return f"the address {claim.text}, which is outside the network {bounds.cidr}"
    if bounds.network is not None and claim.address in bounds.network:
        return f"the address {claim.text}, which no machine can have: it is the network's own or its broadcast address"
    if claim.guest and bounds.guests is not None and not bounds.guests[0] <= claim.address <= bounds.guests[1]:
        first, last = scene.platform.network.guest_first, scene.platform.network.guest_last
        return f"the address {claim.text}, which is outside the guest range {first} to {last}"
    return None


def _hint(claim: _Claim) -> str:
    if claim.guest and claim.place.route == ("name",):
        return "it follows from the node's number; set another one under gpu_vm.overrides in catalog/platform.yaml"
    return "choose a free address of the guest range" if claim.guest else "change one of network, range and address"


def ranges(scene: Scene) -> Iterator[Diagnostic]:
    """The network is one, the guest range lies in it, and name servers and the base of the rule are addresses."""
    declared, bounds = scene.platform.network, _bounds(scene)
    if bounds.network is None:
        message = f'the network "{declared.cidr}" is no IPv4 network'
        yield Diagnostic("address-range", message, platform_place("network", "cidr"), hint=_network_hint(declared.cidr))
    yield from _texts(scene)
    if bounds.guests is None:
        return
    if bounds.guests[0] > bounds.guests[1]:
        message = f"the guest range ends at {declared.guest_last}, before its start {declared.guest_first}"
        yield Diagnostic(
            "address-range", message, platform_place("network", "guest_range", "last"), hint="swap the two"
        )
    ends = zip(("first", "last"), (declared.guest_first, declared.guest_last), bounds.guests, strict=True)
    for key, text, number in ends:
        if bounds.network is not None and not bounds.network[0] <= number <= bounds.network[1]:
            message = f"the guest range reaches to {text}, which is outside the network {declared.cidr}"
            yield Diagnostic(
                "address-range", message, platform_place("network", "guest_range", key), hint="shorten the range"
            )


def _texts(scene: Scene) -> Iterator[Diagnostic]:
    declared = scene.platform.network
    texts: list[tuple[str, str, tuple[str | int, ...]]] = [
        ("the guest range starts at", declared.guest_first, ("network", "guest_range", "first")),
        ("the guest range ends at", declared.guest_last, ("network", "guest_range", "last")),
        *(("a name server is", text, ("network", "dns", at)) for at, text in enumerate(declared.dns)),
    ]
    if scene.platform.gpu_vm is not None:
        texts.append(("addresses of GPU VMs start at", scene.platform.gpu_vm.address_base, ("gpu_vm", "address_base")))
    for what, text, route in texts:
        if _number(text) is None:
            message = f'{what} "{text}", which is no IPv4 address'
            hint = "write four numbers from 0 to 255, such as 192.168.100.10"
            yield Diagnostic("address-range", message, platform_place(*route), hint=hint)


def _network(cidr: str) -> IPv4Network | None:
    try:
        return IPv4Network(cidr)
    except ValueError:
        return None


def _network_hint(cidr: str) -> str:
    try:
        return f"did you mean {IPv4Network(cidr, strict=False)}?"
    except ValueError:
        return "write address and prefix, such as 192.168.100.0/24"
