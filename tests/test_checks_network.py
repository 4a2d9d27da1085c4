"""Addresses in 192.168.100.0/24, guests from .220 to .239."""

from __future__ import annotations

from dataclasses import replace

import pytest

from knaster.checks import guests, network
from knaster.cluster import Network, Platform, VmOverride
from tests.builders import cluster, gpu_vm, lxc, node, platform
from tests.checking import of_guests, only, p2000, proxmox, route, said

NETWORK = Network("192.168.100.0/24", "192.168.100.1", "vmbr0", "192.168.100.220", "192.168.100.239", ("9.9.9.9",))


def declared(*guests: object, **more: object) -> Platform:
    """A platform whose network differs from `NETWORK` in `more`."""
    return platform(*guests, network=replace(NETWORK, **more))  # type: ignore[arg-type]


def test_a_good_fleet() -> None:
    fleet = cluster(
        proxmox("pve44", p2000(), address="192.168.100.44"), platform=declared(lxc(address="192.168.100.221"))
    )
    assert of_guests(network.addresses, fleet) == []
    assert of_guests(network.ranges, fleet) == []


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("192.168.100.220", None),
        ("192.168.100.239", None),
        ("192.168.100.219", "192.168.100.219, which is outside the guest range 192.168.100.220 to 192.168.100.239"),
        ("192.168.100.240", "192.168.100.240, which is outside the guest range 192.168.100.220 to 192.168.100.239"),
        ("192.168.101.221", "192.168.101.221, which is outside the network 192.168.100.0/24"),
        (
            "192.168.100.255",
            "192.168.100.255, which no machine can have: it is the network's own or its broadcast address",
        ),
        ("192.168.100.0", "192.168.100.0, which no machine can have: it is the network's own or its broadcast address"),
        ("192.168.100.300", '"192.168.100.300", which is no IPv4 address'),
        ("192.168.100.08", '"192.168.100.08", which is no IPv4 address'),
        ("fe80::1", '"fe80::1", which is no IPv4 address'),
    ],
)
def test_the_address_of_a_guest(address: str, problem: str | None) -> None:
    found = of_guests(network.addresses, cluster(proxmox(), platform=declared(lxc(address=address))))
    assert said(found) == ([("address-range", f"guest infra has the address {problem}")] if problem else [])
    assert [route(one)[1] for one in found] == ([("guests", "infra", "address")] if problem else [])


def test_a_rule_that_leaves_the_range_is_told_at_the_node() -> None:
    found = only(of_guests(network.addresses, cluster(proxmox("pve99", p2000()), platform=declared())))
    assert found.message == (
        "guest gpu-pve99 has the address 192.168.101.23, which is outside the network 192.168.100.0/24"
    )
    assert route(found) == ("inventory/pve99.yaml", ("name",), "value")
    assert found.hint == "set address under gpu_vm.overrides.pve99 in catalog/platform.yaml"


def test_the_gateway_and_nodes_lie_in_the_network() -> None:
    nodes = node("a", address="10.0.0.1"), node("b", address="192.168.100.5")
    found = only(of_guests(network.addresses, cluster(*nodes, platform=declared())))
    assert found.message == "node a has the address 10.0.0.1, which is outside the network 192.168.100.0/24"
    assert found.hint == "change network.cidr or this address"


def test_a_network_without_its_gateway_is_told_once() -> None:
    """The network is as likely wrong as the gateway: no node and no guest is measured against it."""
    nodes = node("a", address="10.0.0.1"), node("b", address="192.168.100.5")
    found = only(of_guests(network.addresses, cluster(*nodes, platform=declared(gateway="10.0.0.2"))))
    assert found.message == "the gateway has the address 10.0.0.2, which is outside the network 192.168.100.0/24"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"guest_first": "192.168.100.239", "guest_last": "192.168.100.220"},
            "the guest range ends at 192.168.100.220, before its start 192.168.100.239",
        ),
        (
            {"cidr": "192.168.100.0/27"},
            "the guest range 192.168.100.220 to 192.168.100.239 is outside the network 192.168.100.0/27",
        ),
        (
            {"guest_first": "10.0.0.220", "guest_last": "10.0.0.239"},
            "the guest range 10.0.0.220 to 10.0.0.239 is outside the network 192.168.100.0/24",
        ),
    ],
)
def test_a_wrong_range_or_network_measures_nobody(change: dict[str, object], message: str) -> None:
    nodes = proxmox("pve44", p2000(), address="192.168.100.44"), node("a", address="192.168.100.5")
    fleet = cluster(*nodes, platform=declared(lxc(address="192.168.100.221"), **change))
    assert said(of_guests(network.ranges, fleet)) == [("address-range", message)]
    assert of_guests(network.addresses, fleet) == []


