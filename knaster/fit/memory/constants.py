"""Every constant of the memory calculation, with its unit and where it comes from; nowhere else is one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from knaster.units import GIB, MIB


@dataclass(frozen=True, slots=True)
class Constant:
    """A value, in the unit that its name or comment says, and its source."""

    value: Fraction
    source: str


def _whole(value: int, source: str) -> Constant:
    return Constant(Fraction(value), source)


UBATCH = _whole(512, "llama.cpp: default of --ubatch-size, tokens")
CELLS = _whole(256, "llama.cpp: caches are padded to 256 cells (llama_kv_cache)")
OUTPUT_BYTES = _whole(4, "llama.cpp: activations and logits are F32")
MASK_BYTES = _whole(4, "llama.cpp: attention mask in F32 (llm_graph_input_attn)")
MASK_COPY_BYTES = _whole(2, "llama.cpp: and its copy in F16 with flash attention")
ACTIVE_EXPERTS = _whole(22, "experts that a token goes through, at most, in the families known here (Nemotron 3 Super)")
STATE_BYTES = _whole(4, "llama.cpp: both parts of a recurrent state are F32 (create_memory)")
CUDA_CONTEXT = _whole(
    300 * MIB, "CUDA context and cuBLAS of one process, outside all printed buffers: 300-600 MiB per card, judged"
)
LOADED = Constant(Fraction(102, 100), "vLLM: loaded weights exceed the file by 0-2.5 % (vllm#10517, #17469; KAITO)")
NON_TORCH = _whole(512 * MIB, "vLLM: non-torch memory of 0.35-0.6 GiB (start-up logs, vllm#10517)")
RUNTIME = Constant(
    Fraction(23 * GIB, 10), "vLLM: activations, CUDA graphs and non-torch together, 2.3 GiB a card (KAITO, PR 2139)"
)
RUNTIME_SHARE = Constant(Fraction(5, 100), "vLLM: and 5 % of the card's weights (KAITO, PR 2139)")
ACTIVATION_WIDTHS = _whole(3, "vLLM: gate, up and their product; residual, input and output: 3 of each (vllm#10517)")
BATCHED_TOKENS = _whole(2048, "vLLM: default of --max-num-batched-tokens below 70 GiB a card")
BATCHED_TOKENS_LARGE = _whole(8192, "vLLM: and from 70 GiB a card on (EngineArgs, API server)")
LARGE_CARD = _whole(70 * GIB, "vLLM: where that begins")
BLOCK = _whole(16, "vLLM: tokens of a cache block")
STATE_BLOCKS = _whole(
    2, "vLLM: blocks of state that a sequence may hold at once (mamba cache mode align; club-3090#612)"
)

KV_BITS: Mapping[str, Fraction] = {
    "f32": Fraction(32),
    "f16": Fraction(16),
    "bf16": Fraction(16),
    "fp8": Fraction(8),
    "q8_0": Fraction(34 * 8, 32),
    "q5_1": Fraction(24 * 8, 32),
    "q5_0": Fraction(22 * 8, 32),
    "q4_1": Fraction(20 * 8, 32),
    "q4_0": Fraction(18 * 8, 32),
    "iq4_nl": Fraction(18 * 8, 32),
}
"""Bits per number of a cache (ggml's blocks of 32 numbers; vLLM's fp8 has one scale for a whole layer)."""
KV_PRECISIONS: Mapping[str, tuple[str, ...]] = {
    "llamacpp": ("f32", "f16", "bf16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl"),
    "vllm": ("bf16", "f16", "fp8"),
}
"""What ``--cache-type-k`` of llama.cpp and ``--kv-cache-dtype`` of vLLM accept, as far as it is calculated here."""
LLAMACPP_WINDOWS = frozenset({"gemma2", "gemma3", "gemma3n", "gemma4", "gpt_oss", "gpt-oss", "cohere2", "olmo2"})
"""Families whose windows llama.cpp keeps in a cache of their own; the others (Mistral 7B v0.1) get a full cache."""
