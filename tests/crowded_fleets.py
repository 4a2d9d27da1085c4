"""Generated fleets where things collide: many roles for few cards, twins, sharers of sharers, guests nearly full.

`tests.fleets` is ordinary with odd values; here a collision is the ordinary case. `states_before` gives placements in
force made from another state of the same fleet: cards swapped, renumbered or moved, nodes gone, cordoned or down.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from knaster.cluster import CardPolicy, Catalog, Gpu, Model, Node, Platform, Role, Slot, VmOverride
from knaster.placement import Assignment, PlacementPlan
from knaster.placement.result import card_identity
from tests.builders import catalog, engine, gpu, gpu_vm, lxc, node, pci, platform, policy, role, roles, slot
from tests.fleets import Fleet, mostly

ENGINES = (
    engine("llamacpp", min_cc=5.0, os=("linux", "windows"), gpu="optional"),
    engine("vllm", min_cc=7.0),
    engine("old", max_cc=7.5, gpu="optional"),
    engine("piper", os=("linux", "windows"), gpu="none"),
)
FRACTIONS = (0, 0.1, 0.2, 0.3, 0.7, 2.4, 4.7, 4.8, 5, 7.9, 8, 20)
"""Pairs and triples of these fill a card of 5, 8 or 20 GB exactly, or miss it by what floats would lose."""
CARDS = ((5, 6.1), (5, 6.1), (8, 5.2), (8, 8.9), (20, 8.9), (20, 8.9), (20, 7.5), (4.8, 8.6), (None, 8.9), (8, None))
NAMES = ("B9", "B10", "a", "c")
"""By code point ``B10`` comes before ``B9`` and both before ``a``; the order of the files is another."""
POLICIES: tuple[CardPolicy, ...] = (policy("10de:13f1", "llamacpp"), policy("10de:1c30"))


@st.composite
def cards(draw: st.DrawFn, name: str, at: int) -> Gpu:
    """A card of few kinds, so that twins are common; any part of its identity may be unknown."""
    memory, capability = draw(st.sampled_from(CARDS))
    device = draw(st.sampled_from(["10de:27b2", "10de:27b2", "10de:1c30", "10de:13f1", None]))
    return gpu(
        at,
        memory,
        capability,
        memory_mib=draw(st.sampled_from([None, int((memory or 8) * 1024) - 500])),
        memory_kind=draw(mostly("dedicated", "unified")),
        disabled=draw(mostly(False, False, True)),
        uuid=draw(st.sampled_from([None, f"GPU-{name}-{at}"])),
        pci=draw(st.sampled_from([None, pci(f"0000:{at:02}:00.0", device), pci(f"0000:{at:02}:00.0", device)])),
    )


@st.composite
def machines(draw: st.DrawFn, name: str, most_cards: int = 4) -> Node:
    """A machine of any kind, most of them in use; ``10`` among its indices comes after ``5``."""
    step = draw(mostly(1, 5))
    return node(
        name,
        *(draw(cards(name, at * step)) for at in range(draw(st.integers(0, most_cards)))),
        memory_gb=draw(st.sampled_from([16, 12.5, 8, 4, 3, None])),
        platform=draw(st.sampled_from(["bare", "proxmox", "proxmox", "workstation"])),
        os=draw(mostly("linux", "windows")),
        state=draw(mostly("active", "active", "cordoned", "down")),
        cpu_roles=draw(mostly(True, False)),
    )


@st.composite
def platforms(draw: st.DrawFn, names: tuple[str, ...]) -> Platform | None:
    """Reserves with fractions, small guests, sometimes no GPU VM; or nothing."""
    if draw(st.integers(0, 5)) == 0:
        return None
    guests = [
        lxc(name, draw(st.sampled_from([*names, "elsewhere"])), 101 + at, memory_gb=draw(st.sampled_from([1, 2.5, 8])))
        for at, name in enumerate(("infra", "ops"))
    ]
    sizes = {names[0]: VmOverride(memory_gb=draw(st.sampled_from([0.3, 7.9])))} if draw(st.booleans()) else {}
    template = draw(mostly(gpu_vm(memory_gb=draw(st.sampled_from([0.5, 4, 12])), overrides=sizes), None))
    return platform(
        *guests,
        gpu_vm=template,
        cards={one.id: one for one in POLICIES},
        vram_reserve_gb=draw(st.sampled_from([{}, {"linux": 0.1, "windows": 1.5}])),
        host_reserve_gb=draw(st.sampled_from([0, 0.1, 4])),
    )


@st.composite
def catalogs(draw: st.DrawFn) -> Catalog:
    """A few models about as large as the cards and rooms are."""
    return catalog(
        *ENGINES,
        *(
            Model(
                name=f"m{at}",
                kind=draw(st.sampled_from(["llm", "tts"])),
                vram_gb=draw(st.sampled_from([0.1, 0.7, 4.3, 4.7, 7.9, 19.9])),
                engines=draw(st.sampled_from([("llamacpp",), ("llamacpp", "vllm", "piper"), ("old", "piper")])),
                min_cc=draw(mostly(0, 7.5, 8.9)),
                min_memory_gb=draw(mostly(0, 2.4, 7.9)),
                tensor_parallel=draw(mostly(1, 2)),
                nodes=draw(mostly(1, 2)),
            )
            for at in range(3)
        ),
    )


@st.composite
def wishes(draw: st.DrawFn, /, name: str, nodes: tuple[Node, ...], **more: Any) -> Role:
    """One role; `more` fixes what matters to the caller."""
    pins = [f"{one.name}/{card.index}" for one in nodes for card in one.gpus] + [one.name for one in nodes]
    gpu_wanted = more.setdefault("gpu", True)
    count = more.setdefault("count", 1)
    usual, *odd = (
        ("llamacpp", "vllm", "old", "piper", "gone") if gpu_wanted else ("llamacpp", "piper", "old", "vllm", "gone")
    )
    more.setdefault("min_vram_gb", draw(st.sampled_from([0, 0, *FRACTIONS])))
    return role(
        name,
        engine=draw(mostly(usual, *odd)),
        min_cc=draw(mostly(0, 6.1, 7.5, 8.9)),
        max_cc=draw(mostly(None, 6.1, 8.6)),
        min_memory_gb=draw(st.sampled_from([0, 0, 0.1, 0.2, 0.3, 1, 2.4, 4, 7.9])),
        priority=draw(st.sampled_from([1, 2, 100])),
        prefer=draw(st.sampled_from(["largest", "smallest_fitting"])),
        kinds=draw(st.sampled_from([("llm",), ("tts",), ("llm", "tts")])),
        pin=draw(mostly(None, "nowhere", "nowhere/0", *pins)),
        guest=draw(mostly(None, "infra", "ops", "unheard-of")),
        slots=draw(slots(name, count)),
        **more,
    )


def slots(name: str, count: int) -> st.SearchStrategy[tuple[Slot, ...]]:
    """None, one for all cards, or one for each card; not in the order of their names."""
    return mostly(count, 0, 1, 2, 3).map(
        lambda number: tuple(slot(f"{name}{number - at}", 8000 + at) for at in range(number))
    )


@st.composite
def contending(draw: st.DrawFn) -> Fleet:
    """Up to ten roles, many for two or three cards, on a handful of cards."""
    names = NAMES[: draw(st.integers(1, 3))]
    nodes = tuple(draw(machines(name)) for name in names)
    some = [
        draw(wishes(name, nodes, count=draw(st.sampled_from([1, 1, 2, 3])), cpu_fallback=draw(st.booleans())))
        for name in "opqrstuvwx"[: draw(st.integers(2, 10))]
    ]
    return Fleet(nodes, roles(*some), draw(catalogs()), draw(platforms(names)))


@st.composite
def sharing(draw: st.DrawFn) -> Fleet:
    """One to three owners and a forest of sharers on their cards: chains, both modes, a few cycles and strangers."""
    names = NAMES[: draw(st.integers(1, 2))]
    nodes = tuple(draw(machines(name)) for name in names)
    owners = "opq"[: draw(st.integers(1, 3))]
    some = [
        draw(wishes(name, nodes, count=draw(st.sampled_from([1, 1, 2, 3])), cpu_fallback=draw(st.booleans())))
        for name in owners
    ]
    sharers = "stuvwxyz"[: draw(st.integers(1, 8))]
    for at, name in enumerate(sharers):
        some.append(
            draw(
                wishes(
                    name,
                    nodes,
                    gpu=draw(mostly(True, False)),
                    min_vram_gb=draw(st.sampled_from(FRACTIONS)),
                    share_with=draw(mostly(draw(st.sampled_from([*owners, *sharers[:at]])), "nobody", *sharers)),
                    share_mode=draw(st.sampled_from(["concurrent", "concurrent", "alternating"])),
                    cpu_fallback=draw(st.booleans()),
                )
            )
        )
    return Fleet(nodes, roles(*some), draw(catalogs()), draw(platforms(names)))


@st.composite
def full_rooms(draw: st.DrawFn) -> Fleet:
    """CPU roles, and roles on cards beside them, for a little more memory than there is."""
    names = NAMES[: draw(st.integers(1, 4))]
    nodes = tuple(draw(machines(name, most_cards=1)) for name in names)
    some = [
        draw(wishes(name, nodes, gpu=on_card, cpu_fallback=on_card and draw(st.booleans())))
        for name in "opqrstuvw"[: draw(st.integers(1, 9))]
        for on_card in (draw(st.integers(0, 2)) == 0,)
    ]
    return Fleet(nodes, roles(*some), draw(catalogs()), draw(platforms(names)))


@st.composite
def twins(draw: st.DrawFn) -> tuple[Fleet, PlacementPlan]:
    """Equal cards, and a placement in force that names them by any identity they have or had: only memory decides."""
    names = NAMES[: draw(st.integers(1, 2))]
    nodes = tuple(
        node(
            name,
            *(
                gpu(
                    at,
                    disabled=draw(mostly(False, True)),
                    uuid=draw(st.sampled_from([None, f"GPU-{name}-{at}"])),
                    pci=draw(
                        st.sampled_from([None, pci(f"0000:{at:02}:00.0", draw(st.sampled_from(["10de:27b2", None])))])
                    ),
                )
                for at in range(draw(st.integers(1, 4)))
            ),
            state=draw(mostly("active", "cordoned")),
            platform=draw(st.sampled_from(["bare", "proxmox"])),
        )
        for name in names
    )
    known = [(one.name, card) for one in nodes for card in one.gpus]
    some = [role(name, count=draw(st.sampled_from([1, 2]))) for name in "opq"[: draw(st.integers(1, 3))]]
    some = [replace(one, slots=draw(slots(one.name, one.count)), cpu_fallback=draw(st.booleans())) for one in some]
    some += [
        role(name, share_with=draw(st.sampled_from("opq"[: len(some)])), cpu_fallback=draw(st.booleans()))
        for name in "xy"[: draw(st.integers(0, 2))]
    ]
    seats: list[Assignment] = []
    for _ in range(draw(st.integers(1, 6))):
        holder = draw(st.sampled_from(some))
        at, card = draw(st.sampled_from(known))
        address = pci(f"0000:{card.index:02}:00.0", "10de:27b2")
        then = replace(
            card,
            uuid=draw(mostly(card.uuid, None, "GPU-sold")),
            pci=draw(mostly(card.pci, None, address, replace(address, id="10de:1c30"))),
            index=draw(mostly(card.index, 0, 1)),
        )
        seats.append(
            Assignment(
                holder.name,
                draw(mostly(at, *names, "sold")),
                draw(mostly(then.index, None, 0)),
                card=draw(mostly(card_identity(then), None)),
            )
        )
    fleet = Fleet(nodes, roles(*some), catalog(*ENGINES), draw(st.sampled_from([None, platform()])))
    return fleet, PlacementPlan(tuple(seats))


def crowded() -> st.SearchStrategy[Fleet]:
    """Any of them."""
    return st.one_of(contending(), sharing(), full_rooms())


# ---------------------------------------------------------------- the state before


def states_before(fleet: Fleet, planned: Callable[[Fleet], PlacementPlan]) -> st.SearchStrategy[PlacementPlan]:
    """Placements in force that a fleet may have: from another state of it, some of them edited by hand."""

    @st.composite
    def before(draw: st.DrawFn) -> PlacementPlan:
        other = fleet
        for _ in range(draw(st.integers(1, 3))):
            other = draw(st.sampled_from(CHANGES))(draw, other)
        current = planned(other)
        return draw(st.sampled_from([current, current, current, _edited(draw, fleet, current)]))

    return before()


def _any_node(draw: st.DrawFn, fleet: Fleet, change: Callable[[Node], Node]) -> Fleet:
    at = draw(st.integers(0, len(fleet.nodes) - 1))
    return replace(fleet, nodes=tuple(change(one) if i == at else one for i, one in enumerate(fleet.nodes)))


def _any_card(draw: st.DrawFn, fleet: Fleet, change: Callable[[Gpu], Gpu]) -> Fleet:
    at = draw(st.sampled_from([0, 1, 2, 5]))
    return _any_node(
        draw,
        fleet,
        lambda one: replace(one, gpus=tuple(change(card) if card.index == at else card for card in one.gpus)),
    )


def _renumbered(draw: st.DrawFn, fleet: Fleet) -> Fleet:
    """The driver counts the cards of a node in another order; addresses and uuids stay with the card."""

    def turn(one: Node) -> Node:
        order = draw(st.permutations([card.index for card in one.gpus]))
        turned = [replace(card, index=index) for card, index in zip(one.gpus, order, strict=True)]
        return replace(one, gpus=tuple(sorted(turned, key=lambda card: card.index)))

    return _any_node(draw, fleet, turn)


def _swapped(draw: st.DrawFn, fleet: Fleet) -> Fleet:
    """Two cards of a node change places: each keeps its uuid and takes the other's address and index."""

    def swap(one: Node) -> Node:
        if len(one.gpus) < 2:
            return one
        first, second, *rest = one.gpus
        return replace(
            one,
            gpus=(
                replace(second, index=first.index, pci=first.pci),
                replace(first, index=second.index, pci=second.pci),
                *rest,
            ),
        )

    return _any_node(draw, fleet, swap)


