"""How a model is served, and what that needs: the question and the answer of `fit.memory.need`. All sizes are bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

EngineName = Literal["llamacpp", "vllm"]
Split = Literal["none", "layer", "tensor", "cpu"]


@dataclass(frozen=True, slots=True)
class Serving:
    """One way to serve a model.

    ``precision`` is that of the weights (``bf16``, ``f16``, ``fp8``, ``q8_0``, ``q4_k_m``, ``awq`` …), or ``stored``
    for the file as published. ``context`` is the tokens that one sequence may have, ``parallel`` the sequences at once
    (llama.cpp: slots; each gets the whole ``context``). ``kv_precision`` is ``auto`` (two bytes in both engines,
    also when the weights are fp8), ``f16``, ``bf16``, ``fp8``, ``q8_0``, ``q5_1``, ``q5_0``, ``q4_1``, ``q4_0`` or
    ``f32``. The rest are settings of one engine: ``ubatch`` (None: 512, or the whole text for an encoder),
    ``unified`` (one cache for all slots: ``--kv-unified``), ``flash_attention``,
    ``swa_full`` of llama.cpp; ``batched_tokens`` (tokens in flight), ``hybrid_cache`` (sliding layers keep their window
    only), ``graphs`` (CUDA graphs inside the budget, since 0.21, unless ``--enforce-eager``) and ``streamed_load``
    (online fp8 quantises layer by layer, since about 0.15; before, the card had to hold the two-byte weights) of vLLM.
    """

    engine: EngineName
    precision: str
    context: int
    parallel: int = 1
    kv_precision: str = "auto"
    ubatch: int | None = None
    unified: bool = True
    flash_attention: bool = True
    swa_full: bool = False
    batched_tokens: int = 2048
    hybrid_cache: bool = True
    graphs: bool = True
    streamed_load: bool = True


@dataclass(frozen=True, slots=True)
class Part:
    """A share of the need, over all cards: what it is, its bytes, and where the number comes from."""

    name: str
    size: int
    source: str


@dataclass(frozen=True, slots=True)
class Need:
    """What a way to serve a model needs, in bytes.

    ``per_card`` is what each card must offer, in the order of the cards (empty for ``cpu``); it holds weights, cache,
    state, compute and overhead, and under vLLM has to be at most the card x utilisation. ``load_peak`` is what each
    card must offer while the weights are loaded, never less than ``per_card``. ``weights`` .. ``context_overhead`` are
    sums over the cards (for ``cpu``: in RAM). ``ram_bytes`` is what the host's memory holds (the token embedding of
    llama.cpp; everything for ``cpu``). ``bytes_per_token`` is the growth of the cache per token of one sequence, over
    all cards that hold different parts of it; ``sequence`` what one sequence at full context keeps (cache and state).
    """

    per_card: tuple[int, ...]
    weights: int
    cache: int
    state: int
    compute: int
    context_overhead: int
    load_peak: tuple[int, ...]
    ram_bytes: int
    bytes_per_token: int
    sequence: int
    parts: tuple[Part, ...]
