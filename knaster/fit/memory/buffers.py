"""Memory of a batch in flight: the compute buffer of llama.cpp, the activations of vLLM."""

from __future__ import annotations

from math import ceil

from knaster.cluster.architecture import Architecture
from knaster.fit.memory.caches import ubatch_of
from knaster.fit.memory.constants import (
    ACTIVATION_WIDTHS,
    ACTIVE_EXPERTS,
    MASK_BYTES,
    MASK_COPY_BYTES,
    OUTPUT_BYTES,
)
from knaster.fit.memory.serving import Serving


def compute_buffer(architecture: Architecture, serving: Serving) -> int:
    """Bytes of llama.cpp's compute buffer on each card: the largest of its steps, as buffers are reused.

    Attention: residual, q, k and v twice, the mask, and without flash attention the scores. Feed-forward: gate, up and
    product. Output: logits of the whole batch (builds before mid-2026; later ones reserve one per slot). Agrees with
    ``llama-fit-params`` for Qwen3-30B-A3B (301 MiB) and with the load log of Llama-3-8B (258.5 and 560 MiB).
    """
    batch, four = ubatch_of(architecture, serving), int(OUTPUT_BYTES.value)
    hidden = architecture.hidden
    attention = batch * four * (2 * hidden + 2 * _projected(architecture)) + _scores(architecture, serving, batch)
    forward = batch * four * (2 * hidden + 3 * forward_width(architecture))
    output = 0 if architecture.encoder else batch * four * (architecture.vocab + hidden)
    return max(attention, forward, output)


def _projected(architecture: Architecture) -> int:
    return (architecture.heads + 2 * architecture.kv_heads) * architecture.head_dim


def _scores(architecture: Architecture, serving: Serving, batch: int) -> int:
    """The mask; and the scores of all heads, which flash attention never writes down."""
    span = batch if architecture.encoder else serving.context * (serving.parallel if serving.unified else 1)
    per = int(MASK_BYTES.value) + (int(MASK_COPY_BYTES.value) if serving.flash_attention else 0)
    heads = 0 if serving.flash_attention else architecture.heads * int(OUTPUT_BYTES.value)
    return batch * span * (per + heads)


def forward_width(architecture: Architecture) -> int:
    """Numbers per token in the widest feed-forward: of a dense layer, or of the experts that a token goes through."""
    widest = 0
    for group in architecture.tensors:
        fused = "ffn_gate_up" in group.name
        if (fused or "ffn_up" in group.name) and group.name.endswith(".weight") and len(group.shape) > 1:
            active = min(group.shape[0], int(ACTIVE_EXPERTS.value)) if len(group.shape) > 2 else 1
            widest = max(widest, active * group.shape[-2] // (2 if fused else 1))
    return widest or 4 * architecture.hidden  # the usual ratio, where no tensor shows it


def activations(architecture: Architecture, serving: Serving, ranks: int) -> int:
    """Bytes of vLLM's activations for the tokens in flight, at two bytes a number.

    Three feed-forward and three hidden widths a token: 2.06 GiB at 20,000 and 2.99 GiB at 29,000 tokens for
    Llama-3.1-8B, measured 2.1 and 3.0 (vllm#10517).
    """
    widths = ceil(forward_width(architecture) / ranks) + architecture.hidden
    return serving.batched_tokens * 2 * int(ACTIVATION_WIDTHS.value) * widths
