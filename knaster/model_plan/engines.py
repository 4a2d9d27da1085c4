"""Which engine serves which precision on which card: one table, and the reason for every combination that is absent.

Sources: vLLM 0.33.0 (`get_min_capability` of each quantisation, README of quantization, platforms/cuda.py), llama.cpp
of 2026-10 (build documentation, release files, CMake's list of architectures). The catalog's floors hold beside them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from knaster.cluster import Engine, Number, Platform
from knaster.cluster.architecture import Architecture
from knaster.fit.memory.serving import EngineName
from knaster.model_plan.pools import CardClass
from knaster.units import MIB, mib, show_cc

PRECISIONS = (
    "bf16",
    "f16",
    "fp8",
    "int8",
    "q8_0",
    "q6_k",
    "q5_k_m",
    "q5_k_s",
    "q4_k_m",
    "q4_k_s",
    "q4_0",
    "iq4_nl",
    "iq4_xs",
    "mxfp4",
    "nvfp4",
    "awq",
    "gptq",
    "int4",
    "q3_k_m",
    "q2_k",
)
"""Every precision that can be asked for, the highest first."""

PLAIN = ("bf16", "f16", "f32")
"""What is stored without a quantisation, and can become any precision."""

QUANTISED = ("fp8", "int8", "nvfp4", "awq", "gptq", "int4")
"""What no GGUF file is in; of all but fp8 vLLM serves only a repository that is stored so."""

DEFAULT = ("bf16", "fp8", "q8_0", "q4_k_m")
"""What is planned unless asked otherwise."""

KV_PRECISIONS: Mapping[str, tuple[EngineName, ...]] = {
    "auto": ("llamacpp", "vllm"),
    "f16": ("llamacpp", "vllm"),
    "bf16": ("llamacpp", "vllm"),
    "fp8": ("vllm",),
    "q8_0": ("llamacpp",),
    "q5_1": ("llamacpp",),
    "q5_0": ("llamacpp",),
    "q4_1": ("llamacpp",),
    "q4_0": ("llamacpp",),
}
"""Precisions of the KV cache, and the engines that have them."""

CUDA_13_FLOOR = 7.5
"""Lowest compute capability of llama.cpp's CUDA 13 builds; Maxwell, Pascal and Volta need the CUDA 12 one."""

LLAMACPP_FLOOR = 5.0
"""Lowest compute capability in the list of architectures of llama.cpp's CUDA 12 build."""

UTILIZATION = 0.92
"""vLLM's default share of a card (`--gpu-memory-utilization`); it refuses to start when less than that is free."""

_NAMES: Mapping[str, EngineName] = {"llamacpp": "llamacpp", "llamaserver": "llamacpp", "vllm": "vllm"}
TITLES: Mapping[EngineName, str] = {"llamacpp": "llama.cpp", "vllm": "vLLM"}
"""How people write the engines."""

VLLM_FLOORS: Mapping[str, tuple[Number, str]] = {
    "bf16": (8.0, "vLLM refuses bf16 below compute capability 8.0 (--precision f16 serves it from 7.5 on)"),
    "f16": (7.5, "vLLM's wheels begin at compute capability 7.5"),
    "fp8": (7.5, "vLLM serves fp8 from compute capability 7.5 on (8.9 for arithmetic in fp8)"),
    "mxfp4": (8.0, "vLLM serves mxfp4 from compute capability 8.0 on"),
    "awq": (7.5, "vLLM serves AWQ from compute capability 7.5 on"),
    "gptq": (7.5, "vLLM serves GPTQ from compute capability 7.5 on"),
    "int8": (7.5, "vLLM serves int8 from compute capability 7.5 on"),
    "int4": (7.5, "vLLM serves int4 from compute capability 7.5 on"),
    "nvfp4": (8.0, "vLLM serves nvfp4 from compute capability 8.0 on (10.0 for arithmetic in fp4)"),
}
"""Precision -> lowest compute capability and the words for a card below it."""

_NO_F16 = frozenset({"gemma2", "gemma3", "gemma3_text", "glm4", "plamo2"})
"""Families that vLLM refuses in half precision, for their numbers overflow (``_FLOAT16_NOT_SUPPORTED_MODELS``)."""
_BF16_FLOOR = 8.0


@dataclass(frozen=True, slots=True)
class Planning:
    """An engine of the catalog that `model plan` can calculate for.

    ``reserve`` is the smallest VRAM reserve of the systems that it runs on, in bytes: what ``vram_gb`` may leave out,
    because every card keeps as much aside.
    """

    kind: EngineName
    engine: Engine
    reserve: int = 0

    @property
    def title(self) -> str:
        """How people write it."""
        return TITLES[self.kind]


def known(engines: Mapping[str, Engine], platform: Platform | None = None) -> dict[EngineName, Planning]:
    """The catalog's engines that are llama.cpp or vLLM, by what they are; of two of a kind the first by name."""
    reserves = platform.vram_reserve_gb if platform else {}
    found: dict[EngineName, Planning] = {}
    for name, engine in sorted(engines.items()):
        kind = _NAMES.get(re.sub(r"[^a-z0-9]", "", name.lower()))
        if kind is not None:
            kept = min((mib(reserves.get(system, 0)) for system in engine.os), default=0)
            found.setdefault(kind, Planning(kind, engine, int(kept * MIB)))
    return found


