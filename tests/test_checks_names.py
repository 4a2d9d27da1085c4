"""Names: unique, and such that Proxmox, DNS and Ansible take them."""

from __future__ import annotations

import pytest

from knaster.checks import CHECKS, duplicates, naming, network
from knaster.cluster import PLATFORM_FILE, External, GpuVm, Platform
from tests.builders import cluster, gpu, gpu_vm, lxc, node, pci, platform, role, roles, slot
from tests.checking import Said, of_guests, only, p2000, proxmox, route, said

GPU_UUID = "GPU-12345678-1234-1234-1234-123456789abc"


def test_node_names_differ_in_more_than_case() -> None:
    found = only(duplicates.node_names(cluster(node("PVE44"), node("pve44"), node("pve46"))))
    message = "two nodes differ only in upper and lower case, which DNS ignores: pve44 and PVE44"
    assert (found.code, found.message) == ("duplicate-name", message)
    assert route(found) == ("inventory/pve44.yaml", ("name",), "value")
    assert [(one.place.file, one.place.route) for one in found.related] == [("inventory/PVE44.yaml", ("name",))]


def test_node_names_are_unique() -> None:
    found = duplicates.node_names(cluster(node("a"), node("a")))
    assert said(found) == [("duplicate-name", "two nodes have one name: a")]
    assert said(duplicates.node_names(cluster(node("a"), node("b")))) == []


def test_a_copied_file_is_one_mistake() -> None:
    """``cp inventory/pve44.yaml inventory/pve45.yaml``: the same name, cards and VM; the file's name is the mistake."""
    card = p2000(uuid=GPU_UUID)
    fleet = cluster(
        proxmox("pve44", card),
        proxmox("pve44", card, file="inventory/pve45.yaml", source="assumed"),
        platform=platform(),
    )
    found = list(check for rule in CHECKS for check in rule(fleet))
    message = 'the node is named "pve44" but its file is inventory/pve45.yaml'
    assert said(found) == [("name-mismatch", message)]
    assert found[0].hint == 'write name: "pve45" and the facts of that machine, or remove the file'
    assert route(found[0]) == ("inventory/pve45.yaml", ("name",), "value")


def test_a_node_is_named_like_its_file() -> None:
    found = only(naming.nodes(cluster(node("b", file="inventory/a.yaml"))))
    assert said([found]) == [("name-mismatch", 'the node is named "b" but its file is inventory/a.yaml')]
    assert found.hint == 'write name: "a", or rename the file to inventory/b.yaml'
    assert (
        only(naming.nodes(cluster(node("b", file="inventory/a_1.yaml")))).hint == "rename the file to inventory/b.yaml"
    )


def test_a_bad_name_is_one_mistake() -> None:
    """No complaint about the number that the VM's id should follow from, nor about the file; the hint is good."""
    for file, name in (("pve45.lan", "pve45"), ("pve46", "pve46")):
        fleet = cluster(proxmox("pve45.lan", p2000(), file=f"inventory/{file}.yaml"), platform=platform())
        found = only(check for rule in CHECKS for check in rule(fleet))
        assert (found.code, found.hint) == ("bad-name", f'rename it, such as "{name}"')


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        (platform(lxc("infra")), []),
        (platform(lxc("pve44")), [("duplicate-name", "guest pve44 has the same name as node pve44")]),
        (platform(lxc("Infra"), lxc("infra")), [("duplicate-name", "guest infra has the same name as guest Infra")]),
        (
            platform(lxc("gpu-pve44")),
            [("duplicate-name", "GPU VM gpu-pve44 has the same name as guest gpu-pve44")],
        ),
        (
            platform(gpu_vm=gpu_vm(name="gpu")),
            [("duplicate-name", "GPU VM gpu has the same name as GPU VM gpu")],
        ),
    ],
)
def test_guest_names(declared: Platform, expected: Said) -> None:
    fleet = cluster(proxmox("pve44", p2000()), proxmox("pve46", p2000()), platform=declared)
    assert said(of_guests(duplicates.guest_names, fleet)) == expected


def test_a_node_twin_does_not_also_report_its_vm() -> None:
    fleet = cluster(proxmox("PVE44", p2000()), proxmox("pve44", p2000()), platform=platform())
    assert of_guests(duplicates.guest_names, fleet) == []
    assert of_guests(duplicates.vmids, fleet) == []


