"""Recognition: what the config, the headers and a GGUF file say about the memory of published models."""

from __future__ import annotations

import pytest

from knaster.fit.architecture import Architecture, CannotTell
from knaster.fit.recognise import recognise
from knaster.weights import Published
from tests.model_truth import TRUTH, XLM_ROBERTA, Truth


def architecture(config: object, parameters: int | None = None) -> Architecture:
    assert isinstance(config, dict)
    found = recognise(Published("some/model", config=config), parameters=parameters)
    assert isinstance(found, Architecture), found
    return found


def per_token(found: Architecture, *kinds: str) -> int:
    """KV bytes per token at two bytes per number."""
    return sum(group.layers * group.elements * 2 for group in found.caches if group.kind in kinds)


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
