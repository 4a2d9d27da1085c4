"""Memory: the start-up logs of vLLM and llama.cpp that are published, and the arithmetic of each engine by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knaster.cluster.architecture import Architecture, CannotTell
from knaster.fit.memory.caches import block_tokens
from knaster.fit.memory.llamacpp import owners
from knaster.fit.memory.need import Need, Serving, need
from knaster.fit.memory.quantise import weight_bytes_gguf
from knaster.fit.memory.vllm import in_flight
from tests.model_truth import GEMMA3_27B, LLAMA_8B, NEMOTRON, TRUTH, XLM_ROBERTA, gemma4, qwen3
from tests.test_fit_recognise import architecture

GIB = 2**30
MIB = 2**20
QWEN_14B = qwen3(40, 5120, 40, 17408)
DEEPSEEK_V2_LITE = {
    "model_type": "deepseek_v2",
    "num_hidden_layers": 27,
    "hidden_size": 2048,
    "num_attention_heads": 16,
    "num_key_value_heads": 16,
    "intermediate_size": 10944,
    "moe_intermediate_size": 1408,
    "n_routed_experts": 64,
    "n_shared_experts": 2,
    "first_k_dense_replace": 1,
    "kv_lora_rank": 512,
    "q_lora_rank": None,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "vocab_size": 102400,
    "max_position_embeddings": 163840,
}
QWEN_MOE_A2_7B = {
    "model_type": "qwen2_moe",
    "num_hidden_layers": 24,
    "hidden_size": 2048,
    "num_attention_heads": 16,
    "num_key_value_heads": 16,
    "intermediate_size": 5632,
    "moe_intermediate_size": 1408,
    "shared_expert_intermediate_size": 5632,
    "num_experts": 60,
    "decoder_sparse_step": 1,
    "vocab_size": 151936,
    "max_position_embeddings": 8192,
}


def told(found: Need | CannotTell) -> Need:
    assert isinstance(found, Need), found
    return found


def of(name: str) -> Architecture:
    return architecture(TRUTH[name].config, TRUTH[name].told)


def logged_tokens(found: Architecture, available: float, context: int, ranks: int = 1, **more: object) -> float:
    """Tokens that vLLM prints for `available` GiB a card: sequences of `context` that fit, times their length."""
    serving = Serving("vllm", "stored", context, **more)  # type: ignore[arg-type]
    each = told(need(found, serving, ranks, "tensor" if ranks > 1 else "none")).sequence / ranks
    return available * GIB / each * context


# -- vLLM's start-up logs: KV memory and the tokens it says that is


def test_llama_8b_on_a_3090_at_20k() -> None:
    """vllm#10517: 3.81 GiB are 31,232 tokens."""
    assert logged_tokens(architecture(LLAMA_8B), 3.81, 20000) == pytest.approx(31232, rel=0.002)


def test_qwen3_235b_fp8_over_four_h100() -> None:
    """vllm#21348: 8.11 GiB a card are 178,880 tokens; fp8 weights keep a cache of two bytes."""
    assert logged_tokens(of("Qwen/Qwen3-235B-A22B"), 8.11, 40960, 4) == pytest.approx(178880, rel=0.012)


def test_gpt_oss_120b_without_the_hybrid_cache() -> None:
    """hf-mem#60: 5.38 GiB are 78,384 tokens, all 36 layers at full length."""
    tokens = logged_tokens(of("openai/gpt-oss-120b"), 5.38, 131072, hybrid_cache=False)
    assert tokens == pytest.approx(78384, rel=0.001)


def test_gemma_4_31b_with_unified_pages() -> None:
    """hf-mem PR 61: 24.54 GiB are 26,800 tokens: 60 layers in pages of the widest, 16,384 bytes a token."""
    found = architecture(gemma4(60, 5376, (32, 16, 4), 21504))
    assert logged_tokens(found, 24.54, 26000, hybrid_cache=False) == pytest.approx(26800, rel=0.002)


def test_gemma_4_31b_over_two_cards() -> None:
    """A public log: 10.12 GiB a card hold 1.03 sequences of 163,840 tokens at 8192 in flight, 9.79 GiB each."""
    found = architecture(gemma4(60, 5376, (32, 16, 4), 21504))
    answer = told(need(found, Serving("vllm", "bf16", 163840, batched_tokens=8192), 2, "tensor"))
    assert answer.sequence / 2 / GIB == pytest.approx(9.79, rel=0.006)
    assert 10.12 / (answer.sequence / 2 / GIB) == pytest.approx(1.03, rel=0.006)


