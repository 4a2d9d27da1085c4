"""The rows of a plan: which ones there are, their order, and why the others are not there."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knaster.cluster.architecture import Architecture
from knaster.fit.fits import Device, fits
from knaster.model_plan.advice import Question, changes
from knaster.model_plan.attempts import Ask
from knaster.model_plan.candidates import Model, Outcome, plan
from knaster.model_plan.engines import DEFAULT, PRECISIONS
from knaster.model_plan.pools import Hardware
from knaster.units import GIB, MIB
from tests.builders import model as catalog_model
from tests.builders import node, role, roles
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

QWEN, LLAMA, BGE = model(QWEN3_14B), model(LLAMA_70B), model(BGE_M3)
WINDOWS = node("pc", ada(), os="windows", platform="workstation", cpu_roles=False)


def run(one: Architecture, have: Hardware, *precisions: str, context: int = 8192) -> Outcome:
    """The plan for a context of 8k tokens in the default precisions."""
    return plan(Model(one), have, ENGINES, precisions or DEFAULT, Ask(context))


def told(found: Outcome) -> list[tuple[str, str, str]]:
    """Where, precision and engine of each row without cards to spare."""
    return [(row.where, row.fit.tried.precision, row.fit.tried.planning.kind) for row in found.rows if not row.spare]


def why(found: Outcome, where: str, precision: str, engine: str) -> str:
    """The reason for one absent combination."""
    (reason,) = {
        one.reason for one in found.absent if (one.where, one.precision, one.engine) == (where, precision, engine)
    }
    return reason


def test_fewest_cards_then_the_smallest_then_the_highest_precision_then_the_cpu() -> None:
    found = run(QWEN, fleet(node("big", h100(), memory_gb=64), four()))
    assert told(found) == [
        ("1 x rtx4000ada-20g", "q8_0", "llamacpp"),
        ("1 x rtx4000ada-20g", "q4_k_m", "llamacpp"),
        ("1 x h100-80g", "bf16", "vllm"),
        ("1 x h100-80g", "fp8", "vllm"),
        ("1 x h100-80g", "q8_0", "llamacpp"),
        ("1 x h100-80g", "q4_k_m", "llamacpp"),
        ("2 x rtx4000ada-20g", "bf16", "vllm"),
        ("2 x rtx4000ada-20g", "fp8", "vllm"),
        ("CPU", "q8_0", "llamacpp"),
        ("CPU", "q4_k_m", "llamacpp"),
    ]


@pytest.mark.parametrize(
    ("scaling", "longest"),
    [
        (None, 32768),
        ({"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}, 131072),
        ({"rope_type": "linear", "factor": 2}, 65536),
        ({"rope_type": "llama3", "factor": 8.0}, 32768),
        ({"rope_type": "yarn", "factor": float("nan")}, 32768),
        ({"rope_type": "yarn", "factor": 10**9}, 32768),
    ],
)
def test_vllm_refuses_more_tokens_than_its_config_has(scaling: object, longest: int) -> None:
    """Qwen2.5 says 32,768 tokens, and how its model card makes 131,072 of them (``_get_and_verify_max_len``)."""
    config = {**TRUTH["Qwen/Qwen2.5-72B-Instruct"].config, "rope_scaling": scaling, "num_hidden_layers": 8}
    one, have = model(config), fleet(node("big", *cards(2, h100), memory_gb=64))
    assert one.context == longest
    assert run(one, have, "bf16", context=longest).rows
    refused = run(one, have, "bf16", context=longest + 1)
    told = f"vLLM refuses more than the {longest:,} tokens of its config, unless that scales RoPE"
    assert (refused.rows, why(refused, "1 x h100-80g", "bf16", "vLLM")) == ((), told)


def test_one_node_goes_before_two_of_a_fabric_with_as_many_cards() -> None:
    twins = (node(name, *cards(2, ada), memory_gb=64, fabric="ib0") for name in ("t1", "t2"))
    found = run(model(TRUTH["Qwen/Qwen3-8B"].config), fleet(*twins), "bf16", context=32768)
    assert [row.where for row in found.rows[:2]] == ["2 x rtx4000ada-20g", "2 nodes x 1 x rtx4000ada-20g"]
    assert [row.spare for row in found.rows[:2]] == [False, True]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 3), st.sampled_from(["ib0", "ib1", None])), min_size=1, max_size=4))
def test_the_first_row_is_never_one_with_cards_to_spare(nodes: list[tuple[int, str | None]]) -> None:
    """Its entry is the one that is shown, and the table shows no rows with cards to spare."""
    have = fleet(*(node(f"n{at}", *cards(count, ada), fabric=fabric) for at, (count, fabric) in enumerate(nodes)))
    for context in (8192, 32768):
        found = run(model(TRUTH["Qwen/Qwen3-8B"].config), have, context=context)
        assert not found.rows or not found.rows[0].spare


def test_rows_with_cards_to_spare_are_there_and_say_so() -> None:
    spare = {(row.where, row.fit.tried.precision) for row in run(QWEN, fleet(four())).rows if row.spare}
    assert ("3 x rtx4000ada-20g", "q4_k_m") in spare
    assert ("4 x rtx4000ada-20g", "fp8") in spare


def test_tensor_parallelism_divides_heads() -> None:
    found = run(LLAMA, fleet(four()), "fp8")
    refused = "64 attention heads cannot be divided by 3 cards (vLLM refuses)"
    assert why(found, "3 x rtx4000ada-20g", "fp8", "vLLM") == refused


def test_llama_cpp_spans_unlike_cards_with_one_build() -> None:
    found = run(QWEN, fleet(node("mix", p2000(0), m4000(1), memory_gb=8)), "q4_k_m")
    (row,) = found.rows
    assert (row.where, row.fit.split, row.build) == ("1 x p2000-5g + 1 x m4000-8g", "layer", "CUDA 12")
    # both cards hold their part: 4.5 and 7.5 GiB are there
    assert all(need <= have for need, have in zip(row.fit.demand, row.fit.offer, strict=True))
    # 9.0 GB less the embedding of 0.44 GB that stays in RAM, and 163,840 bytes x 8192 of cache
    assert sum(row.fit.demand) > 8.5 * 10**9 + 163_840 * 8192


def test_no_card_joins_a_split_that_works_without_it() -> None:
    found = run(QWEN, fleet(node("mix", p2000(0), m4000(1), ada(2))), "q4_k_m")
    assert [row.where for row in found.rows] == ["1 x rtx4000ada-20g", "1 x p2000-5g + 1 x m4000-8g", "CPU"]


def test_vllm_wants_like_cards() -> None:
    found = run(QWEN, fleet(node("mix", ada(0), h100(1))), "bf16", context=40960)
    reason = "a tensor-parallel group needs like cards"
    assert why(found, "1 x rtx4000ada-20g + 1 x h100-80g", "bf16", "vLLM") == reason


def test_a_fabric_makes_one_pool_of_its_nodes() -> None:
    nodes = [node(f"a{at}", *cards(8, h100), fabric="ib0", memory_gb=64) for at in (1, 2)]
    big = model(
        {
            **LLAMA_70B,
            "num_hidden_layers": 126,
            "hidden_size": 16384,
            "num_attention_heads": 128,
            "intermediate_size": 53248,
        }
    )  # Llama 3.1 405B: 812 GB in bf16
    (row,) = run(big, fleet(*nodes), "bf16").rows
    assert (row.where, row.fit.cards, row.fit.need.weights > 811 * 10**9) == ("2 nodes x 8 x h100-80g", 16, True)
    apart = run(big, fleet(nodes[0], replace(nodes[1], fabric="ib1")), "bf16")
    assert apart.rows == ()
    assert "two fabrics" in why(apart, "h100-80g across nodes", "bf16", "vLLM")


def test_a_row_without_a_card_counts_ram() -> None:
    found = run(QWEN, fleet(node("a", memory_gb=64), node("b", memory_gb=15)), "q4_k_m")
    (row,) = found.rows
    assert [room.node for room in row.rooms] == ["a"]
    assert row.fit.demand[0] == pytest.approx(row.fit.need.ram_bytes + 2 * GIB, abs=GIB // 100)


def test_an_embedder_runs_on_the_smallest_card() -> None:
    found = run(BGE, fleet(node("pve", p2000()), WINDOWS), "f16")
    # CSV and maker: 568M parameters; facts: under 1 GiB at f16 with short texts
    assert told(found)[0] == ("1 x p2000-5g", "f16", "llamacpp")


def test_nothing_runs_vllm_on_windows_or_pascal() -> None:
    found = run(QWEN, fleet(WINDOWS, node("pve", p2000())), *PRECISIONS)
    assert {row.fit.tried.planning.kind for row in found.rows if row.fit.shape} == {"llamacpp"}


def test_a_quantised_repository_is_planned_as_it_is_stored() -> None:
    oss = model(TRUTH["openai/gpt-oss-20b"].config)
    found = run(oss, fleet(WINDOWS), *DEFAULT, "mxfp4")
    assert told(found)[0] == ("1 x rtx4000ada-20g", "mxfp4", "llamacpp")


def test_every_combination_has_a_row_or_a_reason() -> None:
    have = fleet(node("mix", p2000(0), m4000(1), ada(2)), WINDOWS, node("pve", p2000()))
    found = run(QWEN, have, *PRECISIONS)
    for precision in PRECISIONS:
        for title, kind in (("vLLM", "vllm"), ("llama.cpp", "llamacpp")):
            rows = [row for row in found.rows if row.fit.tried.precision == precision]
            mine = [row for row in rows if row.fit.tried.planning.kind == kind]
            absent = [one for one in found.absent if (one.precision, one.engine) == (precision, title)]
            anywhere = any(one.where == "anywhere" for one in absent)
            assert anywhere or {"CPU"} <= {*(row.where for row in mine), *(one.where for one in absent)}
            for name in ("p2000-5g", "m4000-8g", "rtx4000ada-20g"):
                single = {f"1 x {name}", name}
                seen = {*(row.where for row in mine), *(one.where for one in absent)}
                assert anywhere or single & seen, (precision, kind, name)
    assert all(one.reason for one in found.absent)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.sampled_from([p2000, m4000, ada, h100]), min_size=1, max_size=4),
    st.integers(256, 200_000),
    st.sampled_from([QWEN, LLAMA, BGE]),
)
def test_whatever_is_recommended_fits_where_it_is_recommended(
    makes: list[object], context: int, one: Architecture
) -> None:
    have = fleet(node("n", *(make(index) for index, make in enumerate(makes))))  # type: ignore[operator]
    found = run(one, have, "q8_0", "q4_k_m", "bf16", context=context)
    for row in found.rows:
        assert row.fit.headroom >= 0
        if row.fit.shape is None:
            continue
        for card, need in zip(row.spreads[0].cards, row.fit.demand, strict=True):
            entry = catalog_model(vram_gb=need / GIB, engines=("llamacpp", "vllm"))
            there = Device("linux", gpu=True, free_mib=card.kind.free // MIB, compute_cap=card.kind.compute_cap)
            assert fits(entry, there, row.fit.tried.planning.engine)
    assert [row.fit.shape is None for row in found.rows] == sorted(row.fit.shape is None for row in found.rows)
    assert all(a.fit.cards <= b.fit.cards for a, b in pairwise(row for row in found.rows if row.fit.shape))


@settings(max_examples=20, deadline=None)
@given(st.integers(256, 100_000), st.integers(256, 100_000))
def test_what_fits_at_one_length_fits_at_every_shorter_one(one: int, other: int) -> None:
    short, long = sorted((one, other))
    have = fleet(node("n", p2000(0), m4000(1)), WINDOWS)
    longer = {(row.where, row.fit.tried.precision) for row in run(QWEN, have, context=long).rows}
    shorter = {(row.where, row.fit.tried.precision) for row in run(QWEN, have, context=short).rows}
    single = {row for row in longer if "+" not in row[0]}  # a mix goes when a single card does
    assert single <= shorter


def ask(one: Architecture, have: Hardware, *precisions: str, context: int = 8192) -> Question:
    """A question that advice is sought for."""
    return Question(Model(one), have, ENGINES, precisions or DEFAULT, Ask(context))


def test_advice_names_the_longest_context_that_fits_and_no_longer_one() -> None:
    asked = ask(QWEN, fleet(WINDOWS), "q8_0", context=40960)
    (context,) = [one for one in changes(asked) if one.kind == "context"]
    longest = int(context.options.removeprefix("--context "))
    assert asked.rows(ask=Ask(longest))
    assert not asked.rows(ask=Ask(longest + 256))


def test_advice_names_the_most_sequences_that_fit_and_no_more() -> None:
    asked = Question(Model(QWEN), fleet(WINDOWS), ENGINES, ("q4_k_m",), Ask(16384, parallel=9))
    (parallel,) = [one for one in changes(asked) if one.kind == "parallel"]
    most = int(parallel.options.removeprefix("--parallel "))
    # 19.5 GiB less 7.98 of weights and buffers, and 2.5 GiB for each sequence
    assert most in (3, 4)
    assert asked.rows(ask=Ask(16384, parallel=most))
    assert not asked.rows(ask=Ask(16384, parallel=most + 1))


def test_advice_names_the_heaviest_precision_only_when_lighter_ones_fail() -> None:
    (precision,) = [one for one in changes(ask(QWEN, fleet(WINDOWS), "q8_0", context=40960)) if one.kind == "precision"]
    assert precision.options == "--precision q6_k"


def test_advice_names_the_cards_that_are_taken() -> None:
    taken = fleet(WINDOWS, roles=roles(role("chat", engine="llamacpp", min_vram_gb=10)))
    asked = ask(QWEN, taken.free_only(), "q4_k_m")
    (held,) = [one for one in changes(asked, taken) if one.kind == "held"]
    assert held.row.spreads[0].cards[0].holders == ("chat",)


def test_advice_counts_the_cards_that_would_do() -> None:
    (more,) = [one for one in changes(ask(LLAMA, fleet(WINDOWS), "q4_k_m")) if one.kind == "cards"]
    # 42.5 GB of weights and 2.5 GiB of cache do not go on two cards of 18 GiB, but on three
    assert more.row.where == "3 x rtx4000ada-20g"


def test_nothing_is_promised_that_was_not_tried() -> None:
    huge = model(TRUTH["moonshotai/Kimi-K2-Instruct"].config)
    assert [one.kind for one in changes(ask(huge, fleet(node("n", p2000()))))] == []
