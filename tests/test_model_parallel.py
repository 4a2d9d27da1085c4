"""Over how many cards vLLM can cut a model: the rules of its layers, and public reports of where they refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from knaster.cluster.architecture import Architecture
from knaster.fit.memory.tensor_parallel import indivisible
from knaster.fit.recognise import recognise
from knaster.weights import Published
from tests.model_fleets import QWEN3_14B, model
from tests.model_truth import TRUTH

QWEN = replace(model(QWEN3_14B), vocab=161280, tensors=())
"""161,280 = 64 x 2520 divides by every number up to 10, so that heads alone decide."""


def stored(name: str, quantised: Mapping[str, object], **other: object) -> Architecture:
    """A model of the truth table in a quantised checkpoint."""
    config = {**TRUTH[name].config, **other}
    inner = config.get("text_config")
    assert inner is None or isinstance(inner, dict)
    found = recognise(Published("a/model", config={**config, "quantization_config": quantised}))
    assert isinstance(found, Architecture), found
    return found


def works(one: Architecture, most: int = 10) -> set[int]:
    return {count for count in range(1, most + 1) if indivisible(one, count) is None}


@pytest.mark.parametrize(
    ("heads", "kv", "expected"),
    [
        (28, 4, {1, 2, 4}),
        (24, 8, {1, 2, 4, 8}),
        (24, 4, {1, 2, 4, 8}),
        (40, 10, {1, 2, 5, 10}),
        (32, 8, {1, 2, 4, 8}),
        (64, 8, {1, 2, 4, 8}),
    ],
)
def test_the_published_rule_of_heads(heads: int, kv: int, expected: set[int]) -> None:
    assert works(replace(QWEN, heads=heads, kv_heads=kv)) == expected


def test_of_a_latent_cache_only_the_heads_count() -> None:
    """And its blocks: 32 cards would cut them (sgl-project/sglang#3345)."""
    latent = model(TRUTH["deepseek-ai/DeepSeek-R1"].config)
    assert (latent.heads, latent.block) == (128, 128)
    assert works(latent, 32) == {1, 2, 4, 8, 16}


def test_a_vocabulary_is_padded_to_64_and_no_further() -> None:
    """vllm#31474 (GLM 4.7) and gpustack#3777 (GLM 4.5 Air): "151552 is not divisible by 6", with 96 heads."""
    glm = replace(QWEN, heads=96, kv_heads=96, vocab=151552)
    assert indivisible(glm, 6) == "a vocabulary of 151,552 cannot be divided by 6 cards (vLLM refuses)"
    assert indivisible(replace(glm, vocab=151549), 8) is None


def test_a_feed_forward_is_divided_too() -> None:
    """Qwen2.5 1.5B has 12 heads and 2 KV heads, so 6 cards would do; its feed-forward of 8960 is 6 x 1493.3."""
    shape = {"num_attention_heads": 12, "num_key_value_heads": 2, "head_dim": 128, "hidden_size": 1536}
    small = model({**QWEN3_14B, **shape, "intermediate_size": 8960, "vocab_size": 161280})
    assert indivisible(small, 6) == "a feed-forward of 8,960 cannot be divided by 6 cards (vLLM refuses)"
    assert works(small) == {1, 2, 4}


FP8 = {"quant_method": "fp8", "weight_block_size": [128, 128]}


@pytest.mark.parametrize(
    ("name", "expected", "refused", "told"),
    [
        # vllm#52915: the shared expert of 512 leaves 64 on each of 8 cards
        ("Qwen/Qwen3.6-35B-A3B", {1, 2, 4}, 8, "64"),
        # experts of 1536: 192 on each of 8 cards
        ("Qwen/Qwen3-235B-A22B", {1, 2, 4}, 8, "192"),
        # vllm PR 44763: experts of 768, 192 on each of 4
        ("Qwen/Qwen3-30B-A3B", {1, 2}, 4, "192"),
        ("Qwen/Qwen3-8B", {1, 2, 4, 8}, 0, ""),
    ],
)
def test_blocks_of_fp8_are_not_cut(name: str, expected: set[int], refused: int, told: str) -> None:
    one = stored(name, FP8)
    assert (one.stored, one.block) == ("fp8", 128)
    assert works(one, 8) == expected
    if refused:
        reason = indivisible(one, refused)
        assert reason is not None
        assert f"of {told} on each of {refused} cards would cut the fp8 blocks of 128" in reason
    assert works(stored(name, {"quant_method": "fp8"}), 8) >= expected


def test_groups_of_4_bits_are_not_cut() -> None:
    """Qwen padded the feed-forward of its 72B from 29568 to 29696 for this: 29568 = 2 x 115.5 groups of 128."""
    awq = {"quant_method": "awq", "bits": 4, "group_size": 128}
    plain = stored("Qwen/Qwen2.5-72B-Instruct", awq)
    assert works(plain, 8) == {1}
    assert works(stored("Qwen/Qwen2.5-72B-Instruct", awq, intermediate_size=29696), 8) == {1, 2, 4, 8}


@pytest.mark.parametrize("size", [-1, 0, True, 2**70, "128", None])
def test_odd_group_sizes_are_no_groups(size: object) -> None:
    one = stored("Qwen/Qwen3-8B", {"quant_method": "gptq", "bits": 4, "group_size": size})
    assert one.block == 0