@pytest.mark.parametrize(("available", "sequences"), [(5.98, 4.33), (6.01, 4.35)])
def test_qwen3_6_35b_with_fp8_cache(available: float, sequences: float) -> None:
    """club-3090#612, #652: sequences of 131,072 tokens that fit. Pages of 2096 tokens: 63 of them, and 3 x 2 states."""
    answer = told(need(of("Qwen/Qwen3.6-35B-A3B"), Serving("vllm", "bf16", 131072, kv_precision="fp8")))
    assert answer.sequence == (63 + 3 * 2) * 10 * 2096 * 1024
    assert available / (answer.sequence / GIB) == pytest.approx(sequences, rel=0.003)


def test_tokens_in_flight_by_card() -> None:
    """Defaults of the server: 2048 below 70 GiB, 8192 from there on; Gemma 4 31B keeps as many in its windows."""
    assert [in_flight(gib * GIB) for gib in (20, 69, 70, 80)] == [2048, 2048, 8192, 8192]


def test_qwen3_6_27b_block_and_bytes_per_card() -> None:
    """club-3090#1047: block 1568 with an fp8 cache; #295: 16,384 bytes a token and card over two."""
    state = 48 * 128 * 128 * 4 + 3 * (2 * 16 * 128 + 48 * 128) * 2
    assert block_tokens(state, Fraction(4 * 512)) == 1568
    answer = told(need(of("Qwen/Qwen3.6-27B"), Serving("vllm", "bf16", 262144, kv_precision="fp8"), 2, "tensor"))
    assert answer.bytes_per_token == 2 * 16384


def test_deepseek_v2_lite_latent_cache() -> None:
    """vllm#15871: 0.95 GiB for 32,768 tokens; vLLM PR 4650: 29.3010 GiB of weights."""
    answer = told(need(architecture(DEEPSEEK_V2_LITE), Serving("vllm", "f16", 32768)))
    assert answer.cache == 31104 * 32768
    assert round(answer.cache / GIB, 2) == 0.95
    assert answer.weights / GIB == pytest.approx(29.301, rel=0.021)


def test_qwen3_vl_8b_over_two_cards() -> None:
    """A public log: 38.41 GiB a card are 559,232 tokens (the text model is Qwen3-8B)."""
    assert logged_tokens(of("Qwen/Qwen3-8B"), 38.41, 40960, 2) == pytest.approx(559232, rel=0.001)


@pytest.mark.parametrize(
    ("name", "precision", "ranks", "logged"),
    [("Qwen/Qwen3-30B-A3B", "bf16", 4, 14.2474), ("Qwen/Qwen3-4B", "f16", 1, 7.6785)],
)
def test_loaded_weights_lie_between_the_file_and_the_plan(name: str, precision: str, ranks: int, logged: float) -> None:
    """vllm#17469 and the Strix Halo toolbox: what loading adds is at most the 2.5 % that are known."""
    found = of(name)
    answer = told(need(found, Serving("vllm", precision, 4096), ranks, "tensor" if ranks > 1 else "none"))
    assert found.parameters * 2 / ranks / GIB <= logged <= answer.weights / ranks / GIB * 1.006


# -- llama.cpp


def test_qwen3_30b_as_llama_fit_params_projects_it() -> None:
    """tools/fit-params/README.md: 61,807 MiB at f16 and 40,960 tokens, without the CUDA context."""
    answer = told(need(of("Qwen/Qwen3-30B-A3B"), Serving("llamacpp", "f16", 40960)))
    assert (answer.per_card[0] - answer.context_overhead) // MIB == 61807
    assert told(need(of("Qwen/Qwen3-30B-A3B"), Serving("llamacpp", "f16", 4096))).cache == 384 * MIB


def test_llama_3_8b_compute_buffer_of_the_load_log() -> None:
    """The load log of llama.cpp at 8192 tokens: CUDA0 compute buffer 258.50 MiB, without flash attention 560."""
    found = architecture(LLAMA_8B)
    assert told(need(found, Serving("llamacpp", "q8_0", 8192))).compute == 258.5 * MIB
    plain = told(need(found, Serving("llamacpp", "q8_0", 8192, flash_attention=False)))
    assert plain.compute / MIB == pytest.approx(560, rel=0.02)


