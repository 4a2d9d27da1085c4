"""Public reports of wrong recommendations, as questions to `model plan`. The number is the row of the collection.

What is a matter of bytes alone is in `test_fit_reports`; here it is cards, engines, systems, and what is said.
"""

from __future__ import annotations

from collections.abc import Callable

from knaster.cluster import Gpu
from knaster.cluster.architecture import Architecture
from knaster.model_plan.advice import Question, changes
from knaster.model_plan.attempts import Ask
from knaster.model_plan.candidates import Model, Outcome, plan
from knaster.model_plan.engines import DEFAULT
from knaster.model_plan.pools import Hardware
from knaster.units import GIB
from tests.builders import gpu, node, platform
from tests.model_fleets import BGE_M3, ENGINES, LLAMA_70B, cards, fleet, model, p2000
from tests.model_truth import TRUTH


def card(gib: int, cc: float, name: str, mib: int | None = None) -> Callable[..., Gpu]:
    """What makes cards of a kind, by index."""
    return lambda index=0: gpu(index, gib, cc, name=name, memory_mib=mib)


RTX_3090 = card(24, 8.6, "NVIDIA GeForce RTX 3090", 24576)
H100 = card(80, 9.0, "NVIDIA H100 80GB HBM3", 81559)


def run(one: Architecture, have: Hardware, *precisions: str, context: int = 8192, kv: str = "auto") -> Outcome:
    """The plan for one model."""
    return plan(Model(one), have, ENGINES, precisions or DEFAULT, Ask(context, 1, kv))


def where(found: Outcome, precision: str) -> str:
    """The best place of a precision."""
    return next((row.where for row in found.rows if row.fit.tried.precision == precision), "")


def test_1_an_open_120b_takes_one_h100_not_two() -> None:
    oss = model(TRUTH["openai/gpt-oss-120b"].config)
    found = run(oss, fleet(node("n", *cards(2, H100))), "mxfp4")
    assert where(found, "mxfp4") == "1 x h100-80g"
    # 65,248,815,744 bytes are published, and loading adds two percent
    assert 60.7 < found.rows[0].fit.need.weights / GIB < 62.1


def test_5_a_reranker_of_568m_goes_on_a_p2000() -> None:
    found = run(model(BGE_M3), fleet(node("n", p2000())), "f16")
    assert where(found, "f16") == "1 x p2000-5g"
    assert found.rows[0].fit.headroom > 3 * GIB


def test_10_no_card_gets_more_than_it_holds() -> None:
    # DeepSeek-R1 in 1.58 bit is 190 GB; what is computed here is larger, and seven cards of 23,540 MiB have 161 GiB
    r1 = model(TRUTH["deepseek-ai/DeepSeek-R1"].config)
    seven = fleet(node("n", *cards(7, card(24, 8.9, "NVIDIA L4", 23540)), memory_gb=64))
    assert run(r1, seven, "q2_k").rows == ()
    dense = run(model(LLAMA_70B), seven, "q8_0")
    for row in dense.rows:
        assert all(need <= have for need, have in zip(row.fit.demand, row.fit.offer, strict=True))


def test_13_a_trained_context_that_does_not_fit_is_no_refusal_of_the_model() -> None:
    qwen = model(TRUTH["Qwen/Qwen3.5-9B"].config)
    have = fleet(node("n", card(8, 8.6, "NVIDIA GeForce RTX 3070", 8192)(0), memory_gb=8))
    assert run(qwen, have, "q4_k_m", context=262144).rows == ()
    asked = Question(Model(qwen), have, ENGINES, ("q4_k_m",), Ask(262144))
    (context,) = [one for one in changes(asked) if one.kind == "context"]
    assert int(context.options.removeprefix("--context ")) >= 8192
    # 8 layers x 4096 bytes x 8192 tokens are 0.27 GB
    (row,) = [row for row in run(qwen, have, "q4_k_m", context=8192).rows if row.fit.shape]
    assert row.fit.need.cache == 8 * 4096 * 8192