def is_gguf(precision: str) -> bool:
    """Whether a precision is one of GGUF files alone."""
    return re.match(r"(?:t?q|iq)[0-9]", precision) is not None


def order(precision: str) -> tuple[int, str]:
    """Sort key: the highest precision first; unknown ones (of a file) last, by name."""
    return (PRECISIONS.index(precision) if precision in PRECISIONS else len(PRECISIONS), precision)


def refused(kind: EngineName, precision: str, model: Architecture) -> str | None:
    """Why an engine never serves a precision of a repository with a config, whatever the card."""
    if kind == "vllm":
        return _not_in_vllm(precision, model.stored)
    if precision in QUANTISED:
        return f"{precision} is no GGUF quantisation; llama.cpp serves q8_0, q6_k, q5_k_m, q4_k_m …"
    if precision == "bf16":
        return "bf16 is what vLLM serves; as a GGUF file choose f16 or q8_0"
    if model.stored in ("awq", "gptq"):
        return f"no GGUF is made from a repository that is quantised already ({model.stored}): plan the original"
    return None


def _not_in_vllm(precision: str, stored: str) -> str | None:
    if is_gguf(precision):
        return f"{precision} is a GGUF quantisation; vLLM is never planned with GGUF files"
    if precision in (*QUANTISED, "mxfp4") and precision not in ("fp8", stored):
        return f"vLLM serves {precision} only of a repository that is stored so; this one is {stored}"
    if stored not in PLAIN and precision != stored:
        if stored not in VLLM_FLOORS:
            return (
                f"the repository is stored as {stored}, which vLLM does not serve without a plug-in: plan the original"
            )
        return f"the repository is stored as {stored}, and vLLM serves it so (--precision {stored})"
    return None


def refused_on(planning: Planning, precision: str, card: CardClass, kv_precision: str = "auto") -> str | None:
    """Why a card never runs a precision under an engine, whatever the size of the model."""
    engine, title = planning.engine, planning.title
    if card.os not in engine.os:
        return f"{title} does not run on {card.os} natively (the catalog says: {' and '.join(engine.os)})"
    if planning.kind not in KV_PRECISIONS[kv_precision]:
        return f"{title} has no KV cache in {kv_precision}"
    if engine.gpu == "none":
        return f"{engine.name} uses no card, says the catalog"
    below = _below(planning, card.compute_cap, precision)
    if below:
        return below
    if engine.max_cc is not None and card.compute_cap > engine.max_cc:
        return f"{engine.name} ends at compute capability {show_cc(engine.max_cc)}"
    if card.engines is not None and engine.name not in card.engines:
        return f"the card policy allows {' and '.join(card.engines) or 'no engine'}"
    return _cache_refused(kv_precision, card.compute_cap)


def _cache_refused(kv_precision: str, have: Number) -> str | None:
    floor = {"bf16": _BF16_FLOOR, "fp8": 8.9}.get(kv_precision)
    if floor is None or have >= floor:
        return None
    article = "an" if kv_precision == "fp8" else "a"
    return f"{article} {kv_precision} KV cache needs compute capability {show_cc(floor)}, the card has {show_cc(have)}"


def overflows(model: Architecture, precision: str, compute_cap: Number) -> str | None:
    """Why vLLM refuses to calculate the model in half precision, which below compute capability 8.0 is all it has."""
    if model.family not in _NO_F16 or (precision != "f16" and compute_cap >= _BF16_FLOOR):
        return None
    return f"{model.family} overflows in f16, which vLLM refuses; bf16 needs compute capability 8.0"


def _below(planning: Planning, have: Number, precision: str) -> str | None:
    engine = planning.engine
    if planning.kind == "llamacpp":
        if have < LLAMACPP_FLOOR:
            return f"llama.cpp's builds begin at compute capability {show_cc(LLAMACPP_FLOOR)}"
        if precision == "bf16" and have < 8.0:
            return f"bf16 needs compute capability 8.0, the card has {show_cc(have)}"
        if have < engine.min_cc:
            old = "; below 7.5 that takes the CUDA 12 build" if have < CUDA_13_FLOOR <= engine.min_cc else ""
            return f"{engine.name} of the catalog begins at {show_cc(engine.min_cc)}, the card has {show_cc(have)}{old}"
        return None
    floor, why = VLLM_FLOORS[precision]
    if have < max(floor, engine.min_cc):
        own = engine.min_cc > floor
        return f"{engine.name} of the catalog begins at {show_cc(engine.min_cc)}" if own else why
    return None


def budget(kind: EngineName, card: CardClass) -> int:
    """Bytes of a card that an engine may use: all but the reserve, under vLLM its share of the whole card."""
    return card.free if kind == "llamacpp" else int(card.total * utilization(card))


def utilization(card: CardClass) -> float:
    """vLLM's share of a card in hundredths: the default, or what the reserve leaves of a small card."""
    return min(UTILIZATION, card.free * 100 // card.total / 100)


def build(kind: EngineName, cards: tuple[CardClass, ...]) -> str:
    """Which build of the engine serves all the cards; "" where any does."""
    if kind != "llamacpp" or not any(card.compute_cap < CUDA_13_FLOOR for card in cards):
        return ""
    return "CUDA 12"
