"""The arguments that an engine needs for one row of a plan, in the engine's own words.

Sources: ``llama-server --help`` of llama.cpp (2026-10), ``vllm serve --help`` and README of quantization of vLLM 0.33.
"""

from __future__ import annotations

from knaster.model_plan.attempts import Fit
from knaster.model_plan.engines import utilization
from knaster.model_plan.purpose import Purpose
from knaster.units import show

_QWEN3_RERANKER = (
    '{"architectures": ["Qwen3ForSequenceClassification"], "classifier_from_token": ["no", "yes"], '
    '"is_original_qwen3_reranker": true}'
)
"""How vLLM serves the rerankers of Qwen 3, which are language models (its examples/offline_inference)."""
ALL_LAYERS = "999"
"""More layers than any model has: everything on the card (``--n-gpu-layers``)."""


def arguments(fit: Fit, purpose: Purpose, file: str) -> tuple[str, ...]:
    """For llama.cpp everything behind ``llama-server``, `file` included; for vLLM what follows the model's name."""
    if fit.tried.planning.kind == "vllm":
        return _vllm(fit, purpose)
    return _llamacpp(fit, purpose, file)


def quantization(fit: Fit) -> str | None:
    """vLLM's ``--quantization``: only for fp8 that is made while loading; what is stored so declares itself."""
    tried = fit.tried
    return "fp8_per_tensor" if tried.precision == "fp8" and tried.model.stored != "fp8" else None


def _llamacpp(fit: Fit, purpose: Purpose, file: str) -> tuple[str, ...]:
    ask, model = fit.tried.ask, fit.tried.model
    args = ["--model", file, "--ctx-size", str(ask.context * ask.parallel), "--parallel", str(ask.parallel)]
    if ask.parallel > 1:
        args.append("--kv-unified")
    args += ["--n-gpu-layers", ALL_LAYERS if fit.shape else "0"]
    if fit.split == "layer":
        shares = fit.shares or (1,) * fit.cards
        args += ["--split-mode", "layer", "--tensor-split", ",".join(show(share) for share in shares)]
    if ask.kv_precision not in ("auto", "f16"):
        args += ["--flash-attn", "on", "--cache-type-k", ask.kv_precision, "--cache-type-v", ask.kv_precision]
    if purpose.kind == "embedding":
        args += ["--embeddings", *(("--pooling", purpose.pooling) if purpose.pooling else ())]
    if purpose.kind == "reranker":
        args.append("--reranking")
    if model.encoder or ask.whole:  # the text goes through in one batch
        args += ["--batch-size", str(ask.context), "--ubatch-size", str(ask.context)]
    return tuple(args)


def _vllm(fit: Fit, purpose: Purpose) -> tuple[str, ...]:
    ask, shape, tried = fit.tried.ask, fit.shape, fit.tried
    assert shape is not None, "vLLM has no rows without a card"
    args = ["--max-model-len", str(ask.context)]
    if tried.precision in ("bf16", "f16"):
        args += ["--dtype", "bfloat16" if tried.precision == "bf16" else "half"]
    if method := quantization(fit):
        args += ["--quantization", method]
    if ask.kv_precision == "fp8":
        args += ["--kv-cache-dtype", "fp8"]
    if any(name in ("vision", "audio") for name, _ in tried.model.extra):
        args.append("--language-model-only")  # vLLM loads and profiles towers else, which the plan does not count
    if any(cache.kind == "recurrent" for cache in tried.model.caches):
        args += ["--max-num-seqs", str(ask.parallel)]  # its default wants more states than there is room for (#49064)
    if purpose.kind == "reranker" and not purpose.head and tried.model.family == "qwen3":
        args += ["--hf-overrides", _QWEN3_RERANKER]
    if shape.cards > 1:
        args += ["--tensor-parallel-size", str(shape.cards)]
    if shape.nodes > 1:
        args += ["--nnodes", str(shape.nodes)]
    args += ["--gpu-memory-utilization", show(min(utilization(kind) for kind in shape.each))]
    return (*args, *(("--runner", "pooling") if purpose.kind != "llm" else ()))
