"""What the layers of a model keep per sequence, from its config (facts of §1.4 and §1.5 of each family's code)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from knaster.cluster.architecture import LayerCache
from knaster.fit.recognition.config import Config, UnknownError, quoted
from knaster.fit.recognition.heads import Heads
from knaster.fit.recognition.kinds import Kind, window

_STATE_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}


def layer_caches(config: Config, kinds: tuple[Kind, ...], heads: Heads) -> tuple[LayerCache, ...]:
    """The groups of like layers, full ones first; layers that reuse an earlier layer's cache or keep nothing are left
    out (Gemma 3n and 4: the last ``num_kv_shared_layers``)."""
    shared = config.zero("num_kv_shared_layers", most=len(kinds))
    counted = Counter(kinds[: len(kinds) - shared])
    full = counted["full"] + counted["both"]
    groups = [_latent(config, full) or _full(config, full, heads)] if full else []
    if counted["sliding"]:
        groups.append(
            LayerCache("sliding", counted["sliding"], heads.kv, heads.dim, heads.value_dim, window=window(config))
        )
    states: tuple[tuple[Kind, int], ...] = (
        ("delta", counted["delta"]),
        ("mamba2", counted["mamba2"] + counted["both"]),
        ("mamba1", counted["mamba1"]),
        ("conv", counted["conv"]),
    )
    return (*groups, *(_RECURRENT[kind](config, layers) for kind, layers in states if layers))


def _full(config: Config, layers: int, heads: Heads) -> LayerCache:
    """Gemma 4's global layers have heads of their own; K and V are cached both, also where their weights are tied."""
    wide = config.maybe("global_head_dim")
    kv = (config.maybe("num_global_key_value_heads") or heads.kv) if wide else heads.kv
    return LayerCache("full", layers, kv, wide or heads.dim, wide or heads.value_dim)


def _latent(config: Config, layers: int) -> LayerCache | None:
    rank = config.maybe("kv_lora_rank")
    if rank is None:
        return None
    return LayerCache("latent", layers, 1, rank + config.zero("qk_rope_head_dim"))


def _state(config: Config, numbers: int) -> int:
    """Bytes of a state of `numbers`: F32, unless the config names another type."""
    kind = config.get("mamba_ssm_dtype", "mamba_ssm_cache_dtype") or "float32"
    if not isinstance(kind, str) or kind not in _STATE_BYTES:
        raise UnknownError(f"{config.where}: mamba_ssm_dtype is {quoted(kind)}")
    return numbers * _STATE_BYTES[kind]


def _delta(config: Config, layers: int) -> LayerCache:
    """Gated delta net of Qwen 3 Next and later: n_v x d_k x d_v, and conv - 1 columns of q, k and v."""
    keys = config.count("linear_num_key_heads") * config.count("linear_key_head_dim")
    values = config.count("linear_num_value_heads") * config.count("linear_value_head_dim")
    state = _state(config, values * config.count("linear_key_head_dim"))
    conv = (config.count("linear_conv_kernel_dim") - 1) * (2 * keys + values)
    return LayerCache("recurrent", layers, state_bytes=state, conv_elements=conv)


def _mamba2(config: Config, layers: int) -> LayerCache:
    heads = config.count("mamba_num_heads", "mamba_n_heads")
    inner = heads * config.count("mamba_head_dim", "mamba_d_head")
    width = config.count("ssm_state_size", "mamba_d_state")
    groups = config.count("n_groups", "mamba_n_groups")
    conv = (config.count("conv_kernel", "mamba_d_conv") - 1) * (inner + 2 * groups * width)
    return LayerCache("recurrent", layers, state_bytes=_state(config, inner * width), conv_elements=conv)


def _mamba1(config: Config, layers: int) -> LayerCache:
    inner = (config.maybe("mamba_expand") or 2) * config.count("hidden_size")
    state = _state(config, inner * config.count("mamba_d_state"))
    conv = (config.count("mamba_d_conv") - 1) * inner
    return LayerCache("recurrent", layers, state_bytes=state, conv_elements=conv)


def _conv(config: Config, layers: int) -> LayerCache:
    columns = config.count("conv_L_cache") - 1
    return LayerCache("recurrent", layers, conv_elements=columns * config.count("hidden_size"))


_RECURRENT: dict[Kind, Callable[[Config, int], LayerCache]] = {
    "delta": _delta,
    "mamba2": _mamba2,
    "mamba1": _mamba1,
    "conv": _conv,
}
