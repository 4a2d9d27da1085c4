"""Public reports of wrong answers about what fits: each with the right one. The number is the row of the collection."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from knaster.cluster.architecture import Architecture, CannotTell
from knaster.fit.memory.layer_split import layer_counts
from knaster.fit.memory.need import Serving, need
from knaster.fit.recognise import recognise
from knaster.weights import GgufFile, Published, Tensor
from tests.model_truth import GEMMA3_27B, GRANITE_4_MICRO, LLAMA_8B, TRUTH, XLM_ROBERTA, llama, qwen3_5
from tests.test_fit_memory import QWEN_MOE_A2_7B, of, told
from tests.test_fit_recognise import architecture, stored

GB, GIB, MIB = 10**9, 2**30, 2**20
CARD_3090 = 23.69 * GIB
"""What vLLM sees of a 24 GB card."""

NOMIC = {
    "model_type": "nomic_bert",
    "n_layer": 12,
    "n_embd": 768,
    "n_head": 12,
    "n_inner": 3072,
    "vocab_size": 30528,
    "type_vocab_size": 2,
    "n_positions": 8192,
    "torch_dtype": "float32",
}
QWEN25_7B_1M = {
    "model_type": "qwen2",
    "num_hidden_layers": 28,
    "hidden_size": 3584,
    "num_attention_heads": 28,
    "num_key_value_heads": 4,
    "intermediate_size": 18944,
    "vocab_size": 152064,
    "max_position_embeddings": 1010000,
    "use_sliding_window": False,
    "tie_word_embeddings": False,
}
MISTRAL_NEMO = {
    "model_type": "mistral",
    "num_hidden_layers": 40,
    "hidden_size": 5120,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "intermediate_size": 14336,
    "vocab_size": 131072,
    "max_position_embeddings": 1024000,
    "sliding_window": None,
    "tie_word_embeddings": False,
}
GEMMA3_12B = {
    "model_type": "gemma3",
    "text_config": {
        "model_type": "gemma3_text",
        "hidden_size": 3840,
        "intermediate_size": 15360,
        "num_hidden_layers": 48,
        "num_attention_heads": 16,
        "num_key_value_heads": 8,
        "sliding_window": 1024,
    },
}
QWEN35_122B = qwen3_5(
    48,
    3072,
    (32, 2),
    64,
    num_experts=256,
    moe_intermediate_size=1024,
    shared_expert_intermediate_size=1024,
)
MLP = [2.625, *[5.25] * 5, 2.625, 2.625, *[5.25] * 3, 3.28125, *[5.25] * 30]
MLP += [1.3125, 2.625, 2.625, 1.3125, 5.25, 1.3125, 2.625, *[1.3125] * 3, 5.25, 1.3125, 1.0, 1.0, 1.3125, 1.0, 1.0, 1.0]
MLP += [1.3125, 1.3125, 0.5, 0.5, 1.0, 1.0, 0.5, 0.5, 1.0, 0.5, 0.5, *[5.25] * 9]
WITHOUT_ATTENTION = {6, 7, 11, *range(42, 52), *range(53, 71)}
NEMOTRON_49B = {
    "model_type": "nemotron-nas",
    "num_hidden_layers": 80,
    "hidden_size": 8192,
    "num_attention_heads": 64,
    "num_key_value_heads": None,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
    "tie_word_embeddings": False,
    "block_configs": [
        {
            "attention": {"n_heads_in_group": None if no else 8, "no_op": no, "replace_with_linear": False},
            "ffn": {"ffn_mult": factor, "no_op": False, "replace_with_linear": False},
        }
        for layer, factor in enumerate(MLP)
        for no in [layer in WITHOUT_ATTENTION]
    ],
}
"""Llama-3.3-Nemotron-Super-49B: the blocks of its config.json."""


def test_2_overhead_grows_with_the_share_and_the_latent_is_whole_on_each_card() -> None:
    """A flat 2.3 GiB promised contexts that vLLM rejected: 5.5 GiB beside 64 GiB of weights."""
    dense = architecture(llama(88, 12288, (96, 8, 128), 28672, tied=False, vocab=131072))
    two = told(need(dense, Serving("vllm", "bf16", 4096), 4, "tensor"))
    share = two.weights / 4
    assert (two.compute + two.context_overhead) / 4 == pytest.approx(2.3 * GIB + 0.05 * share, abs=8)
    r1 = of("deepseek-ai/DeepSeek-R1")
    one = told(need(r1, Serving("vllm", "stored", 32768)))
    eight = told(need(r1, Serving("vllm", "stored", 32768), 8, "tensor"))
    assert eight.cache == 8 * one.cache == 8 * 61 * 1152 * 32768


def test_4_windows_depend_on_the_cache_manager() -> None:
    """gpt-oss-20b, 32 sequences of 8192: 12.00 GiB where every layer keeps all; else windows and what is in flight."""
    found = of("openai/gpt-oss-20b")
    full = told(need(found, Serving("vllm", "stored", 8192, 32, hybrid_cache=False)))
    assert full.cache == 12 * GIB
    assert "without its hybrid cache manager" in next(part.source for part in full.parts if part.name == "cache")
    capped = told(need(found, Serving("vllm", "stored", 8192, 32)))
    assert capped.cache == 6 * GIB + 32 * 12 * 2048 * (127 + 2048 + 1 + 16)


def test_5_an_encoder_is_no_decoder() -> None:
    """bge-reranker-v2-m3 in F16: 926 MiB used, 13.8 GiB estimated."""
    answer = told(need(architecture(XLM_ROBERTA), Serving("llamacpp", "f16", 8192, ubatch=512)))
    assert answer.per_card[0] / MIB == pytest.approx(926, rel=0.03)


def test_7_an_encoder_takes_the_text_in_one_batch() -> None:
    """nomic-embed-text-v1.5 in F16 at 8192 tokens, no flash attention: 4158 MiB used, 954 estimated."""
    found = architecture(NOMIC)
    assert found.parameters / 1e6 == pytest.approx(136.7, abs=0.1)
    answer = told(need(found, Serving("llamacpp", "f16", 8192, flash_attention=False)))
    assert answer.per_card[0] / MIB == pytest.approx(4158, rel=0.04)
    assert told(need(found, Serving("llamacpp", "f16", 8192))).per_card[0] < answer.per_card[0] / 3


def test_8_only_ten_layers_of_gemma_3_27b_grow() -> None:
    """128,000 tokens with a q8_0 cache were said to need 139 GB; about 32 GB were used at 85,000."""
    found = architecture(GEMMA3_27B)
    at = {tokens: told(need(found, Serving("llamacpp", "q4_k_m", tokens, 1, "q8_0"))) for tokens in (85_000, 128_000)}
    assert at[128_000].bytes_per_token == 10 * 2 * 16 * 128 * 34 // 32
    assert at[85_000].per_card[0] < 32 * GB
    assert at[128_000].per_card[0] < 32 * GB


def test_11_an_embedding_model_may_be_a_decoder() -> None:
    """Qwen3-VL-Embedding-2B: the class says embedding, the architecture says 28 layers of cache and a tower."""
    text = {**TRUTH["Qwen/Qwen3-0.6B"].config, "hidden_size": 2048, "intermediate_size": 6144}
    config = {"model_type": "qwen3_vl", "text_config": {**text, "model_type": "qwen3_vl_text"}, "vision_config": {}}
    found = architecture(config)
    assert not found.encoder
    assert told(need(found, Serving("vllm", "bf16", 8192))).bytes_per_token == 114_688


def test_13_the_trained_context_is_not_the_only_one() -> None:
    """Qwen3.5-9B in q4_k_m on 8 GB: 26.3 GB said for 262,144 tokens; at 8192 the cache is 0.27 GB and all fits."""
    found = of("Qwen/Qwen3.5-9B")
    small, trained = (told(need(found, Serving("llamacpp", "q4_k_m", tokens))) for tokens in (8192, 262_144))
    assert small.cache == 8 * 4096 * 8192
    assert small.per_card[0] < 8 * GB < trained.per_card[0] < 26.3 * GB


@pytest.mark.parametrize(
    ("found", "least", "most"),
    [(architecture(QWEN35_122B), 70, 76), (of("deepseek-ai/DeepSeek-R1"), 385, 415)],
)
def test_14_all_experts_are_resident(found: Architecture, least: int, most: int) -> None:
    """Qwen3.5-122B-A10B was said to take 33 GB, DeepSeek-V3 22 GB: 70-75 and about 390 in q4_k_m."""
    answer = told(need(dequantised(found), Serving("llamacpp", "q4_k_m", 4096)))
    assert least * GB < answer.weights + answer.ram_bytes < most * GB


def dequantised(found: Architecture) -> Architecture:
    """As a conversion to GGUF reads the weights."""
    return replace(
        found, tensors=tuple(replace(g, dtype="bf16", size=2 * g.elements // g.count) for g in found.tensors)
    )


def test_16_two_bytes_for_every_parameter() -> None:
    """Llama-3.1-70B in 16 bits: 64.73 GB said, 141 GB (131.4 GiB) is right."""
    found = of("meta-llama/Llama-3.3-70B-Instruct")
    assert stored(found) / GB == pytest.approx(141.1, abs=0.05)
    assert round(stored(found) / GIB, 1) == 131.4


def test_17_weights_alone_are_no_process() -> None:
    """Llama-3.1-8B-FP8 in vLLM: weights, cache, activations and the rest are told apart."""
    config = {**LLAMA_8B, "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}}
    answer = told(need(architecture(config), Serving("vllm", "stored", 131_072)))
    assert {part.name for part in answer.parts} == {"weights", "cache", "activations", "overhead"}
    assert sum(part.size for part in answer.parts) == answer.per_card[0]
    assert answer.per_card[0] > answer.weights + 16 * GIB


def test_19_the_cache_precision_counts() -> None:
    """Qwen2.5-7B-1M in q4_k_m with 262,144 tokens in q8_0 on two P40: 11.5 GB measured, 52 said."""
    found = architecture(QWEN25_7B_1M)
    answer = told(need(found, Serving("llamacpp", "q4_k_m", 262_144, kv_precision="q8_0"), 2, "layer"))
    assert answer.cache == 262_144 * 28 * 1024 * 34 // 32
    assert (answer.weights + answer.cache) / GIB == pytest.approx(11.5, rel=0.02)
    assert sum(answer.per_card) < 14 * GIB


def test_20_only_attention_layers_grow() -> None:
    """granite4 micro-h at 65,536 tokens was refused for 5.5 GiB: 4 of 40 layers keep 0.5 GiB, all is 3 in q4_k_m."""
    answer = told(need(architecture(GRANITE_4_MICRO, 3_190_000_000), Serving("llamacpp", "q4_k_m", 65_536)))
    assert answer.cache == GIB // 2
    assert answer.per_card[0] < 3.3 * GIB


def test_23_gemma_3_12b_fits_at_64k() -> None:
    """5060 Ti 16 GB: one release of an engine put it on the CPU, the one before had fitted it."""
    answer = told(need(architecture(GEMMA3_12B), Serving("llamacpp", "q4_k_m", 65_536)))
    assert answer.per_card[0] < 15.5 * GIB
    assert answer.cache == 8 * 8192 * 65_536 + 40 * 8192 * (1024 + 512)


def test_22_28_a_projector_is_no_part_of_the_text_model() -> None:
    """The tower is counted apart and named, and a file that is a projector gets no number."""
    tower = Tensor("vision_tower.encoder.layers.0.mlp.fc1.weight", (4304, 1152), "bf16", 4304 * 1152 * 2)
    embedding = Tensor("language_model.model.embed_tokens.weight", (262_208, 3840), "bf16", 262_208 * 3840 * 2)
    layers = tuple(
        Tensor(f"language_model.model.layers.{layer}.mlp.up_proj.weight", (15360, 3840), "bf16", 15360 * 3840 * 2)
        for layer in range(48)
    )
    found = recognise(Published("g", config=GEMMA3_12B, tensors=(tower, embedding, *layers)))
    assert isinstance(found, Architecture)
    assert (found.extra, stored(found)) == ((("vision", tower.size),), embedding.size + 48 * layers[0].size)
    file = GgufFile("mmproj-F16.gguf", None, metadata={"general.architecture": "clip"}, tensors=(tower,))
    assert recognise(Published("m", gguf=(file,)), file) == CannotTell(
        "mmproj-F16.gguf is the projector of a vision model, not the model"
    )


def test_29_a_layer_split_of_unlike_layers() -> None:
    """Nemotron-Super-49B over two 3090: halves of the layers overload the first card, halves of the bytes fit."""
    found = architecture(NEMOTRON_49B)
    assert found.parameters / 1e9 == pytest.approx(49.87, abs=0.01)
    assert (found.caches[0].layers, found.caches[0].kv_heads, found.kv_heads) == (49, 8, 8)
    serving = Serving("llamacpp", "q5_k_m", 16_384)
    halves = told(need(found, serving, 2, "layer"))
    assert halves.per_card[0] > CARD_3090 > halves.per_card[1]
    counts = layer_counts(found, serving, (int(CARD_3090),) * 2)
    assert isinstance(counts, tuple)
    assert sum(counts) == 81
    assert counts[0] < 36
    by_bytes = told(need(found, serving, 2, "layer", counts))
    assert max(by_bytes.per_card) < CARD_3090
    assert max(by_bytes.per_card) - min(by_bytes.per_card) < 2 * max(halves.per_card) / 81


def test_31_a_hybrid_keeps_a_quarter_of_its_layers() -> None:
    """Qwen3.5-9B at 110,000 tokens: 22.92 GB said; 3.6 GB of cache, about 11.5 GB in all."""
    answer = told(need(of("Qwen/Qwen3.5-9B"), Serving("llamacpp", "q4_k_m", 110_000)))
    assert answer.cache / GB == pytest.approx(3.6, abs=0.01)
    assert answer.per_card[0] < 11.5 * GB


def test_32_an_advertised_context_is_not_a_need() -> None:
    """Mistral Nemo 12B in q4_k_m was said to need 273 GB: its 1,024,000 tokens alone are 168 GB, 8192 are 1.3."""
    found = architecture(MISTRAL_NEMO)
    assert found.context == 1_024_000
    whole, small = (told(need(found, Serving("llamacpp", "q4_k_m", tokens))) for tokens in (1_024_000, 8192))
    assert whole.cache / GB == pytest.approx(167.8, abs=0.1)
    assert small.per_card[0] < 9.5 * GB


def test_34_loading_online_fp8_has_a_peak_of_its_own() -> None:
    """Qwen3-30B-A3B on 80 GB: fp8 of a two-byte checkpoint ran out of memory in releases that did not stream it."""
    found = of("Qwen/Qwen3-30B-A3B")
    streamed = told(need(found, Serving("vllm", "fp8", 8192)))
    before = told(need(found, Serving("vllm", "fp8", 8192, streamed_load=False)))
    assert streamed.per_card == before.per_card
    assert before.load_peak[0] > 61 * GB > 40 * GB > streamed.load_peak[0] >= streamed.per_card[0]


def test_35_fp8_halves_no_state() -> None:
    """A cache in fp8 was advertised as twice the tokens: 1.84 times at 32k, 1.00 at a short context."""
    found = of("Qwen/Qwen3-Next-80B-A3B-Instruct")

    def gain(context: int) -> Fraction:
        two, one = (
            told(need(found, Serving("vllm", "bf16", context, kv_precision=kv))).sequence for kv in ("bf16", "fp8")
        )
        return Fraction(two, one)

    assert float(gain(500)) == pytest.approx(1, abs=0.01)
    assert 1.5 < gain(32_768) < gain(131_072) < 2


def test_37_the_profile_takes_the_longest_batch() -> None:
    """Llama-3.1-8B on a 3090 at 0.90: 20k started, 29k was refused, 35k started (chunked prefill from 32k on)."""
    found, budget = architecture(LLAMA_8B), 0.90 * CARD_3090

    def card(context: int, batched: int) -> int:
        return told(need(found, Serving("vllm", "bf16", context, batched_tokens=batched, graphs=False))).per_card[0]

    assert card(20_000, 20_000) < budget
    assert card(29_000, 29_000) > budget
    assert card(35_000, 512) < budget


def test_40_a_24_gb_card_is_not_enough_at_defaults() -> None:
    """Qwen3-8B in bf16: 16.4 GB of weights, 6.0 GB for 40,960 tokens, and graphs, against 0.92 of 24 GB."""
    answer = told(need(of("Qwen/Qwen3-8B"), Serving("vllm", "bf16", 40_960)))
    assert answer.cache / GB == pytest.approx(6.04, abs=0.01)
    assert answer.per_card[0] > 0.92 * CARD_3090
    assert told(need(of("Qwen/Qwen3-8B"), Serving("vllm", "bf16", 8192))).per_card[0] < 0.92 * CARD_3090


def test_online_fp8_of_a_mixture_of_2_7b() -> None:
    """Beside row 34, the log of the release that streams: 26.67 GiB became 13.94."""
    answer = told(need(architecture(QWEN_MOE_A2_7B), Serving("vllm", "fp8", 4096)))
    assert answer.weights / GIB == pytest.approx(13.94, rel=0.03)