def _carried_over(draw: st.DrawFn, fleet: Fleet) -> Fleet:
    """A card (with its uuid) sits in another node."""
    if len(fleet.nodes) < 2 or not fleet.nodes[0].gpus:
        return fleet
    giver, taker, *rest = fleet.nodes
    card = draw(st.sampled_from(giver.gpus))
    index = max((one.index for one in taker.gpus), default=-1) + 1
    moved = replace(card, index=index, pci=pci(f"0000:2{index}:00.0", card.pci.id) if card.pci else None)
    left = tuple(one for one in giver.gpus if one != card)
    return replace(fleet, nodes=(replace(giver, gpus=left), replace(taker, gpus=(*taker.gpus, moved)), *rest))


def _other_node_gone(draw: st.DrawFn, fleet: Fleet) -> Fleet:
    gone = draw(st.sampled_from(fleet.nodes))
    return replace(fleet, nodes=tuple(one for one in fleet.nodes if one != gone) or fleet.nodes)


def _one_more_node(draw: st.DrawFn, fleet: Fleet) -> Fleet:
    return replace(fleet, nodes=(*fleet.nodes, draw(machines("z"))))


def _all_in_use(_: st.DrawFn, fleet: Fleet) -> Fleet:
    return replace(fleet, nodes=tuple(replace(one, state="active", cpu_roles=True) for one in fleet.nodes))