def test_gpt_oss_windows_of_two_slots() -> None:
    """ollama#16480: 2 slots x 131,072 tokens: 9216 MiB, and 1280 cells a slot in the windows, 90 MiB."""
    answer = told(need(of("openai/gpt-oss-120b"), Serving("llamacpp", "mxfp4", 131072, 2, ubatch=1024, unified=False)))
    assert answer.cache == (9216 + 90) * MIB


def test_unified_windows_of_four_slots() -> None:
    """Windows of four unified slots: Gemma 3 27B 1.83 GiB, Gemma 4 31B 3.5 GiB, at any context that is long enough."""
    serving = Serving("llamacpp", "q4_k_m", 8192, 4)
    windows = (1024 * 4 + 512) * 52 * 8192
    assert round(windows / GIB, 2) == 1.83
    found = told(need(architecture(GEMMA3_27B), serving))
    assert found.cache == windows + 4 * 8192 * 10 * 8192
    found = told(need(architecture(gemma4(60, 5376, (32, 16, 4), 21504)), serving))
    assert found.cache == (1024 * 4 + 512) * 50 * 16384 + 4 * 8192 * 10 * 8192


def test_gemma_3_1b_windows_at_32k() -> None:
    """Published for 32,768 tokens at a batch that fits the window: 139 MiB (4 x 1024 x 32,768 and 22 x 1024 x 512)."""
    answer = told(need(of("google/gemma-3-1b-it"), Serving("llamacpp", "q4_k_m", 32768)))
    assert answer.cache == 4 * 1024 * 32768 + 22 * 1024 * 1024
    assert (4 * 1024 * 32768 + 22 * 1024 * 512) // MIB == 139


def test_bge_on_a_small_card() -> None:
    """gpustack#2412: 926 MiB used by bge-reranker-v2-m3 at F16; ollama: about 1.7 GB with the text in one batch."""
    found = architecture(XLM_ROBERTA)
    small = told(need(found, Serving("llamacpp", "f16", 8192, ubatch=512)))
    assert small.per_card[0] / MIB == pytest.approx(926, rel=0.03)
    assert small.per_card[0] < GIB
    assert small.cache == small.bytes_per_token == 0
    whole = told(need(found, Serving("llamacpp", "f16", 8192)))
    assert whole.per_card[0] / 1e9 == pytest.approx(1.7, rel=0.1)


@pytest.mark.parametrize(
    ("kv", "size"), [("f16", 2), ("q8_0", Fraction(34, 32)), ("q4_0", Fraction(18, 32)), ("f32", 4)]
)
def test_the_cache_precision_counts(kv: str, size: Fraction | int) -> None:
    answer = told(need(architecture(QWEN_14B), Serving("llamacpp", "q4_k_m", 8192, kv_precision=kv)))
    assert answer.cache == 8192 * 40 * 2 * 8 * 128 * size
    assert answer.bytes_per_token == 40 * 2 * 8 * 128 * size


def test_embedding_in_ram_and_a_tied_one_on_both_sides() -> None:
    untied, tied = of("Qwen/Qwen3-8B"), of("Qwen/Qwen3-4B")
    for found in (untied, tied):
        tensors = weight_bytes_gguf(found, "q4_k_m")
        assert not isinstance(tensors, CannotTell)
        whole = sum(tensor.size for tensor in tensors)
        embedding = next(tensor.size for tensor in tensors if tensor.name == "token_embd.weight")
        answer = told(need(found, Serving("llamacpp", "q4_k_m", 4096)))
        assert answer.ram_bytes == embedding
        assert answer.weights == (whole if found.tied else whole - embedding)


def test_recurrent_state_for_every_slot() -> None:
    """27B: 144 MiB a sequence, and three columns of 10,240 in F32 for each of 48 layers."""
    answer = told(need(of("Qwen/Qwen3.6-27B"), Serving("llamacpp", "q4_k_m", 4096, 4)))
    assert answer.state == 4 * (144 * MIB + 48 * 3 * 10240 * 4)
    assert of("Qwen/Qwen3-Next-80B-A3B-Instruct").caches[1].state_bytes * 36 == 72 * MIB
    assert architecture(NEMOTRON).caches[1].state_bytes * 23 == 46 * MIB


