"""Sharing of cards, fallback chains, and roles that contradict themselves."""

from __future__ import annotations

import pytest

from knaster.checks import roles as rules
from knaster.checks import sharing
from knaster.cluster import External, Role, VramShare
from knaster.diagnostics import Severity
from tests.builders import catalog, cluster, engine, platform, role, roles, slot
from tests.checking import Said, only, route, said

EXTERNAL = platform(external={"tier0": External("tier0", "https://example.org")})


def test_a_share_cycle_is_told_once() -> None:
    declared = roles(
        role("a", share_with="c"), role("b", share_with="a"), role("c", share_with="b"), role("in", share_with="a")
    )
    found = only(sharing.share_cycles(cluster(roles=declared)))
    assert found.code == "share-cycle"
    assert found.message == "roles share in a circle: a -> c -> b -> a; none of them has a card of its own"
    assert route(found) == ("catalog/roles.yaml", ("roles", "a", "share_with"), "value")
    assert [one.message for one in found.related] == ["c shares with b", "b shares with a"]


def test_two_cycles_are_two() -> None:
    declared = roles(*(role(one, share_with=other) for one, other in ("ab", "ba", "xy", "yx")))
    assert [one.message.split(";")[0] for one in sharing.share_cycles(cluster(roles=declared))] == [
        "roles share in a circle: a -> b -> a",
        "roles share in a circle: x -> y -> x",
    ]


def test_a_chain_of_sharers_is_no_cycle() -> None:
    declared = roles(role("a", share_with="b"), role("b", share_with="c"), role("c"), role("d", share_with="gone"))
    assert said(sharing.share_cycles(cluster(roles=declared))) == []


def test_a_role_does_not_share_with_itself() -> None:
    fleet = cluster(roles=roles(role("a", share_with="a")))
    assert said(rules.own_share(fleet)) == [("role-conflict", "role a shares with itself")]
    assert said(sharing.share_cycles(fleet)) == []
    assert said(rules.own_share(cluster(roles=roles(role("a", share_with="b"), role("b"))))) == []


def flex(share: VramShare | None, mode: str = "concurrent") -> dict[str, Role]:
    return roles(
        role("flex", vram_share=VramShare(1, 0.55)), role("tts", share_with="flex", share_mode=mode, vram_share=share)
    )


def test_concurrent_shares_fill_the_card_at_most() -> None:
    assert said(sharing.vram_shares(cluster(roles=flex(VramShare(0.45, 0.45))))) == []
    assert said(sharing.vram_shares(cluster(roles=flex(None)))) == []
    assert said(sharing.vram_shares(cluster(roles=flex(VramShare(1, 0.9), "alternating")))) == []
    found = only(sharing.vram_shares(cluster(roles=flex(VramShare(0.5, 0.5)))))
    message = "roles that run at the same time on the card of flex take 1.05 of it together (flex 0.55, tts 0.5)"
    assert (found.code, found.message) == ("vram-share", message)
    assert route(found) == ("catalog/roles.yaml", ("roles", "tts", "vram_share", "shared"), "value")


def test_tenths_add_up_exactly() -> None:
    """0.1 + 0.2 + 0.7 is 1, although floats say a little more or less."""
    declared = roles(
        role("a", vram_share=VramShare(1, 0.7)),
        role("b", share_with="a", share_mode="concurrent", vram_share=VramShare(1, 0.1)),
        role("c", share_with="b", share_mode="concurrent", vram_share=VramShare(1, 0.2)),
    )
    assert said(sharing.vram_shares(cluster(roles=declared))) == []


def test_nobody_gets_more_by_sharing() -> None:
    fleet = cluster(roles=roles(role("a", vram_share=VramShare(0.5, 0.9))))
    message = "role a may take 0.9 of a card beside others, but only 0.5 alone"
    assert said(sharing.vram_shares(fleet)) == [("vram-share", message)]


def slots(**chains: tuple[str, ...]) -> dict[str, Role]:
    """One role with one slot per chain."""
    return roles(*(role(name, slots=(slot(name, fallback=chain),)) for name, chain in chains.items()))


def test_a_fallback_cycle_is_told_once() -> None:
    declared = slots(a=("b",), b=("c",), c=("a",), into=("tier0", "a"))
    found = only(sharing.fallback_cycles(cluster(roles=declared)))
    assert (found.code, found.message) == (
        "fallback-cycle",
        "the fallback of slot a leads back to itself: a -> b -> c -> a",
    )
    assert route(found) == ("catalog/roles.yaml", ("roles", "a", "slots", 0, "fallback"), "value")
    assert [one.message for one in found.related] == ["the fallback of b", "the fallback of c"]
    assert said(sharing.fallback_ends(cluster(roles=declared, platform=EXTERNAL))) == []