def test_19_the_precision_of_the_cache_decides_what_fits() -> None:
    qwen = model(
        {
            **TRUTH["Qwen/Qwen3-8B"].config,
            "num_hidden_layers": 28,
            "hidden_size": 3584,
            "num_attention_heads": 28,
            "num_key_value_heads": 4,
            "intermediate_size": 18944,
            "vocab_size": 152064,
            "max_position_embeddings": 1010000,
        }
    )
    have = fleet(node("n", card(16, 6.1, "Tesla P40 half", 16384)(0), memory_gb=8))
    assert where(run(qwen, have, "q4_k_m", context=262144), "q4_k_m") == ""
    assert where(run(qwen, have, "q4_k_m", context=262144, kv="q8_0"), "q4_k_m") == "1 x p40half-16g"


def test_25_windows_holds_a_part_of_the_card_back() -> None:
    # 3.2 of 22 GiB held, 18.3 usable: a need of 19 GiB fits under Linux and not there
    reserve = platform(vram_reserve_gb={"linux": 0.5, "windows": 3.2})
    make = card(22, 7.5, "NVIDIA GeForce RTX 2080 Ti", 22528)
    phi = model(TRUTH["microsoft/phi-4"].config)
    linux = fleet(node("n", make(), memory_gb=8), platform=reserve)
    windows = fleet(node("n", make(), os="windows", memory_gb=8), platform=reserve)
    assert windows.cards[0].kind.free < 18.9 * GIB
    assert where(run(phi, linux, "q8_0", context=24576), "q8_0") == "1 x rtx2080ti-22g"
    assert where(run(phi, windows, "q8_0", context=24576), "q8_0") == ""


def test_26_what_does_not_fit_is_never_planned_anyway() -> None:
    have = fleet(node("n", RTX_3090(0), memory_gb=8))
    assert run(model(LLAMA_70B), have).rows == ()
    assert {one.kind for one in changes(Question(Model(model(LLAMA_70B)), have, ENGINES, DEFAULT, Ask(8192)))} == {
        "cards"
    }


def test_34_fp8_of_a_plain_repository_says_what_loading_takes() -> None:
    found = run(model(TRUTH["Qwen/Qwen3-30B-A3B"].config), fleet(node("n", H100(0))), "fp8")
    (row,) = [row for row in found.rows if row.fit.shape]
    assert row.fit.need.load_peak[0] >= row.fit.need.per_card[0]


def test_38_three_cards_hold_it_and_vllm_refuses_three() -> None:
    three = fleet(node("n", *cards(3, RTX_3090), memory_gb=8))
    found = run(model(TRUTH["Qwen/Qwen3-30B-A3B"].config), three, "bf16", "fp8", "q8_0")
    refused = [one.reason for one in found.absent if one.where == "3 x rtx3090-24g" and one.precision == "fp8"]
    assert refused == ["32 attention heads cannot be divided by 3 cards (vLLM refuses)"] * len(refused)
    assert refused
    # llama.cpp splits layers, which three cards can do
    assert any(row.where == "3 x rtx3090-24g" for row in found.rows if row.fit.tried.planning.kind == "llamacpp")


def test_40_a_24_gb_card_is_not_enough_at_the_trained_context() -> None:
    have = fleet(node("n", RTX_3090(0), memory_gb=8))
    qwen = model(TRUTH["Qwen/Qwen3-8B"].config)
    assert where(run(qwen, have, "bf16", context=40960), "bf16") == ""
    assert where(run(qwen, have, "bf16", context=8192), "bf16") == "1 x rtx3090-24g"


def test_41_no_wheel_that_dropped_pascal_is_planned_on_it() -> None:
    found = run(model(BGE_M3), fleet(node("n", p2000())), "bf16", "f16", "fp8")
    assert {row.fit.tried.planning.kind for row in found.rows} == {"llamacpp"}
    assert {row.build for row in found.rows if row.fit.shape} == {"CUDA 12"}
