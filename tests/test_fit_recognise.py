"""Recognition: what a config says about the memory of published models, and what it is asked to say and does not."""

from __future__ import annotations

import pytest

from knaster.cluster.architecture import Architecture, CannotTell
from knaster.fit.recognise import recognise
from knaster.weights import Published
from tests.model_truth import GRANITE_4_MICRO, TRUTH, XLM_ROBERTA, Truth, gemma4, qwen3

GIB = 2**30


def architecture(config: object, parameters: int | None = None) -> Architecture:
    assert isinstance(config, dict)
    found = recognise(Published("some/model", config=config), parameters=parameters)
    assert isinstance(found, Architecture), found
    return found


def reason(config: object) -> str:
    assert isinstance(config, dict)
    found = recognise(Published("some/model", config=config))
    assert isinstance(found, CannotTell), found
    return found.reason


def per_token(found: Architecture, *kinds: str) -> int:
    """KV bytes per token at two bytes per number."""
    return sum(group.layers * group.elements * 2 for group in found.caches if group.kind in kinds)


def stored(found: Architecture) -> int:
    return sum(group.size * group.count for group in found.tensors)


@pytest.mark.parametrize("truth", TRUTH.values(), ids=TRUTH)
def test_kv_bytes_per_token_are_exact(truth: Truth) -> None:
    found = architecture(truth.config, truth.told)
    assert per_token(found, "full", "sliding", "latent") == truth.attention
    assert per_token(found, "full", "latent") == truth.growing


@pytest.mark.parametrize(
    "truth", [truth for truth in TRUTH.values() if truth.params], ids=[name for name, t in TRUTH.items() if t.params]
)
def test_parameters_are_exact(truth: Truth) -> None:
    assert architecture(truth.config).parameters == truth.params


@pytest.mark.parametrize(
    ("name", "billions"),
    [
        ("deepseek-ai/DeepSeek-R1", 671.03),  # README of gguf-parser-go
        ("Qwen/Qwen3-Next-80B-A3B-Instruct", 79.67),  # model card: 80B, 79B without embeddings
        ("LiquidAI/LFM2-1.2B", 1.17),  # model card
        ("moonshotai/Kimi-K2-Instruct", 1026.41),  # model card: 1T; 61 layers of 384 experts of 2048
    ],
)
def test_published_parameter_counts(name: str, billions: float) -> None:
    assert architecture(TRUTH[name].config).parameters / 1e9 == pytest.approx(billions, rel=0.0005)


@pytest.mark.parametrize(
    ("name", "gib"),
    [
        ("openai/gpt-oss-20b", 12.82),
        ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", 58.82),
        ("ibm-granite/granite-4.1-8b", 16.38),
        ("microsoft/Phi-4-mini-instruct", 7.15),
        ("microsoft/phi-4", 27.31),
        ("mistralai/Mistral-7B-Instruct-v0.3", 13.50),
        ("meta-llama/Llama-3.3-70B-Instruct", 131.42),
    ],
)
def test_published_checkpoint_sizes(name: str, gib: float) -> None:
    """KAITO's catalog of models, 2026-08-21: GiB of safetensors."""
    assert stored(architecture(TRUTH[name].config)) / GIB == pytest.approx(gib, abs=0.006)


def test_gpt_oss_120b_to_the_byte() -> None:
    """hf-mem#60 states 65,248,815,744 bytes for the indexed shards; a catalog said 121.54 GiB for twice the weights."""
    found = architecture(TRUTH["openai/gpt-oss-120b"].config)
    assert stored(found) == 65_248_815_744
    assert found.stored == "mxfp4"


def test_the_encoder_of_bge_m3() -> None:
    """gpustack#2412 shows 567.75 M parameters; positions start at 2, so 8192 of 8194 are for text."""
    found = architecture(XLM_ROBERTA)
    assert round(found.parameters / 1e6, 2) == 567.75
    assert (found.encoder, found.caches, found.context, found.stored) == (True, (), 8192, "f32")


def test_a_decoder_that_looks_both_ways_keeps_nothing() -> None:
    """EmbeddingGemma is a Gemma 3 of 24 layers without a cache."""
    config = {
        "model_type": "gemma3_text",
        "num_hidden_layers": 24,
        "hidden_size": 768,
        "intermediate_size": 1152,
        "num_attention_heads": 3,
        "num_key_value_heads": 1,
        "head_dim": 256,
        "sliding_window": 512,
        "vocab_size": 262144,
        "max_position_embeddings": 2048,
        "use_bidirectional_attention": True,
    }
    found = architecture(config)
    assert (found.encoder, found.caches, found.tied) == (True, (), False)
    assert found.parameters / 1e6 == pytest.approx(303, abs=1)  # its card: 308 M with the two dense layers behind it


def test_a_mixture_counts_all_its_experts() -> None:
    found = architecture(TRUTH["Qwen/Qwen3-30B-A3B"].config)
    experts = next(group for group in found.tensors if group.name == "blk.{}.ffn_down_exps.weight")
    assert (found.experts, experts.shape, experts.count) == (128, (128, 2048, 768), 48)


@pytest.mark.parametrize("name", ["Qwen/Qwen3-0.6B", "mistralai/Mistral-Small-24B-Instruct-2501", "zai-org/GLM-4.5"])
def test_head_dim_is_read(name: str) -> None:
    """hidden / heads would be 64, 160 and 53."""
    assert architecture(TRUTH[name].config).head_dim == 128


