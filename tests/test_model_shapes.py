"""The sets of cards that one engine can span."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from knaster.model_plan.pools import PoolCard
from knaster.model_plan.shapes import MOST_CARDS, Shape, apart, like, spanning, unlike
from tests.builders import gpu, node
from tests.model_fleets import ada, cards, fleet, h100, m4000, p2000


def labels(shapes: dict[Shape, list[object]]) -> dict[str, int]:
    """Each shape with the number of its places."""
    return {shape.label: len(places) for shape, places in shapes.items()}


def test_like_cards_of_one_node_at_a_time() -> None:
    found = like(fleet(node("a", *cards(2, ada)), node("b", *cards(3, ada)), node("c", p2000())).cards)
    assert labels(found) == {  # type: ignore[arg-type]
        "1 x p2000-5g": 1,
        "1 x rtx4000ada-20g": 5,
        "2 x rtx4000ada-20g": 2,
        "3 x rtx4000ada-20g": 1,
    }


def test_a_windows_card_and_a_linux_card_are_two_classes() -> None:
    found = like(fleet(node("a", ada()), node("b", ada(), os="windows")).cards)
    assert [(shape.label, shape.each[0].os) for shape in found] == [
        ("1 x rtx4000ada-20g", "linux"),
        ("1 x rtx4000ada-20g", "windows"),
    ]


def test_mixes_are_of_one_node_and_in_the_order_of_its_driver() -> None:
    found = unlike(fleet(node("a", ada(0), m4000(1), m4000(2)), node("b", p2000())).cards)
    assert [shape.label for shape in found] == [
        "1 x m4000-8g + 1 x rtx4000ada-20g",
        "2 x m4000-8g + 1 x rtx4000ada-20g",
    ]
    assert [kind.name for kind in next(iter(found)).each] == ["rtx4000ada-20g", "m4000-8g"]


def test_a_fabric_gives_the_same_number_of_cards_from_every_node() -> None:
    nodes = [
        node("a1", *cards(4, h100), fabric="ib0"),
        node("a2", *cards(2, h100), fabric="ib0"),
        node("b1", *cards(4, h100), fabric="ib1"),
        node("c1", *cards(4, h100)),
    ]
    found = spanning(fleet(*nodes).cards)
    # four from one and two from the other is no group: at most two from each
    assert labels(found) == {"2 nodes x 1 x h100-80g": 1, "2 nodes x 2 x h100-80g": 1}  # type: ignore[arg-type]
    (spread,) = found[next(shape for shape in found if shape.cards == 4)]
    assert spread.fabric == "ib0"
    assert [card.name for card in spread.cards] == ["a1/0", "a1/1", "a2/0", "a2/1"]


def test_nodes_that_are_no_pool_have_a_reason() -> None:
    several = fleet(node("a", h100(), fabric="ib0"), node("b", h100(), fabric="ib1"))
    assert spanning(several.cards) == {}
    assert list(apart(several.cards).values()) == [
        "no model spans two fabrics (ib0 and ib1): they do not reach each other"
    ]
    alone = fleet(node("a", h100()), node("b", h100()))
    assert list(apart(alone.cards).values()) == ["nodes whose profiles name no common fabric are no pool"]
    assert apart(fleet(node("a", *cards(2, h100))).cards) == {}


profiles = st.lists(
    st.tuples(st.sampled_from([None, "ib0", "ib1"]), st.lists(st.sampled_from([5, 20, 80]), max_size=5)), max_size=5
)


@settings(deadline=None)
@given(profiles)
def test_no_shape_leaves_a_node_or_a_fabric(drawn: list[tuple[str | None, list[int]]]) -> None:
    nodes = [
        node(f"n{at}", *(gpu(index, size, 8.9, name=f"card {size}") for index, size in enumerate(sizes)), fabric=fabric)
        for at, (fabric, sizes) in enumerate(drawn)
    ]
    every = fleet(*nodes).cards
    for shape, places in {**like(every), **unlike(every)}.items():
        for place in places:
            assert len({card.node for card in place.cards}) == 1
            assert tuple(card.kind for card in place.cards) == shape.each
            assert len(set(place.cards)) == shape.cards
    for shape, places in spanning(every).items():
        for place in places:
            assert {card.fabric for card in place.cards} == {place.fabric} != {None}
            counts = [sum(card.node == name for card in place.cards) for name in {card.node for card in place.cards}]
            assert counts == [len(shape.each)] * shape.nodes
            assert len({card.kind for card in place.cards}) == 1


def test_a_large_fabric_gives_no_more_shapes_than_a_model_has_cards() -> None:
    kind = fleet(node("n", h100())).cards[0].kind
    many = tuple(PoolCard(f"n{at:04}", index, kind, "ib0") for at in range(500) for index in range(8))
    found = spanning(many)
    assert max(shape.cards for shape in found) == MOST_CARDS
    assert len(found) < 200
