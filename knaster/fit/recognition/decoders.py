"""The tensors of decoder layers, dense or with experts, as their config describes them (modelling code of
transformers 5.24; names of GGUF from ``gguf.tensor_mapping``)."""

from __future__ import annotations

from collections.abc import Iterable

from knaster.fit.recognition.config import Config
from knaster.fit.recognition.heads import heads_of
from knaster.fit.recognition.kinds import Kind
from knaster.fit.recognition.sheet import Sheet


def decoder(config: Config, kinds: tuple[Kind, ...], sheet: Sheet) -> None:
    """Llama and all that differ from it by biases, norms, windows or experts."""
    every = range(len(kinds))
    four = config.flag("four_norms")
    sheet.norms(every, "attn_norm", "ffn_norm")
    if four or config.flag("gemma4"):
        sheet.norms(every, "post_attention_norm", "post_ffw_norm")
    attention(config, kinds, sheet)
    experts = expert_layers(config, len(kinds))
    dense = every if config.flag("gemma4") else [layer for layer in every if layer not in set(experts)]
    swiglu(config, sheet, dense)
    if experts:
        mixture(config, sheet, experts)
    if config.flag("gemma4"):
        _gemma4(config, sheet, every, experts)


def _gemma4(config: Config, sheet: Sheet, every: Iterable[int], experts: list[int]) -> None:
    """Gemma 4: a scale for each layer, norms around the experts, and a scale for each expert."""
    sheet.block(every, "layer_output_scale.weight", 1)
    if experts:
        sheet.norms(experts, "ffn_post_norm_1", "ffn_pre_norm_2", "ffn_post_norm_2", "ffn_gate_inp_scale")
        sheet.block(experts, "ffn_down_exps.scale", config.count("num_experts"))


def attention(config: Config, kinds: tuple[Kind, ...], sheet: Sheet) -> None:
    """Query, key, value and output of the layers that have attention; Gemma 4's global ones are wider and share K
    and V, and gpt-oss has sinks."""
    heads = heads_of(config)
    sliding = [layer for layer, kind in enumerate(kinds) if kind == "sliding"]
    full = [layer for layer, kind in enumerate(kinds) if kind in ("full", "both")]
    wide = config.maybe("global_head_dim")
    if wide is None:
        _projections(config, sheet, sorted(sliding + full), heads.kv, heads.dim)
        return
    _projections(config, sheet, sliding, heads.kv, heads.dim)
    kv = config.maybe("num_global_key_value_heads") or heads.kv
    _projections(config, sheet, full, kv, wide, values=not config.flag("attention_k_eq_v"))


def _projections(config: Config, sheet: Sheet, layers: list[int], kv: int, dim: int, *, values: bool = True) -> None:
    heads, hidden = config.count("num_attention_heads"), sheet.hidden
    outputs = config.flag("attention_bias")
    inputs = outputs or config.flag("qkv_bias")
    gate = 2 if config.flag("attn_output_gate") else 1
    sheet.linear(layers, "attn_q", gate * heads * dim, hidden, bias=inputs)
    sheet.linear(layers, "attn_k", kv * dim, hidden, bias=inputs)
    if values:
        sheet.linear(layers, "attn_v", kv * dim, hidden, bias=inputs)
    sheet.linear(layers, "attn_output", hidden, heads * dim, bias=outputs)
    if config.flag("qk_norm") or config.flag("use_qk_norm") or config.flag("gemma4"):
        sheet.block(layers, "attn_q_norm.weight", dim)
        sheet.block(layers, "attn_k_norm.weight", dim)
    if config.flag("gpt_oss"):
        sheet.block(layers, "attn_sinks.weight", heads)


def swiglu(config: Config, sheet: Sheet, layers: Iterable[int]) -> None:
    """Gate, up and down of dense layers."""
    owners = tuple(layers)
    if owners:
        width, bias = config.count("intermediate_size"), config.flag("mlp_bias")
        sheet.linear(owners, "ffn_gate", width, sheet.hidden, bias=bias)
        sheet.linear(owners, "ffn_up", width, sheet.hidden, bias=bias)
        sheet.linear(owners, "ffn_down", sheet.hidden, width, bias=bias)


def experts_of(config: Config) -> int:
    """How many routed experts a layer of experts has; 0 for a dense model."""
    return config.zero("num_experts", "num_local_experts", "n_routed_experts", most=1 << 20)


def expert_layers(config: Config, count: int) -> list[int]:
    """The layers with experts: after the dense ones at the start, every n-th where the config says so."""
    if not experts_of(config):
        return []
    first = config.zero("first_k_dense_replace", most=count)
    step = config.maybe("decoder_sparse_step", "moe_layer_freq", most=count) or 1
    dense = {layer for layer in config.entries("mlp_only_layers") or [] if isinstance(layer, int)}
    return [layer for layer in range(first, count) if (layer + 1) % step == 0 and layer not in dense]


def mixture(config: Config, sheet: Sheet, layers: list[int], *, gated: bool = True) -> None:
    """Router, experts and shared experts. All experts are resident, however few are active.

    Where the config has ``moe_latent_size``, the experts work in that width, between two projections (Nemotron 3).
    """
    experts, hidden = experts_of(config), sheet.hidden
    width = config.count("moe_intermediate_size", "intermediate_size")
    latent = config.maybe("moe_latent_size")
    bias = config.flag("gpt_oss")
    sheet.linear(layers, "ffn_gate_inp", experts, hidden, bias=bias)
    for part in ("gate", "up") if gated else ("up",):
        sheet.block(layers, f"ffn_{part}_exps.weight", experts, width, latent or hidden)
        if bias:
            sheet.block(layers, f"ffn_{part}_exps.bias", experts, width)
    sheet.block(layers, "ffn_down_exps.weight", experts, latent or hidden, width)
    if bias:
        sheet.block(layers, "ffn_down_exps.bias", experts, hidden)
    if latent:
        sheet.linear(layers, "ffn_latent_down", latent, hidden)
        sheet.linear(layers, "ffn_latent_up", hidden, latent)
    _shared(config, sheet, layers, width, gated=gated)


def _shared(config: Config, sheet: Sheet, layers: list[int], width: int, *, gated: bool) -> None:
    own = config.zero("shared_expert_intermediate_size", "moe_shared_expert_intermediate_size")
    shared = own or width * config.zero("n_shared_experts")
    if config.get("n_routed_experts") is not None:
        sheet.block(layers, "exp_probs_b.bias", experts_of(config))
    if not shared:
        return
    for part in ("gate", "up") if gated else ("up",):
        sheet.linear(layers, f"ffn_{part}_shexp", shared, sheet.hidden)
    sheet.linear(layers, "ffn_down_shexp", sheet.hidden, shared)
    if config.get("shared_expert_intermediate_size") is not None:
        sheet.linear(layers, "ffn_gate_inp_shexp", 1, sheet.hidden)


def fused(config: Config, kinds: tuple[Kind, ...], sheet: Sheet) -> None:
    """Phi 3 and 4: query, key and value in one matrix, gate and up in another."""
    heads, every = heads_of(config), range(len(kinds))
    width = config.count("intermediate_size")
    sheet.norms(every, "attn_norm", "ffn_norm")
    sheet.linear(every, "attn_qkv", (heads.count + 2 * heads.kv) * heads.dim, sheet.hidden)
    sheet.linear(every, "attn_output", sheet.hidden, heads.count * heads.dim)
    sheet.linear(every, "ffn_up", 2 * width, sheet.hidden)
    sheet.linear(every, "ffn_down", sheet.hidden, width)