def test_addresses_are_unique_over_guests_nodes_and_gateway() -> None:
    fleet = cluster(
        proxmox("pve44", p2000(), address="192.168.100.224"),
        proxmox("pve46", address="192.168.100.1"),
        platform=declared(lxc(address="192.168.100.224")),
    )
    found = of_guests(network.addresses, fleet)
    assert said(found) == [
        ("duplicate-address", "node pve46 and the gateway have one address: 192.168.100.1"),
        ("duplicate-address", "guest gpu-pve44 and node pve44 have one address: 192.168.100.224"),
        ("duplicate-address", "guest infra and node pve44 have one address: 192.168.100.224"),
    ]
    assert [one.hint for one in found] == [
        "give one of the two another address",
        "set address under gpu_vm.overrides.pve44 in catalog/platform.yaml",
        "choose a free address of the guest range",
    ]
    assert route(found[0]) == ("inventory/pve46.yaml", ("address",), "value")
    assert found[0].related[0].place.route == ("network", "gateway")


@pytest.mark.parametrize("address", ["192.168.100.1", "192.168.100.44"])
def test_a_guest_on_the_address_of_gateway_or_node_is_not_also_outside_the_range(address: str) -> None:
    fleet = cluster(proxmox("pve44", address="192.168.100.44"), platform=declared(lxc(address=address)))
    assert only(of_guests(network.addresses, fleet)).code == "duplicate-address"


def test_the_rule_gives_way_to_an_address_that_is_written_down() -> None:
    fleet = cluster(proxmox("pve44", p2000()), platform=declared(lxc(address="192.168.100.224")))
    found = only(of_guests(network.addresses, fleet))
    assert found.message == "guest gpu-pve44 and guest infra have one address: 192.168.100.224"
    assert route(found) == ("inventory/pve44.yaml", ("name",), "value")
    assert [one.place.route for one in found.related] == [("guests", "infra", "address")]
    assert found.hint == (
        "set address under gpu_vm.overrides.pve44 in catalog/platform.yaml, or change the address of guest infra"
    )


def test_an_override_is_where_the_address_is_written() -> None:
    template = gpu_vm(overrides={"pve44": VmOverride(address="192.168.100.9")})
    found = only(of_guests(network.addresses, cluster(proxmox("pve44", p2000()), platform=platform(gpu_vm=template))))
    assert route(found) == ("catalog/platform.yaml", ("gpu_vm", "overrides", "pve44", "address"), "value")


@pytest.mark.parametrize(
    ("change", "message", "key", "hint"),
    [
        (
            {"cidr": "192.168.100.7/24"},
            'the network "192.168.100.7/24" is no IPv4 network',
            ("network", "cidr"),
            "did you mean 192.168.100.0/24?",
        ),
        (
            {"guest_first": "192.168.100.239", "guest_last": "192.168.100.220"},
            "the guest range ends at 192.168.100.220, before its start 192.168.100.239",
            ("network", "guest_range", "last"),
            "swap the two",
        ),
        (
            {"guest_last": "192.168.101.5"},
            "the guest range reaches to 192.168.101.5, which is outside the network 192.168.100.0/24",
            ("network", "guest_range", "last"),
            "change network.guest_range, or network.cidr if that is too small",
        ),
        (
            {"guest_first": "192.168.99.9"},
            "the guest range reaches to 192.168.99.9, which is outside the network 192.168.100.0/24",
            ("network", "guest_range", "first"),
            "change network.guest_range, or network.cidr if that is too small",
        ),
        (
            {"guest_first": "220"},
            'the guest range starts at "220", which is no IPv4 address',
            ("network", "guest_range", "first"),
            "write four numbers from 0 to 255, such as 192.168.100.10",
        ),
        (
            {"dns": ("9.9.9.9", "dns.example.org")},
            'a name server is "dns.example.org", which is no IPv4 address',
            ("network", "dns", 1),
            "write four numbers from 0 to 255, such as 192.168.100.10",
        ),
    ],
)
def test_ranges(change: dict[str, object], message: str, key: tuple[str, ...], hint: str) -> None:
    found = only(of_guests(network.ranges, cluster(platform=declared(**change))))
    assert (found.code, found.message, found.hint) == ("address-range", message, hint)
    assert route(found) == ("catalog/platform.yaml", key, "value")


def test_the_base_of_the_rule_is_an_address() -> None:
    """And the VM without an address is not reported a second time."""
    fleet = cluster(proxmox("pve44", p2000()), platform=platform(gpu_vm=gpu_vm(address_base="192.168.100")))
    message = 'addresses of GPU VMs start at "192.168.100", which is no IPv4 address'
    assert said(of_guests(network.ranges, fleet)) == [("address-range", message)]
    assert of_guests(guests.identities, fleet) == []
