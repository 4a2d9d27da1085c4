"""The tensors of models that mix attention with recurrent layers: Qwen 3 Next and 3.5, Nemotron H, LFM2."""

from __future__ import annotations

from knaster.fit.recognition.config import Config
from knaster.fit.recognition.decoders import attention, expert_layers, experts_of, mixture, swiglu
from knaster.fit.recognition.heads import heads_of
from knaster.fit.recognition.kinds import Kind
from knaster.fit.recognition.sheet import Sheet


def delta_net(config: Config, kinds: tuple[Kind, ...], sheet: Sheet) -> None:
    """Three gated delta nets to one gated attention, with a dense or a sparse feed-forward each."""
    every = range(len(kinds))
    sheet.norms(every, "attn_norm", "post_attention_norm")
    _gated_attention(config, sheet, [layer for layer, kind in enumerate(kinds) if kind == "full"])
    _delta(config, sheet, [layer for layer, kind in enumerate(kinds) if kind == "delta"])
    experts = expert_layers(config, len(kinds))
    swiglu(config, sheet, [layer for layer in every if layer not in set(experts)])
    if experts:
        mixture(config, sheet, experts)


def _gated_attention(config: Config, sheet: Sheet, layers: list[int]) -> None:
    """The query matrix holds the output gate too."""
    heads = heads_of(config)
    sheet.linear(layers, "attn_q", 2 * heads.count * heads.dim, sheet.hidden)
    sheet.linear(layers, "attn_k", heads.kv * heads.dim, sheet.hidden)
    sheet.linear(layers, "attn_v", heads.kv * heads.dim, sheet.hidden)
    sheet.linear(layers, "attn_output", sheet.hidden, heads.count * heads.dim)
    sheet.block(layers, "attn_q_norm.weight", heads.dim)
    sheet.block(layers, "attn_k_norm.weight", heads.dim)


def _delta(config: Config, sheet: Sheet, layers: list[int]) -> None:
    values = config.count("linear_num_value_heads")
    key = config.count("linear_num_key_heads") * config.count("linear_key_head_dim")
    value = values * config.count("linear_value_head_dim")
    sheet.linear(layers, "attn_qkv", 2 * key + value, sheet.hidden)
    sheet.linear(layers, "attn_gate", value, sheet.hidden)
    sheet.linear(layers, "ssm_ba", 2 * values, sheet.hidden)
    sheet.block(layers, "ssm_conv1d.weight", 2 * key + value, config.count("linear_conv_kernel_dim"))
    sheet.block(layers, "ssm_dt.bias", values)
    sheet.block(layers, "ssm_a", values)
    sheet.block(layers, "ssm_norm.weight", config.count("linear_value_head_dim"))
    sheet.linear(layers, "ssm_out", sheet.hidden, value)


def nemotron(config: Config, kinds: tuple[Kind, ...], sheet: Sheet) -> None:
    """Nemotron H: each block is one thing only, Mamba 2, attention, experts or a squared-ReLU feed-forward."""
    pattern = _letters(config)
    sheet.norms(range(len(kinds)), "attn_norm")
    attention(config, kinds, sheet)
    _mamba2(config, sheet, [layer for layer, kind in enumerate(kinds) if kind == "mamba2"])
    experts = [layer for layer, letter in enumerate(pattern) if letter == "E"]
    if experts and experts_of(config):
        mixture(config, sheet, experts, gated=False)
    dense = [layer for layer, letter in enumerate(pattern) if letter == "-"]
    if dense:
        width = config.count("intermediate_size")
        sheet.linear(dense, "ffn_up", width, sheet.hidden)
        sheet.linear(dense, "ffn_down", sheet.hidden, width)


def _letters(config: Config) -> str:
    """The blocks as letters of ``hybrid_override_pattern``, which newer configs write out as ``layers_block_type``."""
    letters = {"moe": "E", "mlp": "-", "mamba": "M", "attention": "*"}
    listed = config.entries("layers_block_type") or []
    return config.text_of("hybrid_override_pattern") or "".join(letters.get(str(name), "?") for name in listed)


def _mamba2(config: Config, sheet: Sheet, layers: list[int]) -> None:
    heads = config.count("mamba_num_heads")
    inner, width = heads * config.count("mamba_head_dim"), config.count("ssm_state_size")
    columns = inner + 2 * config.count("n_groups") * width
    sheet.linear(layers, "ssm_in", inner + columns + heads, sheet.hidden)
    sheet.block(layers, "ssm_conv1d.weight", columns, config.count("conv_kernel"))
    sheet.block(layers, "ssm_conv1d.bias", columns)
    for part in ("ssm_dt.bias", "ssm_a", "ssm_d"):
        sheet.block(layers, part, heads)
    sheet.block(layers, "ssm_norm.weight", inner)
    sheet.linear(layers, "ssm_out", sheet.hidden, inner)


def lfm2(config: Config, kinds: tuple[Kind, ...], sheet: Sheet) -> None:
    """LFM2: short convolutions and attention; the feed-forward is 2/3 of the stated width, rounded up."""
    every = range(len(kinds))
    heads = heads_of(config)
    full = [layer for layer, kind in enumerate(kinds) if kind == "full"]
    conv = [layer for layer, kind in enumerate(kinds) if kind == "conv"]
    sheet.norms(every, "attn_norm", "ffn_norm")
    attention(config, kinds, sheet)
    sheet.block(full, "attn_q_norm.weight", heads.dim)
    sheet.block(full, "attn_k_norm.weight", heads.dim)
    sheet.linear(conv, "shortconv.in_proj", 3 * sheet.hidden, sheet.hidden)
    sheet.linear(conv, "shortconv.out_proj", sheet.hidden, sheet.hidden)
    sheet.block(conv, "shortconv.conv.weight", sheet.hidden, config.count("conv_L_cache"))
    width = _adjusted(config)
    sheet.linear(every, "ffn_gate", width, sheet.hidden)
    sheet.linear(every, "ffn_up", width, sheet.hidden)
    sheet.linear(every, "ffn_down", sheet.hidden, width)


def _adjusted(config: Config) -> int:
    width = config.count("intermediate_size", "block_ff_dim")
    if not config.flag("block_auto_adjust_ff_dim", default=True):
        return width
    step = config.maybe("block_multiple_of") or 256
    return -(-(2 * width // 3) // step) * step