def test_a_slot_is_not_its_own_fallback() -> None:
    fleet = cluster(roles=slots(a=("a", "tier0")))
    assert said(sharing.fallback_cycles(fleet)) == [
        ("fallback-cycle", "the fallback of slot a leads back to itself: a -> a")
    ]


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        (slots(a=()), []),
        (slots(a=("tier0",)), []),
        (slots(a=("b",), b=("tier0",)), []),
        (slots(a=("b", "tier0"), b=()), []),
        (slots(a=("b",), b=()), ["the fallback of slot a ends at b, which may be down too"]),
        (slots(a=("tier0", "b"), b=()), ["the fallback of slot a ends at b, which may be down too"]),
        # one mistake, told where it is made
        (slots(a=("b",), b=("c",), c=()), ["the fallback of slot b ends at c, which may be down too"]),
        (slots(a=("unknown",)), []),
    ],
)
def test_a_fallback_ends_outside(declared: dict[str, Role], expected: list[str]) -> None:
    found = sharing.fallback_ends(cluster(roles=declared, platform=EXTERNAL))
    assert said(found) == [("fallback-end", message) for message in expected]


def speech(kind: str, *, gpu: bool) -> dict[str, Role]:
    """A slot that falls back to ``tts-de``."""
    return roles(
        role("hq", kinds=(kind,), slots=(slot("hq", fallback=("tts-de",)),)),
        role("tts-de", kinds=("tts",), gpu=gpu, slots=(slot("tts-de"),)),
    )


def test_a_share_above_the_whole_of_its_role_is_one_mistake() -> None:
    declared = roles(
        role("a", vram_share=VramShare(1, 0.55)),
        role("b", share_with="a", share_mode="concurrent", vram_share=VramShare(0.45, 0.9)),
    )
    found = only(sharing.vram_shares(cluster(roles=declared)))
    assert found.message == "role b may take 0.9 of a card beside others, but only 0.45 alone"


def test_a_slot_is_stood_in_for_by_its_own_kind() -> None:
    found = only(sharing.fallback_kinds(cluster(roles=speech("llm", gpu=False), platform=EXTERNAL)))
    assert (found.code, found.message) == ("fallback-kind", "llm slot hq falls back to tts-de, which serves tts")
    assert found.hint == "name a slot that serves llm, or an external endpoint"
    assert route(found)[1] == ("roles", "hq", "slots", 0, "fallback", 0)
    assert [one.place.route for one in found.related] == [("roles", "tts-de", "kinds")]
    assert said(sharing.fallback_kinds(cluster(roles=speech("tts", gpu=True), platform=EXTERNAL))) == []


def test_speech_does_not_fall_back_to_a_language_model() -> None:
    declared = roles(
        role("hq", kinds=("tts",), slots=(slot("tts-de-hq", fallback=("tier1-flex",)),)),
        role("flex", slots=(slot("tier1-flex"),)),
        role("de", kinds=("tts", "llm"), slots=(slot("tts-de", fallback=("tier1-flex",)),)),
    )
    found = only(sharing.fallback_kinds(cluster(roles=declared)))
    assert found.message == "speech slot tts-de-hq falls back to tier1-flex, which serves llm"
    assert found.hint == "name a slot that serves tts (tts-de)"


def test_speech_may_end_on_a_cpu() -> None:
    def ends(declared: dict[str, Role]) -> Said:
        return said(sharing.fallback_ends(cluster(roles=declared, platform=EXTERNAL)))

    refused = [("fallback-end", "the fallback of slot hq ends at tts-de, which may be down too")]
    assert ends(speech("tts", gpu=False)) == []
    assert ends(speech("tts", gpu=True)) == refused
    assert ends(speech("llm", gpu=False)) == []  # told as fallback-kind


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        (role("a", count=2), None),
        (role("a", count=2, pin="pve44"), None),
        (role("a", count=2, pin="pve44/1"), "role a wants 2 cards, but it is pinned to one: pve44/1"),
        (role("a", gpu=False), None),
        (role("a", gpu=False, count=2), "role a wants 2 places, but it runs on a CPU: there is one place for it"),
        (
            role("a", share_with="b", count=3),
            "role a wants 3 places, but it uses the card of b: there is one place for it",
        ),
    ],
)
def test_only_roles_with_cards_of_their_own_count(subject: Role, expected: str | None) -> None:
    found = list(rules.counts(cluster(roles=roles(subject))))
    assert said(found) == ([("role-conflict", expected)] if expected else [])
    assert [route(one)[1] for one in found] == [("roles", "a", "count")] * len(found)


