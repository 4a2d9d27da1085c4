"""GGUF sizes of models as published: computed from their configs, compared with files on the hub."""

from __future__ import annotations

from dataclasses import replace

import pytest

from knaster.cluster.architecture import Architecture
from knaster.fit.memory.quantise import weight_bytes_gguf
from knaster.fit.recognise import recognise
from knaster.weights import Published
from tests.model_truth import TRUTH, XLM_ROBERTA

METADATA = 10_000_000
"""Bytes of a file's tokenizer and other metadata: 6 to 15 MB."""
GB, MB, GIB = 10**9, 10**6, 2**30

COMPUTED = {
    "Qwen/Qwen3-0.6B": (0.633, 0.391),
    "Qwen/Qwen3-4B": (4.274, 2.491),
    "Qwen/Qwen3-8B": (8.704, 5.022),
    "Qwen/Qwen3-30B-A3B": (32.478, 18.551),
    "Qwen/Qwen3-235B-A22B": (249.934, 142.148),
    "meta-llama/Llama-3.2-1B-Instruct": (1.313, 0.800),
    "meta-llama/Llama-3.2-3B-Instruct": (3.414, 2.012),
    "meta-llama/Llama-3.3-70B-Instruct": (74.967, 42.513),
    "google/gemma-2-9b-it": (9.821, 5.755),
    "google/gemma-3-1b-it": (1.063, 0.800),
    "google/gemma-3-4b-it": (4.124, 2.483),
    "mistralai/Mistral-7B-Instruct-v0.3": (7.702, 4.372),
    "mistralai/Mistral-Small-24B-Instruct-2501": (25.047, 14.326),
    "microsoft/phi-4": (15.577, 9.056),
    "Qwen/Qwen2.5-72B-Instruct": (77.257, 47.368),
}
"""GB in q8_0 and q4_k_m, from the shapes of the tensors and llama.cpp's rules, by another program than this one."""

PUBLISHED = {
    "Qwen/Qwen3-4B": {"q8_0": 4.28, "q4_k_m": 2.5, "q5_k_m": 2.89},
    "Qwen/Qwen3-8B": {"q8_0": 8.71, "f16": 16.4, "q6_k": 6.73, "q4_0": 4.77, "q2_k": 3.28},
    "Qwen/Qwen3.5-9B": {"q4_k_m": 5.680529408},
    "meta-llama/Llama-3.2-1B-Instruct": {
        **{"q8_0": 1.32, "f16": 2.48, "q6_k": 1.02, "q5_k_m": 0.91, "q4_k_m": 0.81, "q4_k_s": 0.78},
    },
    "meta-llama/Llama-3.3-70B-Instruct": {"q4_k_m": 39.59 * GIB / GB, "q4_0": 37.35 * GIB / GB},
    "google/gemma-2-9b-it": {"q4_k_m": 5.76, "q4_k_s": 5.48, "iq4_xs": 5.18, "q3_k_m": 4.76, "q2_k": 3.81},
    "mistralai/Mistral-7B-Instruct-v0.3": {"q8_0": 7.7, "q4_k_m": 4.37, "f16": 14.5, "q5_k_m": 5.14},
    "mistralai/Mistral-Small-24B-Instruct-2501": {
        **{"q8_0": 25.1, "bf16": 47.2, "q6_k": 19.3, "q5_k_m": 16.8, "q5_k_s": 16.3, "q4_k_m": 14.3},
        **{"iq4_nl": 13.5, "iq4_xs": 12.8, "q3_k_m": 11.5, "q2_k": 8.89},
    },
    "microsoft/phi-4": {
        **{"q8_0": 15.6, "f16": 29.3, "q6_k": 12.0, "q5_k_m": 10.6, "q4_k_m": 9.05, "q4_k_s": 8.44, "q4_0": 8.38},
        **{"iq4_xs": 8.01},
    },
    "Qwen/Qwen2.5-72B-Instruct": {"q4_k_m": 44.15 * GIB / GB},
    "openai/gpt-oss-20b": {"f16": 13.8, "q8_0": 12.1, "q4_k_m": 11.6, "q2_k": 11.5},
}
"""GB of files on the hub (bartowski, unsloth, mradermacher, QuantFactory, codebasic) and of gguf-parser-go's README."""


def architecture(name: str) -> Architecture:
    truth = TRUTH[name]
    found = recognise(Published(name, config=truth.config), parameters=truth.told)
    assert isinstance(found, Architecture), found
    return found


def size(model: Architecture, precision: str) -> int:
    found = weight_bytes_gguf(model, precision)
    assert isinstance(found, tuple)
    return sum(tensor.size for tensor in found)


@pytest.mark.parametrize("name", COMPUTED)
def test_sizes_are_those_of_the_rules(name: str) -> None:
    q8_0, q4_k_m = COMPUTED[name]
    assert size(architecture(name), "q8_0") == pytest.approx(q8_0 * GB, rel=0.001)
    assert size(architecture(name), "q4_k_m") == pytest.approx(q4_k_m * GB, rel=0.001)


@pytest.mark.parametrize(("name", "precision"), [(name, kind) for name, sizes in PUBLISHED.items() for kind in sizes])
def test_sizes_are_those_of_published_files(name: str, precision: str) -> None:
    published = PUBLISHED[name][precision] * GB
    assert size(architecture(name), precision) + METADATA == pytest.approx(published, rel=0.01)


def test_qwen3_0_6b_as_published_with_its_embedding_twice() -> None:
    # F16 1.51 GB, 752M parameters: the tied matrix of 151,936 x 1024 is in the file a second time
    model = architecture("Qwen/Qwen3-0.6B")
    embedding = next(group for group in model.tensors if group.name == "token_embd.weight")
    twice = replace(model, tensors=(*model.tensors, replace(embedding, name="output.weight")))
    assert sum(group.elements for group in twice.tensors) == pytest.approx(752e6, rel=0.001)
    assert size(twice, "f16") + METADATA == pytest.approx(1.51 * GB, rel=0.02)


@pytest.mark.parametrize(
    ("precision", "published"), [("q8_0", 8.05), ("q4_k_m", 4.68), ("f16", 15.1), ("q6_k", 6.21), ("q5_k_m", 5.42)]
)
def test_qwen3_embedding_8b_has_no_output_matrix(precision: str, published: float) -> None:
    model = architecture("Qwen/Qwen3-Embedding-8B")
    without = replace(model, tensors=tuple(group for group in model.tensors if group.name != "output.weight"))
    assert size(without, precision) + METADATA == pytest.approx(published * GB, rel=0.01)


@pytest.mark.parametrize(
    ("precision", "published"), [("q8_0", 635), ("q4_k_m", 438), ("f16", 1160), ("q6_k", 499), ("q5_k_m", 468)]
)
def test_bge_m3(precision: str, published: float) -> None:
    model = recognise(Published("BAAI/bge-m3", config=XLM_ROBERTA))
    assert isinstance(model, Architecture)
    assert model.parameters == pytest.approx(567.75e6, rel=0.0001)
    assert size(model, precision) + METADATA == pytest.approx(published * MB, rel=0.02)


def test_gemma_3_1b_is_far_above_a_flat_rate() -> None:
    # rows of 1152 fall back: 6.4 bits a weight, 0.80 GB and not 0.61
    model = architecture("google/gemma-3-1b-it")
    assert size(model, "q4_k_m") * 8 / model.parameters == pytest.approx(6.397, abs=0.005)
