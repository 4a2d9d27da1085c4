"""The attention heads of a model: how many, how many of them keep keys and values, and how wide they are."""

from __future__ import annotations

from dataclasses import dataclass

from knaster.fit.recognition.config import Config, UnknownError


@dataclass(frozen=True, slots=True)
class Heads:
    """Query heads, KV heads, and the widths of a key and of a value."""

    count: int
    kv: int
    dim: int
    value_dim: int


def heads_of(config: Config) -> Heads:
    """Heads as the config states them.

    ``head_dim`` is read where it is there: hidden / heads is wrong for Qwen3-0.6B (64, real 128), Mistral 24B (160,
    real 128) and GLM-4.5 (53, real 128). Raises UnknownError where the one cannot be divided by the other, or
    there are more KV heads than heads.
    """
    count = config.count("num_attention_heads", "n_head", "n_heads")
    kv = config.maybe("num_key_value_heads", "n_head_kv", "num_kv_heads") or (
        1 if config.get("multi_query") is True else count
    )
    if kv > count:
        raise UnknownError(f"{config.where} says {kv} KV heads, which are more than its {count} heads")
    dim = config.maybe("head_dim", "attention_head_dim", "kv_channels")
    if dim is None:
        hidden = config.count("hidden_size", "n_embd", "d_model")
        if hidden % count:
            raise UnknownError(
                f"{config.where} has no head_dim, and hidden_size {hidden} does not divide by {count} heads"
            )
        dim = hidden // count
    return Heads(count, kv, dim, dim)
