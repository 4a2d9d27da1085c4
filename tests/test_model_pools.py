"""What `model plan` sees of a fleet: classes of cards, what they offer, who holds them, rooms, and what is left out."""

from __future__ import annotations

import pytest

from knaster.cluster import Gpu
from knaster.fit.fits import card_device
from knaster.model_plan.pools import LeftOut, class_name, hardware
from knaster.units import MIB
from tests.builders import gpu, lxc, node, pci, platform, policy, role, roles
from tests.model_fleets import LLAMACPP, ada, cards, fleet, four, h100, m4000, p2000, planned

GIB = 1024 * MIB


@pytest.mark.parametrize(
    ("card", "name"),
    [
        (ada(), "rtx4000ada-20g"),
        (p2000(), "p2000-5g"),
        (m4000(), "m4000-8g"),
        (h100(), "h100-80g"),
        (gpu(0, 80, 8.0, name="NVIDIA A100-SXM4-80GB"), "a100sxm4-80g"),
        (gpu(0, 24, 8.9, name="NVIDIA GeForce RTX 4090"), "rtx4090-24g"),
        (gpu(0, None, 8.9, name="NVIDIA L4", memory_mib=23034), "l4-22g"),
        (gpu(3, 12, 8.6, name=None, pci=pci(id="10de:2531")), "10de2531-12g"),
        (gpu(3, 12, 8.6, name=None), "gpu3-12g"),
    ],
)
def test_a_class_has_the_name_that_engineers_use(card: Gpu, name: str) -> None:
    assert class_name(card) == name


def test_a_card_offers_what_fits_says_it_offers() -> None:
    windows = node("pc", ada(), os="windows", platform="workstation", cpu_roles=False)
    linux = node("box", ada())
    by_node = {card.node: card.kind for card in fleet(windows, linux).cards}
    # 20,475 MiB less 2 GiB on Windows, less half a GiB on Linux
    assert (by_node["pc"].free, by_node["box"].free) == (18427 * MIB, 19963 * MIB)
    assert by_node["pc"].reserve == 2 * GIB
    reserves = platform(vram_reserve_gb={"linux": 0.5, "windows": 2})
    assert card_device(windows, ada(), reserves).free_mib == 18427


def test_a_card_without_mib_counts_by_its_gib() -> None:
    assert fleet(node("n", gpu(0, 20, 8.9))).cards[0].kind.total == 20 * GIB


def test_a_taken_card_names_its_holders_and_is_left_out_of_what_is_free() -> None:
    chat = role("chat", engine="vllm", min_vram_gb=10)
    voice = role("voice", engine="vllm", min_vram_gb=4, share_with="chat", share_mode="concurrent")
    found = fleet(node("n", *cards(2, ada)), roles=roles(chat, voice))
    assert [(card.name, card.holders) for card in found.cards] == [("n/0", ("chat", "voice")), ("n/1", ())]
    free = found.free_only()
    assert [card.name for card in free.cards] == ["n/1"]
    assert LeftOut("n/0", "held by chat and voice") in free.left_out


def test_cards_that_serve_nobody_have_their_reason() -> None:
    found = fleet(
        node("a", gpu(0, disabled=True, reason="no benchmark"), gpu(1, None, 8.9), gpu(2, 20, None), gpu(3, 0.5, 8.9)),
        node("b", gpu(0), state="cordoned", reason="fan"),
        node("c", gpu(0), state="down"),
    )
    assert found.cards == ()
    told = {one.name: one.reason for one in found.left_out if "/" in one.name}
    assert told == {
        "a/0": "disabled: no benchmark",
        "a/1": "its VRAM is not known",
        "a/2": "its compute capability is not known",
        "a/3": "the VRAM reserve leaves nothing of it",
        "b/0": "b is cordoned: fan",
        "c/0": "c is down",
    }


def test_the_policy_of_a_card_type_is_part_of_its_class() -> None:
    old = m4000(pci=pci(id="10de:13f1"))
    rules = platform(cards={"10de:13f1": policy("10de:13f1", "llamacpp")})
    assert fleet(node("n", old), platform=rules).cards[0].kind.engines == ("llamacpp",)


def test_rooms_are_those_of_the_planner() -> None:
    speech = role("speech", engine="llamacpp", gpu=False, min_memory_gb=6)
    pve = node("pve7", ada(), platform="proxmox", memory_gb=64)
    box = node("box", memory_gb=32)
    kiosk = node("kiosk", memory_gb=32, cpu_roles=False)
    reserves = platform(lxc(node="pve7"), host_reserve_gb=4)
    found = hardware(planned(pve, box, kiosk, roles=roles(speech), platform=reserves), LLAMACPP)
    # the GPU VM of the Proxmox node (12 GiB); 32 GiB less 4 for the host, of which the role takes 6
    assert [(room.node, room.guest, room.size // GIB, room.left // GIB, room.holders) for room in found.rooms] == [
        ("box", None, 28, 22, ("speech",)),
        ("pve7", "gpu-pve7", 12, 12, ()),
    ]
    assert LeftOut("kiosk", "no CPU rows: kiosk is without CPU roles") in found.left_out
    assert [room.size // GIB for room in found.free_only().rooms] == [22, 12]


def test_without_an_engine_for_the_cpu_there_are_no_rooms() -> None:
    assert hardware(planned(four()), None).rooms == ()
