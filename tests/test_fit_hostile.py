"""Configs and headers of strangers: whatever they hold, the answer is an architecture or the fact that is missing."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knaster.cluster.architecture import Architecture, CannotTell
from knaster.fit.memory.need import Need, Serving, need
from knaster.fit.recognise import recognise
from knaster.fit.recognition.families import FAMILIES
from knaster.weights import GgufFile, Published, Tensor
from tests.model_truth import TRUTH, XLM_ROBERTA
from tests.test_fit_recognise import reason

QWEN = TRUTH["Qwen/Qwen3-8B"].config


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"model_type": None}, "config.json does not say model_type, so how the model remembers is not known"),
        ({"num_hidden_layers": None}, "config.json does not say num_hidden_layers"),
        ({"num_hidden_layers": "36"}, "config.json: num_hidden_layers is 36, not a whole number"),
        ({"num_hidden_layers": 36.5}, "config.json: num_hidden_layers is 36.5, not a whole number"),
        ({"num_hidden_layers": True}, "config.json: num_hidden_layers is true, not a whole number"),
        ({"num_hidden_layers": -1}, "config.json: num_hidden_layers is -1, which no model has"),
        ({"num_hidden_layers": 10**9}, "config.json: num_hidden_layers is 1000000000, which no model has"),
        ({"hidden_size": 10**400}, "config.json: hidden_size is a huge number, which no model has"),
        ({"hidden_size": [4096]}, "config.json: hidden_size is a list, not a whole number"),
        ({"hidden_size": None}, "config.json does not say hidden_size"),
        ({"vocab_size": {}}, "config.json: vocab_size is an object, not a whole number"),
        ({"vocab_size": 0}, "config.json: vocab_size is 0, which no model has"),
        ({"num_attention_heads": None}, "config.json does not say num_attention_heads"),
        ({"head_dim": None, "num_attention_heads": 37}, "hidden_size 4096 does not divide by 37 heads"),
        ({"num_key_value_heads": 64}, "config.json says 64 KV heads, which are more than its 32 heads"),
        ({"intermediate_size": None}, "config.json does not say intermediate_size"),
        ({"tie_word_embeddings": "no"}, "config.json: tie_word_embeddings is no, neither true nor false"),
        ({"layer_types": "full_attention"}, "config.json: layer_types is no list of layers"),
        ({"layer_types": ["full_attention"]}, "config.json: layer_types names 1 layers of 36"),
        ({"layer_types": [None] * 36}, "what a layer of the type nothing known keeps is not modelled"),
        ({"layer_types": ["ring"] * 36}, "what a layer of the type ring keeps is not modelled"),
        ({"quantization_config": []}, "config.json: quantization_config is a list, not an object"),
        ({"quantization_config": {"quant_method": "zip"}}, "what zip makes of the weights is not modelled"),
        ({"quantization_config": {"quant_method": "awq", "bits": -4}}, "bits is -4, which no model has"),
        ({"layer_types": ["linear_attention"] * 36}, "config.json does not say linear_num_key_heads"),
        ({"kv_lora_rank": "512"}, "config.json: kv_lora_rank is 512, not a whole number"),
        ({"model_type": "x" * 10_000}, "is not modelled"),
        ({"num_hidden_layers": 0}, "config.json: num_hidden_layers is 0, which no model has"),
    ],
)
def test_the_missing_fact_is_named(change: dict[str, object], told: str) -> None:
    found = reason({**QWEN, **change})
    assert told in found
    assert len(found) < 300


def test_no_config() -> None:
    found = recognise(Published("some/model"))
    assert found == CannotTell("there is no config.json, which says how the model is built")


def test_a_secret_in_a_value_is_masked() -> None:
    assert "hf_abcdefghij" not in reason({**QWEN, "model_type": "hf_" + "abcdefghij" * 4})


KEYS = sorted({key for truth in TRUTH.values() for key in truth.config} | set(XLM_ROBERTA))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.integers(0, 64) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=8,
)
CONFIGS = [truth.config for truth in TRUTH.values()] + [XLM_ROBERTA]
SERVINGS = (
    Serving("llamacpp", "q4_k_m", 8192),
    Serving("llamacpp", "stored", 8192, 3, "q8_0"),
    Serving("vllm", "stored", 8192),
    Serving("vllm", "fp8", 8192, 2),
)


def answered(found: Architecture | CannotTell) -> None:
    if isinstance(found, CannotTell):
        assert found.reason
        return
    for serving in SERVINGS:
        answer = need(found, serving)
        assert isinstance(answer, CannotTell) or all(size >= 0 for size in answer.per_card)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    st.sampled_from(CONFIGS),
    st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=4),
    st.sampled_from([*FAMILIES, None]),
    st.none() | st.integers(1, 10**13),
)
def test_any_config_has_an_answer(
    base: Mapping[str, object], change: dict[str, object], family: str | None, parameters: int | None
) -> None:
    config = {**base, **change, **({"model_type": family} if family else {})}
    answered(recognise(Published("m", config=config), parameters=parameters))


NAMES = st.sampled_from(
    [
        "model.layers.0.self_attn.q_proj.weight",
        "model.layers.999.mlp.experts.3.up_proj.qweight",
        "model.layers.0.mlp.experts.gate_up_proj_blocks",
        "model.layers.0.mlp.down_proj.weight_packed",
        "lm_head.weight",
        "model.embed_tokens.weight",
        "mtp.layers.0.weight",
        "blk.0.attn_k.weight",
        "blk.7.ssm_conv1d.weight",
        "token_embd.weight",
        "blk.9999.x",
    ]
) | st.text(max_size=30)
TENSORS = st.builds(
    Tensor,
    NAMES,
    st.lists(st.integers(0, 2**20), max_size=5).map(tuple),
    st.sampled_from(["bf16", "f32", "i32", "u8", "f8_e4m3", "q4_k", "mxfp4", "??"]),
    st.integers(0, 2**40),
)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.sampled_from(CONFIGS), st.lists(TENSORS, max_size=8).map(tuple))
def test_any_headers_have_an_answer(base: Mapping[str, object], tensors: tuple[Tensor, ...]) -> None:
    answered(recognise(Published("m", config=base, tensors=tensors)))


METADATA = [
    "block_count",
    "embedding_length",
    "context_length",
    "expert_count",
    "nextn_predict_layers",
    "attention.head_count",
    "attention.head_count_kv",
    "attention.key_length",
    "attention.kv_lora_rank",
    "attention.key_length_mla",
    "attention.sliding_window",
    "attention.sliding_window_pattern",
    "attention.shared_kv_layers",
    "ssm.inner_size",
    "ssm.state_size",
    "ssm.conv_kernel",
    "shortconv.l_cache",
]


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    st.sampled_from(["llama", "gemma3", "deepseek2", "qwen35", "bert", "lfm2", "gpt-oss"]),
    st.dictionaries(st.sampled_from(METADATA), VALUES | st.integers(1, 64), max_size=8),
    st.lists(TENSORS, max_size=8).map(tuple),
)
def test_any_gguf_header_has_an_answer(arch: str, metadata: dict[str, object], tensors: tuple[Tensor, ...]) -> None:
    told = {"general.architecture": arch, f"{arch}.block_count": 8, f"{arch}.embedding_length": 256}
    told.update({f"{arch}.{key}": value for key, value in metadata.items()})
    file = GgufFile("m.gguf", None, metadata=told, tensors=tensors)
    answered(recognise(Published("m.gguf", gguf=(file,)), file))


def test_a_need_is_a_number_for_every_known_model() -> None:
    for name, truth in TRUTH.items():
        found = recognise(Published(name, config=truth.config), parameters=truth.told)
        assert isinstance(found, Architecture)
        assert isinstance(need(found, Serving("llamacpp", "q8_0", 8192)), Need)