def test_states_of_mamba_1_and_short_convolutions() -> None:
    """Jamba: 28 x (16 x 8192 in F32, 3 x 8192); LFM2: 10 x 2048 x 2."""
    jamba, lfm2 = of("ai21labs/Jamba-v0.1"), of("LiquidAI/LFM2-1.2B")
    answer = told(need(jamba, Serving("llamacpp", "q8_0", 4096)))
    assert answer.state == 28 * (16 * 8192 * 4 + 3 * 8192 * 4)
    answer = told(need(lfm2, Serving("llamacpp", "q8_0", 4096)))
    assert answer.state == 10 * 2048 * 2 * 4


def test_layers_go_where_llama_cpp_puts_them() -> None:
    """i / (n + 1) against the cumulative shares: 41 slots of a 40-layer model in halves are 21 and 20."""
    assert owners(40, (Fraction(1), Fraction(1))) == (0,) * 21 + (1,) * 20
    assert owners(3, (Fraction(1), Fraction(0), Fraction(3))) == (0, 2, 2, 2)


def test_a_layer_split_adds_up() -> None:
    found = architecture(QWEN_14B)
    one = told(need(found, Serving("llamacpp", "q8_0", 8192)))
    two = told(need(found, Serving("llamacpp", "q8_0", 8192), 2, "layer", (Fraction(8), Fraction(20))))
    assert two.weights == one.weights
    assert sum(two.per_card) == one.per_card[0] + one.compute + one.context_overhead
    assert two.per_card[0] < two.per_card[1]


def test_cpu_holds_everything_once() -> None:
    found = of("Qwen/Qwen3-4B")
    tensors = weight_bytes_gguf(found, "q8_0")
    assert not isinstance(tensors, CannotTell)
    answer = told(need(found, Serving("llamacpp", "q8_0", 4096), 0, "cpu"))
    assert answer.per_card == ()
    assert answer.ram_bytes == sum(tensor.size for tensor in tensors) + answer.cache + answer.compute


# -- what cannot be told, and what no engine has


def test_online_fp8_keeps_the_embedding_and_has_a_peak() -> None:
    """Qwen3-8B: 9.4 GB, not 8.2; before loading streamed, the card had to hold all 16.4 GB."""
    found = of("Qwen/Qwen3-8B")
    answer = told(need(found, Serving("vllm", "fp8", 4096)))
    assert answer.weights / 1.02 / 1e9 == pytest.approx(9.44, rel=0.003)
    old = told(need(found, Serving("vllm", "fp8", 4096, streamed_load=False)))
    assert old.load_peak[0] > 16.38e9 > old.per_card[0]
    assert answer.per_card == answer.load_peak


def test_online_fp8_of_a_mixture() -> None:
    """vLLM PR 31914, Qwen1.5-MoE-A2.7B: 26.67 GiB in bf16, 13.94 after online fp8."""
    found = architecture(QWEN_MOE_A2_7B)
    assert found.parameters * 2 / GIB == pytest.approx(26.67, rel=0.001)
    assert told(need(found, Serving("vllm", "fp8", 4096))).weights / GIB == pytest.approx(13.94, rel=0.03)


@pytest.mark.parametrize(
    ("serving", "reason"),
    [
        (Serving("vllm", "q4_k_m", 4096), "vLLM does not make q4_k_m of a checkpoint in bf16"),
        (Serving("vllm", "awq", 4096), "it needs one that is published so"),
        (Serving("vllm", "bf16", 4096, kv_precision="q8_0"), "vllm has no KV cache in q8_0"),
        (Serving("llamacpp", "fp8", 4096), "fp8 is no precision of GGUF files"),
        (Serving("llamacpp", "q8_0", 4096, kv_precision="fp8"), "llamacpp has no KV cache in fp8"),
        (Serving("llamacpp", "q8_0", 4096, kv_precision="q8_0", flash_attention=False), "only with flash attention"),
    ],
)
def test_what_an_engine_does_not_do(serving: Serving, reason: str) -> None:
    answer = need(architecture(QWEN_14B), serving)
    assert isinstance(answer, CannotTell)
    assert reason in answer.reason


