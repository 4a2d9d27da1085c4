"""The families of models that knaster can calculate with, by ``model_type``; every other one is "cannot tell"."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from knaster.cluster.architecture import LayerCache
from knaster.fit.recognition.config import Config
from knaster.fit.recognition.decoders import decoder, fused
from knaster.fit.recognition.encoders import bert, nomic
from knaster.fit.recognition.hybrids import delta_net, lfm2, nemotron
from knaster.fit.recognition.kinds import Kind
from knaster.fit.recognition.latents import latent
from knaster.fit.recognition.nas import nas, nas_caches
from knaster.fit.recognition.sheet import Sheet

Inventory = Callable[[Config, tuple[Kind, ...], Sheet], None]


@dataclass(frozen=True, slots=True)
class Family:
    """How a family is read.

    ``windows`` and ``recurrent`` as `kinds` takes them; ``inventory`` writes down the tensors of its layers, None where
    a config does not say them (their headers have to be read); ``tied`` the default of ``tie_word_embeddings``;
    ``defaults`` those of its config class that published configs leave out (transformers 5.24); ``caches`` reads the
    caches where no list of layer kinds does.
    """

    inventory: Inventory | None = decoder
    windows: str = "never"
    recurrent: Kind = "full"
    tied: bool = False
    encoder: bool = False
    defaults: Mapping[str, object] = field(default_factory=dict)
    caches: Callable[[Config], tuple[LayerCache, ...]] | None = None


_QK_NORM = {"qk_norm": True}
_QWEN2 = {"qkv_bias": True}
_GEMMA = {"head_dim": 256, "four_norms": True}
_GEMMA3 = {
    **_GEMMA,
    **_QK_NORM,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "vocab_size": 262208,
    "max_position_embeddings": 131072,
    "sliding_window": 4096,
}
_GEMMA3N = {
    "head_dim": 256,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "vocab_size": 262400,
    "hidden_size": 2048,
    "num_hidden_layers": 35,
    "max_position_embeddings": 32768,
    "sliding_window": 512,
    "num_kv_shared_layers": 15,
}
_JAMBA = {
    "attn_layer_period": 8,
    "attn_layer_offset": 4,
    "mamba_d_state": 16,
    "mamba_d_conv": 4,
    "mamba_expand": 2,
}
_DENSE = Family()
_HEADERS = Family(None)
_QWEN3 = Family(windows="switch", defaults=_QK_NORM)
_DELTA = Family(delta_net, recurrent="delta", defaults={"full_attention_interval": 4})
_BERT = Family(bert, encoder=True)

FAMILIES: Mapping[str, Family] = {
    "llama": _DENSE,
    "mistral": Family(windows="all"),
    "ministral3": _DENSE,
    "mixtral": Family(windows="all"),
    "granite": _DENSE,
    "smollm3": _DENSE,
    "granitemoe": _HEADERS,
    "olmo2": _HEADERS,
    "olmoe": _HEADERS,
    "starcoder2": Family(None, windows="all"),
    "stablelm": _HEADERS,
    "cohere": Family(None, tied=True),
    "phi": _HEADERS,
    "phimoe": _HEADERS,
    "glm4": _HEADERS,
    "nemotron-nas": Family(nas, caches=nas_caches),
    "qwen2": Family(windows="switch", defaults=_QWEN2),
    "qwen2_vl": Family(windows="switch", defaults=_QWEN2),
    "qwen2_5_vl": Family(windows="switch", defaults=_QWEN2),
    "qwen2_moe": Family(windows="switch", defaults=_QWEN2),
    "qwen3": _QWEN3,
    "qwen3_moe": _QWEN3,
    "qwen3_vl": _QWEN3,
    "qwen3_vl_moe": _QWEN3,
    "qwen3_next": _DELTA,
    "qwen3_5": _DELTA,
    "qwen3_5_moe": _DELTA,
    "phi3": Family(fused),
    "gemma": Family(tied=True, defaults={"head_dim": 256}),
    "gemma2": Family(windows="2", tied=True, defaults={**_GEMMA, "sliding_window": 4096, "vocab_size": 256000}),
    "gemma3": Family(windows="6", tied=True, defaults=_GEMMA3),
    "gemma3n": Family(None, windows="5", tied=True, defaults=_GEMMA3N),
    "gemma4": Family(windows="6", tied=True, defaults={"head_dim": 256, "global_head_dim": 512, "gemma4": True}),
    "gpt_oss": Family(windows="2", defaults={"gpt_oss": True, "attention_bias": True}),
    "glm4_moe": Family(defaults={"qkv_bias": True}),
    "minimax_m2": Family(None),
    "deepseek_v2": Family(latent),
    "deepseek_v3": Family(latent),
    "kimi_k2": Family(latent),
    "glm4_moe_lite": Family(latent),
    "nemotron_h": Family(nemotron, recurrent="mamba2"),
    "granitemoehybrid": Family(None, recurrent="mamba2"),
    "falcon_h1": Family(None, recurrent="both"),
    "jamba": Family(None, recurrent="mamba1", defaults=_JAMBA),
    "lfm2": Family(lfm2, recurrent="conv", tied=True, defaults={"conv_L_cache": 3}),
    "bert": _BERT,
    "roberta": _BERT,
    "xlm-roberta": _BERT,
    "nomic_bert": Family(nomic, encoder=True),
    "modernbert": Family(None, encoder=True),
}

ALIASES: Mapping[str, str] = {
    "mistral3": "mistral",
    "kimi_k25": "kimi_k2",
    "qwen2_5_omni": "qwen2",
    "camembert": "xlm-roberta",
}
"""Wrappers around a text model of another type; used where the nested config names none."""


def family_of(model_type: str) -> tuple[str, Family] | None:
    """The family of a ``model_type``, with its name; ``gemma3_text`` is ``gemma3``."""
    plain = model_type.removesuffix("_text")
    name = ALIASES.get(plain, plain)
    family = FAMILIES.get(name)
    return None if family is None else (name, family)
