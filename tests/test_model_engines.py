"""Engine x precision x card: which combinations exist, and the reason for every one that does not (late 2026)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from knaster.cluster import Engine
from knaster.fit.memory.mixes import MIXES
from knaster.model_plan.engines import (
    DEFAULT,
    PRECISIONS,
    Planning,
    budget,
    build,
    known,
    order,
    overflows,
    refused,
    refused_on,
    utilization,
)
from knaster.model_plan.pools import CardClass
from knaster.units import MIB
from tests.model_fleets import ENGINES, LLAMACPP, QWEN3_14B, VLLM, model

LLAMA, V = ENGINES["llamacpp"], ENGINES["vllm"]


def card(cc: float, os: str = "linux", gib: float = 20, free: float | None = None, **more: object) -> CardClass:
    """A card of `gib`, of which `free` may be used."""
    size = int(gib * 1024) * MIB
    return CardClass("x", os, cc, size, size if free is None else int(free * 1024) * MIB, **more)  # type: ignore[arg-type]


M4000, P2000, T4, AMPERE, ADA = card(5.2), card(6.1), card(7.5), card(8.6), card(8.9)


def test_the_defaults_are_those_of_the_design() -> None:
    assert DEFAULT == ("bf16", "fp8", "q8_0", "q4_k_m")
    assert sorted(reversed(DEFAULT), key=order) == list(DEFAULT)


def test_every_gguf_precision_that_can_be_asked_for_can_be_computed() -> None:
    gguf = {name for name in PRECISIONS if name not in ("fp8", "int8", "nvfp4", "awq", "gptq", "int4")}
    assert gguf == set(MIXES)


@pytest.mark.parametrize("precision", ["bf16", "fp8", "f16", "awq", "gptq", "mxfp4", "int8", "int4", "nvfp4"])
@pytest.mark.parametrize("old", [M4000, P2000])
def test_vllm_never_serves_maxwell_and_pascal(old: CardClass, precision: str) -> None:
    reason = refused_on(V, precision, old)
    assert reason is not None
    assert "compute capability" in reason


@pytest.mark.parametrize("precision", ["q8_0", "q4_k_m", "f16", "iq4_xs", "mxfp4"])
@pytest.mark.parametrize("any_card", [M4000, P2000, T4, ADA, card(8.9, "windows"), card(12.0)])
def test_llama_cpp_serves_gguf_everywhere(any_card: CardClass, precision: str) -> None:
    assert refused_on(LLAMA, precision, any_card) is None


def test_vllm_does_not_run_on_windows() -> None:
    reason = refused_on(V, "fp8", card(8.9, "windows"))
    assert reason == "vLLM does not run on windows natively (the catalog says: linux)"


@pytest.mark.parametrize(
    ("precision", "lowest"),
    [
        ("bf16", 8.0),
        ("f16", 7.5),
        ("fp8", 7.5),
        ("awq", 7.5),
        ("gptq", 7.5),
        ("mxfp4", 8.0),
        ("int8", 7.5),
        ("int4", 7.5),
        ("nvfp4", 8.0),
    ],
)
def test_the_floors_of_vllm(precision: str, lowest: float) -> None:
    below = {7.0: None, 7.5: 7.0, 8.0: 7.5}[lowest]
    assert refused_on(V, precision, card(lowest)) is None
    assert below is None or refused_on(V, precision, card(below)) is not None


def test_bf16_of_a_file_is_not_for_pascal() -> None:
    assert refused_on(LLAMA, "bf16", P2000) == "bf16 needs compute capability 8.0, the card has 6.1"
    assert refused_on(LLAMA, "bf16", ADA) is None


def test_a_cuda_13_build_of_the_catalog_leaves_old_cards_out() -> None:
    new = Planning("llamacpp", replace(LLAMACPP, min_cc=7.5))
    told = "llamacpp of the catalog begins at 7.5, the card has 6.1; below 7.5 that takes the CUDA 12 build"
    assert refused_on(new, "q4_k_m", P2000) == told
    assert refused_on(new, "q4_k_m", T4) is None


def test_kepler_has_no_build() -> None:
    none = Planning("llamacpp", replace(LLAMACPP, min_cc=0))
    assert refused_on(none, "q4_k_m", card(3.5)) == "llama.cpp's builds begin at compute capability 5.0"


def test_ceiling_policy_and_processor_of_the_catalog_hold() -> None:
    ends = Planning("vllm", replace(VLLM, max_cc=9.0))
    assert refused_on(ends, "bf16", card(12.0)) == "vllm ends at compute capability 9.0"
    assert refused_on(V, "bf16", card(8.9, engines=("llamacpp",))) == "the card policy allows llamacpp"
    never = Planning("llamacpp", replace(LLAMACPP, gpu="none"))
    assert refused_on(never, "q8_0", ADA) == "llamacpp uses no card, says the catalog"


def test_an_fp8_cache_needs_ada() -> None:
    assert refused_on(V, "bf16", AMPERE, "fp8") == "an fp8 KV cache needs compute capability 8.9, the card has 8.6"
    assert refused_on(V, "bf16", ADA, "fp8") is None


QWEN = model(QWEN3_14B)


@pytest.mark.parametrize("precision", [name for name in PRECISIONS if name.startswith(("q", "iq"))])
def test_gguf_is_never_planned_on_vllm(precision: str) -> None:
    assert "GGUF" in str(refused("vllm", precision, QWEN))
    assert refused("llamacpp", precision, QWEN) is None


@pytest.mark.parametrize("precision", ["fp8", "awq", "gptq", "bf16"])
def test_what_is_no_gguf_is_never_planned_on_llama_cpp(precision: str) -> None:
    assert refused("llamacpp", precision, QWEN) is not None


def test_int4_comes_from_a_quantised_repository_only() -> None:
    told = "vLLM serves awq only of a repository that is stored so; this one is bf16"
    assert refused("vllm", "awq", QWEN) == told
    stored = replace(QWEN, stored="awq")
    assert refused("vllm", "awq", stored) is None
    assert refused("vllm", "bf16", stored) == "the repository is stored as awq, and vLLM serves it so (--precision awq)"
    assert "plan the original" in str(refused("llamacpp", "q4_k_m", stored))


@pytest.mark.parametrize("stored", ["int8", "int4", "nvfp4"])
def test_what_a_reason_tells_to_ask_for_can_be_asked_for(stored: str) -> None:
    one = replace(QWEN, stored=stored)
    assert refused("vllm", "bf16", one) == (
        f"the repository is stored as {stored}, and vLLM serves it so (--precision {stored})"
    )
    assert stored in PRECISIONS
    assert refused("vllm", stored, one) is None
    assert "is no GGUF quantisation" in (refused("llamacpp", stored, one) or "")
    assert "only of a repository that is stored so" in (refused("vllm", stored, QWEN) or "")


def test_a_kv_cache_in_bf16_is_not_for_pascal() -> None:
    assert refused_on(LLAMA, "q8_0", P2000, "bf16") == "a bf16 KV cache needs compute capability 8.0, the card has 6.1"
    assert refused_on(LLAMA, "q8_0", AMPERE, "bf16") is None
    assert refused_on(LLAMA, "q8_0", P2000, "q8_0") is None


def test_bitsandbytes_needs_a_plug_in() -> None:
    told = "the repository is stored as bnb-4bit, which vLLM does not serve without a plug-in: plan the original"
    assert refused("vllm", "bf16", replace(QWEN, stored="bnb-4bit")) == told


@pytest.mark.parametrize("family", ["gemma2", "gemma3", "gemma3_text", "glm4"])
def test_vllm_refuses_families_that_overflow_in_half_precision(family: str) -> None:
    """``_FLOAT16_NOT_SUPPORTED_MODELS`` of vLLM; below 8.0 it has nothing but half precision, for fp8 weights too."""
    one = replace(QWEN, family=family)
    told = f"{family} overflows in f16, which vLLM refuses; bf16 needs compute capability 8.0"
    assert overflows(one, "f16", 8.9) == told
    assert overflows(one, "fp8", 7.5) == told
    assert overflows(one, "fp8", 8.0) is None
    assert overflows(QWEN, "f16", 7.5) is None


def test_engines_are_known_by_their_names() -> None:
    engines = {name: Engine(name) for name in ("vLLM", "llama.cpp", "piper", "pytorch")}
    assert {kind: one.engine.name for kind, one in known(engines).items()} == {
        "llamacpp": "llama.cpp",
        "vllm": "vLLM",
    }


def test_vllm_may_use_its_share_and_never_the_reserve() -> None:
    # 0.92 x 80 GiB; of a card of 5 GiB with half a GiB kept, 4.5 / 5 = 0.90 of it
    assert (utilization(card(9.0, gib=80, free=79.5)), utilization(card(8.6, gib=5, free=4.5))) == (0.92, 0.9)
    assert budget("vllm", card(9.0, gib=80, free=79.5)) == int(80 * 1024 * MIB * 0.92)
    assert budget("llamacpp", card(9.0, gib=80, free=79.5)) == int(79.5 * 1024) * MIB


def test_the_cuda_12_build_is_named_where_only_it_serves() -> None:
    assert build("llamacpp", (M4000, ADA)) == "CUDA 12"
    assert (build("llamacpp", (T4, ADA)), build("vllm", (ADA,))) == ("", "")
