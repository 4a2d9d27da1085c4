"""Measured in place of estimated, for the same metric on the same card type and nowhere else."""

from __future__ import annotations

from dataclasses import replace

from knaster.changes import compare
from knaster.cluster import Figure
from knaster.figures import shown, told
from knaster.pipeline import evaluate
from tests.repo import MODELS, files

LOW = Figure("generation_rate_low", 12, "token/s", "estimated", "Quadro M4000", source="estimate")
HIGH = replace(LOW, metric="generation_rate_high", value=25)
WATTS = Figure("power", 120, "W", "estimated", "Quadro M4000")
RATE = Figure("generation_rate", 16, "token/s", "measured", "NVIDIA Quadro M4000", date="2026-11-29", spread=0.25)


def test_a_measured_figure_stands_for_both_ends_of_an_estimated_range() -> None:
    assert shown((LOW, HIGH, WATTS)) == (LOW, HIGH, WATTS)
    assert shown((LOW, HIGH, WATTS, RATE)) == (WATTS, RATE)


def test_nothing_is_compared_across_card_types() -> None:
    other = replace(RATE, card="Quadro P2000")
    assert shown((LOW, other)) == (LOW, other)
    assert shown((replace(LOW, card=None), other)) == (replace(LOW, card=None), other)


def test_the_newest_whole_run_is_shown_of_each_voice() -> None:
    older, cut = replace(RATE, date="2025-01-01"), replace(RATE, date="2027-01-01", partial=True)
    voice = replace(older, voice="thorsten")
    assert shown((older, cut, RATE, voice)) == (RATE, voice)
    assert shown((cut,)) == (cut,)


def test_a_figure_always_says_which_it_is() -> None:
    assert told(WATTS) == "power on Quadro M4000 120 W (estimated)"
    assert told(RATE) == "generation_rate on NVIDIA Quadro M4000 16 ± 0.25 token/s (measured 2026-11-29)"
    cut = replace(RATE, partial=True, voice="x", card=None)
    assert told(cut) == "generation_rate with x 16 ± 0.25 token/s (measured 2026-11-29, of a run that was cut)"


ESTIMATED = "estimated: [{metric: power, value: 120, unit: W, card: M4000}]"
MEASURED = 'measured: [{metric: power, value: 96.4, unit: W, card: "Quadro M4000", date: "2026-11-29"}]'


def fleet(figures: str) -> dict[str, str]:
    text = MODELS.replace("bge-m3: {kind: embedding,", f"bge-m3: {{kind: embedding, {figures}")
    return {**files(), "catalog/models.yaml": text}


def test_the_registry_and_the_changes_tell_the_figure_that_counts() -> None:
    before, after = evaluate(fleet(f"{ESTIMATED},")), evaluate(fleet(f"{ESTIMATED}, {MEASURED},"))
    registry = [side.documents["registry.yaml"]["models"]["bge-m3"]["figures"] for side in (before, after)]
    assert registry == [
        [{"metric": "power", "value": 120, "unit": "W", "kind": "estimated", "card": "M4000"}],
        [
            {
                "metric": "power",
                "value": 96.4,
                "unit": "W",
                "kind": "measured",
                "card": "Quadro M4000",
                "date": "2026-11-29",
            }
        ],
    ]
    changes = compare(before, after).changes
    assert [(one.kind, one.name, one.effect, one.summary) for one in changes] == [
        (
            "model",
            "bge-m3",
            "record",
            "power on Quadro M4000 96.4 W (measured 2026-11-29) instead of 120 W (estimated)",
        )
    ]
    assert [one.summary for one in compare(after, evaluate(fleet(""))).changes] == [
        "power on Quadro M4000 96.4 W (measured 2026-11-29) is gone"
    ]


def test_with_other_facts_each_has_its_line() -> None:
    before = evaluate(fleet(f"{ESTIMATED},"))
    after = evaluate(fleet(f"{MEASURED}, lora: true,"))
    changes = compare(before, after).changes
    assert sorted(one.summary for one in changes) == [
        "lora false → true",
        "power on Quadro M4000 96.4 W (measured 2026-11-29) instead of 120 W (estimated)",
    ]
