"""Measurements in the catalog: the newest counts, the history keeps all, and people's text stays as it is."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knaster.bench.entries import rounded
from knaster.bench.record import Measurement, Recorded, record
from knaster.document import parse, spans
from knaster.editing.sheet import comments
from knaster.files import Files, Refused
from knaster.loader.loading import load
from tests.repo import files

MODELS = "catalog/models.yaml"
HISTORY = "catalog/benchmarks/m.yaml"

RATE = Measurement(
    metric="generation_rate",
    value=14.2371,
    unit="token/s",
    spread=0.31,
    card="Quadro M4000",
    node="pve44",
    engine="llamacpp",
    build="b6895 (8cf427ff)",
    date="2026-11-29",
    voice=None,
    partial=False,
    source="llama-bench tg128",
)
WATTS = replace(RATE, metric="power", value=96.4, unit="W", spread=None)
LINE = (
    '{metric: generation_rate, value: 14.237, unit: token/s, spread: 0.31, card: "Quadro M4000", node: pve44, '
    'engine: llamacpp, build: "b6895 (8cf427ff)", date: "2026-11-29", source: "llama-bench tg128"}'
)

BLOCK = """\
# Above.
engines:
  llamacpp: {min_cc: 5.0}
models:
  m:
    # About m.
    kind: llm  # said so
    vram_gb: 5.07
    engines: [llamacpp]
    estimated:
      # Nobody has measured these.
      - {metric: generation_rate_low, value: 12, unit: token/s, card: "Quadro M4000"}
      # Below the last one.

  # About o.
  o: {kind: llm, vram_gb: 3, engines: [llamacpp]}