@pytest.mark.parametrize(
    ("name", "published"),
    [
        ("Qwen/Qwen3-8B", 5.022e9),
        ("meta-llama/Llama-3.3-70B-Instruct", 42.513e9),
        ("Qwen/Qwen2.5-72B-Instruct", 47.368e9),  # 29568 is no multiple of 256
        ("google/gemma-3-1b-it", 0.800e9),  # nor is 1152
    ],
)
def test_a_told_count_of_parameters_weighs_like_the_model(name: str, published: float) -> None:
    """Within 3 % of the q4_k_m whose tensors are known, and not 5 % below, as 4.5 bits for all would be."""
    row = TRUTH[name]
    found = architecture(row.config, row.params)
    assert told(need(found, Serving("llamacpp", "q4_k_m", 4096), 0, "cpu")).weights == pytest.approx(
        published, rel=0.03
    )


@pytest.mark.parametrize(("dim", "works"), [(128, True), (64, True), (80, False), (48, False)])
def test_each_head_of_a_packed_cache_is_whole_blocks(dim: int, works: bool) -> None:
    """``llama_init_from_model``: "K cache type q8_0 with block size 32 does not divide n_embd_head_k=80", 48."""
    answer = need(architecture({**QWEN_14B, "head_dim": dim}), Serving("llamacpp", "q8_0", 4096, kv_precision="q8_0"))
    assert isinstance(answer, Need) is works


def test_a_published_quantisation_has_no_full_precision() -> None:
    """Ministral and DeepSeek are published in fp8: no bf16 row without dequantising."""
    answer = need(of("deepseek-ai/DeepSeek-R1"), Serving("vllm", "bf16", 4096), 8, "tensor")
    assert answer == CannotTell("the weights are published in fp8; vLLM does not make bf16 of that")


def test_awq_by_its_config_weighs_what_is_published() -> None:
    """Qwen3-8B-AWQ: 5.68 GiB of safetensors (KAITO's catalog); embedding and output stay in two bytes, nothing else."""
    awq = {"quant_method": "awq", "bits": 4, "group_size": 128}
    found = architecture({**TRUTH["Qwen/Qwen3-8B"].config, "quantization_config": awq})
    assert told(need(found, Serving("vllm", "stored", 4096))).weights / 1.02 / GIB == pytest.approx(5.68, abs=0.01)


def test_awq_is_no_source_of_a_gguf_file() -> None:
    config = {**QWEN_14B, "quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128}}
    answer = need(architecture(config), Serving("llamacpp", "q4_k_m", 4096))
    assert isinstance(answer, CannotTell)
    assert "published in awq, which no conversion to GGUF reads" in answer.reason


def test_splits_that_no_engine_has() -> None:
    found = architecture(QWEN_14B)
    with pytest.raises(ValueError, match="has no split"):
        need(found, Serving("vllm", "bf16", 4096), 2, "layer")
    with pytest.raises(ValueError, match="has no 2 cards"):
        need(found, Serving("llamacpp", "q8_0", 4096), 2)


# -- what always holds

_MODELS = [of(name) for name in TRUTH]


@settings(deadline=None)
@given(
    st.sampled_from(_MODELS), st.integers(256, 200_000), st.integers(1, 8), st.sampled_from(["q8_0", "q4_k_m", "bf16"])
)
def test_more_context_or_slots_never_need_less(
    found: Architecture, context: int, parallel: int, precision: str
) -> None:
    def sizes(serving: Serving) -> tuple[int, ...]:
        answer = need(found, serving)
        assert isinstance(answer, Need)
        assert all(size >= 0 for size in (answer.weights, answer.cache, answer.state, answer.compute))
        assert answer.load_peak >= answer.per_card
        return (*answer.per_card, answer.cache, answer.state)

    small = sizes(Serving("llamacpp", precision, context, parallel))
    assert sizes(Serving("llamacpp", precision, context + 256, parallel)) >= small
    assert sizes(Serving("llamacpp", precision, context, parallel + 1)) >= small


@settings(deadline=None)
@given(st.sampled_from(_MODELS), st.lists(st.integers(1, 48), min_size=1, max_size=6))
def test_a_split_loses_nothing(found: Architecture, shares: list[int]) -> None:
    whole = told(need(found, Serving("llamacpp", "q8_0", 8192)))
    answer = told(need(found, Serving("llamacpp", "q8_0", 8192), len(shares), "layer", shares))
    assert answer.weights == whole.weights
    per_card = whole.compute + whole.context_overhead
    assert sum(answer.per_card) >= whole.per_card[0] + (len(shares) - 1) * per_card
