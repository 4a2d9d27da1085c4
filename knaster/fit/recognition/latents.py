"""The tensors of models with multi-head latent attention: DeepSeek V2 and V3, Kimi K2, GLM 4 MoE Lite."""

from __future__ import annotations

from knaster.fit.recognition.config import Config
from knaster.fit.recognition.decoders import expert_layers, mixture, swiglu
from knaster.fit.recognition.kinds import Kind
from knaster.fit.recognition.sheet import Sheet


def latent(config: Config, kinds: tuple[Kind, ...], sheet: Sheet) -> None:
    """Compressed queries and keys, dense layers first, then experts with shared ones."""
    every = range(len(kinds))
    sheet.norms(every, "attn_norm", "ffn_norm")
    _attention(config, sheet, every)
    experts = expert_layers(config, len(kinds))
    swiglu(config, sheet, [layer for layer in every if layer not in set(experts)])
    if experts:
        mixture(config, sheet, experts)


def _attention(config: Config, sheet: Sheet, every: range) -> None:
    heads, rank = config.count("num_attention_heads"), config.count("kv_lora_rank")
    plain, rope = config.count("qk_nope_head_dim"), config.count("qk_rope_head_dim")
    value, queries = config.count("v_head_dim"), config.maybe("q_lora_rank")
    if queries:
        sheet.linear(every, "attn_q_a", queries, sheet.hidden)
        sheet.block(every, "attn_q_a_norm.weight", queries)
        sheet.linear(every, "attn_q_b", heads * (plain + rope), queries)
    else:
        sheet.linear(every, "attn_q", heads * (plain + rope), sheet.hidden)
    sheet.linear(every, "attn_kv_a_mqa", rank + rope, sheet.hidden)
    sheet.block(every, "attn_kv_a_norm.weight", rank)
    sheet.linear(every, "attn_kv_b", heads * (plain + value), rank)
    sheet.linear(every, "attn_output", sheet.hidden, heads * value)
