"""The catalog entry for a row: its name, its file, the arguments of its engine; and how it goes into models.yaml."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from knaster import schema
from knaster.cluster import Engine
from knaster.cluster.architecture import Architecture
from knaster.document import parse
from knaster.model_plan.attempts import Ask
from knaster.model_plan.candidates import Model, Row, plan
from knaster.model_plan.catalog_edit import added, lines
from knaster.model_plan.engines import Planning
from knaster.model_plan.entry import Entry, Source, entry, entry_name, timeout, to_be_made, weights_file
from knaster.model_plan.pools import Hardware
from knaster.model_plan.purpose import Purpose, purpose
from knaster.weights import GgufFile, Published
from tests.builders import node
from tests.model_fleets import (
    BGE_M3,
    ENGINES,
    LLAMA_70B,
    QWEN3_14B,
    ada,
    cards,
    fleet,
    four,
    h100,
    m4000,
    model,
    p2000,
)
from tests.model_truth import TRUTH

ROOT = Path(__file__).parent.parent
HUB = Source(Published("Qwen/Qwen3-14B", "0" * 40, QWEN3_14B))
LLM = Purpose("llm")


def first(one: Architecture, have: Hardware, *precisions: str, ask: Ask | None = None) -> Row:
    """The best row."""
    return plan(Model(one), have, ENGINES, precisions, ask or Ask(8192)).rows[0]


def made(row: Row, source: Source = HUB, serves: Purpose = LLM) -> Entry:
    """Its entry."""
    return entry(row, source, serves)


def args(found: Entry) -> str:
    """The arguments as a line."""
    values = found.data["args"]
    assert isinstance(values, list)
    return " ".join(str(value) for value in values)


QWEN = model(QWEN3_14B)
WINDOWS = fleet(node("pc", ada(), os="windows"))


def test_a_file_for_llama_cpp_is_a_path_and_how_to_make_it_never_the_repository() -> None:
    found = made(first(QWEN, WINDOWS, "q4_k_m"))
    assert (found.name, found.data["source"]) == ("qwen3-14b-q4_k_m", "/models/Qwen3-14B-q4_k_m.gguf")
    assert args(found) == ("--model /models/Qwen3-14B-q4_k_m.gguf --ctx-size 8192 --parallel 1 --n-gpu-layers 999")
    assert "  llama-quantize Qwen3-14B-f16.gguf /models/Qwen3-14B-q4_k_m.gguf q4_k_m" in found.comments
    assert "Qwen/Qwen3-14B" not in args(found)


def test_a_published_file_is_downloaded_by_its_name_and_sum() -> None:
    file = GgufFile("Qwen3-14B-Q4_K_M.gguf", 9_001_752_960, "ab" * 32)
    source = Source(Published("Qwen/Qwen3-14B-GGUF", gguf=(file, GgufFile("Qwen3-14B-Q8_0.gguf", 1))))
    found = weights_file(source, "q4_k_m")
    assert found.path == "/models/Qwen3-14B-Q4_K_M.gguf"
    assert found.hint == (
        "File: hf download Qwen/Qwen3-14B-GGUF Qwen3-14B-Q4_K_M.gguf --local-dir /models",
        f"sha256 {'ab' * 32}",
    )


def test_a_command_is_safe_to_type_whatever_a_file_calls_itself() -> None:
    files = (GgufFile("$(reboot); x-Q8_0.gguf", 1), GgufFile("y-Q4_K_M.gguf", 1))
    found = weights_file(Source(Published("o/m", gguf=files)), "q8_0")
    assert found.hint == ("File: hf download o/m '$(reboot); x-Q8_0.gguf' --local-dir /models",)
    folder = weights_file(Source(Published("/home/me/my models", config=QWEN3_14B), local=True), "f16")
    assert folder.hint[-1] == (
        "  convert_hf_to_gguf.py '/home/me/my models' --outtype f16 --outfile /models/my-models-f16.gguf"
    )


@pytest.mark.parametrize(
    ("serves", "whole"),
    [
        (Purpose("reranker"), True),
        (Purpose("embedding", "mean"), True),
        (Purpose("embedding", "last"), False),
        (Purpose("llm"), False),
    ],
)
def test_a_decoder_that_pools_all_tokens_takes_a_text_in_one_batch(serves: Purpose, whole: bool) -> None:
    """``server_slot::can_split``: else "input is too large to process. increase the physical batch size"."""
    small = model(TRUTH["Qwen/Qwen3-0.6B"].config)
    assert serves.whole is whole
    row = first(small, fleet(node("n", ada())), "q8_0", ask=Ask(2048, whole=serves.whole))
    assert ("--batch-size 2048 --ubatch-size 2048" in args(made(row, serves=serves))) is whole
    # the logits of the whole batch, F32: 2048 x (151,936 + 1024) x 4 bytes, against 512 of them
    assert row.fit.need.compute == (2048 if whole else 512) * (151936 + 1024) * 4


def test_vllm_is_told_what_a_reranker_without_a_head_is() -> None:
    """examples/offline_inference/qwen3_reranker.py of vLLM; a converted one (``-seq-cls``) has a head."""
    small, have = model(TRUTH["Qwen/Qwen3-0.6B"].config), fleet(node("n", ada()))
    row = first(small, have, "bf16")
    values = made(row, serves=Purpose("reranker")).data["args"]
    assert isinstance(values, list)
    told = values[values.index("--hf-overrides") + 1]
    assert yaml.safe_load(str(told)) == {
        "architectures": ["Qwen3ForSequenceClassification"],
        "classifier_from_token": ["no", "yes"],
        "is_original_qwen3_reranker": True,
    }
    assert "--hf-overrides" not in args(made(row, serves=Purpose("reranker", head=True)))
    config = {**TRUTH["Qwen/Qwen3-0.6B"].config, "architectures": ["Qwen3ForSequenceClassification"]}
    assert purpose(Published("o/Qwen3-Reranker-0.6B-seq-cls", config=config), small) == Purpose("reranker", head=True)
    assert purpose(Published("Qwen/Qwen3-Reranker-0.6B", config={}), small) == Purpose("reranker")


@pytest.mark.parametrize(("parallel", "expected"), [(1, "--max-num-seqs 1 "), (4, "--max-num-seqs 4 ")])
def test_recurrent_states_bound_the_sequences_of_vllm(parallel: int, expected: str) -> None:
    """The default of 256 is refused where there is room for fewer states (vllm#49064, kaito#2319)."""
    hybrid = model(TRUTH["Qwen/Qwen3.5-9B"].config)
    row = first(hybrid, fleet(node("big", h100(), memory_gb=64)), "bf16", ask=Ask(8192, parallel))
    assert expected in args(made(row))
    assert "--max-num-seqs" not in args(made(first(QWEN, fleet(four()), "fp8", ask=Ask(8192, 2))))


def test_all_parts_of_a_split_file_are_downloaded_and_the_first_is_named() -> None:
    parts = ("q8_0/m-Q8_0-00001-of-00002.gguf", "q8_0/m-Q8_0-00002-of-00002.gguf")
    found = weights_file(Source(Published("o/m", gguf=(GgufFile(parts[0], 1, parts=parts), GgufFile("x", 1)))), "q8_0")
    assert found.path == f"/models/{parts[0]}"
    assert found.hint == (f"File: hf download o/m {' '.join(parts)} --local-dir /models",)


def test_a_file_on_this_disk_is_named_as_it_was() -> None:
    file = GgufFile("m-Q4_K_M.gguf", 1)
    assert weights_file(Source(Published("/data/m-Q4_K_M.gguf", gguf=(file,)), local=True), "q4_k_m").path == (
        "/data/m-Q4_K_M.gguf"
    )
    folder = Published("/data/m/", config=QWEN3_14B, gguf=(file,))
    assert weights_file(Source(folder, local=True), "q4_k_m").path == "/data/m/m-Q4_K_M.gguf"


def test_what_has_no_file_yet_is_said() -> None:
    rows = plan(Model(QWEN), WINDOWS, ENGINES, ("q6_k", "q4_k_m"), Ask(8192)).rows
    (told,) = to_be_made(HUB.published, rows)
    assert told.startswith("q6_k, q4_k_m: no GGUF file is published here")
    listed = replace(HUB.published, gguf=(GgufFile("a-Q6_K.gguf", 1), GgufFile("a-Q4_K_M.gguf", 1)))
    assert to_be_made(listed, rows) == ()


def test_vllm_makes_fp8_with_the_value_that_it_accepts() -> None:
    found = made(first(QWEN, fleet(node("n", h100())), "fp8"))
    # README of quantization, vLLM 0.33: "fp8" alone is deprecated
    assert args(found) == "--max-model-len 8192 --quantization fp8_per_tensor --gpu-memory-utilization 0.92"
    assert (found.data["source"], found.data["engines"], found.data["min_cc"]) == ("Qwen/Qwen3-14B", ["vllm"], 7.5)


def test_towers_that_the_plan_does_not_count_are_not_loaded() -> None:
    one = model(
        {"model_type": "qwen3_vl", "text_config": {**QWEN3_14B, "model_type": "qwen3_vl_text"}, "vision_config": {}}
    )
    assert "--language-model-only" in args(made(first(one, fleet(node("n", h100())), "fp8")))


def test_what_is_stored_in_fp8_or_awq_declares_itself() -> None:
    have = fleet(node("n", h100()))
    for stored in ("fp8", "awq"):
        one = model({**QWEN3_14B, "quantization_config": {"quant_method": stored, "bits": 4, "group_size": 128}})
        assert one.stored == stored
        found = made(first(one, have, stored))
        assert "--quantization" not in args(found)


def test_plain_precisions_name_their_dtype() -> None:
    have = fleet(node("n", h100()))
    assert "--dtype bfloat16" in args(made(first(QWEN, have, "bf16")))
    rows = plan(Model(QWEN), have, ENGINES, ("f16",), Ask(8192)).rows
    assert [row.fit.tried.planning.kind for row in rows if row.fit.shape] == ["vllm", "llamacpp"]
    assert "--dtype half" in args(made(rows[0]))


def test_a_group_names_its_cards_and_nodes() -> None:
    (four_of_four,) = [
        row for row in plan(Model(QWEN), fleet(four()), ENGINES, ("bf16",), Ask(8192)).rows if row.fit.cards == 4
    ]
    found = made(four_of_four)
    assert found.data["tensor_parallel"] == 4
    assert "nodes" not in found.data
    assert "--tensor-parallel-size 4 " in args(found)
    big = model(
        {
            **LLAMA_70B,
            "num_hidden_layers": 126,
            "hidden_size": 16384,
            "num_attention_heads": 128,
            "intermediate_size": 53248,
        }
    )
    nodes = [node(f"a{at}", *cards(8, h100), fabric="ib0", memory_gb=64) for at in (1, 2)]
    spanning = made(first(big, fleet(*nodes), "bf16"))
    assert (spanning.data["tensor_parallel"], spanning.data["nodes"]) == (16, 2)
    assert "--tensor-parallel-size 16 --nnodes 2" in args(spanning)
    assert "2 nodes of fabric ib0, 8 cards in each;" in spanning.comments


def test_a_split_over_unlike_cards_names_their_parts_and_the_build() -> None:
    row = first(QWEN, fleet(node("mix", p2000(0), m4000(1), memory_gb=8)), "q4_k_m")
    found = made(row)
    parts = ",".join(f"{float(share):g}" for share in row.fit.shares)
    assert f"--split-mode layer --tensor-split {parts}" in args(found)
    assert any("CUDA_DEVICE_ORDER=PCI_BUS_ID" in line for line in found.comments)
    assert any("CUDA 12 (cuda-12.8, or the image server-cuda)" in line for line in found.comments)


def test_on_windows_the_build_is_the_zip_for_windows() -> None:
    row = first(model(BGE_M3), fleet(node("pc", p2000(), os="windows")), "q8_0")
    assert any("CUDA 12 (cuda-12.4)" in line for line in made(row).comments)


def test_an_embedder_takes_the_whole_text_in_one_batch() -> None:
    row = first(model(BGE_M3), fleet(node("n", p2000())), "f16", ask=Ask(2048))
    found = made(row, Source(Published("BAAI/bge-m3", config=BGE_M3)), Purpose("embedding", "cls"))
    assert args(found).endswith("--embeddings --pooling cls --batch-size 2048 --ubatch-size 2048")
    again = made(row, HUB, Purpose("reranker"))
    assert args(again).endswith("--reranking --batch-size 2048 --ubatch-size 2048")
    assert again.data["kind"] == "reranker"


def test_several_sequences_share_one_cache_of_their_sum() -> None:
    row = first(QWEN, WINDOWS, "q4_k_m", ask=Ask(8192, parallel=3, kv_precision="q8_0"))
    assert args(made(row)).endswith(
        "--ctx-size 24576 --parallel 3 --kv-unified --n-gpu-layers 999 "
        "--flash-attn on --cache-type-k q8_0 --cache-type-v q8_0"
    )


def test_without_a_card_the_ram_is_need_and_two() -> None:
    row = first(QWEN, fleet(node("n", memory_gb=64)), "q4_k_m")
    found = made(row)
    vram, ram = found.data["vram_gb"], found.data["min_memory_gb"]
    assert isinstance(vram, float)
    assert isinstance(ram, float)
    assert round(ram - vram, 2) == 2
    assert "--n-gpu-layers 0" in args(found)


@pytest.mark.parametrize(
    ("kind", "weights", "seconds"),
    # 60 + 90 and 300 + 160 seconds, in whole minutes
    [("llamacpp", 9_000_000_000, 180), ("vllm", 16_000_000_000, 480)],
)
def test_a_start_may_take_its_reading_and_its_setting_up(kind: str, weights: int, seconds: int) -> None:
    row = first(QWEN, fleet(node("n", h100())), "q4_k_m" if kind == "llamacpp" else "bf16")
    fit = replace(row.fit, need=replace(row.fit.need, weights=weights))
    assert timeout(fit) == seconds


@pytest.mark.parametrize(
    ("name", "precision", "expected"),
    [
        ("Qwen/Qwen3-14B", "q4_k_m", "qwen3-14b-q4_k_m"),
        ("Qwen/Qwen3-14B-GGUF", "q4_k_m", "qwen3-14b-q4_k_m"),
        ("/data/Qwen3-14B-Q4_K_M.gguf", "q4_k_m", "qwen3-14b-q4_k_m"),
        ("Qwen/Qwen3-8B-AWQ", "awq", "qwen3-8b-awq"),
        ("o/Ünï: {x}", "fp8", "n-x-fp8"),
        ("/", "fp8", "model-fp8"),
    ],
)
def test_the_name_says_model_and_precision(name: str, precision: str, expected: str) -> None:
    assert entry_name(name, precision) == expected


@settings(deadline=None)
@given(st.text(max_size=200), st.sampled_from(["bf16", "q4_k_m"]))
def test_any_name_becomes_one_that_the_catalog_takes(name: str, precision: str) -> None:
    row = first(QWEN, fleet(node("n", h100())), precision)
    found = entry(row, Source(Published(name or "x", config=QWEN3_14B)), LLM)
    text = "engines:\n  llamacpp: {}\n  vllm: {}\nmodels: {}\n"
    new = added(text, found)
    assert new is not None
    document, problems = parse("catalog/models.yaml", new)
    assert not problems
    assert document is not None
    source = found.data["source"]
    if isinstance(source, str) and len(source) <= 300:
        assert schema.check("models", "catalog/models.yaml", document.data) == ()


@pytest.mark.parametrize(
    ("published", "expected"),
    [
        (Published("BAAI/bge-m3", config=BGE_M3), Purpose("embedding", "cls")),
        (Published("intfloat/multilingual-e5-large", config=BGE_M3), Purpose("embedding", "mean")),
        (Published("someone/encoder", config=BGE_M3), Purpose("embedding", None)),
        (
            Published("someone/x", config={**BGE_M3, "architectures": ["XLMRobertaForSequenceClassification"]}),
            Purpose("reranker", head=True),
        ),
        (Published("BAAI/bge-reranker-v2-m3", config=BGE_M3), Purpose("reranker")),
        (Published("Qwen/Qwen3-Embedding-0.6B", config=QWEN3_14B), Purpose("embedding", "last")),
        (Published("Qwen/Qwen3-Reranker-4B", config=QWEN3_14B), Purpose("reranker")),
        (Published("Qwen/Qwen3-14B", config=QWEN3_14B), Purpose("llm")),
        (
            Published(
                "x.gguf", gguf=(GgufFile("x", 1, metadata={"general.architecture": "bert", "bert.pooling_type": 2}),)
            ),
            Purpose("embedding", "cls"),
        ),
        (
            Published(
                "x.gguf", gguf=(GgufFile("x", 1, metadata={"general.architecture": "bert", "bert.pooling_type": 4}),)
            ),
            Purpose("reranker"),
        ),
    ],
)
def test_what_a_model_is_for(published: Published, expected: Purpose) -> None:
    assert purpose(published, model(published.config or QWEN3_14B)) == expected


ENTRY = Entry(
    "new-q4_k_m", {"kind": "llm", "vram_gb": 10.78, "engines": ["llamacpp"], "args": ["--x", "1"]}, ("a", "  b")
)


def test_the_entry_goes_behind_the_last_model_and_nothing_else_changes() -> None:
    text = (ROOT / "catalog/models.yaml").read_text("utf-8")
    new = added(text, ENTRY)
    assert new == text.rstrip("\n") + "\n\n" + (
        "  new-q4_k_m:\n"
        "    # a\n"
        "    #   b\n"
        "    kind: llm\n"
        "    vram_gb: 10.78\n"
        "    engines: [llamacpp]\n"
        '    args: ["--x", "1"]\n'
    )


def test_an_empty_list_of_models_takes_the_first() -> None:
    new = added("models: {}  # none yet\nengines: {}\n", ENTRY)
    assert new is not None
    assert new.startswith("models: # none yet\n  new-q4_k_m:\n    # a\n")
    assert new.endswith("\nengines: {}\n")


def test_comments_below_the_last_model_stay_with_it() -> None:
    text = "models:\n  a: {kind: llm}\n  # about a\n\n# about engines\nengines: {}\n"
    assert str(added(text, ENTRY)).startswith("models:\n  a: {kind: llm}\n  # about a\n\n  new-q4_k_m:\n")


@pytest.mark.parametrize("newline", ["\r\n", "\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["", "\n"])
def test_line_ends_and_marks_stay(newline: str, mark: str, end: str) -> None:
    text = mark + newline.join(["engines: {}", "models:", "    a:", "        kind: llm"]) + end.replace("\n", newline)
    new = added(text, ENTRY)
    assert new is not None
    assert new.startswith(text.removesuffix(newline))
    assert (newline + "    new-q4_k_m:" + newline) in new
    assert new.count("\n") == new.count(newline)


@pytest.mark.parametrize("text", ["models: {a: {kind: llm}}\n", "engines: {}\n", "models: [\n", "models: null\n", ""])
def test_a_layout_that_cannot_be_added_to_is_left_alone(text: str) -> None:
    assert added(text, ENTRY) is None


def test_a_model_of_that_name_is_never_doubled() -> None:
    assert added("models:\n  new-q4_k_m: {kind: llm}\n", ENTRY) is None


names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._:+-]{0,20}", fullmatch=True)
texts = st.text(max_size=30)


@settings(deadline=None)
@given(names, st.lists(texts, max_size=12), texts, st.lists(st.text(alphabet="abc #:{}[]", max_size=20), max_size=3))
def test_every_value_reads_back_in_every_reader(name: str, some: list[str], source: str, comments: list[str]) -> None:
    values = [one for one in some if one.encode("utf-8", "replace").decode() == one]
    plain = source if source.encode("utf-8", "replace").decode() == source else ""
    one = Entry(name, {"source": plain, "args": list(values), "context": 4096}, tuple(comments))
    new = added("models: {}\n", one)
    assert new is not None
    document, problems = parse("", new)
    assert not problems
    assert document is not None
    assert document.data == {"models": {name: one.data}}
    assert yaml.safe_load(new) == document.data


def test_long_lists_are_wrapped() -> None:
    one = Entry("n", {"args": [f"--argument-{at}" for at in range(12)]}, ())
    assert max(map(len, lines(one))) <= 120
    assert [line.count("--argument") for line in lines(one)] == [0, 6, 6]


def test_the_engine_has_the_name_of_the_catalog() -> None:
    other = {"llamacpp": Planning("llamacpp", Engine("llama.cpp", os=("windows",), gpu="optional"))}
    row = plan(Model(QWEN), WINDOWS, other, ("q4_k_m",), Ask(8192)).rows[0]  # type: ignore[arg-type]
    assert made(row).data["engines"] == ["llama.cpp"]