def test_gemma_4_31b_layers() -> None:
    """The real model has 30.7 billion parameters for text; 10 global layers with 4 heads of 512, 50 with 16 of 256."""
    found = architecture(gemma4(60, 5376, (32, 16, 4), 21504))
    assert [(c.kind, c.layers, c.kv_heads, c.key_dim, c.window) for c in found.caches] == [
        ("full", 10, 4, 512, None),
        ("sliding", 50, 16, 256, 1024),
    ]
    assert round(found.parameters / 1e9, 1) == 30.7


@pytest.mark.parametrize(
    ("change", "sliding"),
    [
        ({"sliding_window": 4096}, 32),  # Mistral 7B v0.1
        ({"sliding_window": None}, 0),  # v0.3
        ({"sliding_window": 32768}, 0),  # as long as the context: never slides
        ({"sliding_window": 4096, "use_sliding_window": False}, 0),
    ],
)
def test_windows_that_count_and_that_do_not(change: dict[str, object], sliding: int) -> None:
    config = {**TRUTH["mistralai/Mistral-7B-Instruct-v0.3"].config, **change}
    caches = architecture(config).caches
    assert sum(group.layers for group in caches if group.kind == "sliding") == sliding


def test_experts_in_a_latent_width() -> None:
    """Nemotron 3 Super has 120.7 billion parameters: experts of 1024 numbers between two projections."""
    config = {
        **TRUTH["nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16"].config,
        "num_hidden_layers": None,
        "hybrid_override_pattern": None,
        "layers_block_type": [
            {"M": "mamba", "E": "moe", "*": "attention"}[letter]
            for letter in "MEMEMEM*EMEMEMEM*EMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEM*EMEMEMEME"
        ],
        "hidden_size": 4096,
        "intermediate_size": 2688,
        "moe_intermediate_size": 2688,
        "moe_latent_size": 1024,
        "moe_shared_expert_intermediate_size": 5376,
        "n_routed_experts": 512,
        "mamba_num_heads": 128,
    }
    found = architecture(config)
    assert found.layers == 88
    assert found.parameters / 1e9 == pytest.approx(120.67, abs=0.01)
    assert [(group.kind, group.layers) for group in found.caches] == [("full", 8), ("recurrent", 40)]


def test_an_int4_checkpoint_that_keeps_much_of_it() -> None:
    """Kimi K2.5: 554.32 GiB in all, of which the vision tower has 0.8; only the experts are packed."""
    kimi = {**TRUTH["moonshotai/Kimi-K2-Instruct"].config, "quantization_config": None}
    ignored = ["lm_head", "re:.*self_attn.*", "re:.*shared_experts.*", "re:.*mlp\\.(gate|up|gate_up|down)_proj.*"]
    packed = {
        "quant_method": "compressed-tensors",
        "format": "pack-quantized",
        "config_groups": {"group_0": {"weights": {"num_bits": 4, "group_size": 32}}},
        "ignore": ignored,
    }
    found = architecture({"model_type": "kimi_k25", "text_config": {**kimi, "quantization_config": packed}})
    assert found.stored == "int4"
    assert stored(found) / GIB == pytest.approx(554.32 - 0.8, abs=0.2)


def test_mixed_precisions_need_the_headers() -> None:
    mixed = {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION"}
    assert "mixed precisions" in reason({**qwen3(36, 4096, 32, 12288), "quantization_config": mixed})


def test_granite_4_micro_has_four_attention_layers() -> None:
    """36 of 40 layers are Mamba 2."""
    full, states = architecture(GRANITE_4_MICRO, 3_190_000_000).caches
    assert (full.layers, full.elements * 2) == (4, 2048)
    assert (states.layers, states.state_bytes, states.conv_elements) == (36, 64 * 64 * 128 * 4, 3 * (4096 + 256))


def test_parameters_that_are_told() -> None:
    """With --params the layers hold what the vocabulary leaves; the cache is as exact as before."""
    found = architecture(qwen3(28, 1024, 16, 3072, tied=True), 600_000_000)
    assert (found.parameters, found.exact) == (600_000_000, False)
    assert sum(group.elements for group in found.tensors) == pytest.approx(600_000_000, rel=0.0001)
    few = recognise(Published("some/model", config=qwen3(28, 1024, 16, 3072)), parameters=1000)
    assert found.block == 0
    assert isinstance(few, CannotTell)
    assert "1000 parameters are fewer than the vocabulary alone takes (311164928)" in few.reason


@pytest.mark.parametrize(
    "model_type",
    [
        "deepseek_v4",
        "deepseek_v32",
        "kimi_k3",
        "kimi_linear",
        "minimax_m3",
        "glm_moe_dsa",
        "step3p7",
        "brand_new",
        "t5",
    ],
)
def test_unknown_architectures_get_no_number(model_type: str) -> None:
    told = reason({**TRUTH["Qwen/Qwen3-8B"].config, "model_type": model_type})
    assert told == f"the architecture {model_type} is not modelled: what its layers keep per token is not known"


def test_an_unknown_text_model_in_a_known_wrapper() -> None:
    config = {"model_type": "kimi_k25", "text_config": {**TRUTH["Qwen/Qwen3-8B"].config, "model_type": "kimi_linear"}}
    assert "kimi_linear is not modelled" in reason(config)


def test_a_sparse_index_on_a_known_family() -> None:
    """DeepSeek V3.2 keeps an index beside its latent cache, whatever it calls itself."""
    assert "is not modelled" in reason({**TRUTH["deepseek-ai/DeepSeek-R1"].config, "index_topk": 2048})


def test_a_family_whose_config_says_too_little() -> None:
    told = reason(TRUTH["ai21labs/Jamba-v0.1"].config)
    assert "does not say every tensor" in told
    assert "--params" in told
