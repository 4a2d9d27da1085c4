"""A card whose type needs a benchmark comes back only with one, whatever its node says or leaves out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from knaster.cards.types import engines, policies
from knaster.checks.readmission import benchmarks
from knaster.cluster import CardPolicy, Catalog, Cluster, Engine, Figure, Gpu, Model, Pci, Platform
from tests.builders import gpu, node, platform

M4000 = CardPolicy("10de:13f1", "Quadro M4000", ("llamacpp",), "benchmark")
P2000 = CardPolicy("10de:1c30", "Quadro P2000", ("llamacpp", "vllm"))
PCI = Pci("0000:02:00.0", "10de:13f1", "10de:1153", 28)

RATE = Figure(
    "generation_rate",
    14.2,
    "token/s",
    "measured",
    "Quadro M4000",
    "pve44",
    "llamacpp",
    "2026-11-29",
    "llama-bench tg128",
)
POWER = replace(RATE, metric="power", value=96.4, unit="W")


def fleet() -> Platform:
    """A platform with the two policies."""
    return replace(platform(), cards={policy.id: policy for policy in (M4000, P2000)})


def card(**facts: object) -> Gpu:
    """The M4000 of pve44 as it is, with some facts other."""
    known = {"name": "Quadro M4000", "memory_gb": 8, "compute_cap": 5.2, "pci": PCI, **facts}
    return gpu(0, **known)  # type: ignore[arg-type]


def found(one: Gpu, *figures: Figure) -> list[str]:
    """What the check says of a node with this card, and a model with these figures."""
    model = Model("m", "llm", 5, ("llamacpp",), figures=figures)
    catalog = Catalog({"llamacpp": Engine("llamacpp", 5.0)}, {"m": model})
    cluster = Cluster((node("pve44", one),), catalog, {}, fleet())
    return [f"{item.code}: {item.message}" for item in benchmarks(cluster)]


def lacks(reason: str, told: str = "Quadro M4000") -> list[str]:
    return [
        f"benchmark-missing: card pve44/0 ({told}) is enabled, but a Quadro M4000 needs a benchmark with a power "
        f"reading first: {reason}"
    ]


def test_a_disabled_card_needs_nothing() -> None:
    assert found(card(disabled=True)) == []


def test_an_enabled_one_needs_a_record_with_rate_and_power() -> None:
    assert found(card()) == lacks("no llama-bench run is on record")
    assert found(card(), RATE) == lacks("the llama-bench record has no power reading")
    assert found(card(), RATE, POWER) == []
    assert found(card(), POWER, replace(RATE, source="knaster bench server")) == []


@pytest.mark.parametrize(
    "power",
    [
        replace(POWER, kind="estimated"),
        replace(POWER, card="Quadro P2000"),
        replace(POWER, card=None),
        replace(POWER, value=0),
        replace(POWER, unit="kW"),
        replace(POWER, source="somebody said so"),
        replace(POWER, source="llama-benchmark of somebody"),
        replace(POWER, source=None),
        replace(POWER, engine="vllm"),
        replace(POWER, date=None),
        replace(POWER, partial=True),
    ],
)
def test_what_is_no_power_reading_of_llama_bench_on_that_type_does_not_count(power: Figure) -> None:
    assert found(card(), RATE, power) == lacks("the llama-bench record has no power reading")


def test_a_run_that_was_cut_does_not_count() -> None:
    cut = (replace(RATE, partial=True), replace(POWER, partial=True))
    assert found(card(), *cut) == lacks("the only llama-bench run was cut before its end")


def test_the_name_of_the_card_may_be_written_as_the_driver_does() -> None:
    assert found(card(), replace(RATE, card="NVIDIA Quadro M4000"), replace(POWER, card="quadro m4000")) == []


BY_OTHERS = "by its name or facts a Quadro M4000"


@pytest.mark.parametrize(
    ("one", "told"),
    [
        (card(name="A card of mine"), "Quadro M4000"),
        (card(name=None), "Quadro M4000"),
        (card(name="Quadro P2000"), "Quadro M4000"),
        (card(pci=None), f"Quadro M4000, {BY_OTHERS}"),
        (card(pci=replace(PCI, id=None)), f"Quadro M4000, {BY_OTHERS}"),
        (card(pci=replace(PCI, id="10de:9999")), f"Quadro M4000, {BY_OTHERS}"),
        (card(pci=replace(PCI, id="10de:1c30")), f"Quadro M4000, {BY_OTHERS}"),
        (card(pci=None, name="NVIDIA Corporation M4000"), f"NVIDIA Corporation M4000, {BY_OTHERS}"),
        (card(pci=None, name="NVIDIA Quadro M4000"), f"NVIDIA Quadro M4000, {BY_OTHERS}"),
        (card(pci=None, name="A card of mine"), f"A card of mine, {BY_OTHERS}"),
        (card(pci=None, name=None), f"no name, {BY_OTHERS}"),
        (card(uuid=None, vendor=None, driver=None, pci=None, name=None, memory_mib=None), f"no name, {BY_OTHERS}"),
    ],
)
def test_no_key_that_is_gone_or_renamed_gets_a_card_round_it(one: Gpu, told: str) -> None:
    assert found(one) == lacks("no llama-bench run is on record", told)
    assert engines(policies(one, fleet())) == ("llamacpp",)


@pytest.mark.parametrize(
    "other",
    [
        card(name="Quadro P4000", compute_cap=6.1, pci=replace(PCI, id="10de:1bb1")),
        card(name="Quadro P4000", pci=None, compute_cap=6.1),
        card(name="Quadro P4000", pci=None),  # a known name is believed, even with odd facts
        card(name=None, pci=None, memory_gb=24),
        card(name=None, pci=None, memory_gb=None),  # and serves no role: its size is not known
        card(name="NVIDIA RTX 4000 Ada Generation", pci=replace(PCI, id="10de:27b2"), memory_gb=20, compute_cap=8.9),
    ],
)
def test_other_types_are_free(other: Gpu) -> None:
    assert found(other) == []
    assert policies(other, fleet()) == ()


def test_two_policies_leave_the_engines_that_both_allow() -> None:
    odd = card(name="Quadro P2000")
    assert [policy.id for policy in policies(odd, fleet())] == ["10de:13f1", "10de:1c30"]
    assert engines(policies(odd, fleet())) == ("llamacpp",)


def test_without_platform_or_policies_everything_is_allowed() -> None:
    assert engines(policies(card(), None)) is None
    assert policies(card(), platform()) == ()