"""


def of(text: str, **more: str) -> Files:
    """A repository with these models, and more files of the catalog."""
    return {MODELS: text, **{f"catalog/benchmarks/{name}.yaml": other for name, other in more.items()}}


def texts(result: Recorded) -> dict[str, str]:
    """What is to be written; nothing may be wrong."""
    assert result.diagnostics == ()
    return dict(result.texts)


def data(text: str) -> Any:
    document, problems = parse("", text)
    assert document is not None
    assert problems == ()
    return document.data


def test_a_model_without_measured_gets_the_key_behind_its_last() -> None:
    new = texts(record(of(BLOCK), "m", [RATE, WATTS]))
    head, tail = BLOCK.split("\n\n  # About o.")
    watts = LINE.replace("generation_rate, value: 14.237, unit: token/s, spread: 0.31", "power, value: 96.4, unit: W")
    assert new[MODELS] == f"{head}\n    measured:\n      - {LINE}\n      - {watts}\n\n  # About o.{tail}"


def test_the_history_is_a_file_of_its_own() -> None:
    new = texts(record(of(BLOCK), "m", [RATE]))
    assert new[HISTORY] == (
        "# yaml-language-server: $schema=../../schemas/benchmarks.schema.json\n"
        "# Written by `knaster bench`: every figure that was taken of this model. What counts stands in "
        "../models.yaml.\n"
        f"model: m\nruns:\n  - {LINE}\n"
    )


def test_a_model_on_one_line_stays_on_it() -> None:
    new = texts(record(of(BLOCK), "o", [RATE]))
    assert new[MODELS] == BLOCK.replace("engines: [llamacpp]}", f"engines: [llamacpp], measured: [{LINE}]}}")


def test_later_runs_take_the_place_of_earlier_ones_and_earlier_ones_go_to_the_history_alone() -> None:
    first = texts(record(of(BLOCK), "m", [RATE]))
    later = replace(RATE, value=15, date="2026-12-02", spread=None)
    second = record({**first}, "m", [later])
    assert second.current == (later,)
    new = texts(second)
    line = LINE.replace("14.237", "15").replace(" spread: 0.31,", "").replace("2026-11-29", "2026-12-02")
    assert new[MODELS] == first[MODELS].replace(LINE, line)
    assert new[HISTORY] == f"{first[HISTORY]}  - {line}\n"
    earlier = replace(RATE, value=13, date="2026-01-02")
    third = record({**new}, "m", [earlier])
    assert (third.current, third.older) == ((), (earlier,))
    assert list(texts(third)) == [HISTORY]
    assert [run["value"] for run in data(third.texts[HISTORY])["runs"]] == [14.237, 15, 13]


def test_the_same_run_twice_changes_nothing() -> None:
    first = texts(record(of(BLOCK), "m", [RATE]))
    assert texts(record({**first}, "m", [RATE])) == {}


def test_a_run_that_was_cut_never_takes_the_place_of_a_whole_one() -> None:
    first = texts(record(of(BLOCK), "m", [RATE]))
    cut = replace(RATE, value=99, date="2027-01-01", partial=True)
    second = record({**first}, "m", [cut])
    assert second.older == (cut,)
    assert data(second.texts[HISTORY])["runs"][1]["partial"] is True
    alone = texts(record(of(BLOCK), "m", [cut]))
    assert data(alone[MODELS])["models"]["m"]["measured"][0]["partial"] is True
    back = record({**alone}, "m", [RATE])
    assert back.current == (RATE,)


def test_one_entry_for_each_metric_card_type_and_voice() -> None:
    others = [replace(RATE, card="Quadro P2000"), replace(RATE, voice="thorsten"), replace(RATE, card=None), WATTS]
    new = texts(record(of(BLOCK), "m", [RATE, *others]))
    assert len(data(new[MODELS])["models"]["m"]["measured"]) == 5
    by_driver = replace(RATE, card="NVIDIA Quadro M4000", value=20)
    again = texts(record({**new}, "m", [by_driver]))
    assert len(data(again[MODELS])["models"]["m"]["measured"]) == 5


def test_what_people_wrote_by_hand_goes_to_the_history_before_it_is_replaced() -> None:
    text = BLOCK.replace(
        "  m:\n", '  m:\n    measured: [{metric: power, value: 90, unit: W, card: M4000, date: "2025-01-01"}]\n'
    )
    new = texts(record(of(text), "m", [WATTS]))
    assert [run["value"] for run in data(new[HISTORY])["runs"]] == [90, 96.4]
    assert [one["value"] for one in data(new[MODELS])["models"]["m"]["measured"]] == [96.4]


def test_comments_inside_an_entry_stay_with_it() -> None:
    text = BLOCK.replace(
        "  m:\n",
        "  m:\n    measured:\n      - metric: power  # the first\n        # of 2025\n        value: 90\n"
        "        unit: W\n"
        '        card: "Quadro M4000"\n        date: "2025-01-01"\n      # behind\n',
    )
    new = texts(record(of(text), "m", [WATTS]))[MODELS]
    assert (
        '      - metric: power\n        value: 96.4\n        unit: W\n        card: "Quadro M4000"\n'
        "        node: pve44\n"
        '        engine: llamacpp\n        build: "b6895 (8cf427ff)"\n        date: "2026-11-29"\n'
        '        source: "llama-bench tg128"\n        # the first\n        # of 2025\n      # behind\n    # About m.\n'
    ) in new


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        ({MODELS: "models: [\n"}, ["yaml-syntax"]),
        ({MODELS: "models: {}\n"}, ["schema-missing-key"]),
        ({MODELS: Refused("a symbolic link")}, ["file-kind"]),
        ({HISTORY: Refused("a symbolic link")}, ["file-kind"]),
        ({HISTORY: "model: m\nruns: 3\n"}, ["schema-type"]),
    ],
)
def test_files_that_cannot_be_edited_are_diagnostics(change: dict[str, Any], codes: list[str]) -> None:
    result = record({**of(BLOCK), **change}, "m", [RATE])
    assert [one.code for one in result.diagnostics] == codes
    assert result.texts == {}


def test_no_catalog_and_no_such_model() -> None:
    assert [one.code for one in record({}, "m", [RATE]).diagnostics] == ["file-missing"]
    unknown = record(of(BLOCK.replace("  m:", "  mistral:")), "mistrall", [RATE]).diagnostics
    assert [(one.code, one.hint) for one in unknown] == [("unknown-model", 'did you mean "mistral"?')]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0, 1e12])
def test_a_number_that_no_benchmark_gives_is_refused(value: float) -> None:
    result = record(of(BLOCK), "m", [replace(RATE, value=value)])
    assert result.texts == {}
    (problem,) = result.diagnostics
    assert problem.code == "bench-run"
    assert problem.place is None  # it lies in no file
    assert problem.message.startswith("generation_rate ")
    assert " ± 0.31 token/s cannot be true: " in problem.message


def test_a_colon_in_a_name_is_none_in_the_name_of_the_file() -> None:
    new = texts(record(of(BLOCK.replace("  m:", '  "m:7b":')), "m:7b", [RATE]))
    assert set(new) == {MODELS, "catalog/benchmarks/m%3A7b.yaml"}
    loaded = load({**files(), **{path: text for path, text in new.items() if path != MODELS}})
    assert [history.model for history in loaded.cluster.histories] == ["m:7b"]


@pytest.mark.parametrize(("number", "kept"), [(14.23714, 14.237), (118.881588, 118.88), (7285.67, 7285.7), (3.0, 3)])
def test_five_digits(number: float, kept: float) -> None:
    assert rounded(number) == kept


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\ud800"), min_size=1, max_size=40)


@st.composite
def measurements(draw: st.DrawFn) -> Measurement:
    return Measurement(
        metric=draw(st.sampled_from(["generation_rate", "power", "real_time_factor"])),
        value=draw(st.floats(0, 1e6)),
        unit=draw(st.sampled_from(["token/s", "W", "s/s"])),
        spread=draw(st.none() | st.floats(0, 10)),
        card=draw(st.sampled_from([None, "Quadro M4000", "NVIDIA RTX 4000 Ada Generation"])),
        node=draw(st.none() | st.just("pve44")),
        engine=draw(st.none() | TEXTS),
        build=draw(st.none() | TEXTS),
        date=draw(st.sampled_from(["2026-11-28", "2026-11-29", "2026-11-30"])),
        voice=draw(st.none() | TEXTS),
        partial=draw(st.booleans()),
        source=draw(TEXTS),
    )


@st.composite
def layouts(draw: st.DrawFn) -> str:
    """Models with comments, in blocks or braces, with or without measured entries of either style; any line end."""
    old = '{metric: power, value: 90, unit: W, card: "Quadro M4000", date: "2026-11-29"}'
    block = (
        "metric: power  # in it\n        value: 90\n        unit: W\n        card: M4000\n        date: '2026-11-29'"
    )
    other = old.replace("power", "x")
    measured = draw(
        st.sampled_from(
            [
                "",
                "    measured: []\n",
                "    measured: [ ]  # none yet\n",
                "    measured: [  # none\n      ]\n",
                f"    measured: [{old}]  # one\n",
                f"    measured: [\n      # first\n      {old},  # behind it\n      ]\n",
                f"    measured:\n      - {old}\n",
                f"    measured:\n    - {old}  # at the key's column\n    # below\n",
                f"    measured:\n      # above\n      - {block}\n        # below, its own\n      - {other}\n",
                f'    "measured":\n      -   {block}\n'.replace("        ", "          "),
            ]
        )
    )
    last = draw(st.sampled_from(["", "    # at the end\n", "    description: |\n      long\n      text\n", "\n\n"]))
    body = f"  m:\n    kind: llm  # why\n{measured}    vram_gb: 5\n    engines: [llamacpp]\n{last}"
    if draw(st.booleans()):
        body = draw(
            st.sampled_from(
                [
                    "  m: {kind: llm, vram_gb: 5, engines: [llamacpp]}  # short\n",
                    "  m: {\n    kind: llm, # a\n    vram_gb: 5,\n    engines: [llamacpp], # b\n    }\n",
                    f"  m: {{kind: llm, measured: [{old}], vram_gb: 5, engines: [llamacpp]}}\n",
                    "  m: {kind: llm, measured: [], vram_gb: 5, engines: [llamacpp]}\n",
                ]
            )
        )
    after = draw(st.sampled_from(["", "  # of o\n  o: {kind: llm, vram_gb: 1, engines: [llamacpp]}\n", "# the end"]))
    text = f"# top\nengines: {{llamacpp: {{}}}}\nmodels:\n{body}{after}"
    text = text.rstrip("\n") if draw(st.booleans()) else text
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


def around(text: str) -> tuple[str, str]:
    """The text before and behind the value of ``measured`` (its key too where the other text may lack it)."""
    places = spans(text)
    found = places.get(("models", "m", "measured"))
    assert found is not None
    assert found.key is not None
    return text[: found.key[0]], text[found.end :]


def next_line(behind: str) -> str:
    """What follows from the first line on that is no comment: comments of the last entry stay with it."""
    found = re.search(r"(?m)\n *[^ #\r\n](?s:.*)", behind)
    return found[0] if found else ""


@settings(deadline=None, max_examples=300)
@given(text=layouts(), new=st.lists(measurements(), min_size=1, max_size=4))
def test_any_layout_keeps_every_other_byte_and_loads(text: str, new: list[Measurement]) -> None:
    result = record(of(text), "m", new)
    assert result.diagnostics == ()
    assert len(result.current) + len(result.older) == len(new)
    written = result.texts.get(MODELS, text)
    loaded = load({**files(), **result.texts, MODELS: written})
    assert [one.code for one in loaded.diagnostics if one.place and one.place.file.startswith("catalog/models")] == []
    assert [len(history.runs) for history in loaded.cluster.histories] != [0]
    before, after = around(written)
    if "measured" in text:
        first, behind = around(text)
        assert before == first
        assert written.endswith(next_line(behind))
        assert Counter(comments(written)) == Counter(comments(text))
    else:
        gone = before.rstrip(" \r\n").removesuffix(",") if "{" in text.split("m:")[1][:3] else before.rstrip(" \r\n")
        assert text.startswith(gone)
        assert text.endswith(after)
        assert len(gone) + len(after) == len(text)
    again = record({**of(text), **result.texts}, "m", new)
    assert again.texts.keys() <= {MODELS}
    assert record({**of(text), **result.texts, **again.texts}, "m", [new[-1]]).diagnostics == ()