ENGINES = catalog(engine("vllm"), engine("llamacpp", gpu="optional"), engine("piper", gpu="none"))


@pytest.mark.parametrize(
    ("subject", "expected", "key"),
    [
        (role("a", engine="vllm"), None, ()),
        (role("a", engine="llamacpp", gpu=False), None, ()),
        (role("a", engine="llamacpp", cpu_fallback=True), None, ()),
        (role("a", engine="piper", gpu=False), None, ()),
        (role("a", engine="unknown", gpu=False), None, ()),
        (role("a", engine="piper"), "role a wants a GPU, but its engine piper runs on CPUs only", ("needs", "engine")),
        (
            role("a", engine="vllm", gpu=False),
            "role a wants no GPU, but its engine vllm requires one",
            ("needs", "gpu"),
        ),
        (
            role("a", engine="vllm", cpu_fallback=True),
            "role a may fall back to a CPU, but its engine vllm requires a GPU",
            ("cpu_fallback",),
        ),
    ],
)
def test_role_and_engine_agree_on_the_processor(subject: Role, expected: str | None, key: tuple[str, ...]) -> None:
    found = list(rules.processors(cluster(roles=roles(subject), catalog=ENGINES)))
    assert said(found) == ([("role-conflict", expected)] if expected else [])
    assert [route(one)[1] for one in found] == ([("roles", "a", *key)] if expected else [])


@pytest.mark.parametrize(
    ("slots_", "count", "fine"), [(0, 3, True), (1, 3, True), (3, 3, True), (2, 1, False), (2, 3, False)]
)
def test_several_slots_need_a_card_each(slots_: int, count: int, fine: bool) -> None:
    declared = role("a", count=count, slots=tuple(slot(f"s{at}", position=at) for at in range(slots_)))
    message = f"role a has {slots_} slots but count {count}; several slots need one card each"
    assert said(rules.slot_counts(cluster(roles=roles(declared)))) == ([] if fine else [("role-conflict", message)])


CEILING = catalog(engine("vllm", min_cc=7.0), engine("old", min_cc=5.0, max_cc=6.1), engine("bad", min_cc=8, max_cc=7))


@pytest.mark.parametrize(
    ("subject", "expected", "key"),
    [
        (role("a", min_cc=7.5, max_cc=8.9), None, ""),
        (role("a", min_cc=7.5, max_cc=7.5), None, ""),
        (role("a", engine="old", gpu=False, min_cc=9), None, ""),
        (role("a", min_cc=9, max_cc=8.9), ("vllm", "9.0", "8.9"), "max_cc"),
        (role("a", max_cc=6.1), ("vllm", "7.0", "6.1"), "max_cc"),
        (role("a", engine="old", min_cc=7), ("old", "7.0", "6.1"), "min_cc"),
    ],
)
def test_a_floor_lies_below_its_ceiling(subject: Role, expected: tuple[str, str, str] | None, key: str) -> None:
    found = [
        one
        for one in rules.capability_ranges(cluster(roles=roles(subject), catalog=CEILING))
        if "role a" in one.message
    ]
    text = "role a with its engine {} asks for compute capability at least {} and at most {}: no card has that"
    assert said(found) == ([("role-conflict", text.format(*expected))] if expected else [])
    assert [route(one)[1] for one in found] == ([("roles", "a", "needs", key)] if expected else [])


def test_an_engine_with_a_floor_above_its_ceiling_is_told_once() -> None:
    fleet = cluster(roles=roles(role("a", engine="bad"), role("b", engine="bad")), catalog=CEILING)
    found = only(rules.capability_ranges(fleet))
    assert found.message == "engine bad asks for compute capability at least 8.0 and at most 7.0: no card has that"
    assert route(found) == ("catalog/models.yaml", ("engines", "bad", "max_cc"), "value")


def test_a_pin_to_a_card_says_nothing_to_a_cpu_role() -> None:
    found = only(rules.card_pins(cluster(roles=roles(role("a", gpu=False, pin="pve44/0"), role("b", pin="pve44/0")))))
    assert (found.severity, found.hint) == (Severity.WARNING, "pin the node: pve44")
    assert found.message == "role a is pinned to the card pve44/0, but it runs on a CPU"