def test_slot_names_are_unique_over_all_roles_and_endpoints() -> None:
    declared = roles(role("a", slots=(slot("chat"),)), role("b", slots=(slot("code"), slot("Chat", position=1))))
    found = only(duplicates.slot_names(cluster(roles=declared)))
    message = "slot Chat of role b has the same name as slot chat of role a"
    assert (found.code, found.message) == ("duplicate-name", message)
    assert route(found) == ("catalog/roles.yaml", ("roles", "b", "slots", 1, "name"), "value")

    outside = platform(external={"chat": External("chat", "https://example.org")})
    fleet = cluster(roles=roles(role("a", slots=(slot("chat"),))), platform=outside)
    assert said(duplicates.slot_names(fleet)) == [
        ("duplicate-name", "slot chat of role a has the same name as external endpoint chat")
    ]


def test_role_names_differ_in_more_than_case() -> None:
    found = only(duplicates.role_names(cluster(roles=roles(role("Chat"), role("chat"), role("code")))))
    assert (found.code, found.message) == ("duplicate-name", "roles Chat and chat differ only in upper and lower case")
    assert route(found) == ("catalog/roles.yaml", ("roles", "chat"), "key")


def test_mapping_names_are_unique() -> None:
    """The second twin of node pve gets -2, which is how node pve-2 ends."""
    fleet = cluster(proxmox("pve", p2000(0, 1), p2000(1, 2)), proxmox("pve-2", p2000()), platform=platform())
    message = "the mapping of card pve-2/0 has the name of that of card pve/1"
    assert said(of_guests(duplicates.mapping_names, fleet)) == [("duplicate-name", message)]


def test_a_uuid_is_one_card_everywhere() -> None:
    fleet = cluster(node("a", gpu(uuid=GPU_UUID)), node("b", gpu(0), gpu(3, uuid=GPU_UUID.lower(), position=1)))
    found = only(duplicates.card_uuids(fleet))
    assert (found.code, found.message) == ("duplicate-card", f"card b/3 has the uuid of card a/0: {GPU_UUID.lower()}")
    assert route(found) == ("inventory/b.yaml", ("gpus", 1, "uuid"), "value")
    assert said(duplicates.card_uuids(cluster(node("a", gpu(0), gpu(1))))) == []


def test_index_and_pci_address_are_one_card_within_a_node() -> None:
    fleet = cluster(node("a", p2000(0, 1), p2000(0, 1, position=1)), node("b", p2000(0, 1)))
    assert said(duplicates.card_slots(fleet)) == [
        ("duplicate-card", "a has two cards with index 0"),
        ("duplicate-card", "cards a/0 and a/0 have one PCI address: 0000:01:00.0"),
    ]


def test_vmids_are_unique_and_both_places_are_named() -> None:
    fleet = cluster(proxmox("pve44", p2000()), platform=platform(lxc("infra", vmid=244), lxc("ops", vmid=100)))
    found = only(of_guests(duplicates.vmids, fleet))
    assert (found.code, found.message) == ("duplicate-vmid", "guests gpu-pve44 and infra have one VM id: 244")
    assert route(found) == ("inventory/pve44.yaml", ("name",), "value")
    assert [(one.place.file, one.place.route) for one in found.related] == [
        (PLATFORM_FILE, ("guests", "infra", "vmid"))
    ]
    assert found.hint == (
        "set vmid under gpu_vm.overrides.pve44 in catalog/platform.yaml, or change the VM id of guest infra"
    )
    written = only(
        of_guests(
            duplicates.vmids,
            cluster(proxmox(), platform=platform(lxc("a", vmid=9), lxc("b", vmid=9, address="192.168.100.9"))),
        )
    )
    assert written.hint == "change the VM id of one of the two"


def test_nodes_of_one_number_collide_once() -> None:
    """``box44`` beside ``pve44``: VM id and address of the same two guests."""
    fleet = cluster(proxmox("box44", p2000()), proxmox("pve44", p2000(1, 2)), platform=platform())
    found = only(of_guests(duplicates.vmids, fleet))
    assert found.message == "guests gpu-pve44 and gpu-box44 have one VM id and address: 244, 192.168.100.224"
    assert found.hint == (
        "set vmid and address under gpu_vm.overrides.pve44 in catalog/platform.yaml, or under gpu_vm.overrides.box44"
    )
    assert of_guests(network.addresses, fleet) == []


