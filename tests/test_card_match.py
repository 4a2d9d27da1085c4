"""Which card is which: signs from the strongest to the weakest, and no card taken for another that it cannot be."""

from __future__ import annotations

from typing import Any

import pytest

from knaster.inventory.card_match import label, pairs, same_chip
from tests.profile_facts import M4000, P2000, UUID_A, UUID_B, card, pci

A = {"uuid": UUID_A}
B = {"uuid": UUID_B}


def at(address: str, product: str | None = "10de:1c30", board: str | None = None) -> dict[str, Any]:
    return {"pci": pci(f"0000:{address}.0", product, board)}


CASES = {
    "uuid beats address and index": (
        [card(0, A | at("01:00")), card(1, B | at("02:00"))],
        [card(0, B | at("01:00")), card(1, A | at("02:00"))],
        {0: (1, "uuid"), 1: (0, "uuid")},
    ),
    "uuid in another spelling": ([card(0, A)], [card(3, uuid=UUID_A.lower())], {0: (0, "uuid")}),
    "another uuid in the same slot is another card": (
        [card(0, A | at("01:00") | P2000)],
        [card(0, B | at("01:00") | P2000)],
        {},
    ),
    "a uuid that is not known any more": ([card(0, A | at("01:00"))], [card(1, at("01:00"))], {0: (0, "pci")}),
    "address and id": (
        [card(0, at("01:00")), card(1, at("02:00"))],
        [card(0, at("02:00")), card(1, at("03:00"))],
        {0: (1, "pci"), 1: (0, "id")},
    ),
    "an address without function or with a long domain": (
        [card(0, pci={"address": "0000:01:00", "id": "10de:1c30"})],
        [card(0, pci={"address": "00000000:01:00.0", "id": "10de:1c30"})],
        {0: (0, "pci")},
    ),
    "swapped slots": (
        [card(0, at("01:00", "10de:13f1")), card(1, at("02:00"))],
        [card(0, at("01:00")), card(1, at("02:00", "10de:13f1"))],
        {0: (1, "id"), 1: (0, "id")},
    ),
    "twins of two board makers that swapped slots": (
        [card(0, at("01:00", board="10de:11b3")), card(1, at("02:00", board="103c:11b3"))],
        [card(0, at("05:00", board="103c:11b3")), card(1, at("06:00", board="10de:11b3"))],
        {0: (1, "board"), 1: (0, "board")},
    ),
    "twins without a sign": (
        [card(0, P2000), card(1, P2000)],
        [card(0, P2000 | at("01:00")), card(1, P2000 | at("02:00"))],
        {0: (0, "index"), 1: (1, "index")},
    ),
    "one of twins is gone": (
        [card(0, at("01:00")), card(1, at("02:00"))],
        [card(0, at("02:00"))],
        {0: (1, "pci")},
    ),
    "names in the spelling of the driver and of the PCI table": (
        [card(0, M4000), card(1, P2000)],
        [card(0, P2000, name="GP106GL [Quadro P2000]"), card(1, M4000, name="NVIDIA Quadro M4000")],
        {0: (1, "name"), 1: (0, "name")},
    ),
    "the address where the id is not known": (
        [card(0, at("01:00", None)), card(1, at("02:00", None))],
        [card(0, at("02:00")), card(1, at("03:00"))],
        {0: (1, "address")},
    ),
    "another chip in the same slot": ([card(0, at("01:00"))], [card(0, at("01:00", "10de:2204"))], {}),
    "names never part two cards": ([card(0, M4000)], [card(0, P2000)], {0: (0, "index")}),
    "nothing but an index": ([card(0), card(1)], [card(1), card(2)], {0: (1, "index")}),
    "the same index twice says nothing": ([card(0), card(0)], [card(0)], {}),
    "no cards": ([], [], {}),
}


@pytest.mark.parametrize("case", CASES)
def test_pairs(case: str) -> None:
    old, new, expected = CASES[case]
    assert {position: (pair.old, pair.sign) for position, pair in pairs(old, new).items()} == expected


def test_guesses_give_way_to_the_index() -> None:
    old, new = [card(0, M4000 | at("02:00", "10de:13f1"))], [card(0, P2000 | at("65:00"))]
    assert pairs(old, new) == {}
    assert {position: (pair.old, pair.sign) for position, pair in pairs(old, new, assumed=True).items()} == {
        0: (0, "index")
    }


def test_guessed_names_lead_to_their_cards_whatever_the_guessed_numbers() -> None:
    old = [card(0, M4000 | at("02:00", "10de:13f1")), card(1, P2000 | at("03:00"))]
    new = [card(0, P2000 | at("02:00", "10de:1c31")), card(1, M4000 | at("04:00", "10de:13f0"))]
    assert {position: pair.old for position, pair in pairs(old, new, assumed=True).items()} == {0: 1, 1: 0}


def doubts(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[int]:
    found = pairs(old, new)
    return [found[position].alike for position in sorted(found)]


def test_how_many_others_the_index_could_mean() -> None:
    old = [card(0, P2000), card(1, P2000)]
    assert doubts(old, [card(0, P2000), card(1, P2000)]) == [1, 1]
    assert doubts(old, [card(0, P2000)]) == [1]  # the one that is gone may be the other
    assert doubts([card(0, P2000)], [card(0, P2000)]) == [0]
    assert doubts([card(0, M4000 | at("01:00", "10de:13f1"))], [card(0, M4000 | at("01:00", "10de:13f1"))]) == [0]


def test_an_address_is_no_proof_where_a_card_like_it_came_went_or_moved() -> None:
    old = [card(0, at("01:00")), card(1, at("02:00"))]
    assert doubts(old, [card(0, at("01:00")), card(1, at("02:00"))]) == [0, 0]
    assert doubts(old, [card(0, at("02:00")), card(1, at("03:00"))]) == [1, 1]
    assert doubts(old, [card(0, at("02:00"))]) == [1]
    assert doubts(old, [card(0, at("01:00")), card(1, at("02:00")), card(2, at("03:00"))]) == [2, 2]
    other = card(2, at("09:00", "10de:13f1"))
    assert doubts(old, [card(0, at("01:00")), card(1, at("02:00")), other]) == [0, 0]
    assert doubts([old[0], other], [card(0, at("05:00")), card(1, at("06:00", "10de:13f1"))]) == [0, 0]


def test_a_card_with_a_uuid_is_nobody_elses_double() -> None:
    old = [card(0, at("01:00")), card(1, B | at("02:00"))]
    assert doubts(old, [card(0, at("01:00")), card(1, B | at("03:00"))]) == [0, 0]
    assert doubts([card(0, A | at("01:00")), card(1, B | at("02:00"))], [card(0, B | at("01:00"))]) == [0]


def test_same_chip_needs_a_reason_to_doubt() -> None:
    assert same_chip(card(0), card(0, M4000))
    assert same_chip(card(0, M4000), card(0, P2000, memory_gb=None))
    assert not same_chip(card(0, M4000 | at("01:00", "10de:13f1")), card(0, M4000 | at("01:00")))


def test_labels() -> None:
    assert label(card(0, A | at("01:00"))) == UUID_A
    assert label(card(0, at("01:00"))) == "0000:01:00.0"
    assert label(card(7)) == "7"