def _fewer_roles(draw: st.DrawFn, fleet: Fleet) -> Fleet:
    gone = draw(st.sampled_from([*fleet.roles, "nobody"]))
    return replace(fleet, roles={name: one for name, one in fleet.roles.items() if name != gone})


def _other_wish(draw: st.DrawFn, fleet: Fleet) -> Fleet:
    some = draw(st.sampled_from([*fleet.roles.values(), None]))
    if some is None:
        return fleet
    changed = replace(
        some,
        priority=draw(st.sampled_from([1, 2, 100])),
        prefer=draw(st.sampled_from(["largest", "smallest_fitting"])),
        pin=None,
        needs=replace(some.needs, min_vram_gb=0, min_memory_gb=0),
    )
    return replace(fleet, roles={**fleet.roles, some.name: changed})


CHANGES: tuple[Callable[[st.DrawFn, Fleet], Fleet], ...] = (
    _all_in_use,
    _all_in_use,
    _renumbered,
    _swapped,
    _carried_over,
    _other_node_gone,
    _one_more_node,
    _fewer_roles,
    _other_wish,
    lambda draw, fleet: _any_node(
        draw, fleet, lambda one: replace(one, state=draw(st.sampled_from(["cordoned", "down"])))
    ),
    lambda draw, fleet: _any_node(draw, fleet, lambda one: replace(one, memory_gb=16)),
    lambda draw, fleet: _any_card(draw, fleet, lambda card: replace(card, disabled=not card.disabled)),
    lambda draw, fleet: _any_card(draw, fleet, lambda card: replace(card, uuid=None)),
    lambda draw, fleet: _any_card(draw, fleet, lambda card: replace(card, uuid=f"GPU-new-{card.index}")),
    lambda draw, fleet: _any_card(draw, fleet, lambda card: replace(card, pci=None)),
    lambda draw, fleet: _any_card(draw, fleet, lambda card: replace(card, memory_gb=20, compute_cap=8.9)),
)


def _edited(draw: st.DrawFn, fleet: Fleet, current: PlacementPlan) -> PlacementPlan:
    """Seats by hand: without identities, for roles and nodes that are no more, several for one card."""
    plain = [replace(one, card=None) for one in current.assignments]
    extra = [
        Assignment(
            draw(st.sampled_from([*fleet.roles, "nobody"])),
            draw(st.sampled_from([*(one.name for one in fleet.nodes), "nowhere"])),
            draw(st.sampled_from([None, 0, 1, 2])),
        )
        for _ in range(draw(st.integers(0, 3)))
    ]
    return replace(current, assignments=(*plain, *extra))