@pytest.mark.parametrize("name", ["pve44", "GODE-PC-05", "a", "4a", "a" * 63])
def test_good_node_names(name: str) -> None:
    assert said(naming.nodes(cluster(node(name)))) == []


RULE = "Proxmox and DNS take letters, digits and - inside"


@pytest.mark.parametrize(
    ("name", "problem", "repaired"),
    [
        ("pve_44", RULE, "pve-44"),
        ("pve.44", RULE, "pve"),
        ("-pve", RULE, "pve"),
        ("pve-", RULE, "pve"),
        ("pve[1:3]", RULE, "pve-1-3"),
        ("a" * 64, "it has 64 characters, DNS takes 63", "a" * 58),
        ("44", "to Ansible a number is no host", "node-44"),
        ("all", "the name has a meaning of its own in an Ansible inventory", "node-all"),
    ],
)
def test_bad_node_names(name: str, problem: str, repaired: str) -> None:
    found = only(naming.nodes(cluster(node(name))))
    assert (found.code, found.message) == ("bad-name", f'"{name}" is no name for a node: {problem}')
    assert found.hint == f'rename it, such as "{repaired}"'
    assert said(naming.nodes(cluster(node(repaired)))) == []


def test_groups_become_ansible_groups() -> None:
    found = only(naming.groups(cluster(node("a", groups=("kiosk", "2nd-floor")))))
    message = '"2nd-floor" is no name for a group: Ansible takes letters, digits and _, and no digit first'
    assert (found.code, found.message, found.hint) == ("bad-name", message, 'write "nd_floor"')


GUEST_RULE = "Proxmox and DNS take letters, digits and - inside, in parts joined by dots"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("infra", []),
        ("infra.example.org", []),
        ("gpu_1", [("bad-name", f'"gpu_1" is no name for a guest: {GUEST_RULE}')]),
        ("infra..org", [("bad-name", f'"infra..org" is no name for a guest: {GUEST_RULE}')]),
        ("101", [("bad-name", '"101" is no name for a guest: to Ansible a number is no host')]),
    ],
)
def test_guests_have_dns_names(name: str, expected: Said) -> None:
    assert said(of_guests(naming.guests, cluster(proxmox(), platform=platform(lxc(name))))) == expected


@pytest.mark.parametrize(
    ("node_name", "template", "expected"),
    [
        ("pve44", gpu_vm(), []),
        ("pve_44", gpu_vm(), []),  # the node is reported, not its VM too
        ("pve44", gpu_vm(name="gpu_{node}"), [f'the GPU VM of pve44 would be named "gpu_pve44": {GUEST_RULE}']),
        (
            "p" * 60,
            gpu_vm(),
            [f'the GPU VM of {"p" * 60} would be named "gpu-{"p" * 60}": it has 64 characters, DNS takes 63'],
        ),
    ],
)
def test_the_name_of_a_gpu_vm(node_name: str, template: GpuVm, expected: list[str]) -> None:
    fleet = cluster(proxmox(node_name, p2000()), platform=platform(gpu_vm=template))
    assert said(of_guests(naming.guests, fleet)) == [("bad-name", message) for message in expected]


OURS = ["guests", "workstations", "pve_gpu_hosts", "pve_kiosk", "pve_hosts", "bare_hosts", "gpu_vms", "lxc_guests"]


@pytest.mark.parametrize("group", ["infra", "hall"])
def test_a_group_with_the_name_of_a_host(group: str) -> None:
    found = only(naming.groups(cluster(node("n", groups=(group,)), node("hall"), platform=platform(lxc("infra")))))
    assert found.message == f'"{group}" is no name for a group: a host of the Ansible inventory has it'


@pytest.mark.parametrize("group", ["all", "ungrouped", "All", *OURS])
def test_a_group_that_ansible_or_our_inventory_already_has(group: str) -> None:
    found = only(naming.groups(cluster(node("n", groups=(group,)))))
    assert (found.code, found.hint) == ("bad-name", "choose another name for the group")


@pytest.mark.parametrize("other", ["0000:02:00", "0000:02:00.1", "00000000:02:00.0"])
def test_one_slot_in_two_spellings_is_one_card(other: str) -> None:
    """Proxmox would say "assigned more than once" when the VM starts."""
    fleet = cluster(node("n", gpu(0, pci=pci("0000:02:00.0")), gpu(1, pci=pci(other))))
    assert only(duplicates.card_slots(fleet)).message == f"cards n/0 and n/1 have one PCI address: {other}"
