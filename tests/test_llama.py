"""A run of llama-bench as figures: which tests count, whose power it is, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from knaster.bench.llama import Card, Taken, Watched, card, figures, generation, other_file, prompt, refusal, watched
from knaster.bench.llama_rows import Run, read
from knaster.bench.machine import Here, listed, pick
from knaster.bench.power import Power, Sample
from knaster.cluster import CardPolicy
from tests.builders import cluster, gpu, node, pci, platform
from tests.llama_runs import GENERATION, PROMPT, output, row

M4000 = Card("Quadro M4000", "pve44")


def run(*tests: dict[str, Any], **other: Any) -> Run:
    return read(output("2026", *(row("2026", test, **other) for test in tests)))


def test_an_empty_context_and_the_usual_number_of_tokens_count() -> None:
    deep = {**GENERATION, "n_depth": 4096, "avg_ts": 9.0}
    long, short = {**GENERATION, "n_gen": 256, "avg_ts": 15.0}, {**GENERATION, "n_gen": 32, "avg_ts": 17.0}
    both = {**GENERATION, "n_prompt": 512, "avg_ts": 99.0}
    found = [
        generation(run(PROMPT, *tests)) for tests in ((deep, long, GENERATION), (deep, short, long), (deep,), (both,))
    ]
    assert [one and one.test for one in found] == ["tg128", "tg256", "tg128 @ d4096", None]
    assert prompt(run(both)) is None
    again = generation(run(GENERATION, {**GENERATION, "avg_ts": 18.0}))
    assert again is not None
    assert again.rate == 18.0  # the same test once more: the later one


def test_the_power_is_that_of_the_generation_test() -> None:
    """Loading until 10 s at 20 W; prompts 12.8 s at 110 W; generation 40 s at 90 W, its row at 64 s; then 20 W."""
    text = output("2026")
    first = text.index("},") + 1
    levels = ((0, 10, 20.0), (11, 23, 110.0), (24, 64, 90.0), (65, 75, 20.0))
    samples = [Sample(float(at), watts) for start, end, watts in levels for at in range(start, end + 1)]
    arrivals = [(first, 23.0), (len(text) - 3, 64.0), (len(text), 75.0)]
    power, of = watched(read(text), text, Watched(samples, arrivals))
    assert isinstance(power, Power)
    assert (power.watts, power.samples, of) == (90.0, 41, "tg128")


def test_rows_that_come_all_at_once_have_no_window_of_their_own() -> None:
    """An output that was not flushed: the whole run is the mean, loading included, and it says so."""
    text = output("2026")
    samples = [Sample(float(at), 60.0) for at in range(65)]
    power, of = watched(read(text), text, Watched(samples, [(len(text), 64.0)]))
    assert isinstance(power, Power)
    assert (power.watts, of) == (60.0, "whole run")


def test_a_run_without_readings_has_no_power() -> None:
    text = output("2026")
    assert watched(read(text), text, Watched())[0] == "nvidia-smi was not asked in that time"


def test_the_figures_and_where_they_are_from() -> None:
    taken = Taken(M4000, "2026-11-29", Power(80.0, 2.5, 41, 40.0), "tg128, nvidia-smi")
    told = [
        (one.metric, one.value, one.unit, one.spread, one.source) for one in figures(run(PROMPT, GENERATION), taken)
    ]
    assert told == [
        ("prompt_rate", 200.0, "token/s", 1.5, "llama-bench pp512"),
        ("generation_rate", 16.0, "token/s", 0.25, "llama-bench tg128"),
        ("power", 80.0, "W", 2.5, "llama-bench tg128, nvidia-smi"),
        ("efficiency", 0.2, "token/J", None, "llama-bench tg128, nvidia-smi"),
    ]
    alone = figures(run(PROMPT), replace(taken, partial=True))
    assert [(one.metric, one.partial) for one in alone] == [("prompt_rate", True), ("power", True)]


@pytest.mark.parametrize(
    ("told", "precision", "message"),
    [
        ("llama 7B Q4_K - Medium", "q4_k_m", None),
        ("llama 7B Q4_K - Medium (guessed)", "q4_k_m", None),
        ("qwen3 0.6B Q8_0", "q8_0", None),
        ("bert 335M F16", "f16", None),
        ("llama 8B IQ4_XS - 4.25 bpw", "iq4_xs", None),  # a name that is not understood says nothing
        ("", "q8_0", None),
        ("llama 7B Q8_0", None, None),
        ("llama 7B Q4_K - Small", "q4_k_m", "(llama 7B Q4_K - Small), and the catalog's model is q4_k_m"),
        ("llama 7B Q8_0", "q4_k_m", "(llama 7B Q8_0), and the catalog's model is q4_k_m"),
    ],
)
def test_another_precision_than_the_catalogs_is_told(told: str, precision: str | None, message: str | None) -> None:
    found = other_file(run(GENERATION, model_type=told), precision)
    assert (found is None) is (message is None)
    assert found is None or found.message.endswith(message or "")


def test_a_card_goes_by_the_names_of_its_policy_too() -> None:
    """The policy may call the type otherwise than the driver does."""
    fleet = cluster(platform=replace(platform(), cards={"10de:13f1": CardPolicy("10de:13f1", "the old 8 GB card")}))
    one = run(GENERATION)
    assert refusal(one, Card("the old 8 GB card"), fleet) is None
    assert refusal(one, Card("the old 8 GB card")) is not None
    assert refusal(one, Card("NVIDIA Quadro M4000")) is None


def test_which_card_a_name_means() -> None:
    fleet = cluster(
        node(
            "pve44",
            gpu(0, name="my card", pci=pci(id="10de:13f1"), uuid="GPU-1"),
            gpu(1, name=None),
        ),
        node("pve61"),
    )
    assert card(fleet, "pve44/0") == Card("Quadro M4000", "pve44", "GPU-1", 0)
    assert card(fleet, "quadro m4000") == Card("Quadro M4000")
    assert card(fleet, "Tesla P40") == Card("Tesla P40")
    assert card(fleet, "pve44/1") == "the inventory does not say what pve44/1 is"
    assert card(fleet, "pve44/2") == "pve44 has pve44/0, pve44/1"
    assert card(fleet, "pve44") == "pve44 has pve44/0, pve44/1"
    assert card(fleet, "pve61/0") == "pve61 has no cards"
    assert card(fleet, "pve45/0") == "the inventory has no node pve45"


HERE = (Here("0", "GPU-1", "Quadro P2000"), Here("1", "GPU-2", "Quadro M4000"), Here("2", "GPU-3", "Quadro M4000"))


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (M4000, HERE[1]),
        (replace(M4000, index=2), HERE[2]),
        (replace(M4000, index=0), HERE[1]),
        (replace(M4000, uuid="GPU-3", index=1), HERE[2]),
    ],
)
def test_the_card_of_this_machine(wanted: Card, found: Here) -> None:
    assert pick(HERE, wanted, {"m4000"}) == found


def test_a_card_that_is_not_here() -> None:
    assert pick((), M4000, {"m4000"}) == "nvidia-smi lists no card here"
    assert "there is no Quadro M4000 in this machine" in str(pick(HERE[:1], M4000, {"m4000"}))
    assert "with uuid GPU-9 is not in this machine" in str(pick(HERE, replace(M4000, uuid="GPU-9"), {"m4000"}))


def test_lines_that_are_no_cards_are_left_out() -> None:
    text = "0, GPU-1, Quadro P2000\nNVIDIA-SMI has failed\n1, GPU-2, A, with a comma\n, ,\n\x00"
    assert listed(text) == (HERE[0], Here("1", "GPU-2", "A, with a comma"))
