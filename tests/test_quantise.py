"""What a GGUF file of a precision weighs, against figures that others published."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knaster.cluster.architecture import Architecture, CannotTell
from knaster.fit.memory.mixes import MIXES
from knaster.fit.memory.quantise import Stored, weight_bytes_gguf
from tests.model_inventories import llama, weight

LLAMA_8B = llama(32, 4096, 32, 8, 128, 14336, 128256, tied=False)

BITS = {
    "f16": "16.0005",
    "q8_0": "8.5008",
    "q6_k": "6.5633",
    "q5_k_m": "5.7036",
    "q5_k_s": "5.5704",
    "q4_k_m": "4.8944",
    "q4_k_s": "4.6672",
    "iq4_nl": "4.6818",
    "iq4_xs": "4.4597",
    "q3_k_m": "3.9960",
    "q2_k": "3.1593",
}
"""Bits per weight of Llama-3.1-8B: tools/quantize/README.md of llama.cpp."""


def stored(architecture: Architecture, precision: str) -> tuple[Stored, ...]:
    found = weight_bytes_gguf(architecture, precision)
    assert isinstance(found, tuple)
    return found


def total(architecture: Architecture, precision: str) -> int:
    return sum(tensor.size for tensor in stored(architecture, precision))


def kinds(architecture: Architecture, precision: str, name: str) -> list[str]:
    return [tensor.dtype for tensor in stored(architecture, precision) if tensor.name == name]


@pytest.mark.parametrize("precision", BITS)
def test_llama_8b_has_the_bits_per_weight_of_the_readme_of_llama_quantize(precision: str) -> None:
    assert f"{total(LLAMA_8B, precision) * 8 / 8_030_261_248:.4f}" == BITS[precision]


def test_more_bits_go_to_the_first_the_last_and_each_third_layer() -> None:
    # n = 32: i < 4, i >= 28, and of 4 .. 27 those with (i - 4) mod 3 == 2: 6, 9, 12, 15, 18, 21, 24, 27
    found = kinds(LLAMA_8B, "q4_k_m", "blk.{}.ffn_down.weight")
    assert [i for i, kind in enumerate(found) if kind == "q6_k"] == [
        *(0, 1, 2, 3),
        *(6, 9, 12, 15, 18, 21, 24, 27),
        *(28, 29, 30, 31),
    ]
    assert set(found) == {"q4_k", "q6_k"}


def test_a_tied_embedding_is_the_output_and_an_untied_one_stays_at_the_base() -> None:
    tied = llama(16, 2048, 32, 8, 64, 8192, 128256, tied=True)
    assert kinds(tied, "q4_k_m", "token_embd.weight") == ["q6_k"]
    assert kinds(LLAMA_8B, "q4_k_m", "token_embd.weight") == ["q4_k"]
    assert kinds(LLAMA_8B, "q4_k_m", "output.weight") == ["q6_k"]
    assert kinds(LLAMA_8B, "q8_0", "output.weight") == ["q8_0"]


def test_rows_that_are_no_whole_blocks_fall_back() -> None:
    # Gemma-3-1B: rows of 1152 = 4.5 x 256 = 36 x 32
    narrow = llama(26, 1152, 4, 1, 256, 6912, 262144, tied=True)
    assert kinds(narrow, "q4_k_m", "token_embd.weight") == ["q8_0"]
    assert set(kinds(narrow, "q4_k_m", "blk.{}.attn_k.weight")) == {"q5_0"}
    assert set(kinds(narrow, "q4_k_m", "blk.{}.ffn_down.weight")) == {"q4_k", "q6_k"}  # 6912 = 27 x 256
    assert set(kinds(narrow, "q5_k_m", "blk.{}.attn_k.weight")) == {"q5_1"}
    assert set(kinds(narrow, "iq4_xs", "blk.{}.attn_k.weight")) == {"iq4_nl"}
    assert set(kinds(narrow, "q2_k", "blk.{}.attn_k.weight")) == {"q4_0"}
    odd = replace(narrow, tensors=(weight("blk.{}.ffn_up.weight", 64, 33, layers=2),))
    assert kinds(odd, "q4_k_m", "blk.{}.ffn_up.weight") == ["f16", "f16"]
    assert kinds(odd, "q8_0", "blk.{}.ffn_up.weight") == ["f16", "f16"]


def test_values_of_80_layers_get_five_bits_at_least() -> None:
    found = kinds(llama(80, 8192, 64, 8, 128, 28672, 128256, tied=False), "q4_k_m", "blk.{}.attn_v.weight")
    assert set(found) == {"q5_k", "q6_k"}


def test_eight_experts_get_a_precise_attention() -> None:
    mixtral = replace(LLAMA_8B, experts=8)
    assert set(kinds(mixtral, "q4_k_m", "blk.{}.attn_v.weight")) == {"q8_0"}
    assert set(kinds(mixtral, "q4_k_m", "blk.{}.attn_k.weight")) == {"q8_0"}
    assert set(kinds(mixtral, "q4_k_m", "blk.{}.attn_output.weight")) == {"q5_k"}
    assert set(kinds(replace(LLAMA_8B, experts=128), "q4_k_m", "blk.{}.attn_k.weight")) == {"q4_k"}


def test_norms_biases_and_routers_stay_f32() -> None:
    model = replace(
        LLAMA_8B,
        experts=4,
        tensors=(
            weight("blk.{}.attn_norm.weight", 64, layers=1),
            weight("blk.{}.attn_q.bias", 64, layers=1),
            weight("blk.{}.ffn_down_exps.bias", 4, 64, layers=1),
            weight("blk.{}.ffn_gate_inp.weight", 4, 64, layers=1),
            weight("blk.{}.ssm_conv1d.weight", 64, 4, layers=1),
            weight("position_embd.weight", 8, 64),
            weight("token_types.weight", 2, 64),
        ),
    )
    for precision in ("bf16", "q8_0", "q4_k_m"):
        assert {tensor.dtype for tensor in stored(model, precision)} == {"f32"}
        assert total(model, precision) == 4 * (64 + 64 + 4 * 64 + 4 * 64 + 64 * 4 + 8 * 64 + 2 * 64)


def test_mxfp4_is_for_experts() -> None:
    assert isinstance(weight_bytes_gguf(LLAMA_8B, "mxfp4"), CannotTell)
    experts = weight("blk.{}.ffn_up_exps.weight", 4, 64, 32, layers=1)
    model = replace(LLAMA_8B, experts=4, tensors=(experts, weight("blk.{}.attn_q.weight", 64, 32, layers=1)))
    assert [(s.dtype, s.size) for s in stored(model, "mxfp4")] == [("q8_0", 64 * 34), ("mxfp4", 4 * 64 * 17)]


def test_experts_that_are_published_in_mxfp4_stay_so() -> None:
    published = weight("blk.{}.ffn_up_exps.weight", 4, 64, 32, layers=1, dtype="mxfp4")
    model = replace(LLAMA_8B, experts=4, tensors=(published,), stored="mxfp4")
    for precision in MIXES:
        assert [(s.dtype, s.size) for s in stored(model, precision)] == [("mxfp4", 4 * 64 * 17)]


def test_a_file_that_is_there_has_its_own_sizes() -> None:
    own = weight("token_embd.weight", 64, 256, dtype="q6_k")
    model = replace(LLAMA_8B, tensors=(replace(own, size=64 * 210),), stored="q4_k_m")
    assert [(s.dtype, s.size) for s in stored(model, "q4_k_m")] == [("q6_k", 64 * 210)]


def test_a_file_of_mixed_experts_has_its_own_sizes() -> None:
    experts = weight("blk.{}.ffn_up_exps.weight", 4, 64, 32, layers=1, dtype="mxfp4")
    attention = replace(weight("blk.{}.attn_q.weight", 64, 32, layers=1, dtype="q5_0"), size=64 * 22)
    model = replace(LLAMA_8B, experts=4, tensors=(replace(experts, size=4 * 64 * 17), attention), stored="q8_0")
    assert [(s.dtype, s.size) for s in stored(model, "q8_0")] == [("q5_0", 64 * 22), ("mxfp4", 4 * 64 * 17)]


def test_a_repository_of_awq_is_no_gguf_file() -> None:
    packed = weight("blk.{}.attn_q.weight", 64, 32, layers=1, dtype="i32")
    model = replace(LLAMA_8B, tensors=(packed,), stored="awq")
    assert isinstance(weight_bytes_gguf(model, "awq"), CannotTell)


def test_an_unknown_precision_is_no_number() -> None:
    assert weight_bytes_gguf(LLAMA_8B, "q9_z") == CannotTell(
        "q9_z is no precision of GGUF files that knaster knows the rules of"
    )


@settings(deadline=None, max_examples=40)
@given(
    st.integers(1, 90),
    st.integers(1, 40).map(lambda n: 32 * n),
    st.integers(1, 5),
    st.sampled_from([0, 4, 8, 64]),
    st.booleans(),
)
def test_every_tensor_gets_a_type_and_fewer_bits_never_weigh_more(
    layers: int, hidden: int, heads: int, experts: int, tied: bool
) -> None:
    model = replace(llama(layers, hidden, heads, heads, 64, 2 * hidden, 320, tied=tied), experts=experts)
    sizes = [total(model, precision) for precision in ("f16", "q8_0", "q6_k", "q5_k_m", "q4_k_m", "q3_k_m")]
    assert sizes == sorted(sizes, reverse=True)
    for precision in MIXES:
        if precision != "mxfp4" or experts:
            assert len(stored(model, precision)) == sum(group.count for group in model.tensors)
