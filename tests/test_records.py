"""Records of architectures: the same architecture comes back, a wrong record is told, and no plan depends on one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from string import ascii_lowercase

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knaster import document, schema
from knaster.adapters import files as adapter
from knaster.changes.inputs import input_changes
from knaster.cluster import Engine, Model
from knaster.cluster.architecture import Architecture, LayerCache, TensorGroup
from knaster.diagnostics import Severity
from knaster.files import Entry
from knaster.fit.memory.need import Serving, need
from knaster.fit.memory.serving import Need
from knaster.fit.records import architecture, problems, record, record_file, record_name, record_text
from knaster.loader.loading import load
from knaster.model_plan.recorded import recorded_need
from knaster.pipeline import evaluate
from tests.model_inventories import llama
from tests.test_quantise_truth import architecture as published_architecture

ROOT = Path(__file__).parent.parent
CASES = ROOT / "tests" / "cases"
RECORD = "catalog/architectures/qwen3-14b.yaml"

NUMBER = st.integers(0, 10**15 - 1)
SMALL = st.integers(0, 2**20)
WORD = st.text(ascii_lowercase + "0123456789_", min_size=1, max_size=12).map(lambda text: f"x{text}")
CACHES = st.builds(
    LayerCache,
    kind=st.sampled_from(["full", "sliding", "latent", "recurrent"]),
    layers=st.integers(1, 8),
    kv_heads=SMALL,
    key_dim=SMALL,
    value_dim=SMALL,
    window=st.none() | st.integers(1, 2**40),
    state_bytes=NUMBER,
    conv_elements=NUMBER,
)
SHAPES = st.lists(st.integers(0, 10**12 - 1), min_size=1, max_size=8).map(tuple)
INSIDE = st.builds(
    TensorGroup,
    name=WORD.map(lambda text: f"blk.{{}}.{text}.weight"),
    shape=SHAPES,
    dtype=WORD,
    size=NUMBER,
    layers=st.sets(st.integers(0, 7), min_size=1).map(lambda layers: tuple(sorted(layers))),
)
OUTSIDE = st.builds(TensorGroup, name=WORD, shape=SHAPES, dtype=WORD, size=NUMBER)
ARCHITECTURES = st.builds(
    Architecture,
    name=st.text("abc/.-~ #:'\"äß中", min_size=1, max_size=40),
    family=WORD,
    parameters=NUMBER,
    layers=st.integers(8, 4096),
    hidden=st.integers(1, 2**24),
    heads=SMALL,
    kv_heads=SMALL,
    head_dim=SMALL,
    vocab=st.integers(0, 2**30),
    context=st.none() | st.integers(1, 2**40),
    stored=WORD,
    tied=st.booleans(),
    encoder=st.booleans(),
    caches=st.lists(CACHES, max_size=4).map(tuple),
    tensors=st.lists(INSIDE | OUTSIDE, min_size=1, max_size=6).map(tuple),
    experts=SMALL,
    extra=st.lists(st.tuples(WORD, NUMBER), max_size=2).map(tuple),
    exact=st.booleans(),
    block=st.integers(0, 1 << 24),
)


def fleet(case: str = "vram-understated") -> dict[str, Entry]:
    """The fleet of a case."""
    return {**adapter.read(CASES / "base"), **adapter.read(CASES / case)}


def text(case: str = "vram-understated") -> str:
    found = fleet(case)[RECORD]
    assert isinstance(found, str)
    return found


@settings(deadline=None)
@given(ARCHITECTURES)
def test_what_is_recorded_comes_back(original: Architecture) -> None:
    parsed, found = document.parse("a.yaml", record_text(original))
    assert found == ()
    assert parsed is not None
    assert schema.check("architecture", "a.yaml", parsed.data) == ()
    assert problems("a.yaml", parsed.data) == ()
    assert architecture(parsed.data) == original
    assert record(architecture(parsed.data)) == record(original)


def test_layers_are_written_as_ranges() -> None:
    group = TensorGroup("blk.{}.attn_v.weight", (4, 8), "bf16", 64, (0, 1, 2, 5, 7, 8))
    data = record(replace(llama(9, 8, 1, 1, 8, 8, 8, tied=True), tensors=(group,)))
    assert data["tensors"] == [
        {"name": "blk.{}.attn_v.weight", "shape": "4x8", "dtype": "bf16", "size": 64, "layers": "0-2,5,7-8"}
    ]


def test_a_name_that_yaml_cannot_bear_is_still_recorded() -> None:
    odd = record_text(replace(llama(1, 8, 1, 1, 8, 8, 8, tied=True), name="a\nb\x1b[2J\udcff"))
    assert 'source: "a?b?[2J?"' in odd
    assert document.parse("a.yaml", odd)[1] == ()


def test_a_colon_is_no_part_of_a_files_name() -> None:
    assert record_file("gemma3:12b") == "catalog/architectures/gemma3_12b.yaml"
    assert record_name("qwen3-14b-q4_k_m") == "qwen3-14b-q4_k_m"


@pytest.mark.parametrize(
    ("before", "after", "code", "line"),
    [
        ('layers: "0-3"', 'layers: "0-4"', "schema-value", 25),
        ('layers: "0-3"', 'layers: "3-0"', "schema-value", 25),
        ('layers: "0-3"', 'layers: "0-2,2"', "schema-value", 25),
        ('layers: "0-3"', 'layers: "x"', "schema-value", 25),
        (', layers: "0-3"', "", "schema-value", 25),
        ('shape: "262144x8192"', 'shape: "262144x"', "schema-value", 25),
        ('{kind: "full", layers: 4', '{kind: "full", layers: 5', "schema-value", 21),
        ("hidden: 1024", "hidden: -1", "schema-value", 9),
        ("hidden: 1024", 'hidden: "1024"', "schema-type", 9),
        ("hidden: 1024", "width: 1024", "schema-unknown-key", 9),
        ("tied: false", "tied: no", "yaml-quote", 16),
    ],
)
def test_a_wrong_record_is_told_and_stops_nothing_else(before: str, after: str, code: str, line: int) -> None:
    assert before in text()
    found = evaluate({**fleet(), RECORD: text().replace(before, after)})
    errors = [item for item in found.diagnostics if item.severity is Severity.ERROR]
    assert (code, RECORD, line) in [
        (item.code, item.place.file, item.place.line) for item in errors if item.place is not None
    ]
    assert {item.place.file for item in errors if item.place} == {RECORD}
    assert found.planned is not None
    assert "check-skipped" not in {item.code for item in found.diagnostics}


def test_no_plan_and_no_digest_depends_on_a_record() -> None:
    without = {path: entry for path, entry in fleet().items() if path != RECORD}
    one, other = load(fleet()), load(without)
    assert one.digest == other.digest
    assert set(one.cluster.architectures) == {"qwen3-14b"}
    first, second = evaluate(fleet()), evaluate(without)
    assert first.documents == second.documents
    assert input_changes(other.parts, one.parts) == ()


def test_a_model_that_says_enough_is_not_warned_of() -> None:
    # 16,846 MiB are 16.4512 GiB: 16.45 is too little, 16.46 is enough
    models = fleet()["catalog/models.yaml"]
    assert isinstance(models, str)
    for size, warned in ((16.45, True), (16.46, False), (0, False)):
        changed = {**fleet(), "catalog/models.yaml": models.replace("vram_gb: 10.5", f"vram_gb: {size}")}
        codes = {item.code for item in evaluate(changed).diagnostics}
        assert ("vram-understated" in codes) == warned


def asked(**more: object) -> Need:
    model = Model("m", "llm", 1, ("llamacpp",), context=8192, precision="q4_k_m", **more)  # type: ignore[arg-type]
    found = recorded_need(model, Engine("llamacpp"), published_architecture("Qwen/Qwen3-8B"))
    assert isinstance(found, Need)
    return found


def expected(**more: object) -> Need:
    serving = Serving("llamacpp", "q4_k_m", 8192, **more)  # type: ignore[arg-type]
    found = need(published_architecture("Qwen/Qwen3-8B"), serving)
    assert isinstance(found, Need)
    return found


def test_arguments_that_matter_are_read() -> None:
    assert asked() == expected()
    assert asked(args=("--model", "x", "--parallel", "4")) == expected(parallel=4)
    assert asked(args=("-np=2",)) == expected(parallel=2)
    assert asked(args=("--cache-type-k", "q8_0", "--cache-type-v", "q8_0")) == expected(kv_precision="q8_0")
    assert asked(args=("--ubatch-size", "2048")) == expected(ubatch=2048)
    assert asked(args=("--ubatch-size", "99999")) == expected(ubatch=8192)
    assert asked(args=("--parallel", "many")) == expected()
    assert asked(args=("--parallel",)) == expected()


def test_engines_that_are_not_calculated_say_nothing() -> None:
    model = Model("m", "llm", 1, ("pytorch",), context=8192, precision="q4_k_m")
    qwen = published_architecture("Qwen/Qwen3-8B")
    assert not isinstance(recorded_need(model, Engine("pytorch"), qwen), Need)
    on_cpu = replace(model, args=("-ngl", "0"))
    assert not isinstance(recorded_need(on_cpu, Engine("llamacpp"), qwen), Need)


def test_every_calculated_model_of_this_fleet_has_its_record_and_says_enough() -> None:
    found = evaluate(adapter.read(ROOT))
    catalog = found.cluster.catalog
    assert catalog is not None
    wanted = {record_name(name) for name, model in catalog.models.items() if "llamacpp" in model.engines}
    assert set(found.cluster.architectures) == wanted
    assert not {item.code for item in found.diagnostics} & {"vram-understated", "record-ignored"}


def test_the_records_of_this_fleet_have_the_published_numbers_of_parameters() -> None:
    known = load(adapter.read(ROOT)).cluster.architectures
    parameters = {name: round(model.parameters / 1e9, 2) for name, model in known.items()}
    assert parameters == {
        "bge-m3-f16": 0.57,
        "bge-m3-q8_0": 0.57,
        "bge-reranker-v2-m3-f16": 0.57,
        "bge-reranker-v2-m3-q8_0": 0.57,
        "mistral-7b-instruct-v0.3-q4_k_m": 7.25,
        "phi-4-q4_k_m": 14.66,
        "qwen3-14b-q4_k_m": 14.77,
        "qwen3-4b-q4_k_m": 4.02,
        "qwen3-embedding-0.6b-q8_0": 0.6,
        "qwen3-embedding-4b-q4_k_m": 4.02,
        "qwen3-embedding-8b-q4_k_m": 7.57,
    }
