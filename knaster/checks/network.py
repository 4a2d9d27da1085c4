"""Addresses: valid, inside the network, guests inside their range, each one once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network

from knaster.checks.common import collisions
from knaster.checks.scene import Scene
from knaster.cluster import platform_place
from knaster.diagnostics import Diagnostic, Place, Related
from knaster.guests import Guest

_FOUR = "write four numbers from 0 to 255, such as 192.168.100.10"


@dataclass(frozen=True, slots=True)
class _Claim:
    """Who has an address, as text and as a number (None where the text is no IPv4 address)."""

    who: str
    text: str
    place: Place
    address: int | None
    guest: Guest | None = None


@dataclass(frozen=True, slots=True)
class _Bounds:
    """The network and the guest range as numbers.

    A part that is not valid bounds nothing, nor do two that do not fit each other: `ranges` reports that, once.
    """

    cidr: str
    network: tuple[int, int] | None
    guests: tuple[int, int] | None


@lru_cache(maxsize=1 << 16)
def _number(text: str) -> int | None:
    try:
        return int(IPv4Address(text))
    except ValueError:
        return None


def _bounds(scene: Scene) -> _Bounds:
    declared = scene.platform.network
    network = _network(declared.cidr)
    bounds = (int(network.network_address), int(network.broadcast_address)) if network else None
    first, last = _number(declared.guest_first), _number(declared.guest_last)
    if first is None or last is None or first > last:
        return _Bounds(declared.cidr, bounds, None)
    if bounds and not bounds[0] <= first <= last <= bounds[1]:
        return _Bounds(declared.cidr, None, None)
    return _Bounds(declared.cidr, bounds, (first, last))


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
            yield _Claim(f"guest {guest.name}", guest.address, place, _number(guest.address), guest)


def addresses(scene: Scene) -> Iterator[Diagnostic]:
    """Every address is IPv4, in the network, in the guest range where it is a guest's, and claimed once."""
    bounds = _bounds(scene)
    claims = tuple(_claims(scene))
    twins = list(collisions((claim.address, claim) for claim in claims if claim.address is not None))
    told = {again for _, again in twins}  # a guest on the gateway's address is outside the guest range, too
    gateway = _problem(claims[0], bounds, scene)
    if gateway is not None and claims[0].address is not None:  # then the network is as likely wrong: it bounds no other
        bounds = _Bounds(bounds.cidr, None, bounds.guests)
        yield Diagnostic("address-range", f"the gateway has {gateway}", claims[0].place, hint=_hint(claims[0], scene))
    for claim in claims:
        problem = _problem(claim, bounds, scene)
        if problem is not None and claim not in told:
            yield Diagnostic("address-range", f"{claim.who} has {problem}", claim.place, hint=_hint(claim, scene))
    for one, again in twins:
        if not _same_vmid(one, again):
            yield _twin(*((again, one) if _derived(one, scene) and not _derived(again, scene) else (one, again)), scene)


def _same_vmid(one: _Claim, again: _Claim) -> bool:
    """Two guests whose numbers collide have one mistake, which `duplicate-vmid` tells."""
    return one.guest is not None and again.guest is not None and one.guest.vmid == again.guest.vmid is not None


def _derived(claim: _Claim, scene: Scene) -> bool:
    return claim.guest is not None and scene.derived(claim.guest, "address")


def _twin(one: _Claim, again: _Claim, scene: Scene) -> Diagnostic:
    return Diagnostic(
        "duplicate-address",
        f"{again.who} and {one.who} have one address: {again.text}",
        again.place,
        hint=scene.apart(again.guest, one.guest, "address") if again.guest else "give one of the two another address",
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


def _hint(claim: _Claim, scene: Scene) -> str:
    if claim.guest is not None:
        return scene.apart(claim.guest, None, "address")
    return "change network.cidr or this address" if claim.address is not None else _FOUR


def ranges(scene: Scene) -> Iterator[Diagnostic]:
    """The network is one, the guest range lies in it, and name servers and the base of the rule are addresses."""
    declared = scene.platform.network
    network = _network(declared.cidr)
    if network is None:
        message = f'the network "{declared.cidr}" is no IPv4 network'
        yield Diagnostic("address-range", message, platform_place("network", "cidr"), hint=_network_hint(declared.cidr))
    yield from _texts(scene)
    first, last = _number(declared.guest_first), _number(declared.guest_last)
    if first is None or last is None:
        return
    if first > last:
        message = f"the guest range ends at {declared.guest_last}, before its start {declared.guest_first}"
        yield Diagnostic(
            "address-range", message, platform_place("network", "guest_range", "last"), hint="swap the two"
        )
    elif network is not None:
        yield from _range_outside(scene, first=IPv4Address(first) in network, last=IPv4Address(last) in network)


def _range_outside(scene: Scene, *, first: bool, last: bool) -> Iterator[Diagnostic]:
    """The guest range against the network; `first` and `last` say whether each end is in it."""
    if first and last:
        return
    declared = scene.platform.network
    key, text = ("first", declared.guest_first) if last else ("last", declared.guest_last)
    what = f"the guest range reaches to {text}, which"
    if not first and not last:
        key, what = "first", f"the guest range {declared.guest_first} to {declared.guest_last}"
    message = f"{what} is outside the network {declared.cidr}"
    hint = "change network.guest_range, or network.cidr if that is too small"
    yield Diagnostic("address-range", message, platform_place("network", "guest_range", key), hint=hint)


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
            yield Diagnostic("address-range", message, platform_place(*route), hint=_FOUR)


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
